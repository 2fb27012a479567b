"""Threads and processes, and the limits of the system on them."""

from __future__ import annotations

import functools
import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from duramen.support.arrow import pa, pa_csv

_T = TypeVar("_T")

_STACK = 1 << 23  # bytes of addresses of a thread, unless the limit on stacks is another


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, as a context or a decorator.

    The threads of several calls, or of other processes, wait for each other: on two busy cores most
    of the time of a decomposition of 500 by 200 numbers went there.
    """
    with _libraries("blas", len(sys.modules)).limit(limits=1):
        yield


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Keep OpenMP in this thread to one thread: sums over several have other last bits."""
    with _libraries("openmp", len(sys.modules)).limit(limits=1):
        yield


@functools.lru_cache(maxsize=2)
def _libraries(user_api: str, n_modules: int) -> Any:
    """Return the controller of libraries; looking for them takes longer than many a job.

    They are looked for again where modules were imported since.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api=user_api)


def startable(wanted: int) -> int:
    """Return how many of `wanted` threads, the calling thread included, can work at a time.

    Their stacks take half of the addresses that are left at most: threads that take the last of
    them leave nothing to work with, and one that cannot even begin may be waited for without end.
    """
    left = addresses_left()
    most = (
        wanted - 1
        if left is None
        else min(wanted - 1, left // (2 * (threading.stack_size() or _STACK)))
    )
    done = threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(most):
            thread = threading.Thread(target=done.wait, daemon=True)
            thread.start()
            started.append(thread)
    except (RuntimeError, MemoryError):
        pass
    finally:
        done.set()
        for thread in started:
            thread.join()
    return len(started) + 1


class Pool(ThreadPoolExecutor):
    """Pool of threads, as many as the system can start up to a number.

    Where none can, the calling thread does the work. Leaving the context cancels what has not
    begun.
    """

    def __init__(self, number: int) -> None:
        self._room = startable(number + 1) - 1
        super().__init__(max(1, self._room))

    def submit(self, function: Callable[..., _T], /, *arguments: Any) -> Future[_T]:  # type: ignore[override]
        """Call a function on one of the threads."""
        if self._room:
            return super().submit(function, *arguments)
        done: Future[_T] = Future()
        try:
            done.set_result(function(*arguments))
        except BaseException as error:
            done.set_exception(error)
        return done

    def __exit__(self, *_: object) -> None:
        """Cancel the calls that have not begun, and wait for the others."""
        self.shutdown(cancel_futures=True)


def addresses_left() -> int | None:
    """Return the bytes of address space left to the process; None without a limit.

    The limit is that of ``ulimit -v``; systems other than Linux tell no use of it.
    """
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY:
            return None
        with open("/proc/self/statm", "rb") as file:
            pages = int(file.read().split()[0])
    except (ImportError, OSError, ValueError):
        return None
    return max(0, most - pages * resource.getpagesize())


_SECONDS = 1.0  # between two looks


def end_with(parent: int) -> None:
    """End this process soon after its parent, even if the parent is killed."""
    if hasattr(os, "getppid"):
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS)
    os._exit(1)


# One thread that reads, and one that computes.
_FEWEST = 2


def require_arrow_threads(function: str) -> None:
    """Make sure that Arrow has the threads that it works with; fewer where a limit asks for it."""
    room = _arrow_threads()
    if room < _FEWEST:
        raise OSError(
            f"{function}: reading tables needs {_FEWEST} threads, more than the system lets this "
            "process start; raise the limit on processes (ulimit -u) or memory (ulimit -v)"
        )


@functools.cache
def _arrow_threads() -> int:
    """Return the number of threads that fit; if few fit, start two threads of Arrow now."""
    capacity = pa.cpu_count() + pa.io_thread_count()
    room = startable(1 + capacity) - 1
    if _FEWEST <= room < capacity:
        pa.set_cpu_count(1)
        pa.set_io_thread_count(1)
        try:
            # Have them start while there is room.
            options = pa_csv.ReadOptions(use_threads=True)
            pa_csv.read_csv(io.BytesIO(b"a,b\n1,2\n"), read_options=options)
        except (pa.ArrowException, OSError):
            return 0
    return room
