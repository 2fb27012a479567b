"""Readers of native libraries, each in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from duramen.data.memory import available_bytes, readable_bytes
from duramen.io.formats import reader_process

# Of the time between two parts of an answer; few disks read fewer bytes in a second.
_SECONDS, _BYTES_A_SECOND, _MOST_SECONDS = 60.0, 10e6, 86_400.0
_PIPE_BYTES = 1 << 20  # of a pipe, where the system allows it: fewer turns of the two processes
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class NativeReader:
    """Process in which an object reads a file; it ends with this one.

    A native library that ends its process or never returns, as some do on damaged files, costs an
    error.

    Parameters
    ----------
    kind : type
        Class of the object, one of `reader_process`: it takes the path, and has generator methods.
    path : Path
        File to read.
    memory : int, optional
        Bytes of memory that the process may take.
    n_bytes : int
        Bytes that the object reads between two parts of an answer, if they may be many: the limit
        of 60 seconds is longer then.
    """

    def __init__(self, kind: type, path: Path, memory: int | None, n_bytes: int = 0) -> None:
        self._seconds = min(_SECONDS + n_bytes / _BYTES_A_SECOND, _MOST_SECONDS)
        modules = [os.path.abspath(place) for place in sys.path if os.path.isabs(place)]
        place = str(path.absolute())
        arguments = json.dumps([kind.__name__, modules, place, memory, self._seconds])
        self._process = subprocess.Popen(
            [sys.executable, "-P", reader_process.__file__, arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pipesize=_PIPE_BYTES,
            env={**os.environ, **_ONE_THREAD},  # each thread would reserve memory
            start_new_session=True,  # time must not go by while a terminal stops this process
        )
        self.close = weakref.finalize(self, _end, self._process)

    def answer(self, method: str, *arguments: Any) -> Any:
        """Return the only part of the answer of a method."""
        (part,) = self.parts(method, *arguments)
        return part

    def block(
        self, shape: Sequence[int], kind: DTypeLike, method: str, *arguments: Any
    ) -> NDArray[Any]:
        """Return an array, of which a method yields some rows at a time.

        Raises
        ------
        ValueError
            As of `parts`; or if there is too little memory, or the rows are not as many.
        """
        block, begin = _empty(shape, kind), 0
        for part in self.parts(method, *arguments):
            block[begin : begin + len(part)] = part
            begin += len(part)
        if begin != len(block):
            raise ValueError(f"its reader gave {begin} of {len(block)} rows")
        return block

    def parts(self, method: str, *arguments: Any) -> Iterator[Any]:
        """Yield the values of a generator method of the object.

        Raises
        ------
        ValueError
            If it raises an error, ends its process, or makes no progress. The text does not name
            the file.
        """
        process, whole = self._process, False
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with contextlib.suppress(OSError):
                pickle.dump((method, arguments), process.stdin)
                process.stdin.flush()
            while (sent := _received(process.stdout, self._seconds)) is not None:
                right, part = sent
                if not right:
                    raise ValueError(part)
                yield part
            whole = True
        finally:
            if not whole:
                self.close()


def _empty(shape: Sequence[int], kind: DTypeLike) -> NDArray[Any]:
    """Return an array without values; in a damaged file its shape may be any."""
    wanted, available = prod(shape) * np.dtype(kind).itemsize, available_bytes()
    if available is not None and wanted > available:
        raise ValueError(
            f"an array of shape {tuple(shape)} needs {readable_bytes(wanted)} of memory, and "
            f"{readable_bytes(available)} are available"
        )
    return np.empty(shape, dtype=kind)


def _received(stream: Any, seconds: float) -> Any:
    """Return the next message of a process."""
    begin = time.monotonic()
    try:
        return pickle.load(stream)
    except (EOFError, OSError, pickle.UnpicklingError):
        waited = time.monotonic() - begin
        reason = "has ended: too large, or damaged"
        if waited >= seconds / 2:  # its time may begin long before, on a busy machine
            reason = f"made no progress for {seconds:.0f} seconds"
        raise ValueError(f"its reader {reason}") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            assert pipe is not None
            pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):  # it may wait for a disk that is away
        process.wait(10)
