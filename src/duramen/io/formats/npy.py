"""NumPy files as inputs."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.io.formats.format import Format, Input, Request
from duramen.io.store.reader import LocalFile
from duramen.support.text import first_line

# What NumPy raises on a header that is damaged.
HEADER_ERRORS = (ValueError, EOFError, SyntaxError, TokenError, RecursionError)
_CELL_BYTES = 24  # of a cell beside itself: its code and value, and room to sort


class NpyInput(Input):
    """An .npy file with a matrix; one stored by rows is read a part of each row at a time."""

    def __init__(self, path: Path, request: Request) -> None:
        function = request.function
        self.where = str(path)
        self.files = (path,)
        shape, by_columns, self._kind, self._begin = _head(path, function)
        if len(shape) != 2 or min(shape) < 1:
            raise ValueError(
                f"{function}: {path} holds an array of shape {shape}; a table needs two "
                "dimensions, with at least one row and one column"
            )
        if request.transpose:
            shape, by_columns = shape[::-1], not by_columns
        self._shape, self._by_columns = shape, by_columns
        self.n_columns = shape[1]
        wanted = self._begin + shape[0] * shape[1] * self._kind.itemsize
        self._file = LocalFile(path)
        if self._file.size < wanted:
            raise ValueError(
                f"{function}: {path} is truncated: it has {self._file.size} bytes, its header "
                f"requires {wanted}"
            )
        self.n_rows, self.budget = shape[0], request.budget
        self.cell_bytes = _CELL_BYTES + 2 * self._kind.itemsize
        self.most_values = 1 + 2 ** min(62, 8 * self._kind.itemsize)

    def part(self, begin: int, end: int) -> NDArray[Any]:
        """Return neighboring columns."""
        (n, p), size = self._shape, self._kind.itemsize
        if self._by_columns:
            offsets, width = [self._begin + begin * n * size], n
        else:
            offsets = [self._begin + (row * p + begin) * size for row in range(n)]
            width = 1
        data = self._file.ranges(offsets, [(end - begin) * width * size] * len(offsets))
        cells = np.frombuffer(data, dtype=self._kind)
        return cells.reshape(-1, n).T if self._by_columns else cells.reshape(n, -1)


def _head(path: Path, function: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether it is stored by columns, type, and where the numbers begin."""
    from numpy.lib import format as npy

    with open(path, "rb") as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, by_columns, kind = read(file)
        except HEADER_ERRORS as error:
            raise ValueError(
                f"{function}: {path} is not an .npy file, or is damaged ({first_line(error)})"
            ) from None
        if kind.hasobject:
            raise TypeError(
                f"{function}: {path} holds Python objects, which only pickle reads; save it with a "
                "type of numbers or of text"
            )
        return shape, by_columns, kind, file.tell()


NPY = Format("npy", "NumPy", (".npy",), groups=NpyInput, begins=b"\x93NUMPY")
