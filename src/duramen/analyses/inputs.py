"""Problem of an analysis in Python: a table and its target, taken apart, encoded, looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from inspect import signature
from typing import Any

import narwhals as nw

from duramen.analyses.execution import Execution
from duramen.analyses.problem import Problem, loaded, sampled, stray_columns
from duramen.data import Finding
from duramen.data.learning_sets import LearningSet, learning_set_of
from duramen.data.provenance import RowNames
from duramen.data.sources import is_anndata
from duramen.findings.rows import of_rows
from duramen.findings.table import (
    dates_of,
    in_order,
    left_out,
    of_codes,
    of_dates,
    of_stray,
    without_identifiers,
)
from duramen.findings.target import of_target
from duramen.io import ColumnStore
from duramen.io.store.column_store import without, without_names
from duramen.jobs.workers import check_client
from duramen.support import checks
from duramen.support.files import expanded
from duramen.support.text import quoted

_OF_TARGET = "target identifier"
_OF_SET = ("names", "kinds", "sample_weight", "strata", "groups")  # parameters of `learning_set`
_KEEPS = "Table(keep_identifiers=True) keeps {}"
_LONGEST = 60  # characters of a value in the record of a call


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Table, its target, and what its columns and rows are.

    :func:`duramen.select` takes it in place of ``X, y`` and checks it; what the selector has no use
    for is refused there.

    Parameters
    ----------
    X : table of shape (n, p), AnnData, LearningSet or ColumnStore
        Table as for :func:`duramen.encode`. Of an AnnData, the variables are the features.
    y : array-like of shape (n,), or str
        Classes, numbers or survival, as for :func:`duramen.learning_set`; or the name of the column
        that holds them: of the data frame, of the observations of the AnnData, or of the store or
        its sample annotations. That column is not used as a feature. Of a LearningSet, None or a
        name for its target.
    names : iterable of str, optional
        Names of the columns; by default those of the table.
    kinds : str, mapping or sequence, optional
        Kinds of the columns, as for :func:`duramen.encode`.
    task : str, default="auto"
        Task, as for :func:`duramen.learning_set`; "auto" decides by the values of the target.
    strata, groups : str or array-like of shape (n,), optional
        Rows that a test may exchange, as for :func:`duramen.learning_set`; trees draw whole groups,
        and splits of the rows do not divide them. Or the name of a column, as `y`.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, as for :func:`duramen.learning_set`.
    feature_groups : mapping, labels, path, ..., or "clusters", optional
        Groups of features that do not overlap, as for :func:`duramen.io.feature_groups`, whose MDA
        is computed. "clusters": those that `clusters` of :func:`duramen.rank` asks for; clusters
        that the test of direct effects takes are found without the target.
    pos_label : label, optional
        Class that the directions of effects are about, such as that of the ill; by default the
        rarer one of two classes, and of more classes for each feature the one that depends on it
        most.
    keep_identifiers : bool, default=False
        Whether columns that look like identifiers, with a different value in each row, are
        analyzed; by default they are left out, with a note.
    max_rows : int, optional
        Largest number of rows: of more, a random sample is analyzed, in which classes keep their
        proportions.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 6, n_relevant=2, random_state=0)
    >>> table = dm.Table(data.X, data.y, groups=range(200), pos_label=1)
    >>> table
    Table(X, y, groups=range(0, 200), pos_label=1)
    """

    X: Any
    y: Any = None
    _: KW_ONLY
    names: Iterable[str] | None = None
    kinds: Any = None
    task: Any = "auto"
    strata: Any = None
    groups: Any = None
    sample_weight: Any = None
    feature_groups: Any = None
    pos_label: Any = None
    keep_identifiers: bool = False
    max_rows: int | None = None

    def __repr__(self) -> str:
        return f"Table({_words(Table, vars(self))})"


def table_of(function: str, X: Any, y: Any, *unused: str) -> Table:
    """Return the table of a call, which `X` may be already.

    Raises
    ------
    TypeError, ValueError
        If there is a target beside it, or it has something that the function has no use for.
    """
    if not isinstance(X, Table):
        return Table(X, y)
    if y is not None:
        raise TypeError(
            f"{function}: y must be None with a Table, got {type(y).__name__}. Hint: Table(X, y)."
        )
    for name in unused:
        if (value := getattr(X, name)) is not None:
            came = repr(value) if isinstance(value, str | int) else type(value).__name__
            raise ValueError(
                f"{function}: {name} of the Table must be None, as it has no effect here, got "
                f"{came}. Hint: leave it out."
            )
    return X


def problem_of(
    function: str, table: Table, *, n_jobs: int | None, seed: int, stored: bool = False
) -> Problem[Any]:
    """Encode a table and its target, and look at them as the commands do.

    A `ColumnStore` is read into memory unless it may stay on disk, `stored`. Of more than
    `max_rows` rows, a random sample is left.

    Raises
    ------
    ValueError
        If something is refused that commands refuse, such as dates and identifiers.
    TypeError, ValueError
        If table, target or names of columns are not as described.
    """
    task, max_rows = table.task, table.max_rows
    keep_identifiers = checks.check_flag(function, "keep_identifiers", table.keep_identifiers)
    checks.check_optional_integer(function, "max_rows", max_rows, 2)
    name = table.y if isinstance(table.y, str) else str(getattr(table.y, "name", None) or "y")
    if not isinstance(table.X, LearningSet):
        table = _taken_apart(function, table)
    elif isinstance(table.y, str):
        table = replace(table, y=None)
    described = {what: getattr(table, what) for what in _OF_SET}
    if isinstance(table.X, LearningSet) and table.X.provenance.inspected:
        data = learning_set_of(table.X, table.y, function, task, **described)
        problem = _of_provenance(data)
    else:
        problem = _looked_at(function, table, name, described, keep_identifiers, n_jobs)
    problem = sampled(problem, max_rows, seed, f"max_rows={max_rows}, random_state={seed}")
    if stored and isinstance(problem.table, ColumnStore):
        return problem
    return loaded(problem)


def _of_provenance(data: LearningSet[Any]) -> Problem[Any]:
    """Return the problem of a learning set that `duramen.read` made."""
    source = data.provenance
    return Problem(
        source.file,
        data,
        source.target,
        source.citation,
        source.notes,
        source.dropped_rows,
        source.findings,
        variants=source.variants,
        row_names=source.row_names,
    )


def _looked_at(
    function: str,
    table: Table,
    name: str,
    described: Mapping[str, Any],
    keep_identifiers: bool,
    n_jobs: int | None,
) -> Problem[Any]:
    """Encode a table and its target, and look at them."""
    task = table.task
    if isinstance(table.X, LearningSet):
        data = learning_set_of(table.X, table.y, function, task, **described)
        findings = [*of_target(data.y, name), *of_codes(data.table)]
        row_names = RowNames(start=0)
    else:
        row_names = names_of_rows(table.X)
        findings = [*of_target(table.y, name, task if task != "survival" else "regression")]
        findings += of_dates(dates_of(table.X)) if not isinstance(table.X, ColumnStore) else []
        _refuse(function, findings, keep_identifiers)
        with stray_columns() as stray:
            data = learning_set_of(table.X, table.y, function, task, n_jobs=n_jobs, **described)
        findings += map(of_stray, stray)
        findings += of_codes(data.table, [values.name for values in stray])
    scores = data.target.association_scores()[:, 0] if data.target.censored else data.y
    kind = "regression" if data.target.censored else data.task
    findings += of_rows(data.table, scores, name, kind, data.exchangeability.groups)
    gone = () if keep_identifiers else left_out(findings)
    findings = _refuse(function, findings, keep_identifiers)
    if len(gone) == data.n_columns:
        raise ValueError(f"{function}: all columns look like identifiers; {_KEEPS.format('them')}.")
    data = data.with_table(without_names(data.table, gone)) if gone else data
    variants = data.table.variants if isinstance(data.table, ColumnStore) else None
    if gone and row_names.labels is None and (frame := _columns(table.X)) is not None:
        row_names = replace(row_names, labels=frame[gone[0]].to_list())
    return Problem(
        "", data, name, findings=in_order(findings), variants=variants, row_names=row_names
    )


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
        listed = without_identifiers(findings, _KEEPS)
    refused = [str(finding) for finding in listed if finding.refused]
    if refused:
        raise ValueError(f"{function}: {'; '.join(refused)}.")
    return listed


def _taken_apart(function: str, table: Table) -> Table:
    """Return a table whose y, strata and groups are the columns that they name, which X lacks."""
    if table.y is None:
        raise TypeError(
            f"{function}: y is missing. Give the target as y, or the name of its column, "
            f'{function}(table, "diagnosis").'
        )
    named = {what: getattr(table, what) for what in ("y", "strata", "groups")}
    named = {what: name for what, name in named.items() if isinstance(name, str)}
    X, annotations = table.X, None
    taken: dict[str, Any] = {}
    if is_anndata(X):
        annotations = X.obs
    elif isinstance(X, ColumnStore):
        annotations = X.samples
        if name := named.pop("y", None):
            others, taken["y"] = X.target(name)
            X = X if len(others) == X.n_columns else without(X, [X.find(name)])
    columns: Any = _columns(X if annotations is None else annotations) if named else None
    for what, name in named.items():
        if columns is None:
            of_store = "ColumnStore without sample annotations"
            kind = of_store if isinstance(X, ColumnStore) else f"{type(X).__name__} without names"
            raise TypeError(
                f"{function}: {what}={name!r} names a column, and X is a {kind}. Hint: give a data "
                f"frame, or an array as {what}."
            )
        taken[what] = _column(function, what, name, columns)
    if named and annotations is None:
        X = columns.drop(*dict.fromkeys(named.values())).to_native()
    return replace(table, X=X, **taken)


def _columns(X: Any) -> Any:
    """Return a data frame as narwhals has it; None for other tables."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _column(function: str, what: str, name: str, frame: Any) -> Any:
    """Return a column of a frame by its name."""
    if name not in frame.columns:
        import difflib

        close = difflib.get_close_matches(name, map(str, frame.columns), n=1, cutoff=0.5)
        shown = ", ".join(quoted(key) for key in frame.columns[:10])
        hint = f"did you mean {quoted(close[0])}?" if close else f"its columns are {shown}"
        raise ValueError(f"{function}: {what}: the table has no column {quoted(name)}; {hint}")
    return frame[name].to_native()


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
    seed = checks.check_seed(function, random_state)
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
    return f"dm.{function.__name__}({_words(function, arguments)})"


def _words(function: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    words = []
    for name, parameter in signature(function).parameters.items():
        value = arguments[name]
        if name in ("X", "data"):
            words.append(repr(value) if isinstance(value, Table) else name)
        elif name == "y" and not isinstance(value, str | None):
            words.append(name)
        elif not _is_default(value, parameter.default):
            words.append(f"{name}={_shown(value)}")
    return ", ".join(words)


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else "..."


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | float) and value == default)
