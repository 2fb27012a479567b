"""Bytes at an offset, and runs of bytes: all that the stores ask of what they lie on.

A store lies in a folder of this machine, or in another place, such as object storage or HTTP, which
fsspec reads. A file closes when it is forgotten; what is damaged or cut short raises ValueError.
"""

from __future__ import annotations

import mmap
import os
import stat
import threading
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import IntArray
from duramen.support.checks import extra_package
from duramen.support.text import parsed_size

BLOCK_BYTES = 1 << 20  # what is read whole is read in such pieces
_LONG = 1 << 14  # bytes of a place that is read without a copy


class LocalFile:
    """A file of this machine; threads may read it at the same time."""

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

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def read(self, offset: int, size: int) -> bytes:
        """Read `size` bytes at `offset`."""
        data = self._at(offset, size)
        while len(data) < size:  # a signal or a large request may cut a read short
            more = self._at(offset + len(data), size - len(data))
            if not more:
                raise ValueError(
                    f"{self.name} is damaged: it ends within the {size} bytes at {offset}; it was "
                    "truncated while it was open"
                )
            data += more
        return data

    def read_many(self, offsets: list[int], sizes: list[int]) -> list[bytes]:
        """Read several places."""
        if not hasattr(os, "pread"):
            return [self.read(at, size) for at, size in zip(offsets, sizes, strict=True)]
        pread, descriptor = os.pread, self._descriptor
        parts = [pread(descriptor, size, at) for at, size in zip(offsets, sizes, strict=True)]
        if sum(map(len, parts)) != sum(sizes):
            return [self.read(at, size) for at, size in zip(offsets, sizes, strict=True)]
        return parts

    def read_joined(self, offsets: list[int], sizes: list[int]) -> NDArray[np.uint8]:
        """Read several places into one array.

        Long ones go where they are wanted at once: to copy them would touch each page of memory
        twice, which takes longer than the reading.
        """
        total = sum(sizes)
        if total < _LONG * len(sizes) or not hasattr(os, "preadv"):
            return np.frombuffer(b"".join(self.read_many(offsets, sizes)), dtype=np.uint8)
        joined = np.empty(total, dtype=np.uint8)
        view, begin = joined.data, 0
        for offset, size in zip(offsets, sizes, strict=True):
            place = view[begin : begin + size]
            done = os.preadv(self._descriptor, [place], offset) if size else 0
            if done < size:  # a signal or a large request may cut a read short
                place[done:] = self.read(offset + done, size - done)
            begin += size
        joined.setflags(write=False)  # as what is made of bytes
        return joined

    def _at(self, offset: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, size, offset)
        with self._turn:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            return os.read(self._descriptor, size)

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


class LocalFolder:
    """A folder of this machine."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)

    def open(self, name: str) -> LocalFile:
        """Open a file in it."""
        return LocalFile(os.path.join(self.name, name))


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
    """Tell where a store lies by a URL, or an object that has a file system of fsspec.

    That is a URL, also a chain of them; or what has `fs` and `path` (a `Place`, an fsspec or
    universal_pathlib path) or `fs` and `root` (the mappers of fsspec). None where it is something
    else, such as a path of this machine.
    """
    if isinstance(path, str) and "://" in path:
        core = extra_package("fsspec.core", f"{function}: {path}", "distributed")
        try:
            return Place(*core.url_to_fs(path))
        except ValueError as error:
            raise ValueError(f"{function}: {path} cannot be opened: {error}") from None
    fs = getattr(path, "fs", None)
    inside = getattr(path, "path", None) or getattr(path, "root", None)
    if hasattr(fs, "cat_ranges") and isinstance(inside, str | os.PathLike):
        return Place(fs, str(inside))
    return None


class RemoteFolder:
    """A folder in another place."""

    def __init__(self, place: Place) -> None:
        self.name = str(place)
        self._place = place

    def open(self, name: str) -> RemoteFile:
        """Open a file in it; nothing is read yet."""
        base = self._place.path.rstrip("/")
        return RemoteFile(Place(self._place.fs, f"{base}/{name}"))


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

    def read(self, offset: int, size: int) -> bytes:
        """Read `size` bytes at `offset`."""
        return self.read_many([offset], [size])[0]

    def read_many(self, offsets: list[int], sizes: list[int]) -> list[bytes]:
        """Read several places."""
        some = [i for i, size in enumerate(sizes) if size]  # a range of nothing cannot be asked for
        begins, ends = [offsets[i] for i in some], [offsets[i] + sizes[i] for i in some]
        read = self._fs.cat_ranges([self._path] * len(some), begins, ends, on_error="raise")
        parts = [b""] * len(sizes)
        for i, data in zip(some, read, strict=True):
            if isinstance(data, BaseException):  # as many file systems do in spite of on_error
                raise data
            if len(data) != sizes[i]:
                raise ValueError(
                    f"{self.name} is damaged: it ends within the {sizes[i]} bytes at {offsets[i]}; "
                    "it was truncated while it was open"
                )
            parts[i] = bytes(data)
        return parts

    def read_joined(self, offsets: list[int], sizes: list[int]) -> NDArray[np.uint8]:
        """Read several places into one array."""
        return np.frombuffer(b"".join(self.read_many(offsets, sizes)), dtype=np.uint8)

    def whole(self) -> memoryview:
        """Return everything, in memory: it cannot be mapped."""
        return memoryview(self.read(0, self.size))

    def check_unchanged(self) -> None:
        """Do nothing: the file is not mapped."""


File: TypeAlias = LocalFile | RemoteFile
Folder: TypeAlias = LocalFolder | RemoteFolder


def read_rows(file: File, rows: IntArray, row_bytes: int, base: int = 0) -> NDArray[np.uint8]:
    """Read rows of one length, in the order asked for, neighbors of ascending order together.

    Row r begins at byte ``base + r * row_bytes``.
    """
    begins = base + rows * row_bytes
    return read_neighbors(file, begins, begins + row_bytes)


def read_neighbors(file: File, begins: IntArray, ends: IntArray) -> NDArray[np.uint8]:
    """Read places one after the other, with one request where one ends as the next begins."""
    if len(begins) == 0:
        return np.empty(0, dtype=np.uint8)
    breaks = begins[1:] != ends[:-1]
    first = begins[np.concatenate([[True], breaks])]
    last = ends[np.concatenate([breaks, [True]])]
    return file.read_joined(first.tolist(), (last - first).tolist())


def pieces_of(file: File, multiple: int = 1) -> Iterator[bytes]:
    """Read a file from begin to end, in pieces whose lengths are multiples of `multiple`."""
    most = max(1, BLOCK_BYTES // multiple) * multiple
    for offset in range(0, file.size, most):
        yield file.read(offset, min(most, file.size - offset))


class Runs:
    """Runs of bytes that lie one after the other in a file, or in memory.

    Run j is items ``offsets[j]:offsets[j + 1]``, of `item` bytes each, of `file` or else of `data`.
    """

    def __init__(
        self,
        offsets: NDArray[Any],
        file: File | None = None,
        data: bytes = b"",
        item: int = 1,
    ) -> None:
        self.offsets = offsets
        self.resident = file is None
        self._file = file
        self._data = data
        self._item = item

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def keep(self, check: int) -> bool:
        """Read everything into memory; false where it has not the CRC-32 `check`."""
        if self._file is not None:
            self._data = b"".join(pieces_of(self._file))
            self._file, self.resident = None, True
        return crc32(self._data) == check

    def take(self, chosen: IntArray) -> list[bytes]:
        """Return the runs of the given numbers, in that order."""
        begins, ends = self._places(chosen)
        if self._file is None:
            data = self._data
        else:
            data = read_neighbors(self._file, begins, ends).tobytes()
            begins, ends = _joined(ends - begins)
        return [data[b:e] for b, e in zip(begins.tolist(), ends.tolist(), strict=True)]

    def joined(self, chosen: IntArray) -> tuple[NDArray[np.uint8], list[memoryview]]:
        """Return the runs of the given numbers in one array, and each as a part of it."""
        begins, ends = self._places(chosen)
        if self._file is None:
            data = np.frombuffer(b"".join(self.take(chosen)), dtype=np.uint8)
        else:
            data = read_neighbors(self._file, begins, ends)
        view = data.data
        begins, ends = _joined(ends - begins)
        return data, [view[b:e] for b, e in zip(begins.tolist(), ends.tolist(), strict=True)]

    def _places(self, chosen: IntArray) -> tuple[IntArray, IntArray]:
        """Return the first byte of each run, and the one behind its last."""
        begins = self.offsets[chosen].astype(np.int64)
        return begins * self._item, self.offsets[chosen + 1].astype(np.int64) * self._item

    def chunks(self, size: int = 1 << 16) -> Iterator[list[bytes]]:
        """Yield all runs in their order, `size` of them at a time."""
        for begin in range(0, len(self), size):
            yield self.take(np.arange(begin, min(begin + size, len(self))))

    def find(self, wanted: bytes) -> int | None:
        """Return the number of the first run that is `wanted`."""
        begin = 0
        for chunk in self.chunks():
            try:
                return begin + chunk.index(wanted)
            except ValueError:
                begin += len(chunk)
        return None


def _joined(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Return where runs of these lengths begin and end, one after the other."""
    ends = np.cumsum(sizes)
    return ends - sizes, ends


def offsets_of(sizes: NDArray[np.unsignedinteger], total: int | None = None) -> NDArray[Any]:
    """Return where runs begin, and where the last ends; narrow if their total length permits."""
    if total is None:
        total = int(sizes.sum(dtype=np.uint64))
    offsets = np.zeros(len(sizes) + 1, dtype=np.uint32 if total < 2**32 else np.uint64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


_SHOWN = 5


class Repeats:
    """Notices names that come twice: eight bytes for each of them.

    Only those whose hashes agree are compared, which takes a second look at all of them.
    """

    def __init__(self) -> None:
        self._hashes = array("q")

    def see(self, names: Iterable[bytes]) -> None:
        """Take note of names."""
        self._hashes.extend(map(hash, names))

    def among(self, names: Iterable[bytes]) -> list[bytes]:
        """Return the names that came more than once, `names` being all of them once more."""
        hashes = np.sort(np.frombuffer(self._hashes, dtype=np.int64)) if self._hashes else None
        if hashes is None or not (suspects := set(hashes[1:][np.diff(hashes) == 0].tolist())):
            return []
        seen: set[bytes] = set()
        repeated: dict[bytes, None] = {}
        for name in names:
            if hash(name) in suspects:
                if name in seen:
                    repeated[name] = None
                seen.add(name)
        return list(repeated)


def repetition(repeated: list[bytes], where: str, function: str, hint: str) -> ValueError:
    """Return the error for names that came more than once."""
    shown = ", ".join(repr(name.decode("utf-8", "replace")) for name in repeated[:_SHOWN])
    more = f" and {len(repeated) - _SHOWN} more" if len(repeated) > _SHOWN else ""
    return ValueError(
        f"{function}: {where} has more than one column named {shown}{more}; column names must "
        f"be unique. Hint: {hint}"
    )


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
