"""Checkpoint of a long run, in a file that is replaced as a whole."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from duramen.results.archive import read_archive, write_archive
from duramen.support.files import InUseError, held, naming, unfinished
from duramen.support.provenance import fingerprint

_FORMAT = 1
# How many times longer than a write the time between two of them is, at least.
_PATIENCE = 10


def identity_of(identity: Mapping[str, Any], **more: Any) -> str:
    """Return a fingerprint of the inputs of a run, from their repr."""
    parts = [f"{key}={identity[key]!r}" for key in sorted(identity)]
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

    def read(self) -> dict[str, NDArray[Any]] | None:
        """Return what is kept, if it is of this run and not damaged; None where nothing is."""
        if self._path is None or not self._path.exists():
            return None
        header, arrays = read_archive(
            self._path, what=self._kind, newest=_FORMAT, function=self._function
        )
        if header.get("identity") != self._identity:
            raise ValueError(
                f"{self._function}: the checkpoint {self._path} is of another run: other data, "
                "settings, seed or version. Hint: give another file, or remove this one."
            )
        if header.get("digest") != _digest(arrays):
            raise ValueError(
                f"{self._function}: the checkpoint {self._path} was altered. Hint: remove it, or "
                "give another file."
            )
        return arrays

    def write(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep arrays, in place of what was kept."""
        if self._path is None:
            return
        start = time.monotonic()
        header = {
            "what": self._kind,
            "format": _FORMAT,
            "identity": self._identity,
            "digest": _digest(arrays),
        }
        write_archive(self._path, header, arrays)
        took = time.monotonic() - start
        self._due = time.monotonic() + max(self._interval, _PATIENCE * took)


def _digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    parts = (part for name in sorted(arrays) for part in (name, arrays[name]))
    return fingerprint(*parts)
