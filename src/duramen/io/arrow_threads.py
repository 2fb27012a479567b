"""Threads of Arrow, which ends the process where one of them cannot start."""

from __future__ import annotations

import functools
import io

from duramen.support.threads import startable

# One thread that reads, and one that computes.
_LEAST = 2


def require_arrow_threads(function: str) -> None:
    """Make sure that Arrow has the threads that it works with; fewer where a limit asks for it."""
    room = _ready()
    if room < _LEAST:
        raise OSError(
            f"{function}: reading tables needs {_LEAST} threads, more than the system lets this "
            "process start; raise the limit on processes (ulimit -u) or memory (ulimit -v)"
        )


@functools.cache
def _ready() -> int:
    """Return how many threads there is room for; where it is little, start two of Arrow now."""
    import pyarrow as pa

    capacity = pa.cpu_count() + pa.io_thread_count()
    room = startable(1 + capacity) - 1
    if _LEAST <= room < capacity:
        pa.set_cpu_count(1)
        pa.set_io_thread_count(1)
        try:
            _start()
        except (pa.ArrowException, OSError):
            return 0
    return room


def _start() -> None:
    """Have Arrow start its threads now, while there is room for them."""
    from pyarrow import csv

    csv.read_csv(io.BytesIO(b"a,b\n1,2\n"), read_options=csv.ReadOptions(use_threads=True))
