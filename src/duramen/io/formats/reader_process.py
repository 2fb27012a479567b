"""Program that reads a file with a native library: ``python -P reader_process.py ARGUMENTS``.

A native library may end its process, or never return, where a file is damaged. This program
imports nothing of the package. Its arguments are, as JSON: the name of one of its classes, the
module paths, the path of the file to read, the bytes of memory it may take, and the seconds it may
take between two parts of an answer.

Standard input and output hold pickles. A request is the name of a generator method of the class and
its arguments. The answer is ``(True, part)`` for each part that the method yields, then ``None``;
or ``(False, text)`` for an error.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import json
import os
import pickle
import signal
import sys
import zipfile
from collections.abc import Iterator, Sequence
from importlib import import_module
from math import prod
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray


def main() -> None:
    """Answer requests until the input ends."""
    name, modules, path, memory, seconds = json.loads(sys.argv[1])
    requests, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    nothing = open(os.devnull, "w")  # noqa: SIM115
    os.dup2(nothing.fileno(), 1)  # a library that prints must not write into an answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    _end_with_parent()
    sys.path[:] = modules
    if memory is not None:
        _limit(memory)
    reader = None
    while True:
        try:
            method, arguments = pickle.load(requests)
        except EOFError:
            return
        # A thread of C ends this process where a native library holds the interpreter.
        faulthandler.dump_traceback_later(seconds, exit=True, file=nothing)
        try:
            reader = reader or globals()[name](path)
            for part in getattr(reader, method)(*arguments):
                faulthandler.cancel_dump_traceback_later()  # the other process may be slow
                _dump((True, part), out)
                faulthandler.dump_traceback_later(seconds, exit=True, file=nothing)
            answer = None
        except BaseException as error:  # a panic of a native library is no Exception
            answer = (False, f"{error}" or type(error).__name__)
        finally:
            faulthandler.cancel_dump_traceback_later()
        _dump(answer, out)


def _end_with_parent() -> None:
    """Ask Linux to end this process with the thread that started it; else its time ends it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _limit(memory: int) -> None:
    """Limit the memory that this process may take from now on; some systems cannot."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            most = memory + int(file.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _dump(value: object, out: IO[bytes]) -> None:
    pickle.dump(value, out, protocol=pickle.HIGHEST_PROTOCOL)
    out.flush()


# --- classes that read files ----------------------------------------------------------------------

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
        """Yield the description of a group or an array, or None if it does not exist."""
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
    """Return a type without the metadata of h5py."""
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
    """Check the checksums of all parts of a workbook, some of which its reader skips.

    Raises
    ------
    ValueError
        If the content of a part is not what was written.
    """
    if not zipfile.is_zipfile(path):  # as an .xls file
        return
    with contextlib.suppress(NotImplementedError, RuntimeError), zipfile.ZipFile(path) as archive:
        if (name := archive.testzip()) is not None:
            raise ValueError(f"the content of its part {name} does not fit its checksum")


if __name__ == "__main__":
    main()
