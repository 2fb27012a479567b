"""Results on disk: arrays and a header in JSON, in one npz file, without pickle."""

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from duramen.results.replacing import replacing

_HEADER = "json"


def write_archive(
    path: str | PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a header and arrays to one file, whole or not at all.

    Parameters
    ----------
    path : path
        The file, under this very name.
    header : mapping
        What JSON can hold, with ``"what"``, the kind of thing that is saved, and ``"format"``, the
        number of its format.
    arrays : mapping of str to ndarray
        Arrays of numbers, truth values or strings, not of objects; none is called ``"json"``.
    """
    text = json.dumps(header, ensure_ascii=True, allow_nan=False).encode("ascii")
    members: dict[str, Any] = {_HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    with replacing(Path(path)) as file:
        np.savez(file, **members)


def read_archive(
    path: str | PathLike[str], *, what: str | None, newest: int, function: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_archive` wrote.

    Parameters
    ----------
    path : path
        The file.
    what : str or None
        The kind of thing that it shall hold; None where the caller looks for itself.
    newest : int
        The newest format of it that can be read.
    function : str
        The function that the user called, for errors.

    Returns
    -------
    header : dict
    arrays : dict of str to ndarray

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it holds something else, or was written by a later version.
    """
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop(_HEADER).tobytes())
        kind, number = header["what"], int(header["format"])
    except FileNotFoundError:
        raise
    except (OSError, EOFError, BadZipFile, LookupError, TypeError, ValueError) as error:
        raise ValueError(
            f"{function}: {path} is no file that duramen saved ({type(error).__name__}: {error})"
        ) from None
    if what is not None and kind != what:
        raise ValueError(f"{function}: {path} holds a {kind}, not {what}; load it with that class")
    if number > newest:
        raise ValueError(
            f"{function}: {path} has format {number} of {kind}, this version reads up to {newest}; "
            "a later duramen wrote it: upgrade"
        )
    return header, arrays
