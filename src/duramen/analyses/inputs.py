"""Problem of an analysis in Python: a table and its target, taken apart, encoded, looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, TypedDict

import narwhals as nw

from duramen.analyses.execution import Execution
from duramen.analyses.problem import Problem, RowNames, loaded, stray_columns
from duramen.analyses.sampling import sampled
from duramen.data import Finding
from duramen.data.learning_sets import LearningSet, learning_set, learning_set_of
from duramen.data.sources import is_anndata
from duramen.findings.table import (
    dates_of,
    in_order,
    left_out,
    of_codes,
    of_dates,
    of_stray,
    without_identifiers,
)
from duramen.findings.target import of_leaks, of_target
from duramen.io import ColumnStore
from duramen.io.store.column_store import without, without_names
from duramen.jobs.workers import check_client
from duramen.support import checks
from duramen.support.files import expanded
from duramen.support.text import quoted

_OF_TARGET = "target identifier"
_LONGEST = 60  # characters of a value in the record of a call
_MOST_SEED = 2**32 - 1


class ComparedColumns(TypedDict, total=False):
    """Description of the columns and rows of a table, for `duramen.compare`."""

    target: str | None
    names: Iterable[str] | None
    kinds: Any
    task: str
    groups: Any
    keep_identifiers: bool
    max_rows: int | None


class SelectedColumns(ComparedColumns, total=False):
    """Description of the columns and rows of a table, for `duramen.select`."""

    strata: Any


class RankedColumns(SelectedColumns, total=False):
    """Description of a table, and its rows and pairs of columns to look at, for `duramen.rank`."""

    feature_groups: Any
    sample_weight: Any
    pos_label: Any
    explain: Any
    interactions: bool
    memory: Any


COMPARED_COLUMNS: ComparedColumns = {
    "target": None,
    "names": None,
    "kinds": None,
    "task": "auto",
    "groups": None,
    "keep_identifiers": False,
    "max_rows": None,
}
SELECTED_COLUMNS: SelectedColumns = {**COMPARED_COLUMNS, "strata": None}
RANKED_COLUMNS: RankedColumns = {
    **SELECTED_COLUMNS,
    "feature_groups": None,
    "sample_weight": None,
    "pos_label": None,
    "explain": None,
    "interactions": False,
    "memory": None,
}


@dataclass(frozen=True)
class Data:
    """Table and target as they were given, with what is set apart of the table."""

    X: Any  # columns but those that are set apart
    y: Any
    target: str  # its name
    strata: Any
    groups: Any


def problem_of(
    function: str,
    X: Any,
    y: Any,
    columns: ComparedColumns,
    *,
    n_jobs: int | None,
    seed: int,
    stored: bool = False,
) -> Problem[Any]:
    """Encode a table and its target, and look at them as the commands do.

    A `ColumnStore` is read into memory unless it may stay on disk, `stored`. Of more than
    `max_rows` rows, a random sample is left.

    Raises
    ------
    ValueError
        If something is refused that commands refuse, such as dates and identifiers.
    TypeError, ValueError
        If X, y or names of columns are not as described.
    """
    asked: dict[str, Any] = {**RANKED_COLUMNS, **columns}
    target, task, max_rows = asked["target"], asked["task"], asked["max_rows"]
    keep_identifiers = checks.check_flag(function, "keep_identifiers", asked["keep_identifiers"])
    checks.check_optional_integer(function, "max_rows", max_rows, 2)
    described = {name: asked[name] for name in ("names", "kinds", "sample_weight")}
    rows = {"strata": asked["strata"], "groups": asked["groups"]}
    if isinstance(X, LearningSet):
        data = learning_set_of(X, y, function, **described, **rows)
        name, labels = target or "y", data.y
        findings = [*of_target(labels, name), *of_codes(data.table)]
        findings += of_leaks(
            data.table, labels, name, data.task if not data.target.censored else "auto"
        )
        row_names = RowNames(start=0)
    else:
        own = _taken_apart(function, X, y, target, **rows)
        row_names = names_of_rows(own.X)
        name, labels = own.target, own.y
        findings = [*of_target(labels, name, task if task != "survival" else "regression")]
        findings += of_dates(dates_of(own.X)) if not isinstance(own.X, ColumnStore) else []
        _refuse(function, findings, keep_identifiers)
        with stray_columns() as stray:
            data = learning_set(
                own.X,
                labels,
                **described,
                task=task,
                strata=own.strata,
                groups=own.groups,
                n_jobs=n_jobs,
            )
        findings += map(of_stray, stray)
        findings += of_codes(data.table, [values.name for values in stray])
        if not data.target.censored:
            findings += of_leaks(data.table, labels, name, task)
    gone = () if keep_identifiers else left_out(findings)
    findings = _refuse(function, findings, keep_identifiers)
    if len(gone) == data.n_columns:
        raise ValueError(
            f"{function}: all columns look like identifiers; keep_identifiers=True keeps them."
        )
    data = data.with_table(without_names(data.table, gone)) if gone else data
    variants = data.table.variants if isinstance(data.table, ColumnStore) else None
    if gone and row_names.labels is None and (frame := _columns(X)) is not None:
        row_names = replace(row_names, labels=frame[gone[0]].to_list())
    problem = Problem(
        "", data, name, findings=in_order(findings), variants=variants, row_names=row_names
    )
    problem = sampled(problem, max_rows, seed, f"max_rows={max_rows}, random_state={seed}")
    if stored and isinstance(data.table, ColumnStore):
        return problem
    return loaded(problem)


def names_of_rows(X: Any) -> RowNames:
    """Return the names that a table has for its rows; numbers from 0 where it has none."""
    labels = getattr(X, "obs_names", getattr(X, "row_names", getattr(X, "index", None)))
    counted = getattr(labels, "start", None) == 0 and getattr(labels, "step", None) == 1
    return RowNames(None if counted or callable(labels) else labels, start=0)


def _refuse(function: str, findings: list[Finding], keep_identifiers: bool) -> list[Finding]:
    """Return findings, none of them refused; raise ValueError for those that are."""
    if keep_identifiers:
        listed = [
            replace(finding, refused=finding.refused and finding.kind != _OF_TARGET)
            for finding in findings
        ]
    else:
        listed = without_identifiers(findings, "keep_identifiers=True keeps {}")
    refused = [str(finding) for finding in listed if finding.refused]
    if refused:
        raise ValueError(f"{function}: {'; '.join(refused)}.")
    return listed


def _taken_apart(
    function: str, X: Any, y: Any, target: str | None, strata: Any, groups: Any
) -> Data:
    """Take target, strata and groups that are named out of a table."""
    if y is None and target is None:
        raise TypeError(
            f"{function}: y is missing. Give the target as y, or name its column, "
            f'{function}(table, target="diagnosis").'
        )
    if target is not None and not isinstance(target, str):
        raise checks.refuse(function, "target", "the name of a column", target)
    if isinstance(X, ColumnStore):
        return _of_store(function, X, y, target, strata, groups)
    if is_anndata(X):
        return _of_anndata(function, X, y, target, strata, groups)
    columns = _columns(X)
    wanted = {"target": target if y is None else None, "strata": strata, "groups": groups}
    named = {what: name for what, name in wanted.items() if isinstance(name, str)}
    taken = {}
    for what, name in named.items():
        if columns is None:
            raise TypeError(
                f"{function}: {what}={name!r} names a column, and X is a "
                f"{type(X).__name__} without names. Hint: give a data frame, or an array as "
                f"{'y' if what == 'target' else what}."
            )
        taken[what] = _column(function, what, name, columns.columns, lambda key: columns[key])
    if columns is not None and taken:
        X = columns.drop(*dict.fromkeys(named.values())).to_native()
    name = target or str(getattr(y, "name", None) or "y")
    return Data(
        X,
        taken.get("target", y),
        name,
        taken.get("strata", strata),
        taken.get("groups", groups),
    )


def _columns(X: Any) -> Any:
    """Return a data frame as narwhals has it; None for other tables."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _column(function: str, what: str, name: str, names: Any, take: Callable[[str], Any]) -> Any:
    """Return a column of a frame by its name."""
    if name not in list(names):
        import difflib

        close = difflib.get_close_matches(name, [str(key) for key in names], n=1, cutoff=0.5)
        shown = ", ".join(quoted(key) for key in list(names)[:10])
        hint = f"did you mean {quoted(close[0])}?" if close else f"its columns are {shown}"
        raise ValueError(f"{function}: {what}: the table has no column {quoted(name)}; {hint}")
    column = take(name)
    return column.to_native() if hasattr(column, "to_native") else column


def _of_anndata(
    function: str, X: Any, y: Any, target: str | None, strata: Any, groups: Any
) -> Data:
    """Take target, strata and groups from the annotations of the observations."""
    named = {"target": target if y is None else y, "strata": strata, "groups": groups}
    taken = {
        what: _column(function, what, column, X.obs.columns, lambda key: X.obs[key])
        if isinstance(column, str)
        else column
        for what, column in named.items()
    }
    return Data(X, taken["target"], target or "y", taken["strata"], taken["groups"])


def _of_store(
    function: str, X: ColumnStore, y: Any, target: str | None, strata: Any, groups: Any
) -> Data:
    """Take a target from a store or its sample annotations, strata and groups from the latter."""
    left: Any = X
    if y is None and target is not None:
        others, y = X.target(target)
        left = X if len(others) == X.n_columns else without(X, [X.find(target)])
    samples, taken = X.samples, {}
    for what, column in {"strata": strata, "groups": groups}.items():
        taken[what] = column
        if isinstance(column, str):
            columns = (
                {} if samples is None else {name: samples[name] for name in samples.schema.names}
            )
            taken[what] = _column(function, what, column, columns, columns.__getitem__).to_numpy()
    return Data(left, y, target or "y", taken["strata"], taken["groups"])


def execution_of(
    function: str,
    notes: list[str],
    *,
    random_state: Any,
    n_jobs: int | None,
    client: Any,
    checkpoint: Any,
    verbose: Any,
) -> Execution:
    """Check how a call is to be executed; remarks go into `notes`."""
    checks.check_jobs(function, n_jobs)
    if client is not None:
        check_client(function, client)
    if checks.is_integer(random_state):
        seed = checks.check_integer(function, "random_state", random_state, 0, most=_MOST_SEED)
    else:
        seed = checks.draw_seed(random_state) % (_MOST_SEED + 1)
    return Execution(
        random_state=seed,
        n_jobs=n_jobs,
        verbose=checks.check_verbosity(function, verbose),
        checkpoint=None if checkpoint is None else expanded(checkpoint, function),
        client=client,
        tell=notes.append,
    )


def call_words(function: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Return the call of a function as text, without what has its default."""
    words = []
    for name, parameter in signature(function).parameters.items():
        value = arguments[name]
        if name == "X" or (name == "y" and value is not None):
            words.append(name)
        elif not _is_default(value, parameter.default):
            text = " ".join(repr(value).split())
            words.append(f"{name}={text if len(text) <= _LONGEST else '...'}")
    return f"dm.{function.__name__}({', '.join(words)})"


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | float) and value == default)
