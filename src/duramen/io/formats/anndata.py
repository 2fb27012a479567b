"""AnnData in HDF5 (.h5ad) and in Zarr (.zarr) as inputs.

Read with h5py or zarr alone, in the layouts of all versions: a matrix of cells by genes, dense or
sparse. The annotations of the cells are a data frame of arrays there. Groups and arrays of the two
packages are read in the same way; those of h5py in a process of its own.
"""

from __future__ import annotations

import posixpath
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.memory import available_bytes
from duramen.io.formats import libraries
from duramen.io.formats.format import (
    Format,
    Input,
    Request,
    explained,
    files_of,
    named_rows,
)
from duramen.io.formats.native_reader import NativeReader
from duramen.io.formats.spool import Spool
from duramen.support.arrays import BoolArray, IntArray
from duramen.support.arrow import pa
from duramen.support.checks import extra_package


class StoredGroup:
    """Group of an HDF5 file, as h5py has it, read by a process of its own."""

    def __init__(self, reader: NativeReader, name: str, described: dict[str, Any]) -> None:
        self._reader, self._name = reader, name
        self.attrs: dict[str, Any] = described["attrs"]
        self._names: list[str] = described["names"]

    def get(self, name: str) -> StoredGroup | StoredArray | None:
        """Return a group or an array; None if there is none."""
        name = posixpath.join(self._name, name)
        described = self._reader.answer("node", name)
        if described is None:
            return None
        kind = StoredArray if "dtype" in described else StoredGroup
        return kind(self._reader, name, described)

    def __getitem__(self, name: str) -> Any:
        node = self.get(name)
        if node is None:
            raise KeyError(name)
        return node

    def __contains__(self, name: str) -> bool:
        return self._reader.answer("node", posixpath.join(self._name, name)) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def matrices(self) -> list[str]:
        """Return the names of all arrays of two dimensions in the file."""
        names: list[str] = self._reader.answer("matrices")
        return names


class StoredArray:
    """Array of an HDF5 file, as h5py has it, read by a process of its own."""

    def __init__(self, reader: NativeReader, name: str, described: dict[str, Any]) -> None:
        self._reader, self._name = reader, name
        self.attrs: dict[str, Any] = described["attrs"]
        self.shape: tuple[int, ...] = described["shape"]
        self.dtype: np.dtype[Any] = described["dtype"]
        self.chunks: tuple[int, ...] | None = described["chunks"]
        self.ndim = len(self.shape)

    def __getitem__(self, index: slice | tuple[slice, ...]) -> NDArray[Any]:
        slices = index if isinstance(index, tuple) else (index,)
        slices += (slice(None),) * (self.ndim - len(slices))
        bounds = [part.indices(n)[:2] for part, n in zip(slices, self.shape, strict=True)]
        shape = [max(0, last - first) for first, last in bounds]
        return self._reader.block(shape, self.dtype, "read", self._name, bounds)


def open_hdf5(path: Path, function: str) -> StoredGroup:
    """Open a file that refers to no other, and return its outermost group.

    Raises
    ------
    ValueError
        If it is no such file, is damaged, or refers to another file; the text does not name it.
    ModuleNotFoundError
        If h5py is not installed.
    """
    extra_package("h5py", f"{function}: reading {path.name}", "anndata")
    reader = NativeReader(libraries.Hdf5File, path, available_bytes())
    for _ in reader.parts("check_links"):
        pass
    return StoredGroup(reader, "/", reader.answer("node", "/"))


_ZARR = ".zarr"
_CELL_BYTES = 32  # of a dense cell: the cell, its value, its code, and room to sort
_STORED_BYTES = 48  # of an entry of a sparse matrix, in a group of columns
_SORTED_BYTES = 160  # of an entry that is sorted into a group


def open_anndata(path: Path, request: Request) -> DenseInput | SparseInput:
    """Open a matrix of an AnnData file or folder: a layer, "raw" or, by default, X."""
    function, transpose = request.function, request.transpose
    with explained(path, function, _kind_of(path)):
        root = _root(path, function)
        matrix, rows, columns = _matrix(root, request.layer, path, function)
        axes = Axes(path, root, *((columns, rows) if transpose else (rows, columns)), function)
        if not hasattr(matrix, "dtype"):
            opened: DenseInput | SparseInput = SparseInput(axes, matrix, request)
        elif matrix.ndim == 2 and matrix.dtype.kind in "biuf":
            opened = DenseInput(axes, matrix, request)
        else:
            raise ValueError(
                f"its matrix is of shape {matrix.shape} and type {matrix.dtype}, not of two "
                "dimensions of numbers"
            )
    for count, kind in zip(opened.shape, ("rows", "columns"), strict=True):
        if not count:
            raise ValueError(f"{function}: {path} is empty: its matrix has no {kind}")
    wanted = (len(axes.row_names), len(axes.names))
    if wanted != opened.shape:
        raise ValueError(
            f"{function}: {path} is damaged: its matrix is of shape {opened.shape}, its names of "
            f"rows and columns are {wanted}"
        )
    return opened


def _kind_of(path: Path) -> str:
    return "an AnnData-Zarr" if path.suffix.lower() == _ZARR else "an .h5ad"


def _root(path: Path, function: str) -> Any:
    """Return the outermost group of an AnnData."""
    if path.suffix.lower() == _ZARR:
        zarr = extra_package("zarr", f"{function}: reading {path.name}", "anndata")
        return zarr.open_group(str(path), mode="r")
    return open_hdf5(path, function)


def _matrix(file: Any, layer: str | None, path: Path, function: str) -> tuple[Any, str, str]:
    """Return the matrix, and where the names of its rows and columns are."""
    if layer is None:
        if "X" not in file:
            raise ValueError(f"{function}: {path} has no matrix X; it has {sorted(file)}")
        return file["X"], "obs", "var"
    if layer == "raw":
        for matrix, columns in (("raw/X", "raw/var"), ("raw.X", "raw.var")):
            if matrix in file:
                return file[matrix], "obs", columns
    there = sorted(file["layers"]) if "layers" in file else []
    if layer in there:
        return file["layers"][layer], "obs", "var"
    raise ValueError(f"{function}: {path} has no layer {layer!r}; its layers are {there}")


class Axes:
    """The file, with what is known of the rows and the columns of the table."""

    def __init__(self, path: Path, file: Any, rows: str, columns: str, function: str) -> None:
        self.path = path
        self.function = function
        self.file = file
        self._rows = rows
        self.row_names = index_of(file[rows])
        self.names = index_of(file[columns])

    def samples(self) -> pa.Table:
        """Return the annotations of the rows, their names first."""
        with explained(self.path, self.function, _kind_of(self.path)):
            return frame_of(self.file, self._rows, self.row_names)


class _Matrix(Input):
    """Matrix of an AnnData, dense or sparse."""

    shape: tuple[int, int]

    def __init__(self, axes: Axes, request: Request) -> None:
        self._given, self.budget, self._transpose = axes, request.budget, request.transpose
        self.where = str(axes.path)
        self.files = files_of(axes.path)
        self.names = axes.names

    def samples(self) -> pa.Table:
        """Return its obs, or its var where it is transposed."""
        return self._given.samples()

    def groups(self, start: int, work: Path) -> Iterator[Any]:
        """Yield neighboring columns."""
        with explained(self._given.path, self._given.function, _kind_of(self._given.path)):
            yield from self._groups(start, work)

    @abstractmethod
    def _groups(self, start: int, work: Path) -> Iterator[Any]:
        """As `groups`; errors may be of any kind."""


class DenseInput(_Matrix):
    """A dense matrix; where its chunks are wider than a group, it is spooled."""

    def __init__(self, axes: Axes, matrix: Any, request: Request) -> None:
        super().__init__(axes, request)
        self._matrix = matrix
        rows, columns = matrix.shape
        self.shape = (columns, rows) if request.transpose else (rows, columns)
        n, p = self.n_rows, self.n_columns = self.shape
        size = matrix.dtype.itemsize
        self.cell_bytes = _CELL_BYTES + 2 * size
        chunk: tuple[int, ...] = (matrix.chunks or (1, 1))[:: -1 if request.transpose else 1]
        self._tall, self._wide = chunk
        self.spooled = 0 if n == 0 or self._wide <= self.width or self.width >= p else n * p * size

    def _groups(self, start: int, work: Path) -> Iterator[NDArray[Any]]:
        (n, p), size = self.shape, self._matrix.dtype.itemsize
        width, tall, wide = self.width, self._tall, self._wide
        if not self.spooled:
            width -= width % wide if width < p else 0
            for begin in range(start - start % width, p, width):
                group = self._part(0, n, begin, min(begin + width, p))
                yield group[:, max(0, start - begin) :]
            return
        bounds = [*range(0, p, width), p]
        spool = Spool(work, len(bounds) - 1)
        height = max(1, self.budget // (4 * p * size))
        height -= height % tall if height > tall else 0
        for begin in range(0, n, height):
            rows = self._part(begin, min(begin + height, n), 0, p)
            self.on_spooled(rows.nbytes)
            spool.add([rows[:, a:b].tobytes() for a, b in pairwise(bounds)])
        for tile, (begin, end) in enumerate(pairwise(bounds)):
            if start < end:
                group = np.frombuffer(spool.read(tile), dtype=self._matrix.dtype)
                yield group.reshape(n, end - begin)[:, max(0, start - begin) :]
        spool.remove()

    def _part(self, top: int, bottom: int, begin: int, end: int) -> NDArray[Any]:
        if self._transpose:
            return np.asarray(self._matrix[begin:end, top:bottom]).T
        return np.asarray(self._matrix[top:bottom, begin:end])


class SparseInput(_Matrix):
    """A sparse matrix; one that is stored by rows is spooled."""

    sparse = True

    def __init__(self, axes: Axes, group: Any, request: Request) -> None:
        super().__init__(axes, request)
        attributes = group.attrs
        kind = text_of(attributes.get("encoding-type", attributes.get("h5sparse_format", "")))
        if kind[:3] not in ("csr", "csc"):
            raise ValueError(
                f"{axes.function}: {axes.path} holds a matrix of the kind {kind!r}; known kinds "
                "are dense, csr_matrix and csc_matrix"
            )
        shape = attributes.get("shape", attributes.get("h5sparse_shape"))
        rows, columns = (int(count) for count in shape)
        self.shape = (columns, rows) if request.transpose else (rows, columns)
        self.n_rows, self.n_columns = self.shape
        self.cell_bytes = _CELL_BYTES / 2
        self._by_columns = (kind[:3] == "csc") != request.transpose
        self._data, self._indices = group["data"], group["indices"]
        self._starts = np.asarray(group["indptr"][:], dtype=np.int64)
        self._step = max(1 << 12, request.budget // _SORTED_BYTES)
        major, self._minor = self.shape[:: -1 if self._by_columns else 1]
        whole = (
            min(self.shape) >= 0
            and len(self._starts) == major + 1
            and self._starts[0] == 0
            and (np.diff(self._starts) >= 0).all()
            and self._starts[-1] == self._data.shape[0] == self._indices.shape[0]
            and self._data.dtype.kind in "biuf"
        )
        if not whole:
            raise ValueError("its sparse matrix is incomplete")
        if not self._by_columns:
            self.spooled = int(self._starts[-1]) * self._entry.itemsize

    def _places(self, first: int, last: int) -> IntArray:
        """Indices of stored entries, checked."""
        indices = np.asarray(self._indices[first:last], dtype=np.int64)
        if len(indices) and not 0 <= indices.min() <= indices.max() < self._minor:
            raise ValueError(f"an index of its sparse matrix is not in 0..{self._minor - 1}")
        return indices

    def _groups(self, start: int, work: Path) -> Iterator[Any]:
        """Yield neighboring columns, as sparse matrices."""
        stored = self._stored()
        bounds = self._bounds(stored)
        if self._by_columns:
            for begin, end in pairwise(bounds):
                if start < end:
                    yield self._stored_columns(max(begin, start), end)
            return
        spool = Spool(work, len(bounds) - 1)
        self._fill(spool, np.array(bounds))
        for tile, (begin, end) in enumerate(pairwise(bounds)):
            if start < end:
                yield self._spooled_columns(spool, tile, begin, end)[:, max(0, start - begin) :]
        spool.remove()

    def _stored(self) -> IntArray:
        """Return the number of stored entries of each column."""
        if self._by_columns:
            return np.diff(self._starts)
        counts = np.zeros(self.n_columns, dtype=np.int64)
        for begin in range(0, self._indices.shape[0], self._step):
            part = self._places(begin, begin + self._step)
            counts += np.bincount(part, minlength=self.n_columns)
        return counts

    def _bounds(self, stored: IntArray) -> list[int]:
        """Return the bounds of groups that take the budget each."""
        costs = self.shape[0] * _CELL_BYTES / 2 + stored * _STORED_BYTES
        bounds, total = [0], 0.0
        for j, cost in enumerate(costs.tolist()):
            if total + cost > self.budget / 2 and j > bounds[-1]:
                bounds.append(j)
                total = 0.0
            total += cost
        return [*bounds, self.n_columns]

    def _stored_columns(self, begin: int, end: int) -> Any:
        from scipy import sparse

        first, last = int(self._starts[begin]), int(self._starts[end])
        return sparse.csc_matrix(
            (
                self._data[first:last],
                self._places(first, last),
                self._starts[begin : end + 1] - first,
            ),
            shape=(self.shape[0], end - begin),
        )

    def _fill(self, spool: Spool, bounds: IntArray) -> None:
        """Sort the entries, some at a time, into groups of columns."""
        n_stored = self._data.shape[0]
        for first in range(0, n_stored, self._step):
            last = min(first + self._step, n_stored)
            columns = self._places(first, last)
            rows = np.searchsorted(self._starts, np.arange(first, last), side="right") - 1
            tiles = np.searchsorted(bounds, columns, side="right") - 1
            order = np.argsort(tiles, kind="stable")
            borders = np.searchsorted(tiles[order], np.arange(len(bounds)))
            parts = (rows[order], columns[order], np.asarray(self._data[first:last])[order])
            pieces = []
            for a, b in pairwise(borders):
                entries = np.empty(b - a, dtype=self._entry)
                for name, part in zip(self._entry.names or (), parts, strict=True):
                    entries[name] = part[a:b]
                pieces.append(entries.tobytes())
            self.on_spooled(sum(map(len, pieces)))
            spool.add(pieces)

    @property
    def _entry(self) -> np.dtype[Any]:
        return np.dtype([("row", "u4"), ("column", "u4"), ("value", self._data.dtype)])

    def _spooled_columns(self, spool: Spool, tile: int, begin: int, end: int) -> Any:
        from scipy import sparse

        entries = np.frombuffer(spool.read(tile), dtype=self._entry)
        places = (entries["row"], entries["column"] - np.uint32(begin))
        return sparse.csc_matrix((entries["value"], places), shape=(self.shape[0], end - begin))


ANNDATA = Format(
    "anndata", "AnnData", (".h5ad",), groups=open_anndata, layers=True, begins=b"\x89HDF"
)
ANNDATA_ZARR = Format(
    "anndata_zarr", "AnnData-Zarr", (_ZARR,), groups=open_anndata, layers=True, folder=True
)


def text_of(value: Any) -> str:
    """Text, whether it comes as bytes or not."""
    return value.decode() if isinstance(value, bytes) else str(value)


def index_of(frame: Any) -> list[str]:
    """Return the row names of a table."""
    if hasattr(frame, "dtype"):  # up to version 0.6: one array of records
        name = "index" if "index" in frame.dtype.names else frame.dtype.names[0]
        return [text_of(value) for value in frame[:][name]]
    index = _array(frame[text_of(frame.attrs.get("_index", "_index"))])
    return [] if index is None else [str(value) for value in index.to_pylist()]


def frame_of(file: Any, where: str, names: Sequence[str]) -> pa.Table:
    """Return a table of the file with its row names first, as the column ``name``.

    Columns that are neither numbers, truth values, text nor categories are left out.
    """
    frame = file[where]
    columns: dict[str, Any] = {"name": pa.array(names, pa.string())}
    for name in _column_names(frame):
        column = _column(file, frame, name)
        if column is not None:
            columns[name if name != "name" else "name_"] = column
    return named_rows(pa.table(columns), "name")


def _column_names(frame: Any) -> list[str]:
    if hasattr(frame, "dtype"):
        return [name for name in frame.dtype.names[0:] if name != "index"]
    index = text_of(frame.attrs.get("_index", "_index"))
    order = frame.attrs.get("column-order", sorted(frame))
    return [name for name in map(text_of, order) if name != index and name in frame]


def _column(file: Any, frame: Any, name: str) -> Any:
    """Return a column in Arrow; None where it is of no kind that is known."""
    if hasattr(frame, "dtype"):
        values = frame[:][name]
        categories = file.get(f"uns/{name}_categories")
        if categories is None:
            return _plain(values)
        return _categories(values, _plain(categories[:]), False)
    column = frame[name]
    if not hasattr(column, "dtype"):
        parts = set(column)
        if {"codes", "categories"} <= parts:
            ordered = bool(column.attrs.get("ordered", False))
            return _categories(column["codes"][:], _array(column["categories"]), ordered)
        return _array(column)
    reference = column.attrs.get("categories")  # version 0.7
    if reference is not None:
        categories = file[reference]
        ordered = bool(categories.attrs.get("ordered", False))
        return _categories(column[:], _array(categories), ordered)
    return _plain(column[:])


def _array(node: Any) -> Any:
    """Return an array, with or without a mask, in Arrow; None where its kind is unknown."""
    if hasattr(node, "dtype"):
        return _plain(node[:])
    if {"values", "mask"} <= set(node):
        return _plain(node["values"][:], node["mask"][:])
    return None


def _plain(values: NDArray[Any], mask: BoolArray | None = None) -> Any:
    if values.ndim != 1 or values.dtype.kind not in "biufOST":
        return None
    if values.dtype.kind in "OST":
        texts = [text_of(value) for value in values]
        return pa.array(texts, pa.string(), mask=mask)
    return pa.array(values, mask=mask)


def _categories(codes: NDArray[Any], labels: Any, ordered: bool) -> Any:
    if labels is None:
        return None
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise ValueError(f"codes of categories are of type {codes.dtype}")
    if len(codes) and not -1 <= int(codes.min()) <= int(codes.max()) < len(labels):
        raise ValueError(f"codes of categories are not in -1..{len(labels) - 1}")
    indices = pa.array(np.maximum(codes, 0).astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, labels, ordered=ordered)
