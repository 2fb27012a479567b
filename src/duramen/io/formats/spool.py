"""Pieces of tiles on disk, for tables that do not fit into memory as rows become columns.

A table that comes in rows is cut into tiles, groups of neighboring columns. The pieces of the
tiles are appended to one file as they come; afterwards the pieces of a tile are read together.
"""

from __future__ import annotations

import json
import os
from array import array
from pathlib import Path
from zlib import crc32

import numpy as np

SPOOL = "spool.bin"
INDEX = "spool.npy"
DONE = "spool.json"


class Spool:
    """Pieces of tiles; if a spool was finished in the folder, it is `done` and can be read."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / SPOOL
        self._index = folder / INDEX
        self._mark = folder / DONE
        self._tiles, self._sizes = array("q"), array("q")
        self._check = 0
        self.done = self._is_whole()
        if self.done:
            self._read_index()
        else:
            self._path.write_bytes(b"")

    def add(self, pieces: list[bytes]) -> None:
        """Append a piece for each tile, in their order."""
        with open(self._path, "ab") as file:
            file.writelines(pieces)
        for piece in pieces:
            self._check = crc32(piece, self._check)
        self._tiles.extend(range(len(pieces)))
        self._sizes.extend(map(len, pieces))

    def finish(self) -> None:
        """Note that all pieces are there."""
        index = np.array([self._tiles, self._sizes], dtype=np.int64)
        np.save(self._index, index)
        for path in (self._path, self._index):
            with open(path, "rb+") as file:
                os.fsync(file.fileno())
        noted = {"bytes": sum(self._sizes), "check": self._check, "index": crc32(index.tobytes())}
        self._mark.write_text(json.dumps(noted), encoding="ascii")
        self.done = True
        self._read_index()

    def _is_whole(self) -> bool:
        """Tell whether a spool was finished here, and holds what was written."""
        try:
            noted = json.loads(self._mark.read_bytes())
            index = np.load(self._index, allow_pickle=False)
            left, check = self._path.stat().st_size, 0
            if noted["bytes"] != left or noted["index"] != crc32(index.tobytes()):
                return False
        except (OSError, ValueError, LookupError, TypeError):
            return False
        with open(self._path, "rb") as file:
            while piece := file.read(1 << 20):
                check = crc32(piece, check)
        return bool(check == noted["check"])

    def _read_index(self) -> None:
        tiles, sizes = np.load(self._index)
        ends = np.cumsum(sizes)
        order = np.argsort(tiles, kind="stable")
        self._begins, self._lengths = (ends - sizes)[order], sizes[order]
        self._first = np.searchsorted(tiles[order], np.arange(int(tiles.max(initial=-1)) + 2))

    def read(self, tile: int) -> bytearray:
        """Return the pieces of a tile, one after the other."""
        here = slice(int(self._first[tile]), int(self._first[tile + 1]))
        data = bytearray(int(self._lengths[here].sum()))
        view, at = memoryview(data), 0
        with open(self._path, "rb", buffering=0) as file:
            for begin, length in zip(
                self._begins[here].tolist(), self._lengths[here].tolist(), strict=True
            ):
                file.seek(begin)
                while length:
                    got = file.readinto(view[at : at + length])
                    if not got:
                        raise ValueError(f"{self._path} was truncated; pack again")
                    at, length = at + got, length - got
        return data

    def remove(self) -> None:
        """Delete its files."""
        for path in (self._mark, self._index, self._path):
            path.unlink(missing_ok=True)
