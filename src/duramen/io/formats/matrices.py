"""Files with a matrix as inputs: NumPy (.npy), and AnnData in HDF5 (.h5ad) since version 0.7.

An AnnData has a matrix of cells by genes, dense or sparse, and the annotations of the cells, a data
frame of arrays, which h5py reads in a process of its own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.memory import available_bytes
from duramen.io.formats import reader_process
from duramen.io.formats.format import Format, Input, Request, Spool, explained, named_rows
from duramen.io.formats.native_reader import NativeReader
from duramen.io.store.reader import LocalFile
from duramen.support.arrays import IntArray
from duramen.support.arrow import pa
from duramen.support.checks import extra_package
from duramen.support.text import first_line

# --- NumPy ----------------------------------------------------------------------------------------

# What NumPy raises on a header that is damaged.
HEADER_ERRORS = (ValueError, EOFError, SyntaxError, TokenError, RecursionError)
_NPY_BYTES = 24  # of a cell beside itself: its code and value, and room to sort


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
        self.cell_bytes = _NPY_BYTES + 2 * self._kind.itemsize

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


# --- AnnData --------------------------------------------------------------------------------------


class StoredGroup:
    """Group of an HDF5 file, as h5py has it, read by a process of its own."""

    def __init__(self, reader: NativeReader, name: str, described: dict[str, Any]) -> None:
        self.reader, self._name = reader, name
        self.attrs: dict[str, Any] = described["attrs"]
        self._names: list[str] = described["names"]

    def get(self, name: str) -> StoredGroup | StoredArray | None:
        """Return a group or an array, or None if it does not exist."""
        name = posixpath.join(self._name, name)
        described = self.reader.answer("node", name)
        if described is None:
            return None
        kind = StoredArray if "dtype" in described else StoredGroup
        return kind(self.reader, name, described)

    def __getitem__(self, name: str) -> Any:
        node = self.get(name)
        if node is None:
            raise KeyError(name)
        return node

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)


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
    reader = NativeReader(reader_process.Hdf5File, path, available_bytes())
    for _ in reader.parts("check_links"):
        pass
    return StoredGroup(reader, "/", reader.answer("node", "/"))


_CELL_BYTES = 32  # of a dense cell: the cell, its value, its code, and room to sort
_STORED_BYTES = 48  # of an entry of a sparse matrix, in a group of columns
_SORTED_BYTES = 160  # of an entry that is sorted into a group


def open_anndata(path: Path, request: Request) -> AnnDataInput:
    """Open a matrix of an AnnData file: a layer, "raw" or, by default, X."""
    function, layer = request.function, request.layer
    with explained(path, function, "an .h5ad"):
        root = open_hdf5(path, function)
        where, columns = (f"layers/{layer}" if layer else "X"), "var"
        if layer == "raw" and "raw/X" in root:
            where, columns = "raw/X", "raw/var"
        if where not in root and layer is None:
            raise ValueError(f"{function}: {path} has no matrix X; it has {sorted(root)}")
        if where not in root:
            layers = sorted(root["layers"]) if "layers" in root else []
            raise ValueError(f"{function}: {path} has no layer {layer!r}; its layers are {layers}")
        matrix, rows = root[where], "obs"
        if request.transpose:
            rows, columns = columns, rows
        if any(hasattr(root[axis], "dtype") for axis in (rows, columns)):
            raise ValueError(
                f"{function}: {path} has the layout of an anndata before 0.7. Hint: "
                "anndata.read_h5ad(path).write_h5ad(path) writes it anew"
            )
        kind = DenseInput if hasattr(matrix, "dtype") else SparseInput
        opened = kind(path, matrix, request)
        opened.names, opened.annotated = index_of(root[columns]), root[rows]
        wanted = (len(index_of(root[rows])), len(opened.names))
    for count, axis in zip(opened.shape, ("rows", "columns"), strict=True):
        if not count:
            raise ValueError(f"{function}: {path} is empty: its matrix has no {axis}")
    if wanted != opened.shape:
        raise ValueError(
            f"{function}: {path} is damaged: its matrix is of shape {opened.shape}, its names of "
            f"rows and columns are {wanted}"
        )
    return opened


class AnnDataInput(Input):
    """Matrix of an AnnData; its names and annotations are set by `open_anndata`."""

    shape: tuple[int, int]
    annotated: Any

    def __init__(self, path: Path, matrix: Any, request: Request) -> None:
        self.where, self.files = str(path), (path,)
        self.budget, self._transpose = request.budget, request.transpose
        self._explained = (path, request.function, "an .h5ad")

    def _set_shape(self, shape: Sequence[int]) -> None:
        rows, columns = map(int, shape)
        self.shape = (columns, rows) if self._transpose else (rows, columns)
        self.n_rows, self.n_columns = self.shape

    def samples(self) -> pa.Table:
        """Return the annotations of the rows with their names first, as the column ``name``.

        Columns that are neither numbers, truth values, text nor categories are left out.
        """
        frame = self.annotated
        with explained(*self._explained):
            columns: dict[str, Any] = {"name": pa.array(index_of(frame), pa.string())}
            index = text_of(frame.attrs.get("_index", "_index"))
            labels = frame.get("__categories") or {}  # of version 0.7
            for name in map(text_of, frame.attrs.get("column-order", sorted(frame))):
                if name == index or name not in frame:
                    continue
                values = _array(frame[name], labels.get(name))
                if values is not None:
                    columns[name if name != "name" else "name_"] = values
            return named_rows(pa.table(columns), "name")

    def groups(self, work: Path) -> Iterator[Any]:
        """Yield neighboring columns."""
        with explained(*self._explained):
            yield from self._groups(work)

    def _groups(self, work: Path) -> Iterator[Any]:
        raise NotImplementedError


class DenseInput(AnnDataInput):
    """A dense matrix; where its chunks are wider than a group, it is spooled."""

    def __init__(self, path: Path, matrix: Any, request: Request) -> None:
        super().__init__(path, matrix, request)
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise ValueError(
                f"its matrix is of shape {matrix.shape} and type {matrix.dtype}, not of two "
                "dimensions of numbers"
            )
        self._matrix = matrix
        self._set_shape(matrix.shape)
        n, p = self.shape
        size = matrix.dtype.itemsize
        self.cell_bytes = _CELL_BYTES + 2 * size
        chunk: tuple[int, ...] = (matrix.chunks or (1, 1))[:: -1 if self._transpose else 1]
        self._tall, self._wide = chunk
        self._spools = n > 0 and self._wide > self.width and self.width < p

    def _groups(self, work: Path) -> Iterator[NDArray[Any]]:
        (n, p), kind, width = self.shape, self._matrix.dtype, self.width
        if not self._spools:
            width -= width % self._wide if width < p else 0
            for begin in range(0, p, width):
                yield self._part(0, n, begin, min(begin + width, p))
            return
        bounds = [*range(0, p, width), p]
        spool = Spool(work, len(bounds) - 1)
        height = max(1, self.budget // (4 * p * kind.itemsize))
        height -= height % self._tall if height > self._tall else 0
        for top in range(0, n, height):
            rows = self._part(top, min(top + height, n), 0, p)
            spool.add([rows[:, a:b].tobytes() for a, b in pairwise(bounds)])
        for tile, (begin, end) in enumerate(pairwise(bounds)):
            yield np.frombuffer(spool.read(tile), dtype=kind).reshape(n, end - begin)
        spool.remove()

    def _part(self, top: int, bottom: int, begin: int, end: int) -> NDArray[Any]:
        if self._transpose:
            return np.asarray(self._matrix[begin:end, top:bottom]).T
        return np.asarray(self._matrix[top:bottom, begin:end])


class SparseInput(AnnDataInput):
    """A sparse matrix; a matrix that is stored by rows is spooled."""

    sparse = True

    def __init__(self, path: Path, group: Any, request: Request) -> None:
        super().__init__(path, group, request)
        kind = text_of(group.attrs.get("encoding-type", ""))
        if kind not in ("csr_matrix", "csc_matrix"):
            raise ValueError(
                f"{request.function}: {path} holds a matrix of the kind {kind!r}; known kinds are "
                "dense, csr_matrix and csc_matrix"
            )
        self._set_shape(group.attrs["shape"])
        self.cell_bytes = _CELL_BYTES / 2
        self._by_columns = (kind == "csc_matrix") != request.transpose
        self._data, self._indices = group["data"], group["indices"]
        self._starts = np.asarray(group["indptr"][:], dtype=np.int64)
        self._step = max(1 << 12, request.budget // _SORTED_BYTES)  # entries at a time
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
        self._entry = np.dtype([("row", "u4"), ("column", "u4"), ("value", self._data.dtype)])

    def _places(self, first: int, last: int) -> IntArray:
        """Return indices of stored entries, checked."""
        indices = np.asarray(self._indices[first:last], dtype=np.int64)
        if len(indices) and not 0 <= indices.min() <= indices.max() < self._minor:
            raise ValueError(f"an index of its sparse matrix is not in 0..{self._minor - 1}")
        return indices

    def _groups(self, work: Path) -> Iterator[Any]:
        """Yield neighboring columns, as sparse matrices."""
        from scipy import sparse

        n, n_stored = self.shape[0], int(self._starts[-1])
        stored = np.diff(self._starts)
        if not self._by_columns:
            stored = np.zeros(self.n_columns, dtype=np.int64)
            for first in range(0, n_stored, self._step):
                part = self._places(first, min(first + self._step, n_stored))
                stored += np.bincount(part, minlength=self.n_columns)
        bounds, total = [0], 0.0  # of groups that take half the budget each
        for j, cost in enumerate((n * self.cell_bytes + stored * _STORED_BYTES).tolist()):
            if total + cost > self.budget / 2 and j > bounds[-1]:
                bounds.append(j)
                total = 0.0
            total += cost
        bounds.append(self.n_columns)
        if self._by_columns:
            for begin, end in pairwise(bounds):
                first, last = int(self._starts[begin]), int(self._starts[end])
                starts = self._starts[begin : end + 1] - first
                parts = (self._data[first:last], self._places(first, last), starts)
                yield sparse.csc_matrix(parts, shape=(n, end - begin))
            return
        spool = Spool(work, len(bounds) - 1)
        for first in range(0, n_stored, self._step):  # entries are sorted into groups of columns
            last = min(first + self._step, n_stored)
            entries = np.empty(last - first, dtype=self._entry)
            entries["column"] = self._places(first, last)
            places = np.arange(first, last)
            entries["row"] = np.searchsorted(self._starts, places, side="right") - 1
            entries["value"] = self._data[first:last]
            tiles = np.searchsorted(bounds, entries["column"], side="right") - 1
            order = np.argsort(tiles, kind="stable")
            borders = np.searchsorted(tiles[order], np.arange(len(bounds)))
            spool.add([entries[order[a:b]].tobytes() for a, b in pairwise(borders)])
        for tile, (begin, end) in enumerate(pairwise(bounds)):
            entries = np.frombuffer(spool.read(tile), dtype=self._entry)
            where = (entries["row"], entries["column"] - np.uint32(begin))
            yield sparse.csc_matrix((entries["value"], where), shape=(n, end - begin))
        spool.remove()


def text_of(value: Any) -> str:
    """Text, whether it comes as bytes or not."""
    return value.decode() if isinstance(value, bytes) else str(value)


def index_of(frame: Any) -> list[str]:
    """Return the row names of a table."""
    index = _array(frame[text_of(frame.attrs.get("_index", "_index"))])
    return [] if index is None else [str(value) for value in index.to_pylist()]


def _array(node: Any, labels: Any = None) -> Any:
    """Return a column in Arrow: values, with a mask or not, or categories; None of other kinds."""
    parts = set() if hasattr(node, "dtype") else set(node)
    if labels is not None:
        codes, ordered = node[:], labels.attrs.get("ordered", False)
    elif hasattr(node, "dtype"):
        return _plain(node[:])
    elif {"values", "mask"} <= parts:
        return _plain(node["values"][:], node["mask"][:])
    elif {"codes", "categories"} <= parts:
        codes, ordered, labels = node["codes"][:], node.attrs.get("ordered"), node["categories"]
    else:
        return None
    values = _array(labels)
    if values is None:
        return None
    if codes.dtype.kind not in "iu" or codes.ndim != 1:
        raise ValueError(f"codes of categories are of type {codes.dtype}")
    if len(codes) and not -1 <= int(codes.min()) <= int(codes.max()) < len(values):
        raise ValueError(f"codes of categories are not in -1..{len(values) - 1}")
    indices = pa.array(np.maximum(codes, 0).astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, values, ordered=bool(ordered))


def _plain(values: NDArray[Any], mask: Any = None) -> Any:
    if values.ndim != 1 or values.dtype.kind not in "biufOST":
        return None
    if values.dtype.kind in "OST":
        return pa.array([text_of(value) for value in values], pa.string(), mask=mask)
    return pa.array(values, mask=mask)


ANNDATA = Format(
    "anndata",
    "AnnData",
    (".h5ad",),
    groups=open_anndata,
    layers=True,
    begins=b"\x89HDF",
    others={".zarr": "in Python anndata.read_zarr reads it, and dm.read and dm.rank take it"},
)
