"""Pieces of tiles on disk, for tables that do not fit into memory as rows become columns.

A table that comes in rows is cut into tiles, groups of neighboring columns. The pieces of the
tiles are appended to one file as they come; afterwards the pieces of a tile are read together.
"""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np

SPOOL = "spool.bin"


class Spool:
    """Pieces of some number of tiles, in a file of a folder."""

    def __init__(self, folder: Path, n_tiles: int) -> None:
        self._path, self._n_tiles = folder / SPOOL, n_tiles
        self._sizes = array("q")
        self._path.write_bytes(b"")

    def add(self, pieces: list[bytes]) -> None:
        """Append a piece for each tile, in their order."""
        with open(self._path, "ab") as file:
            file.writelines(pieces)
        self._sizes.extend(map(len, pieces))

    def read(self, tile: int) -> bytearray:
        """Return the pieces of a tile, one after the other."""
        sizes = np.frombuffer(self._sizes, dtype=np.int64)
        begins = (np.cumsum(sizes) - sizes)[tile :: self._n_tiles]
        data, at = bytearray(int(sizes[tile :: self._n_tiles].sum())), 0
        view = memoryview(data)
        with open(self._path, "rb") as file:
            for begin, size in zip(
                begins.tolist(), sizes[tile :: self._n_tiles].tolist(), strict=True
            ):
                file.seek(begin)
                if file.readinto(view[at : at + size]) < size:
                    raise ValueError(f"{self._path} was truncated; pack again")
                at += size
        return data

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)
