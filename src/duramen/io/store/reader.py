"""Ranges of bytes of a file: all that a store asks of the place where it lies.

A store lies in a folder of this machine, or in another place, such as object storage or HTTP, which
fsspec reads. A file closes when it is forgotten; what is damaged or cut short raises ValueError.
"""

from __future__ import annotations

import mmap
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import IntArray
from duramen.support.checks import extra_package
from duramen.support.text import parsed_size

_READ_INTO = getattr(os, "preadv", None)
_BLOCK_BYTES = 1 << 20  # size of the pieces in which whole files are read


class LocalFile:
    """A local file, which several threads may read at the same time."""

    def __init__(self, path: Path | str) -> None:
        self.name = str(path)
        self._descriptor = -1
        # Without blocking: a pipe that nobody writes to would be waited for without end.
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
        self._descriptor = os.open(self.name, flags)
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{self.name} is not a regular file")
        self.size, self._changed = status.st_size, status.st_mtime_ns
        self._turn = threading.Lock()

    def __del__(
        self, close: Callable[[int], None] = os.close
    ) -> None:  # as Python ends, os is gone
        if self._descriptor >= 0:
            close(self._descriptor)

    def ranges(self, offsets: list[int], sizes: list[int]) -> NDArray[np.uint8]:
        """Read several ranges of bytes into one array."""
        joined = np.empty(sum(sizes), dtype=np.uint8)
        view, begin = joined.data, 0
        for offset, size in zip(offsets, sizes, strict=True):
            done = 0
            while done < size:  # a signal or a large request may cut a read short
                part = view[begin + done : begin + size]
                if _READ_INTO is not None:
                    count = _READ_INTO(self._descriptor, [part], offset + done)
                else:
                    with self._turn:  # not every system reads at an offset
                        os.lseek(self._descriptor, offset + done, os.SEEK_SET)
                        data = os.read(self._descriptor, len(part))
                    count = len(data)
                    part[:count] = data
                if not count:
                    raise _cut_short(self.name, offset, size)
                done += count
            begin += size
        joined.setflags(write=False)
        return joined

    def whole(self) -> memoryview:
        """Return everything, mapped into memory."""
        if self.size == 0:
            return memoryview(b"")
        self.check_unchanged()
        return memoryview(mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ))

    def check_unchanged(self) -> None:
        """Check that the file was neither truncated nor written to since it was opened."""
        status = os.fstat(self._descriptor)
        if status.st_size < self.size:
            raise ValueError(
                f"{self.name} is damaged: it was truncated from {self.size} to {status.st_size} "
                "bytes while it was open"
            )
        if status.st_mtime_ns != self._changed:
            raise ValueError(f"{self.name} was written to while it was open; open the store again")


def _cut_short(name: str, offset: int, size: int) -> ValueError:
    """Return the error about a file that ends within a range of bytes."""
    return ValueError(
        f"{name} is damaged: it ends within the {size} bytes at {offset}; it was truncated while "
        "it was open"
    )


@dataclass(frozen=True)
class Place:
    """A folder of a file system of fsspec; its path has no protocol."""

    fs: Any
    path: str

    def __str__(self) -> str:
        url: str = self.fs.unstrip_protocol(self.path)
        return url

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rstrip("/").rpartition("/")[2]


def place_of(path: Any, function: str) -> Place | None:
    """Return the place of a URL, also of a chain of them; None for a path of this machine."""
    if isinstance(path, str) and "://" in path:
        core = extra_package("fsspec.core", f"{function}: {path}", "distributed")
        try:
            return Place(*core.url_to_fs(path))
        except ValueError as error:
            raise ValueError(f"{function}: {path} cannot be opened: {error}") from None
    return path if isinstance(path, Place) else None


class RemoteFile:
    """A file in another place, read by ranges of bytes, several at a time where it can be."""

    def __init__(self, place: Place) -> None:
        self.name = str(place)
        self._fs, self._path = place.fs, place.path
        size = self._fs.info(self._path)["size"]
        if not isinstance(size, int) or size < 0:
            raise ValueError(
                f"{self.name} has no known size, so that parts of it cannot be read; its file "
                f"system says {size!r}"
            )
        self.size = size

    def ranges(self, offsets: list[int], sizes: list[int]) -> NDArray[np.uint8]:
        """Read several ranges of bytes into one array, with one request."""
        some = [i for i, size in enumerate(sizes) if size]  # a range of nothing cannot be asked for
        begins, ends = [offsets[i] for i in some], [offsets[i] + sizes[i] for i in some]
        parts = self._fs.cat_ranges([self._path] * len(some), begins, ends, on_error="raise")
        for i, data in zip(some, parts, strict=True):
            if isinstance(data, BaseException):  # as many file systems do in spite of on_error
                raise data
            if len(data) != sizes[i]:
                raise _cut_short(self.name, offsets[i], sizes[i])
        return np.frombuffer(b"".join(parts), dtype=np.uint8)

    def whole(self) -> memoryview:
        """Return everything, in memory: it cannot be mapped."""
        return memoryview(read_whole(self))

    def check_unchanged(self) -> None:
        """Do nothing: the file is not mapped."""


File: TypeAlias = LocalFile | RemoteFile


def opened(folder: Path | Place, name: str) -> File:
    """Open a file of a folder; a remote file is not read yet."""
    if isinstance(folder, Place):
        return RemoteFile(Place(folder.fs, f"{folder.path.rstrip('/')}/{name}"))
    return LocalFile(os.path.join(folder, name))


def read_whole(file: File) -> bytes:
    """Read all bytes of a file."""
    return file.ranges([0], [file.size]).tobytes()


def check_of(file: File) -> int:
    """Return the CRC-32 of a file."""
    total = 0
    for offset in range(0, file.size, _BLOCK_BYTES):
        total = crc32(file.ranges([offset], [min(_BLOCK_BYTES, file.size - offset)]).data, total)
    return total


def read_runs(
    file: File, begins: IntArray, ends: IntArray
) -> tuple[NDArray[np.uint8], list[memoryview]]:
    """Read runs of bytes into one array, and return it with each run as a part of it.

    Runs that lie one after the other are read together.
    """
    if len(begins) == 0:
        return np.empty(0, dtype=np.uint8), []
    breaks = begins[1:] != ends[:-1]
    first = begins[np.concatenate([[True], breaks])]
    last = ends[np.concatenate([breaks, [True]])]
    joined = file.ranges(first.tolist(), (last - first).tolist())
    stops = np.cumsum(ends - begins)
    view, starts = joined.data, stops - (ends - begins)
    return joined, [view[b:e] for b, e in zip(starts.tolist(), stops.tolist(), strict=True)]


LEAST_BYTES = 10**6
COLUMN_BYTES = 400  # names, records and whatever else a column takes beside its cells


def memory_bytes(memory: Any, function: str, least: int | None = None) -> int:
    """Parse a size such as ``"512MB"``, ``"2GiB"`` or 10**9 in bytes, by default 1MB or more."""
    size = parsed_size(memory) if isinstance(memory, str) else None
    if isinstance(memory, int | float) and not isinstance(memory, bool) and memory == memory:
        size = int(min(memory, 2**62))
    if size is None:
        raise ValueError(
            f"{function}: memory must be a size such as '512MB', '2GiB' or a number of bytes, got "
            f"{memory!r}"
        )
    if size < (LEAST_BYTES if least is None else least):
        raise ValueError(
            f"{function}: memory must be at least 1MB, got {memory!r}. Hint: 512MB is a good start"
        )
    return size


def columns_within(budget: int, n_rows: int, cell_bytes: float, column_bytes: float = 0) -> int:
    """Return the number of columns of `n_rows` cells that fit into memory; one at the least."""
    return max(1, int(budget // (n_rows * cell_bytes + column_bytes + COLUMN_BYTES)))
