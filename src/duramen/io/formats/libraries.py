"""Files as native libraries read them, for `NativeReader`: each in a process of its own."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PART = 1 << 22  # bytes of a part of an array
_CELLS = 1 << 16  # of a workbook, in a part
_ATTRIBUTES = ("encoding-type", "shape", "_index", "column-order", "ordered")  # of AnnData files


class Hdf5File:
    """Groups and arrays of an HDF5 file that refers to no other, as h5py reads them."""

    def __init__(self, path: str) -> None:
        self._h5py: Any = import_module("h5py")
        self._file = self._h5py.File(path, "r")

    def check_links(self) -> Iterator[None]:
        """Check that every array lies in this file; yield after each link.

        Raises
        ------
        ValueError
            If a link or the storage of an array leads to another file.
        """
        h5py = self._h5py
        groups, seen = [self._file], set()
        while groups:
            group = groups.pop()
            address = h5py.h5o.get_info(group.id).addr
            if address in seen:
                continue
            seen.add(address)
            for name in group:
                link = group.get(name, getlink=True)
                if isinstance(link, h5py.ExternalLink):
                    raise ValueError(f"{name} of {group.name} is a link to another file")
                if not isinstance(link, h5py.HardLink):
                    continue  # a soft link: what it leads to is checked where it lies
                node = group[name]
                if isinstance(node, h5py.Group):
                    groups.append(node)
                elif isinstance(node, h5py.Dataset) and (node.external or node.is_virtual):
                    raise ValueError(f"{node.name} keeps its values in another file")
                yield None

    def node(self, name: str) -> Iterator[dict[str, Any] | None]:
        """Yield the description of a group or an array; None if there is none."""
        if name not in self._file:
            yield None
            return
        node = self._file[name]
        # References and values of other types of h5py do not reach the other process.
        attributes = {key: node.attrs[key] for key in _ATTRIBUTES if key in node.attrs}
        plain = (str, bytes, np.ndarray, np.generic)
        described: dict[str, Any] = {
            "attrs": {key: of for key, of in attributes.items() if isinstance(of, plain)}
        }
        if isinstance(node, self._h5py.Dataset):
            described["shape"], described["chunks"] = node.shape or (), node.chunks
            described["dtype"] = _plain_type(node.dtype)
        else:
            described["names"] = list(node)
        yield described

    def matrices(self) -> Iterator[list[str]]:
        """Yield the list of arrays of two dimensions."""
        names: list[str] = []
        self._file.visititems(
            lambda name, node: names.append(name) if getattr(node, "ndim", 0) == 2 else None
        )
        yield names

    def read(self, name: str, bounds: Sequence[tuple[int, int]]) -> Iterator[NDArray[Any]]:
        """Yield a block of an array, some of its rows at a time; a row of chunks is read once."""
        array = self._file[name]
        (begin, end), *others = bounds
        inner = tuple(slice(*bound) for bound in others)
        tall = array.chunks[0] if array.chunks else 1
        row = array.dtype.itemsize * prod(last - first for first, last in others)
        height = max(_PART // max(1, row) // tall, 1) * tall
        kind = _plain_type(array.dtype)
        for top in range(begin - begin % tall, end, height):
            part = array[max(top, begin) : min(top + height, end), *inner]
            yield part.astype(kind, copy=kind.hasobject)


def _plain_type(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type without what h5py notes in it."""
    if kind.names is None:
        return np.dtype(kind.str) if kind.subdtype is None else kind
    fields = [_plain_type(kind[name]) for name in kind.names]
    return np.dtype(list(zip(kind.names, fields, strict=True)))


class Workbook:
    """Sheets of a workbook, as python-calamine reads them."""

    def __init__(self, path: str) -> None:
        _check_parts(path)
        self._book: Any = import_module("python_calamine").load_workbook(path)

    def sheets(self) -> Iterator[list[str]]:
        """Yield the list of names."""
        yield self._book.sheet_names

    def rows(self, name: str, skipped: int) -> Iterator[list[list[Any]]]:
        """Yield the rows of a sheet that have a cell, but for the first `skipped` rows."""
        sheet = self._book.get_sheet_by_name(name)
        width = sheet.width  # of the columns that are used; some versions give those before, too
        first = sheet.start[0] if sheet.start else 0
        at = -1  # number of the row; some versions begin with the first that is used
        rows: list[list[Any]] = []
        cells = 0
        for row in sheet.iter_rows() if sheet.start else ():
            used = any(cell != "" for cell in row)
            at = at + 1 if at >= 0 else first if used else at
            if used and at >= skipped:
                rows.append(row[-width:])
                cells += len(row)
            if cells > _CELLS:
                yield rows
                rows, cells = [], 0
        yield rows


def _check_parts(path: str) -> None:
    """Check the checksums of the parts of a workbook; its reader stops before those of some.

    Raises
    ------
    ValueError
        If the content of a part is not what was written.
    """
    if not zipfile.is_zipfile(path):  # as an .xls file
        return
    with suppress(NotImplementedError, RuntimeError), zipfile.ZipFile(path) as archive:
        if (name := archive.testzip()) is not None:
            raise ValueError(f"the content of its part {name} does not fit its checksum")
