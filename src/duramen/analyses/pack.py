"""Analysis `pack`: a column store from any table, and a report of its content."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, Literal, cast

from duramen.analyses.execution import Execution
from duramen.data import Finding
from duramen.data.dates import DateOrder
from duramen.findings.table import of_names
from duramen.io.formats.format import READING
from duramen.io.store.column_store import ColumnStore, open_store
from duramen.io.store.layout import BESIDE, HEADER, NEEDED
from duramen.io.store.packing import pack_table
from duramen.reading.text import arguments_for, check_options, table_of_samples
from duramen.reports.report import HELD, Report, Run, Section, Table, page
from duramen.results.summary import Column
from duramen.support.arrays import TableLike
from duramen.support.arrow import pc
from duramen.support.checks import warn
from duramen.support.files import expanded
from duramen.support.provenance import versions

_LISTED = 200
_RECORDED = ("transpose", "layer", "samples", "samples_id", "samples_match", "categorical")
_READING = (
    "A store holds every column as the ranks of its values, so that single columns can be read "
    "without the others. Functions that accept a table accept the store, which "
    "duramen.open_store opens.",
    "Everything that is read is checked against the checksums in the store. Do not rename or "
    "edit its files, except for this report and the result files beside it.",
)


def pack(
    source: TableLike,
    path: str | os.PathLike[str],
    *,
    names: Iterable[str] | None = None,
    kinds: str | Mapping[Any, str] | Sequence[str | None] | None = None,
    transpose: bool = False,
    layer: str | None = None,
    samples: Any | str | Path = None,
    samples_id: str | None = None,
    samples_match: Literal["exact", "fold", "position"] = "exact",
    categorical: Sequence[str] = (),
    date_order: DateOrder = "auto",
    as_text: Sequence[str] = (),
    na_values: Sequence[str] = (),
    decimal: str | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    skip_rows: int = 0,
    member: str | None = None,
    sheet: str | None = None,
    memory: str | int = "512MB",
    overwrite: bool = False,
    n_jobs: int = -1,
    verbose: int = 0,
) -> ColumnStore:
    """Pack a table into a column store, a folder on disk.

    Analyses then read only the columns that they need. Packing takes little memory, however large
    the file. The store is made in a hidden folder beside its place and moved there when it is
    whole.

    Parameters
    ----------
    source : path or table
        File with a table; or a table as for :func:`duramen.encode`.
    path : path
        Folder to make.
    names : iterable of str, optional
        Names of the columns, in place of those of the source.
    kinds : str, mapping or sequence, optional
        Kinds of the columns, as for :func:`duramen.encode`.
    transpose : bool
        Transpose the file, such as one with genes in rows. Its rows become columns, and its first
        column names them.
    layer : str, optional
        Layer of an AnnData to read, or raw; X by default.
    samples : path or table, optional
        Table of sample annotations, such as the classes. Its rows are paired with the rows of the
        source by name.
    samples_id : str, optional
        Column of the sample annotations, or of the table, with the names of the rows; by default,
        the column whose values match.
    samples_match : {"exact", "fold", "position"}
        Pairing of the rows: by their names as they are; by names folded, without case, spaces,
        signs such as . and -, an X before a digit, and leading zeros; or by position, in the order
        of both files.
    categorical : list of str
        Column of numbers or dates to treat as categorical.
    date_order : {"auto", "day-first", "month-first"}
        Order of day and month in dates such as 03/04/2024; auto decides by the dates of the column.
    as_text : list of str
        Column of text to leave as it is: dates, numbers with units and the like are not read as
        numbers.
    na_values : list of str
        Additional word for a missing value in CSV and TSV files, such as '?'.
    decimal : str, optional
        Decimal point of numbers in CSV and TSV files, . or ,; by default detected from the first
        lines.
    separator : str, optional
        Character between two fields of CSV and TSV files, or comma, semicolon, tab, pipe, space; by
        default detected from the first lines.
    encoding : str
        Encoding of CSV, TSV and text files, such as latin-1 or utf-16; sample annotations may also
        be in UTF-8.
    skip_rows : int
        Number of lines of the file before the one that names the columns; rows of a workbook.
    member : str, optional
        File to read from a .zip archive; by default the only one.
    sheet : str, optional
        Sheet of a workbook, such as an .xlsx file; the first by default.
    memory : str or int
        Memory to use, such as 512MB or 2GiB; the interpreter, its packages and some 60 bytes for
        each column come on top. A single column has to fit, and a single row of a text file.
    overwrite : bool
        Replace the store in the folder.
    n_jobs : int
        Number of threads, or -1 for all. The result does not depend on it.
    verbose : int
        Above 0: progress bars.

    Returns
    -------
    ColumnStore
        The store, opened. Columns, kinds, values, missing values and codes are those of
        :func:`duramen.encode`, of a file as :func:`duramen.read` reads it.

    Raises
    ------
    FileExistsError
        If `path` exists and is no store, or is one and `overwrite` is false.
    ValueError
        If the source is empty, damaged, or of unequal rows, names repeat, `samples` cannot be
        paired with its rows as in `open_store`, or a parameter is not as described; and whatever
        `encode` raises it for.
    MemoryError
        If a column takes more memory than there is; one that takes more than `memory` warns.
    TypeError
        If a column holds nested values or mixed types.
    OSError
        If the source cannot be read, or the folder cannot be made or written, as on a full disk.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> np.save("genes.npy", np.arange(12.0).reshape(3, 4))
    >>> dm.pack("genes.npy", "genes.store")
    ColumnStore genes.store of 3 rows x 4 columns (4 numeric)
    """
    arguments = dict(locals())
    execution, start = Execution.of(pack, arguments), time.perf_counter()
    if categorical and kinds is not None:
        raise ValueError("pack: categorical and kinds do not go together; give one of them")
    options = {}
    for name in READING:
        value, default = arguments[name], signature(pack).parameters[name].default
        if value != default and not (isinstance(value, list) and not value):
            options[name] = value
    reading, annotations = options, samples
    of_file = isinstance(samples, str | os.PathLike)
    if isinstance(source, str | os.PathLike):
        check_options(options, Path(source), Path(samples) if of_file else None)
        reading, _ = arguments_for(expanded(source, "pack"), options)
    if of_file:
        findings: list[Finding] = []
        annotations = table_of_samples(Path(samples), options, findings, "pack")
        for finding in findings:
            warn(f"pack: {finding}")
    finish = execution.finish

    def finishing(folder: Path) -> None:
        """Write the report of a command into the store before it takes its place."""
        execution.seconds["pack"] = round(time.perf_counter() - start, 4)
        store, settings = open_store(folder), dict[str, Any]()
        recorded = (*_RECORDED, "date_order", *READING, "memory")
        for name in recorded:  # files by name, no defaults of reading
            value, default = arguments[name], signature(pack).parameters[name].default
            if name in ("samples", "categorical", "memory") or value != default:
                value = list(value) if isinstance(value, tuple) else value
                settings[name] = value.name if isinstance(value, Path) else value
        facts = {
            "file": Path(cast("str", source)).name,
            "n_rows": store.n_rows,
            "n_features": store.n_columns,
            "fingerprint": store.fingerprint(),
            "versions": versions("pyarrow", "h5py"),
        }
        assert finish is not None
        finish(folder, _report(store, execution.record(facts, settings=settings)))

    store = pack_table(
        source,
        path,
        names=names,
        kinds=dict.fromkeys(categorical, "nominal") or kinds,
        transpose=transpose,
        layer=layer,
        samples=annotations,
        samples_id=samples_id,
        samples_match=samples_match,
        reading=reading,
        memory=memory,
        overwrite=overwrite,
        date_order=date_order,
        n_jobs=n_jobs,
        verbose=verbose,
        finishing=None if finish is None else finishing,
    )
    if execution.show is not None:
        paired = [] if store.samples_pairing is None else [store.samples_pairing]
        execution.tell(*paired, *map(str, [] if transpose else of_names(store)))
    return store


def _report(store: ColumnStore, run: Run) -> Report:
    """Return the report of a store, with its table of columns."""
    table = store.to_table()
    shown, total = table.slice(0, HELD), table.num_rows
    kinds = {row["values"]: row["counts"] for row in pc.value_counts(table["kind"]).to_pylist()}
    numbers = {"row": store.n_rows, "column": store.n_columns}
    numbers |= {f"{kind} column": count for kind, count in kinds.items()}
    counts = {noun + "s" * (n != 1): f"{n:,}" for noun, n in numbers.items()}
    files = [store.path / name for name in (*NEEDED, *BESIDE, HEADER)]  # without results and plan
    size = f"{sum(file.stat().st_size for file in files if file.is_file()):,}"
    annotations = ", ".join([] if store.samples is None else store.samples.column_names)
    columns = Table(
        "Columns",
        (
            Column("column", shown["name"].to_pylist(), "name"),
            Column("kind", shown["kind"].to_pylist(), "words"),
            *(
                Column(name, [f"{count:,}" for count in shown[name].to_pylist()])
                for name in ("values", "missing")
            ),
        ),
        f"The first {min(_LISTED, total):,} of {total:,} columns: their distinct values, and rows "
        "where the value is missing. All are in result.csv and result.parquet.",
        shown=_LISTED,
        total=total,
        what="columns",
        main=True,
    )
    on_disk = Section(
        "The store",
        facts=(("bytes on disk", size), ("sample annotations", annotations or "nothing")),
        brief=(f"Also stored for each row: {annotations}",) if annotations else (),
    )
    return page(
        Report,
        run,
        facts=counts,
        sections=[columns, on_disk],
        reading=_READING,
        kind="column store",
        title=f"{run.file}, packed",
        subject=(f"Packed {', '.join(f'{n} {noun}' for noun, n in counts.items())}; {size} bytes",),
        table=dict(zip(table.column_names, table.columns, strict=True)),
    )
