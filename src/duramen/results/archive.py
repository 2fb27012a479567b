"""Results and checkpoints on disk: arrays and a header in JSON, in one npz file, without pickle."""

from __future__ import annotations

import json
import math
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from duramen.support.files import InUseError, held, naming, replacing, unfinished
from duramen.support.provenance import fingerprint, versions
from duramen.support.text import first_line, printable

_HEADER, _DIGEST = "json", "digest"
_ENCRYPTED = 1  # flag of a member of a ZIP archive
# Errors that the parts of a file other than those that duramen wrote can raise.
_ODD = (OSError, EOFError, BadZipFile, LookupError, TypeError, ValueError, AttributeError)
_TOO_MUCH = (RecursionError, MemoryError, OverflowError, NotImplementedError)
_NO_PYTHON = (SyntaxError, TokenError)  # the header of an array is a literal of Python


def write_archive(
    path: str | PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a header and arrays to one file of this very name, whole or not at all.

    The header holds what JSON can, with ``"what"``, the kind of thing that is saved, and
    ``"format"``, the number of its format; the arrays hold no objects, and none is called
    ``"json"``. A digest of all of them goes into the header.
    """
    text = _json({**header, _DIGEST: _digest(header, arrays)}).encode("ascii")
    members: dict[str, Any] = {_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    with replacing(Path(path)) as file:
        np.savez(file, **members)


def read_archive(
    path: str | PathLike[str], *, what: str | None, newest: int, function: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_archive` wrote: header and arrays.

    Memory is bounded by the size of the file: members are not compressed, and their shapes are
    compared with their sizes before anything is allocated. A file that holds anything but `what`
    (None where the caller looks for itself), or a format after `newest`, is refused, as is a file
    whose digest does not fit: the checksums of a ZIP archive miss a member that another replaced.
    """
    with as_damage(path, function):
        with open(path, "rb", opener=_regular) as file:
            arrays = _members(file)
        header = json.loads(arrays.pop(_HEADER).tobytes())
        kind, number = printable(str(header["what"])), int(header["format"])
        digest = header.pop(_DIGEST, None)
    if what is not None and kind != what:
        raise ValueError(f"{function}: {path} holds a {kind}, not {what}; load it with that class")
    if number > newest:
        raise ValueError(
            f"{function}: {path} has format {number} of {kind}, this version reads up to "
            f"{newest}; it was written by a later version: upgrade duramen"
        )
    with as_damage(path, function):
        if digest != _digest(header, arrays):
            raise ValueError("its content does not have the digest in its header")
    return header, arrays


@contextmanager
def as_damage(path: str | PathLike[str], function: str) -> Iterator[None]:
    """Turn any error about what a file holds into a ValueError that names the file.

    A file that is not there stays a FileNotFoundError.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except (*_ODD, *_TOO_MUCH, *_NO_PYTHON) as error:
        reason = "it lacks" if isinstance(error, KeyError) else f"{type(error).__name__}:"
        what = f"{reason} {first_line(error)}"
        raise ValueError(
            f"{function}: {path} is not a file saved by duramen, or was altered ({what})"
        ) from None


def _regular(path: str, flags: int) -> int:
    """Open a file; refuse pipes and devices, which can be waited for without end."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError("not a regular file")
    return descriptor


def _members(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """Read the arrays of an npz file that is not compressed."""
    size = file.seek(0, os.SEEK_END)
    with ZipFile(file) as archive:
        members = archive.infolist()
        if any(member.compress_type != ZIP_STORED for member in members):
            raise ValueError("a member is compressed")
        if any(member.flag_bits & _ENCRYPTED for member in members):
            raise ValueError("a member is encrypted")
        if sum(member.file_size for member in members) > size:
            raise ValueError("its members claim more bytes than it has")
        arrays = {}
        for entry in members:
            with archive.open(entry) as member:
                _require_bytes(member, entry.file_size)
            with archive.open(entry) as member:
                array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
                if member.read(1):  # also checks the CRC-32 of the member
                    raise ValueError(f"{entry.filename} has more bytes than its array")
            arrays[entry.filename.removesuffix(".npy")] = array
    return arrays


def _require_bytes(member: IO[bytes], size: int) -> None:
    """Check that an array of the npy format has no more items than the member has bytes.

    Items of no bytes, such as texts of no characters, could be any number, and take memory later.
    """
    read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    version = npy.read_magic(member)
    shape, *_ = read_header[version](member)
    if math.prod(shape) > size:
        raise ValueError(f"an array claims {math.prod(shape):,} items in {size:,} bytes")


def _json(header: Mapping[str, Any]) -> str:
    return json.dumps(header, ensure_ascii=True, allow_nan=False)


def _digest(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    parts = (part for name in sorted(arrays) for part in (name, arrays[name]))
    return fingerprint(_json(header), *parts)


_FORMAT = 1
# How many times longer than a write the time between two of them is, at least.
_PATIENCE = 10


def identity_of(identity: Mapping[str, Any], **more: Any) -> str:
    """Return a fingerprint of the inputs of a run, from their repr, and of all versions."""
    parts = [f"{key}={identity[key]!r}" for key in sorted(identity)]
    parts.append(f"versions={versions()}")
    return fingerprint(*parts, *(f"{key}={value}" for key, value in more.items()))


class Checkpoint:
    """The file of one run, or, without a path, none at all.

    `kind` says what is kept, such as "replicates". A file with another `identity`, as
    `identity_of` gives it, is refused. Two writes are at least `interval` seconds apart.
    """

    def __init__(
        self,
        path: str | PathLike[str] | None,
        kind: str,
        identity: str,
        function: str,
        interval: float,
    ) -> None:
        self._path = None if path is None else Path(path)
        self._kind = kind
        self._identity = identity
        self._function = function
        self._interval = interval
        self._due = time.monotonic() + interval
        if self._path is not None and not self._path.absolute().parent.is_dir():
            raise ValueError(
                f"{function}: the folder of the checkpoint {self._path} does not exist."
            )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the file for the time of a run, so that no other run keeps its own work there."""
        if self._path is None:
            yield
            return
        path = self._path.absolute()
        with ExitStack() as stack:
            try:
                with naming(self._path):
                    stack.enter_context(held(path))
            except InUseError:
                raise InUseError(
                    f"{self._function}: another run uses the checkpoint {self._path}; wait for it, "
                    "or give another file"
                ) from None
            for left in unfinished(path):
                if left.is_file():
                    left.unlink(missing_ok=True)
            yield

    @property
    def wanted(self) -> bool:
        """True if anything is to be kept."""
        return self._path is not None

    @property
    def due(self) -> bool:
        """True if the last write was long ago."""
        return self.wanted and time.monotonic() >= self._due

    def read(self, take: Callable[[dict[str, NDArray[Any]]], int]) -> int:
        """Have `take` start from the arrays of the file; return what it returns, 0 without a file.

        Raises
        ------
        ValueError
            If the file is of another run, or `take` can make nothing of it.
        """
        if self._path is None or not self._path.exists():
            return 0
        header, arrays = read_archive(
            self._path, what=self._kind, newest=_FORMAT, function=self._function
        )
        if header.get("identity") != self._identity:
            raise ValueError(
                f"{self._function}: the checkpoint {self._path} is of another run: other data, "
                "settings, seed or version. Hint: give another file, or remove this one."
            )
        with as_damage(self._path, self._function):
            return take(arrays)

    def write(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep arrays, in place of what was kept."""
        if self._path is None:
            return
        start = time.monotonic()
        header = {"what": self._kind, "format": _FORMAT, "identity": self._identity}
        write_archive(self._path, header, arrays)
        took = time.monotonic() - start
        self._due = time.monotonic() + max(self._interval, _PATIENCE * took)
