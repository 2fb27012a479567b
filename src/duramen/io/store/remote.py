"""Stores in other places than the folders of this machine, through fsspec: object storage, HTTP."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.io.store.packed import PackedColumns


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
        try:
            core: Any = import_module("fsspec.core")
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f"{function}: {path} needs the package fsspec; pip install duramen[distributed]"
            ) from None
        try:
            return Place(*core.url_to_fs(path))
        except ValueError as error:
            raise ValueError(f"{function}: {path} cannot be opened: {error}") from None
    fs = getattr(path, "fs", None)
    inside = getattr(path, "path", None) or getattr(path, "root", None)
    if hasattr(fs, "cat_ranges") and isinstance(inside, str | os.PathLike):
        return Place(fs, str(inside))
    return None


def open_place(place: Place, function: str) -> PackedColumns:
    """Open the packed store in a place."""
    if place.name.lower().endswith(".bed"):
        raise ValueError(
            f"{function}: {place} is a .bed file, which can be read in place only on this machine. "
            "Hint: pack it, and copy the folder there"
        )
    try:
        return PackedColumns(RemoteFolder(place), function)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{function}: there is no column store at {place}. Hint: pack a table, and copy the "
            "folder there"
        ) from None


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
        if size is None:
            raise ValueError(f"{self.name} has no known size, so that parts of it cannot be read")
        self.size = int(size)

    def read(self, offset: int, size: int) -> bytes:
        """Read `size` bytes at `offset`."""
        return self.read_many([offset], [size])[0]

    def read_many(self, offsets: list[int], sizes: list[int]) -> list[bytes]:
        """Read several places."""
        some = [i for i, size in enumerate(sizes) if size]  # a range of nothing cannot be asked for
        begins, ends = [offsets[i] for i in some], [offsets[i] + sizes[i] for i in some]
        read = self._fs.cat_ranges([self._path] * len(some), begins, ends, on_error="raise")
        found = [b""] * len(sizes)
        for i, data in zip(some, read, strict=True):
            if isinstance(data, BaseException):  # as many file systems do in spite of on_error
                raise data
            if len(data) != sizes[i]:
                raise ValueError(
                    f"{self.name} is damaged: it ends within the {sizes[i]} bytes at {offsets[i]}; "
                    "it was truncated while it was open"
                )
            found[i] = bytes(data)
        return found

    def read_joined(self, offsets: list[int], sizes: list[int]) -> NDArray[np.uint8]:
        """Read several places into one array."""
        return np.frombuffer(b"".join(self.read_many(offsets, sizes)), dtype=np.uint8)

    def whole(self) -> memoryview:
        """Return everything, in memory: it cannot be mapped."""
        return memoryview(self.read(0, self.size))

    def check_length(self) -> None:
        """Do nothing: the file is not mapped."""
