"""Results on disk: arrays and a header in JSON, in one npz file, without pickle."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from duramen.support.files import replacing

_HEADER = "json"
_PIECE = 1 << 18  # bytes that are read at a time
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
    ``"json"``.
    """
    text = json.dumps(header, ensure_ascii=True, allow_nan=False).encode("ascii")
    members: dict[str, Any] = {_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    with replacing(Path(path)) as file:
        np.savez(file, **members)


def read_archive(
    path: str | PathLike[str], *, what: str | None, newest: int, function: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_archive` wrote: header and arrays.

    Memory is bounded by the size of the file: members are not compressed, and their shapes are
    compared with their sizes before anything is allocated. A file that holds anything but `what`
    (None where the caller looks for itself), or a format after `newest`, is refused.
    """
    with as_damage(path, function):
        with open(path, "rb", opener=_regular) as file:
            arrays = _members(file)
        header = json.loads(arrays.pop(_HEADER).tobytes())
        kind, number = header["what"], int(header["format"])
    if what is not None and kind != what:
        raise ValueError(f"{function}: {path} holds a {kind}, not {what}; load it with that class")
    if number > newest:
        raise ValueError(
            f"{function}: {path} has format {number} of {kind}, this version reads up to "
            f"{newest}; it was written by a later version: upgrade duramen"
        )
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
        lacks = isinstance(error, KeyError)
        what = f"it lacks {error}" if lacks else f"{type(error).__name__}: {_short(error)}"
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
        if any(one.compress_type != ZIP_STORED for one in members):
            raise ValueError("a member is compressed")
        if sum(one.file_size for one in members) > size:
            raise ValueError("its members claim more bytes than it has")
        arrays = {}
        for one in members:
            with archive.open(one) as member:
                arrays[one.filename.removesuffix(".npy")] = _array(member, one.file_size)
    return arrays


def _array(member: IO[bytes], size: int) -> NDArray[Any]:
    """Read the array of a member of `size` bytes."""
    version = npy.read_magic(member)
    if version == (1, 0):
        shape, by_columns, kind = npy.read_array_header_1_0(member)
    elif version == (2, 0):
        shape, by_columns, kind = npy.read_array_header_2_0(member)
    else:
        raise ValueError(f"an array has version {version} of the format")
    if kind.hasobject:
        raise ValueError("an array holds objects")
    count = 1
    for length in shape:
        count *= length
    if min(shape, default=0) < 0 or count * kind.itemsize != size - member.tell():
        raise ValueError(f"an array of shape {shape} and type {kind} does not fit its bytes")
    array = np.empty(count, dtype=kind)
    data = array.view(np.uint8).data if array.nbytes else memoryview(b"")
    done = 0
    while piece := member.read(_PIECE):  # the last one checks the CRC-32 of the member
        data[done : done + len(piece)] = piece
        done += len(piece)
    return array.reshape(shape[::-1]).T if by_columns else array.reshape(shape)


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:200]}..."
