"""Expression, names of genes and known links, read for `duramen network`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from duramen.cli.look import look
from duramen.cli.network.options import COMMAND, Expression
from duramen.cli.source import check_columns
from duramen.cli.stores import is_store

if TYPE_CHECKING:
    from duramen.data import Finding

_CALLER = f"duramen {COMMAND}"
_DEMO = {"n_samples": 100, "n_genes": 50, "random_state": 0}


@dataclass(frozen=True, eq=False)
class Given:
    """Expression and known links."""

    name: str  # of the file, in sentences
    table: Any  # as `genie3` takes it
    genes: str  # where the genes are in it
    gold: Any = None  # as `Network.score` takes it
    names: tuple[str, ...] | None = None  # of the genes, where the table has none
    findings: tuple[Finding, ...] = ()  # what the look at the data found


def check(options: Expression) -> None:
    """Check that the user named a table, or asked for the simulated network.

    Raises
    ------
    ValueError
        If something is missing, or too much.
    """
    if options.demo and (options.file is not None or options.gold is not None):
        raise ValueError("--demo brings its own data; leave out FILE and --gold")
    if not options.demo and options.file is None:
        raise ValueError("give a FILE, or --demo for a simulated network")
    if options.demo and options.genes != "columns":
        raise ValueError("--demo has the genes in columns; leave out --genes")
    options.reading.check(options.file)


def read(options: Expression) -> Given:
    """Read the expression, and the known links if they are given.

    Raises
    ------
    ValueError, OSError
        If a file cannot be read.
    """
    if options.demo:
        from duramen.datasets import gene_network

        made = gene_network(**_DEMO)
        return Given("simulated network", made.expression, "columns", made.links, made.names)
    assert options.file is not None
    gold = None if options.gold is None else read_links(options.gold, _CALLER)
    found = options.reading.findings(options.file)
    table, genes = _table(options, options.file, found)
    told = _looked(options, table, found)
    from duramen.findings.table import left_out

    gone = () if options.keep_identifiers else left_out(told)
    return Given(options.file.name, _without(table, gone), genes, gold, findings=told)


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


def _looked(options: Expression, table: Any, found: list[Finding]) -> tuple[Finding, ...]:
    """Look at the expression; of genes in rows, at the samples, whose first column names genes."""
    from duramen.data import EncodedTable
    from duramen.findings import findings

    columns, kinds = table, ["index"] if options.genes == "rows" else []  # samples have any name
    if options.genes == "rows" and not isinstance(table, EncodedTable):
        columns = table.remove_column(0) if table.num_columns > 1 else table
    found += [one for one in findings(columns) if one.kind not in kinds]
    file = "" if options.file is None else options.file.name
    return look(COMMAND, found, file, keep_identifiers=options.keep_identifiers)


def names(asked: Sequence[str]) -> list[str] | None:
    """Return names of genes; of those that name a file, the names in it, one a line.

    Raises
    ------
    ValueError
        If a file holds no name.
    """
    if not asked:
        return None
    found: list[str] = []
    for one in asked:
        path = Path(one)
        if not os.path.isfile(path):  # unlike Path.is_file it takes names that no file can have
            found.append(one)
            continue
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
        if not any(lines):
            raise ValueError(f"{path} must hold names of genes, one per line, got none")
        found += [line for line in lines if line]
    return found


def _table(options: Expression, path: Path, found: list[Finding]) -> tuple[Any, str]:
    """Return the table, and where its genes are."""
    import numpy as np

    from duramen.io import open_store, pack
    from duramen.io.formats import format_of

    known = format_of(path)
    if not is_store(path) and (known is None or known.read is not None):
        table = options.reading.read(path, _CALLER, found)
        check_columns("--drop", options.drop, table.column_names, "")
        table = table.drop_columns(list(options.drop))
        return _samples_of(table, path) if options.genes == "rows" else table, options.genes
    with _packed(path, options, pack) if not is_store(path) else _itself(path) as place:
        store = open_store(place)
        check_columns("--drop", options.drop, store.names, "")
        kept = [j for j, name in enumerate(store.names) if name not in options.drop]
        return store.take_columns(np.array(kept, dtype=np.int64)), "columns"


def _samples_of(table: Any, path: Path) -> Any:
    """Return a table of genes in rows without columns that describe the genes."""
    from duramen.io.formats.gene_annotation import describing, warn_of

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
        turned, reading = options.genes == "rows", options.reading
        pack(path, place, transpose=turned, as_text=reading.as_text, **reading.parameters(path))
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
