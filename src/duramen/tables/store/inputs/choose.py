"""Which input a source is."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from duramen.tables.encoded import EncodedTable
from duramen.tables.files import (
    _ARROW,
    _COMPRESSIONS,
    _DELIMITERS,
    _PARQUET,
    refuse_text_options,
    text_options,
)
from duramen.tables.store.column_store import ColumnStore
from duramen.tables.store.inputs.arrow import ArrowInput, TransposedArrowInput, records_of
from duramen.tables.store.inputs.bed import BedInput
from duramen.tables.store.inputs.h5ad import open_h5ad
from duramen.tables.store.inputs.input import Input
from duramen.tables.store.inputs.npy import NpyInput
from duramen.tables.store.inputs.tables import EncodedInput, SourceInput
from duramen.tables.store.inputs.text import TextInput, TransposedTextInput

READABLE = (
    "CSV (.csv, .csv.gz), TSV (.tsv), Parquet (.parquet, .pq), Arrow (.arrow, .feather), NumPy "
    "(.npy), AnnData (.h5ad) or PLINK (.bed)"
)


def open_input(
    source: Any,
    *,
    transpose: bool,
    layer: str | None,
    budget: int,
    n_threads: int,
    function: str,
    na_values: Sequence[str] = (),
    decimal: str = ".",
) -> Input:
    """Open what is to be packed.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If its kind is not known, or it cannot be read, or an option does not apply to it.
    """
    options = text_options(na_values, decimal, function)
    if not isinstance(source, str | os.PathLike):
        refuse_text_options(Path("a table"), na_values, decimal, function)
        return _table(source, transpose, layer, budget, function)
    path = Path(source).expanduser()
    if path.is_dir():
        raise IsADirectoryError(f"{function}: {path} is a directory; give a file: {READABLE}")
    if not path.exists():
        raise FileNotFoundError(f"{function}: there is no file {path}{_similar(path)}")
    if path.stat().st_size == 0:
        raise ValueError(f"{function}: {path} is empty (0 bytes)")
    suffixes = [suffix.lower() for suffix in path.suffixes] or [""]
    packed = len(suffixes) > 1 and suffixes[-1] in _COMPRESSIONS
    kind = suffixes[-2] if packed else suffixes[-1]
    if layer is not None and kind != ".h5ad":
        raise ValueError(f"{function}: layer={layer!r} is for .h5ad files, and {path} is none")
    if kind in _DELIMITERS:
        text = TransposedTextInput if transpose else TextInput
        return text(path, _DELIMITERS[kind], budget, n_threads, function, options)
    refuse_text_options(path, na_values, decimal, function)
    if not packed:
        found = _binary(path, kind, transpose, layer, budget, function)
        if found is not None:
            return found
    what = f"the extension {suffixes[-1]!r} of {path.name!r}" if path.suffixes else f"{path.name!r}"
    raise ValueError(f"{function}: {what} is not known; files may be {READABLE}")


def _binary(
    path: Path, kind: str, transpose: bool, layer: str | None, budget: int, function: str
) -> Input | None:
    if kind in _PARQUET or kind in _ARROW:
        records = records_of(path, kind in _PARQUET, function)
        if transpose:
            return TransposedArrowInput(path, records, budget, function)
        return ArrowInput(path, records, budget)
    if kind == ".npy":
        return NpyInput(path, transpose, budget, function)
    if kind == ".h5ad":
        return open_h5ad(path, layer, transpose, budget, function)
    if kind == ".bed":
        if transpose:
            raise ValueError(
                f"{function}: transpose=True is not for .bed files: their variants are columns, "
                "their samples rows"
            )
        return BedInput(path, budget, function)
    return None


def _table(source: Any, transpose: bool, layer: str | None, budget: int, function: str) -> Input:
    if layer is not None:
        raise ValueError(f"{function}: layer={layer!r} is for .h5ad files, not for tables")
    if isinstance(source, EncodedTable | ColumnStore):
        if transpose:
            raise ValueError(
                f"{function}: an encoded table cannot be transposed; transpose it before"
            )
        return EncodedInput(source, budget)
    if transpose:
        if not hasattr(source, "T") or hasattr(source, "columns"):
            raise ValueError(
                f"{function}: transpose=True is for files, arrays and sparse matrices; a "
                f"{type(source).__name__} is to be transposed before"
            )
        source = source.T
    return SourceInput(source, budget, function)


def _similar(path: Path) -> str:
    try:
        others = [other.name for other in path.parent.iterdir()]
    except OSError:
        return f": the folder {path.parent} does not exist"
    close = difflib.get_close_matches(path.name, others, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
