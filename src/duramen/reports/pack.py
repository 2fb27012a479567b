"""Report of a packed column store."""

from __future__ import annotations

from duramen.io import ColumnStore
from duramen.io.store.layout import BESIDE, HEADER, NEEDED
from duramen.reports.facts import about
from duramen.reports.report import HELD, Fact, Facts, Prose, Report, Run, Table
from duramen.results.columns import Column
from duramen.support.arrow import pa, pc

_LISTED = 200
_READING = (
    "A store holds every column as the ranks of its values, so that single columns can be read "
    "without the others. Functions that accept a table accept the store, which "
    "duramen.open_store opens.",
    "Everything that is read is checked against the checksums in the store. Do not rename or "
    "edit its files, except for this report and the result files beside it.",
)


def summarize_pack(store: ColumnStore, table: pa.Table, run: Run) -> Report:
    """Return the report of a packed store, with its table of columns."""
    shown = table.slice(0, HELD)
    columns = Table(
        title="Columns",
        columns=(
            Column("column", shown["name"].to_pylist(), "name"),
            Column("kind", shown["kind"].to_pylist(), "words"),
            Column("values", [f"{count:,}" for count in shown["values"].to_pylist()]),
            Column("missing", [f"{count:,}" for count in shown["missing"].to_pylist()]),
        ),
        note=f"The first {min(_LISTED, table.num_rows):,} of {table.num_rows:,} columns: their "
        "distinct values, and rows where the value is missing. All are in result.csv and "
        "result.parquet.",
        shown=_LISTED,
        total=table.num_rows,
        what="columns",
        main=True,
    )
    counts, annotations = _counts(store, table), _annotations(store)
    size = Fact("bytes on disk", f"{_size(store):,}")
    annotated = Fact("sample annotations", ", ".join(annotations) or "nothing")
    brief = f"Also stored for each row: {', '.join(annotations)}"
    words = ", ".join(f"{fact.value} {fact.name}" for fact in counts)
    return Report(
        kind="column store",
        title=f"{run.file}, packed",
        run=run,
        headline=counts,
        sections=(
            columns,
            Facts("The store", (size, annotated), brief=(brief,) if annotations else ()),
            Prose("How to use it", _READING),
            *about(run),
        ),
        subject=(f"Packed {words}; {_size(store):,} bytes",),
        table=dict(zip(table.column_names, table.columns, strict=True)),
    )


def _counts(store: ColumnStore, table: pa.Table) -> tuple[Fact, ...]:

    kinds = {row["values"]: row["counts"] for row in pc.value_counts(table["kind"]).to_pylist()}
    counts = {"row": store.n_rows, "column": store.n_columns}
    counts |= {f"{kind} column": count for kind, count in kinds.items()}
    return tuple(Fact(noun + "s" * (count != 1), f"{count:,}") for noun, count in counts.items())


def _annotations(store: ColumnStore) -> list[str]:
    samples = store.samples
    return [] if samples is None else list(samples.column_names)


def _size(store: ColumnStore) -> int:
    """Return the bytes of the store's own files, without results and what packing needs."""
    files = [store.path / name for name in (*NEEDED, *BESIDE, HEADER)]
    return sum(file.stat().st_size for file in files if file.is_file())
