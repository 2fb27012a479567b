"""Table of a context analysis, with the contexts set apart from the other columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from duramen.analyses.problem import Problem, loaded
from duramen.cli.inputs import Small
from duramen.cli.problem import as_arrow, encoded, exchanged, looked
from duramen.cli.reading import stray_findings
from duramen.cli.source import Source, check_columns

if TYPE_CHECKING:
    from duramen.data import EncodedTable, Finding


@dataclass(frozen=True)
class Given:
    """Table, its contexts, and its target if there is one."""

    source: Source  # without the contexts; the column of a network is its context
    contexts: Mapping[str, Any]  # values of each context, of shape (n,)
    table: EncodedTable  # columns that are no contexts
    problem: Problem[EncodedTable] | None  # the table with the target; None for a network
    notes: tuple[str, ...] = ()  # on how the table was read
    findings: tuple[Finding, ...] = ()  # what the look at the data found
    rows: Mapping[str, Any] = field(default_factory=dict)  # strata and groups, by the parameter


def with_target(
    command: str, source: Source, contexts: Sequence[str], data: Small, jobs: int
) -> Given:
    """Set contexts apart from the features of a target.

    Raises
    ------
    ValueError, TypeError, MemoryError
        If a context, a column or the target cannot be used.
    """
    categorical = data.reading.categorical
    check_columns("--context", contexts, source.features.column_names, source.target)
    values = {
        name: _values(name, source.features.column(name), name in categorical) for name in contexts
    }
    features = source.features.drop_columns(list(contexts))
    if not features.column_names:
        raise ValueError("no column is left besides the target and --context")
    rows, notes = exchanged(source.labels, next(iter(values.values())))
    settled = {option: {option: one} for option, one in rows.items()}
    inputs = replace(source, features=features, labels=settled, notes=(*source.notes, *notes))
    others = [name for name in categorical if name not in contexts]
    columns = {name: source.features.column(name) for name in contexts}
    problem = encoded(
        command,
        inputs,
        task=data.task,
        categorical=others,
        jobs=jobs,
        keep_identifiers=data.keep_identifiers,
        others=_stray(source.name, columns, categorical),
    )
    return Given(inputs, values, problem.table, problem, problem.told, problem.findings, rows)


def without_target(command: str, source: Source, data: Small, jobs: int) -> Given:
    """Take the column that was set apart for the context of all others."""
    name, categorical = source.target, data.reading.categorical
    values = {name: _values(name, source.column, name in categorical)}
    others = [column for column in categorical if column != name]
    check_columns("--categorical", others, source.features.column_names, name)
    of_context = _stray(source.name, {name: source.column}, categorical)
    table, told = looked(command, source, others, jobs, data.keep_identifiers, of_context)
    rows, notes = exchanged(source.labels, values[name])
    said = (*source.notes, *notes, *map(str, told))
    return Given(source, values, table, None, said, told, rows)


def from_store(
    command: str,
    target: str,
    contexts: Sequence[str],
    labels: Mapping[str, Sequence[str]],
    data: Small,
) -> Given:
    """Read what is stored into memory, and set contexts apart.

    Without contexts, `target` is the context of a network.

    Raises
    ------
    ValueError, TypeError, MemoryError
        If a context, a column or the target cannot be used.
    """

    def settle(labels: Mapping[str, Mapping[str, Any]], y: Any) -> Any:
        return exchanged(labels, next(iter(labels["context"].values())) if contexts else y)

    apart = {**labels, "context": contexts} if contexts else labels
    problem = loaded(data.stored(command, apart, target=target, settle=settle))
    known = problem.labels["context"] if contexts else {target: problem.data.y}
    values = {
        name: _values(name, as_arrow(one), name in data.reading.categorical)
        for name, one in known.items()
    }
    problem, places = data.complete(problem)
    values = {name: column[places] for name, column in values.items()}
    source = Source(
        problem.name,
        None,
        None,
        target,
        problem.citation,
        notes=problem.notes,
        dropped_rows=problem.dropped_rows,
    )
    rows = problem.data.exchangeability
    exchange = {"strata": rows.strata, "groups": rows.groups}
    return Given(
        source,
        values,
        problem.table,
        problem if contexts else None,
        problem.told,
        problem.findings,
        {name: one for name, one in exchange.items() if one is not None},
    )


def _stray(file: str, columns: Mapping[str, Any], categorical: Sequence[str]) -> list[Finding]:
    """Tell which contexts are text, but nearly numbers."""
    from duramen.data.stray import stray_values_of

    found = [
        stray_values_of(name, column) for name, column in columns.items() if name not in categorical
    ]
    return stray_findings([one for one in found if one is not None], file)


def _values(name: str, column: Any, categorical: bool) -> Any:
    """Return the values of a context: numbers as they are, what is a category as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    missing = pc.sum(pc.is_null(column, nan_is_null=True)).as_py() or 0
    if missing:
        raise ValueError(
            f"--context {name} is missing in {missing:,} of {len(column):,} rows; leave these "
            "rows out with --missing drop"
        )
    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if not number or categorical:
        return column.cast(pa.string()).to_numpy(zero_copy_only=False)
    return column.to_numpy()
