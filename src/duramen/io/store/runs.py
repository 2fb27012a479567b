"""Runs of bytes, one a column, of lengths of their own: names, values, labels."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from duramen.io.store.reader import File, pieces_of, read_neighbors
from duramen.support.arrays import IntArray


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
