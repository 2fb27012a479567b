"""Command `duramen network`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import checkpoints
from duramen.cli.command import perform
from duramen.cli.console import notes, warnings_as_notes
from duramen.cli.declaration import (
    argument,
    choice,
    command_line,
    group,
    option,
    parameters,
    recorded,
)
from duramen.cli.ending import Clock
from duramen.cli.inputs import names_rows
from duramen.cli.options import (
    ClusterWork,
    Printed,
    check_demo,
    estimator_of,
    keeping,
    links_option,
    parsed_max_features,
    writable,
)
from duramen.cli.problem import check_columns, look
from duramen.cli.reading import Reading
from duramen.cli.stores import is_store
from duramen.data.provenance import records

if TYPE_CHECKING:
    from duramen.data import Finding
    from duramen.reports import Report, Run
    from duramen.results.network import Network
    from duramen.results.network_scores import NetworkScores


COMMAND = "network"


def _choices() -> dict[str, Any]:
    """Names that options take, by their field."""
    from duramen.networks.targets import (
        NORMALIZATIONS,
        SOURCE_SCALINGS,
        forest_names,
        measure_names,
    )
    from duramen.networks.variables import GENES

    return {
        "genes": GENES,
        "forest": forest_names(),
        "measure": measure_names(),
        "normalization": NORMALIZATIONS,
        "source_scaling": SOURCE_SCALINGS,
    }


@dataclass(frozen=True, kw_only=True)
class Expression:
    """Expression of genes, and the genes that may have links."""

    file: Path | None = argument(
        None,
        "File with the expression of genes in samples, or a folder made by duramen pack.",
        formats=("read", "groups", "columns"),
        metavar="FILE",
    )
    genes: str = choice(
        "columns",
        _choices,
        "Orientation of the table: genes in columns, or in rows, where the first column may "
        "hold the gene names.",
    )
    regulators: tuple[str, ...] = option(
        (),
        "Gene that may regulate others, or a file of names, one per line; repeat for more. By "
        "default, all genes.",
        metavar="NAME",
    )
    targets: tuple[str, ...] = option(
        (),
        "Gene that may be regulated, or a file of names, one per line; repeat for more. By "
        "default, all genes.",
        metavar="NAME",
    )
    drop: tuple[str, ...] = option(
        (), "Column to leave out; repeat for more.", metavar="NAME", record="dropped"
    )
    subsample: int | None = option(
        None,
        "Number of samples, such as cells, drawn at random without replacement; by default, all.",
        metavar="N",
        min=2,
    )
    keep_identifiers: bool = option(
        False,
        "Analyze columns that have a different value in each row, such as sample numbers; by "
        "default they are left out, with a note.",
        echo="changed",
    )
    gold: Path | None = option(
        None,
        "File of known links to score the network against: columns of source, target and, if "
        "there is a third, 1 for links and 0 for other pairs.",
        metavar="FILE",
    )
    demo: bool = option(False, "Use a simulated network of 50 genes, in place of FILE and --gold.")
    reading: Reading = group(Reading)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Forests of the targets, and the weights of links."""

    forest: str = choice("random_forest", _choices, "Kind of forest.")
    trees: int = option(
        1000, "Number of trees for each target.", metavar="T", min=1, parameter="n_estimators"
    )
    max_features: str = option(
        "auto",
        "Number of regulators tried at a node: auto, sqrt, log2, all, a number or a fraction; auto "
        "is a third of them.",
        metavar="K",
    )
    min_samples_leaf: int | None = option(
        None, "Minimum number of samples in a leaf; 1 by default.", metavar="N", min=1
    )
    max_depth: int | None = option(
        None, "Maximum depth of the trees; no limit by default.", metavar="D", min=1
    )
    bootstrap: bool | None = option(
        None,
        "Draw the samples of each tree with replacement, or take all of them; by default drawn in "
        "random forests, all in extra_trees.",
        "--bootstrap/--no-bootstrap",
    )
    measure: str = choice(
        "mdi",
        _choices,
        "Importance measure that weights links.",
    )
    normalization: str = choice(
        "unit",
        _choices,
        "Scale of the weights: targets scaled to unit variance or entropy (unit), weights of "
        "each target scaled to add up to 1 (sum), or the unit of each target (none).",
    )
    source_scaling: str = choice(
        "variance",
        _choices,
        "Multiply the weights of a regulator by their variance over the targets, so that links "
        "of regulators of many genes rank higher; none is GENIE3 as published.",
    )
    permutations: int = option(
        0,
        "Number of permutations of each target for the p-values of links; 0 for no p-values.",
        metavar="B",
        min=0,
        parameter="n_permutations",
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen network`."""

    input: Expression = group(Expression, "Data")
    scores: Scores = group(Scores, "Forests")
    links: int = links_option()
    adjacencies: Path | None = option(
        None,
        "File to write all links of positive weight to, as columns TF, target and importance: the "
        "adjacencies that pyscenic ctx reads.",
        metavar="FILE",
        section="Results",
    )
    work: ClusterWork = group(ClusterWork, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-network"))


_CALLER = f"duramen {COMMAND}"
_DEMO = {"n_samples": 100, "n_genes": 50, "random_state": 0}


@dataclass(frozen=True, eq=False)
class Expressed:
    """Expression and known links."""

    name: str  # of the file, in sentences
    table: Any  # as `genie3` takes it
    genes: str  # where the genes are in it
    gold: Any = None  # as `Network.score` takes it
    names: tuple[str, ...] | None = None  # of the genes, where the table has none
    findings: tuple[Finding, ...] = ()  # what the look at the data found


def _check_input(options: Expression) -> None:
    """Check that the user named a table, or asked for the simulated network.

    Raises
    ------
    ValueError
        If something is missing, or too much.
    """
    inputs = {"FILE": options.file, "--gold": options.gold}
    check_demo(options.demo, inputs, "a FILE", "a simulated network")
    if options.demo and options.genes != "columns":
        raise ValueError("--demo has the genes in columns; leave out --genes")
    options.reading.options.check(options.file)


def _read(options: Expression, seed: int) -> Expressed:
    """Read the expression, or some samples of it, and the known links if they are given.

    Raises
    ------
    ValueError, OSError
        If a file cannot be read.
    """
    if options.demo:
        from duramen.datasets import gene_network

        made = gene_network(**_DEMO)
        return Expressed("simulated network", made.expression, "columns", made.links, made.names)
    assert options.file is not None
    gold = None if options.gold is None else read_links(options.gold, _CALLER)
    findings: list[Finding] = []
    table, genes = _table(options, options.file, findings)
    looked_at = _looked(options, table, findings)
    from duramen.findings.table import left_out

    gone = () if options.keep_identifiers else left_out(looked_at)
    table = _without(table, gone)
    if options.subsample is not None:
        table = _drawn(table, genes, options.subsample, seed)
    return Expressed(options.file.name, table, genes, gold, findings=looked_at)


def _drawn(table: Any, genes: str, count: int, seed: int) -> Any:
    """Return some samples, drawn at random, in their order."""
    import numpy as np

    from duramen.data import EncodedTable

    encoded, turned = isinstance(table, EncodedTable), genes == "rows"
    n = table.n_rows if encoded else table.num_columns - 1 if turned else table.num_rows
    if count > n:
        raise ValueError(f"--subsample: must be at most the number of samples, {n}, got {count}")
    rows = np.sort(np.random.default_rng(seed).choice(n, count, replace=False))
    if encoded:
        return table.take_rows(rows)
    return table.select([0, *(rows + 1).tolist()]) if turned else table.take(rows)


def _without(table: Any, gone: Sequence[str]) -> Any:
    """Return a table without some columns; one must be left."""
    from duramen.data import EncodedTable

    if not gone:
        return table
    is_encoded = isinstance(table, EncodedTable)
    names = list(table.names if is_encoded else table.column_names)
    places = [j for j, name in enumerate(names) if name not in gone]
    if not places:
        raise ValueError(f"{_CALLER}: all columns look like identifiers; see --keep-identifiers")
    return table.take_columns(places) if is_encoded else table.select(places)


def _looked(options: Expression, table: Any, raw: list[Finding]) -> tuple[Finding, ...]:
    """Look at the expression; of genes in rows, at the samples, whose first column names genes."""
    from duramen.data import EncodedTable
    from duramen.findings import findings

    columns, kinds = table, ["index"] if options.genes == "rows" else []  # samples have any name
    if options.genes == "rows" and not isinstance(table, EncodedTable):
        columns = table.remove_column(0) if table.num_columns > 1 else table
    elif not isinstance(table, EncodedTable):
        raw += _maybe_turned(table)
    raw += [finding for finding in findings(columns) if finding.kind not in kinds]
    file = "" if options.file is None else options.file.name
    return look(COMMAND, raw, file, keep_identifiers=options.keep_identifiers)


def _maybe_turned(table: Any) -> list[Finding]:
    """Tell of many rows that have names, as where they are genes and columns are samples."""
    from duramen.data import Finding
    from duramen.support.text import quoted

    if table.num_rows < table.num_columns or not names_rows(table):
        return []
    name = table.column_names[0]
    message = (
        f"{table.num_rows:,} rows, named by column {quoted(name)}, are taken for samples, and "
        f"{table.num_columns - 1:,} columns for genes"
    )
    return [Finding("names", (), message, "--genes rows if rows are genes")]


def _names_of_genes(asked: Sequence[str]) -> list[str] | None:
    """Return names of genes; of those that name a file, the names in it, one a line.

    Raises
    ------
    ValueError
        If a file holds no name.
    """
    from duramen.support.text import read_utf8

    if not asked:
        return None
    genes: list[str] = []
    for gene in asked:
        path = Path(gene)
        if not os.path.isfile(path):  # unlike Path.is_file it takes names that no file can have
            genes.append(gene)
            continue
        lines = [line.strip() for line in read_utf8(path, _CALLER).splitlines()]
        if not any(lines):
            raise ValueError(f"{path} must hold names of genes, one per line, got none")
        genes += [line for line in lines if line]
    return genes


def _table(options: Expression, path: Path, findings: list[Finding]) -> tuple[Any, str]:
    """Return the table, and where its genes are."""
    import numpy as np

    from duramen.io import open_store
    from duramen.io.formats import format_of
    from duramen.io.store.inputs import sparse_table
    from duramen.io.store.packing import pack_table

    format_ = format_of(path)
    if not is_store(path) and (format_ is None or format_.read is not None):
        table = options.reading.options.table(path, findings, _CALLER)
        check_columns("--drop", options.drop, table.column_names, "")
        table = table.drop_columns(list(options.drop))
        return _samples_of(table, path) if options.genes == "rows" else table, options.genes
    turned = options.genes == "rows"
    cells = None if is_store(path) else sparse_table(path, transpose=turned, function=_CALLER)
    if cells is not None:
        check_columns("--drop", options.drop, cells.names, "")
        return _without(cells, options.drop), "columns"
    with _packed(path, options, pack_table) if not is_store(path) else _itself(path) as place:
        store = open_store(place)
        check_columns("--drop", options.drop, store.names, "")
        columns = [j for j, name in enumerate(store.names) if name not in options.drop]
        return store.take_columns(np.array(columns, dtype=np.int64)), "columns"


def _samples_of(table: Any, path: Path) -> Any:
    """Return a table of genes in rows without columns that describe the genes."""
    from duramen.io.formats.format import describing, warn_of

    names = table.column_names[1:]
    gone = names[: describing(names)]
    warn_of(gone, path.name, _CALLER)
    return table.drop_columns(gone)


@contextmanager
def _itself(path: Path) -> Iterator[Path]:
    yield path


@contextmanager
def _packed(path: Path, options: Expression, pack: Any) -> Iterator[Path]:
    """Pack a file that is read in tiles into a folder that is removed in the end."""
    with TemporaryDirectory(prefix="duramen-") as folder:
        place = Path(folder) / "store"
        reading, _ = options.reading.options.arguments(path)
        pack(path, place, transpose=options.genes == "rows", reading=reading)
        yield place


def read_links(path: Path, caller: str) -> list[tuple[Any, ...]]:
    """Return the known links as rows of source, target and perhaps 0 or 1.

    Files may lack a header: its words are then the first row. As a row, a header names no genes of
    the network, and rows of other genes are not scored.
    """
    from duramen.io import read_table

    table = read_table(path, function=caller)
    if table.num_columns not in (2, 3):
        raise ValueError(
            f"--gold: {path.name} must have 2 or 3 columns (source, target, and 1 or 0), got "
            f"{table.num_columns}."
        )
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    first = tuple(table.column_names)
    return rows if table.num_columns == 3 and first[2] not in ("0", "1") else [first, *rows]


_AUTO = 1 / 3
_PUBLISHED = {
    "forest": "random_forest",
    "max_features": "sqrt",
    "min_samples_leaf": (None, 1),
    "max_depth": None,
    "bootstrap": (None, True),
    "measure": "mdi",
    "normalization": "unit",
    "source_scaling": "none",
}
_HUBS = (
    "J. Sławek, T. Arodź (2013). ENNET: inferring large gene regulatory networks from expression "
    "data using gradient boosting. BMC Systems Biology 7:106."
)


def departures(scores: Scores) -> tuple[str, ...]:
    """Return the options that are not those of GENIE3 as published, as in the command line."""
    differ = []
    for name, published in _PUBLISHED.items():
        allowed = published if isinstance(published, tuple) else (published,)
        value = getattr(scores, name)
        if value is False:
            differ.append(f"--no-{name}")
        elif value not in allowed:
            differ.append(f"--{name} {value}".replace("_", "-"))
    return tuple(differ)


def network(options: Options) -> None:
    """Infer the regulatory links between genes with a forest for each gene.

    Example: duramen network expression.csv --regulators factors.txt

    Predicts each gene from all regulators with a forest; the importances weight the links. Prints
    the heaviest links, and their agreement with known ones, and writes result.csv,
    result.parquet, run.json and report.html to the folder --out. The defaults are a variant of
    GENIE3; as published it is --max-features sqrt --source-scaling none.
    """
    perform(COMMAND, options, _check, _compute, _report)


def _check(options: Options) -> dict[str, Any]:
    """Return the parameters of `genie3` that the options stand for."""
    _check_input(options.input)
    writable(options.work.checkpoint)
    settings = parameters(options.scores)
    names = ("forest", "n_estimators", "max_features", "min_samples_leaf", "max_depth", "bootstrap")
    forest, n_trees, asked, leaf, depth, bootstrap = (settings.pop(name) for name in names)
    estimator = estimator_of(
        forest, "regression", n_estimators=n_trees, min_samples_leaf=leaf, max_depth=depth
    )
    estimator.set_params(max_features=_AUTO if asked == "auto" else parsed_max_features(asked))
    if bootstrap is not None:
        estimator.set_params(bootstrap=bootstrap)
    return settings | {
        "estimator": estimator,
        "regulators": _names_of_genes(options.input.regulators),
        "targets": _names_of_genes(options.input.targets),
    }


def _compute(
    options: Options, settings: dict[str, Any], clock: Clock
) -> tuple[Expressed, Network, NetworkScores | None]:
    """Read the expression, infer the network, and score it if links are known."""
    from duramen.networks import genie3

    quiet = options.output.quiet
    with clock.step("read"), warnings_as_notes(quiet):
        expression = _read(options.input, options.work.seed)
    notes(map(str, expression.findings), quiet)
    with (
        keeping(lambda: checkpoints(options.work.checkpoint), quiet),
        clock.step("infer"),
        warnings_as_notes(quiet),
    ):
        inferred = genie3(
            expression.table,
            names=expression.names,
            genes=expression.genes,
            **settings,
            **options.work.parameters(quiet),
        )
    if options.adjacencies is not None:
        inferred.write_adjacencies(options.adjacencies)
    if expression.gold is None:
        return expression, inferred, None
    with clock.step("score"):
        return expression, inferred, inferred.score(expression.gold)


def _report(
    options: Options,
    _: dict[str, Any],
    result: tuple[Expressed, Network, NetworkScores | None],
    clock: Clock,
) -> Report:
    """Return the report of the network, with the table of links."""
    from duramen.networks import genie3
    from duramen.reports import summarize_network
    from duramen.support.provenance import references

    differ = departures(options.scores)
    expression, inferred, scores = result
    columns = inferred.columns(min(options.links, inferred.n_candidates))
    if inferred.p_values is not None:
        i, j = inferred.ranked(len(columns["source"]))
        columns["q_value"] = inferred.q_values()[i, j]
    run = record_of(
        COMMAND,
        options,
        options.scores,
        expression.name,
        inferred,
        score_record(scores),
        clock,
    )
    run = replace(run, findings=records(expression.findings))
    report = summarize_network(inferred, run, scores=scores)
    title = f"{report.title} ({'variant of GENIE3' if differ else 'GENIE3'})"
    method = f"GENIE3 but for {', '.join(differ)}" if differ else "GENIE3 as published"
    scaled = options.scores.source_scaling == "variance"
    return replace(
        report,
        title=title,
        subject=(*report.subject, method),
        table=columns,
        references=(*references(genie3), *([_HUBS] if scaled else [])),
    )


def record_of(
    command: str,
    options: Any,
    inference: Any,
    file: str,
    inferred: Network,
    results: dict[str, Any],
    clock: Clock,
) -> Run:
    """Return the record of a command that infers a network; `inference` has its parameters."""
    from duramen.reports import Run

    settings = {**recorded(options.input), **recorded(inference), "links": options.links}
    of_data = ("file", "demo")
    return Run(
        command=command_line(command, options),
        file=file,
        n_rows=int(inferred.metadata["n_rows"]),
        n_features=len(inferred.names),
        fingerprint=inferred.metadata["fingerprint"],
        seed=options.work.seed,
        settings={name: value for name, value in settings.items() if name not in of_data},
        versions=inferred.metadata["versions"],
        results={"candidate_links": inferred.n_candidates, **results},
        timings=dict(clock.seconds),
    )


def score_record(scores: NetworkScores | None) -> dict[str, Any]:
    """Return the agreement with known links as a record holds it."""
    if scores is None:
        return {}
    return {
        "known_links": scores.n_true,
        "auroc": scores.auroc,
        "aupr": scores.aupr,
        "random_aupr": scores.random_aupr,
        "early_precision": scores.early_precision,
    }
