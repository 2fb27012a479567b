"""`duramen rank`: from a table to a ranking of its features."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from duramen.cli.console import ending_well, standard_error, user_errors, warnings_as_notes
from duramen.cli.forests import Criterion, ForestName, Task, make_forest
from duramen.cli.output import results_folder

if TYPE_CHECKING:
    from duramen.reports import Run
    from duramen.results.importances import Importances
    from duramen.tables import EncodedTable

COMMAND = "rank"

_TASKS: dict[Task, Literal["classification", "regression"]] = {
    Task.classification: "classification",
    Task.regression: "regression",
}


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    file: Path | None
    target: str | None
    demo: bool
    task: Task
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    forest: ForestName
    trees: int
    max_features: str
    criterion: Criterion
    seed: int
    jobs: int
    out: Path
    top: int
    quiet: bool


@dataclass
class Clock:
    """Seconds that the steps took."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step."""
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 4)


@dataclass(frozen=True)
class Problem:
    """The table to rank, encoded, and its target."""

    name: str
    table: EncodedTable
    y: Any
    target: str
    task: str
    citation: str


def rank(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A .csv, .tsv, .parquet or .arrow file."),
    ] = None,
    target: Annotated[str | None, typer.Option(metavar="NAME", help="Column to explain.")] = None,
    task: Annotated[Task, typer.Option(help="What the target is; auto goes by its values.")] = (
        Task.auto
    ),
    drop: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Column to leave out; repeat for more.")
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Numbers that are categories; repeat for more."),
    ] = None,
    forest: Annotated[ForestName, typer.Option(help="Kind of forest.")] = ForestName.rf,
    trees: Annotated[int, typer.Option(min=1, metavar="T", help="Number of trees.")] = 1000,
    max_features: Annotated[
        str,
        typer.Option(
            metavar="K", help="Candidates at a node: auto, sqrt, log2, all, a number or a share."
        ),
    ] = "auto",
    criterion: Annotated[
        Criterion, typer.Option(help="Impurity; auto is entropy for classes, variance for numbers.")
    ] = Criterion.auto,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of the forest.")
    ] = 0,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="N", help="Threads; -1 for all processors. The result does not depend on it."
        ),
    ] = -1,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")] = Path(
        "duramen-rank"
    ),
    top: Annotated[
        int, typer.Option(min=0, metavar="K", help="Rows to show in the terminal.")
    ] = 20,
    demo: Annotated[
        bool, typer.Option("--demo", help="Rank the leukemia set that ships with duramen.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Rank the columns of a table by how much they tell about one of them."""
    options = Options(
        file=file,
        target=target,
        demo=demo,
        task=task,
        drop=tuple(drop or ()),
        categorical=tuple(categorical or ()),
        forest=forest,
        trees=trees,
        max_features=max_features,
        criterion=criterion,
        seed=seed,
        jobs=jobs,
        out=out,
        top=top,
        quiet=quiet,
    )
    with ending_well(COMMAND):
        run_rank(options)


def run_rank(options: Options) -> None:
    """Read, grow, measure, write, say."""
    clock = Clock()
    with ExitStack() as stack:
        with user_errors(COMMAND):
            _check_input(options)
            folder = stack.enter_context(results_folder(options.out, COMMAND))
            problem = _read(options, clock)
            estimator = _grow(options, problem, clock)
        from duramen.importances import mdi

        with clock.step("measure"):
            importances = mdi(estimator, by_degree=True)
        errors = getattr(estimator, "oob_error_curve_", None)
        run = _record(options, problem, estimator, importances, clock)
        _write(folder, importances, run, errors, clock)
    if not options.quiet:
        from duramen.cli.show import show_ranking

        show_ranking(importances, run, options.top, options.out)


def _check_input(options: Options) -> None:
    if options.demo and (options.file is not None or options.target is not None):
        raise ValueError("--demo brings its own file and target; leave out FILE and --target")
    if not options.demo and options.file is None:
        raise ValueError("give a FILE and --target NAME, or --demo for the leukemia set")
    if not options.demo and options.target is None:
        raise ValueError(f"--target is missing: which column of {options.file} shall be explained?")


def _read(options: Options, clock: Clock) -> Problem:
    from duramen.datasets.bundled import LEUKEMIA, LEUKEMIA_CITATION, bundled_file
    from duramen.tables import (
        encode,
        encode_target,
        infer_task,
        read_table,
        target_array,
        target_column,
    )

    caller = f"duramen {COMMAND}"
    with clock.step("read"), ExitStack() as stack:
        path = stack.enter_context(bundled_file(LEUKEMIA)) if options.demo else options.file
        if path is None:
            raise ValueError("give a FILE")
        data = read_table(path, function=caller)
    wanted = options.target or "y"
    with clock.step("encode"):
        features, column = target_column(data, wanted, function=caller)
        _check_columns("--drop", options.drop, features.column_names, wanted)
        features = features.drop_columns(list(options.drop))
        _check_columns("--categorical", options.categorical, features.column_names, wanted)
        if not features.column_names:
            raise ValueError("--drop leaves no column to rank")
        naming = f"{caller}: --target {wanted}"
        y = target_array(column, function=naming)
        task = infer_task(y) if options.task is Task.auto else _TASKS[options.task]
        encode_target(y, task, function=naming)  # for its errors, before the work
        kinds = dict.fromkeys(options.categorical, "nominal") or None
        table = encode(features, kinds=kinds, n_jobs=options.jobs)
        if table.constant().all():
            raise ValueError("every column is constant, there is nothing to rank")
    citation = LEUKEMIA_CITATION if options.demo else ""
    return Problem(path.name, table, y, wanted, task, citation)


def _check_columns(option: str, asked: Sequence[str], there: Sequence[str], target: str) -> None:
    import difflib

    for name in asked:
        if name == target:
            raise ValueError(f"{option} {name} is the target")
        if name not in there:
            close = difflib.get_close_matches(name, there, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"{option} {name} is no column of the table{hint}")


def _grow(options: Options, problem: Problem, clock: Clock) -> Any:
    estimator = make_forest(
        options.forest,
        problem.task,
        trees=options.trees,
        max_features=options.max_features,
        criterion=options.criterion,
        seed=options.seed,
        jobs=options.jobs,
        verbose=not options.quiet and standard_error().is_terminal,
    )
    with clock.step("grow"), warnings_as_notes(options.quiet):
        return estimator.fit(problem.table, problem.y)


def _record(
    options: Options, problem: Problem, estimator: Any, importances: Importances, clock: Clock
) -> Run:
    import numpy as np

    from duramen.reports import Run
    from duramen.results.provenance import versions

    grown = estimator.forest_
    classes = None
    if grown.classes is not None:
        labels, counts = np.unique(problem.y, return_counts=True)
        classes = dict(zip(map(str, labels.tolist()), counts.tolist(), strict=True))
    curve = getattr(estimator, "oob_error_curve_", None)
    error = None if curve is None or not np.isfinite(curve[-1]) else float(curve[-1])
    return Run(
        command=_command(options, problem),
        task=problem.task,
        target=problem.target,
        file=problem.name,
        n_rows=problem.table.n_rows,
        n_features=problem.table.n_columns,
        fingerprint=grown.fingerprint,
        seed=options.seed,
        settings={
            "forest": options.forest.value,
            "n_estimators": options.trees,
            **grown.settings.to_dict(),
            "dropped": list(options.drop),
            "categorical": list(options.categorical),
        },
        versions=versions("pyarrow", "matplotlib"),
        classes=classes,
        results={
            "oob_error": error,
            "importance_sum": float(importances.values.sum()),
            "unit": importances.unit,
            "features_used": int(np.count_nonzero(importances.values)),
        },
        timings=dict(clock.seconds),
        citation=problem.citation,
    )


def _command(options: Options, problem: Problem) -> str:
    """Return the command line that does the same again, whatever folder it is run in."""
    words = ["duramen", COMMAND]
    words += ["--demo"] if options.demo else [problem.name, "--target", problem.target]
    words += ["--task", problem.task]
    words += [word for name in options.drop for word in ("--drop", name)]
    words += [word for name in options.categorical for word in ("--categorical", name)]
    words += ["--forest", options.forest.value, "--trees", str(options.trees)]
    words += ["--max-features", options.max_features, "--criterion", options.criterion.value]
    return shlex.join([*words, "--seed", str(options.seed)])


def _write(folder: Path, importances: Importances, run: Run, errors: Any, clock: Clock) -> None:
    from dataclasses import replace

    import pyarrow as pa

    from duramen.reports import render, summarise
    from duramen.tables import write_table

    with clock.step("report"):
        page = render(summarise(importances, run, oob_errors=errors))
        (folder / "report.html").write_text(page, encoding="utf-8")
    with clock.step("write"):
        table = pa.table(importances.top(len(importances)).columns())
        write_table(table, folder / "result.csv")
        write_table(table, folder / "result.parquet")
    record = replace(run, timings=dict(clock.seconds))
    (folder / "run.json").write_text(record.to_json(), encoding="utf-8")
