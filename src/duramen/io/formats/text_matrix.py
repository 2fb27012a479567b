"""Matrices of numbers in text without a line of names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from duramen.support.text import first_line

if TYPE_CHECKING:
    import pyarrow as pa

_SUFFIXES = (".txt", ".dat")
_NAMED_SUFFIXES = (".csv", ".tsv")  # of files that may begin with names
_SEPARATORS = (",", ";", "\t")
_MISSING = ["", "NA", "NaN", "nan", "NAN", "null", "-nan"]
_NUMBER = re.compile(
    r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?(nan|inf|infinity)", re.IGNORECASE
)


def is_text_matrix(path: Path) -> bool:
    """Return whether a file is text whose first line holds no names.

    Numbers from 0 or 1 on, as pandas names columns, are names.
    """
    if path.suffix.lower() not in _NAMED_SUFFIXES:
        return path.suffix.lower() in _SUFFIXES
    with open(path, encoding="utf-8", errors="replace") as lines:
        words = _words(next(lines, ""))
    counted = [[str(j) for j in range(first, first + len(words))] for first in (0, 1)]
    if len(words) > 1 and words in counted:
        return False
    return bool(words[0]) and all(_NUMBER.fullmatch(word) for word in words if word)


def read_text_matrix(path: Path, function: str) -> NDArray[np.float64]:
    """Read numbers between commas, semicolons, tabs or spaces.

    Raises
    ------
    ValueError
        If a line has more or fewer numbers than the first, or something else than numbers.
    """
    with open(path, encoding="utf-8", errors="replace") as lines:
        line = next(lines)
    separator = next((one for one in _SEPARATORS if one in line.strip()), None)
    try:
        if separator is None:
            return np.loadtxt(path, ndmin=2, comments=None)
        return _delimited(path, separator, len(_words(line)))
    except (ValueError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{function}: {path} must hold the same number of values in every line "
            f"({first_line(error)})"
        ) from None


def _words(line: str) -> list[str]:
    separator = next((one for one in _SEPARATORS if one in line.strip()), None)
    return [word.strip() for word in line.strip().split(separator)]


def _delimited(path: Path, separator: str, width: int) -> NDArray[np.float64]:
    """Read with PyArrow, a batch of lines at a time."""
    import pyarrow as pa
    from pyarrow import csv

    names = [str(j) for j in range(width)]
    batches = csv.open_csv(
        path,
        read_options=csv.ReadOptions(column_names=names, use_threads=False),
        parse_options=csv.ParseOptions(delimiter=separator),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.float64()), null_values=_MISSING
        ),
    )
    return np.concatenate([_matrix(batch) for batch in batches])


def _matrix(batch: pa.RecordBatch) -> NDArray[np.float64]:
    part = np.empty((batch.num_rows, batch.num_columns))
    for j, column in enumerate(batch.columns):
        part[:, j] = column.to_numpy(zero_copy_only=False)
    return part
