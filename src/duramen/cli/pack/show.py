"""Terminal output and report of `duramen pack`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from duramen.cli.show import Shown, show
from duramen.io import ColumnStore
from duramen.reports import Report, Run
from duramen.reports.facts import about
from duramen.reports.report import Column, Fact, Facts, Prose, Table

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN = 10
_LISTED = 200
_TITLES = ("column", "kind", "values", "missing")
_READING = (
    "A store holds every column as the ranks of its values, so that single columns can be read "
    "without the others. Functions that accept a table accept the store, which "
    "duramen.open_store opens.",
    "Everything that is read is checked against the checksums in the store. Do not rename or "
    "edit its files, except for this report and the result files beside it.",
)


def show_pack(store: ColumnStore, table: pa.Table, out: Path) -> None:
    """Print what was packed, its first columns, and where the store lies."""
    cells = _cells(table, _SHOWN)
    columns = [
        Shown(title, [row[i] for row in cells], right=i > 1) for i, title in enumerate(_TITLES)
    ]
    words = ", ".join(f"{fact.value} {fact.name}" for fact in _counts(store, table))
    before = [f"Packed {words}; {_size(store):,} bytes"]
    known = _known(store)
    after = [f"Also stored for each row: {', '.join(known)}"] if known else []
    show(before, columns, table.num_rows - len(cells), out, after)


def summarize_pack(store: ColumnStore, table: pa.Table, run: Run) -> Report:
    """Return the report of a packed store, with its table of columns."""
    cells = _cells(table, _LISTED)
    columns = Table(
        title="Columns",
        columns=(
            Column(_TITLES[0], "name"),
            Column(_TITLES[1], "words"),
            *(Column(title, "number") for title in _TITLES[2:]),
        ),
        rows=tuple(cells),
        note=f"The first {len(cells):,} of {table.num_rows:,} columns: their distinct values, and "
        "rows where the value is missing. All are in result.csv and result.parquet.",
    )
    kept = Fact("bytes on disk", f"{_size(store):,}")
    known = Fact("sample annotations", ", ".join(_known(store)) or "nothing")
    return Report(
        kind="column store",
        title=f"{run.file}, packed",
        headline=_counts(store, table),
        sections=(
            columns,
            Facts("The store", (kept, known)),
            Prose("How to use it", _READING),
            *about(run),
        ),
    )


def _counts(store: ColumnStore, table: pa.Table) -> tuple[Fact, ...]:
    import pyarrow.compute as pc

    kinds = {row["values"]: row["counts"] for row in pc.value_counts(table["kind"]).to_pylist()}
    return (
        Fact("rows", f"{store.n_rows:,}"),
        Fact("columns", f"{store.n_columns:,}"),
        *(Fact(f"{kind} columns", f"{count:,}") for kind, count in kinds.items()),
    )


def _cells(table: pa.Table, most: int) -> list[tuple[str, ...]]:
    rows = table.slice(0, most).to_pylist()
    return [(row["name"], row["kind"], f"{row['values']:,}", f"{row['missing']:,}") for row in rows]


def _known(store: ColumnStore) -> list[str]:
    samples = store.samples
    return [] if samples is None else list(samples.column_names)


def _size(store: ColumnStore) -> int:
    """Return the bytes of the store's own files, without results and what packing needs."""
    from duramen.io.store.layout import BESIDE, GROWING, HEADER

    files = [store.path / name for name in (*GROWING, *BESIDE, HEADER)]
    return sum(file.stat().st_size for file in files if file.is_file())
