"""Workers that run jobs: threads of this process, or workers of a Dask cluster."""

from __future__ import annotations

import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice, starmap, takewhile
from typing import Any

from duramen.support.checks import extra_package, refuse
from duramen.support.provenance import versions
from duramen.support.threads import Pool, one_blas_thread

# How often Dask tries a job again that failed (an object storage may be away for a moment), and
# how often jobs are sent again of which everything was lost.
_RETRIES = 2
# Packages whose versions decide what a job gives.
_SAME = ("duramen", "numpy")
# Jobs that are given to workers ahead of the first one that is not done, for each core; on a
# cluster that may still grow, this many at least.
_AHEAD, _FEWEST_AHEAD = 2, 64

Task = Callable[..., Any]
Jobs = Iterable[tuple[Any, ...]]
Run = Callable[[Jobs], Iterator[Any]]


class ClusterError(ConnectionError):
    """Cluster that cannot do the work: its scheduler or its workers are lost, or differ."""


@contextmanager
def running(task: Task, n_threads: int, cluster: Cluster | None = None) -> Iterator[Run]:
    """Run jobs in order, or on several threads, with one BLAS thread each.

    Parameters
    ----------
    task : callable
        Given the arguments of a job, it returns the result. On a cluster it is sent, with all that
        it refers to, once to each worker, and must not depend on later changes here.
    n_threads : int
        Jobs that are run at a time.
    cluster : Cluster, optional
        Workers that run the jobs in place of threads.

    Returns
    -------
    context manager of a callable
        ``run(jobs)`` takes the arguments of the jobs, a tuple each, as they are needed, and yields
        the results in the order of the jobs. Leaving the context cancels the rest.
    """
    if cluster is not None:
        with cluster.running(task) as on_workers:
            yield on_workers
        return
    if n_threads == 1:
        with one_blas_thread():
            yield partial(starmap, task)
        return

    def run(jobs: Jobs) -> Iterator[Any]:
        ahead: deque[Future[Any]] = deque()
        upcoming = iter(jobs)
        while True:
            more = islice(upcoming, _AHEAD * n_threads - len(ahead))
            ahead.extend(pool.submit(copy_context().run, task, *job) for job in more)
            if not ahead:
                return
            yield ahead.popleft().result()

    with one_blas_thread(), Pool(n_threads) as pool:
        yield run


@dataclass(frozen=True)
class Cluster:
    """Workers of a connected `dask.distributed.Client`."""

    client: Any

    @property
    def connected(self) -> bool:
        """True until the client is closed."""
        return bool(self.client.status == "running")

    @property
    def at_a_time(self) -> int:
        """Threads of all workers, 1 at least."""
        cores: dict[str, int] = self.client.ncores()
        return max(1, sum(cores.values()))

    @contextmanager
    def running(self, task: Task) -> Iterator[Run]:
        """Run jobs on the workers, as :func:`running` does on threads.

        Jobs of a worker that dies are run by others: Dask sees to that, unless all died that had
        the task. It is then sent anew, with all jobs that are not done.
        """
        client, most = self.client, max(_FEWEST_AHEAD, _AHEAD * self.at_a_time)
        packed = PickledTask.of(task)
        sent: deque[tuple[tuple[Any, ...], Any]] = deque()  # jobs and their futures
        there: Any = None  # the task on the workers

        def send(jobs: Jobs) -> None:
            # Not one `client.map`: its arguments would travel as one large message.
            options = {"pure": False, "retries": _RETRIES}
            sent.extend((job, client.submit(run_there, there, *job, **options)) for job in jobs)

        def cancel() -> None:
            if sent and self.connected:
                with suppress(OSError):  # of a scheduler that is lost
                    client.cancel([future for _, future in sent])
            sent.clear()

        def run(jobs: Jobs) -> Iterator[Any]:
            nonlocal there
            upcoming, lost = iter(jobs), 0
            while True:
                send(islice(upcoming, most - len(sent)))
                if not sent:
                    return
                futures = [future for _, future in sent]
                done = [futures[0], *takewhile(lambda future: future.done(), futures[1:])]
                try:
                    results = client.gather(done)
                except CancelledError:
                    lost += 1
                    if not self.connected:
                        raise _lost_scheduler() from None
                    if lost > _RETRIES:
                        raise _ended_workers() from None
                    again = [job for job, _ in sent]
                    cancel()
                    there = client.scatter(packed, broadcast=True, hash=False)
                    send(again)
                    continue
                except Exception as error:
                    if type(error).__name__ == "KilledWorker":  # of distributed, maybe absent
                        raise _ended_workers() from None
                    raise
                lost = 0
                for result in results:
                    sent.popleft()
                    yield pickle.loads(result)

        try:
            there = client.scatter(packed, broadcast=True, hash=False)
            yield run
        except OSError as error:
            if type(error).__name__ == "CommClosedError":  # of distributed, which may be absent
                raise _lost_scheduler() from None
            raise
        finally:
            cancel()


def check_client(owner: str, client: Any) -> Cluster:
    """Return the cluster of a client; refuse closed and asynchronous clients."""
    distributed = extra_package("distributed", f"{owner}: client", "distributed")
    if not isinstance(client, distributed.Client):
        hint = 'Client("scheduler:8786") makes one'
        allowed = "a dask.distributed.Client or None"
        raise refuse(owner, "client", allowed, client, hint)
    if client.asynchronous:
        raise refuse(owner, "client", "a client that is not asynchronous", client)
    if client.status != "running":
        raise refuse(owner, "client", "connected to a scheduler", client, "it was closed")
    return Cluster(client)


class PickledTask:
    """Task on its way to a worker, where the first of its jobs unpacks it.

    What goes wrong there, such as a store that the worker does not see, is then an error of that
    job; one in what carries it between processes would end the connection.
    """

    def __init__(self, packed: bytes, sender: dict[str, str]) -> None:
        self._packed, self._sender = packed, sender
        self._task: Task | None = None
        self._turn = threading.Lock()

    @classmethod
    def of(cls, task: Task) -> PickledTask:
        """Pack a task; functions within functions, or of a notebook, are packed by their code."""
        cloudpickle: Any = import_module("cloudpickle")  # Dask has it
        return cls(cloudpickle.dumps(task), versions())

    def __reduce__(self) -> tuple[Any, ...]:
        if self._task is not None:
            return PickledTask.of, (self._task,)
        return PickledTask, (self._packed, self._sender)

    def open(self) -> Task:
        """Return the task, if it came from this version of the package and of NumPy.

        Results of other versions may differ (ClusterError).
        """
        with self._turn:
            if self._task is None:
                here, there = versions(), self._sender
                other = [name for name in _SAME if here.get(name) != there.get(name)]
                if other:
                    have = ", ".join(f"{name} {here.get(name)}" for name in other)
                    want = ", ".join(f"{name} {there.get(name)}" for name in other)
                    raise ClusterError(
                        f"client: a worker has {have}, its client {want}; results might differ. "
                        "Hint: install the same versions everywhere"
                    )
                try:
                    self._task = pickle.loads(self._packed)
                except FileNotFoundError as error:
                    error.add_note(
                        "Hint: each worker reads the store at this path; put it into a folder "
                        "that all workers can read, or on object storage"
                    )
                    raise
                self._packed = b""
            return self._task


def run_there(task: PickledTask, *job: Any) -> bytes:
    """Run a job on a worker; return its result, packed.

    Packed, because arrays that come over a connection keep all of the message in memory.
    """
    return pickle.dumps(task.open()(*job))


def _ended_workers() -> ClusterError:
    """Return the error for jobs that end their workers whenever they are run."""
    return ClusterError(
        f"client: workers ended while they ran the same jobs, {_RETRIES + 1} times in a row, as "
        "when memory runs out. Hint: give each worker more memory or fewer threads; the reason "
        "is in their logs"
    )


def _lost_scheduler() -> ClusterError:
    """Return the error where no further job can be sent."""
    return ClusterError(
        "client: the connection to the scheduler was lost; a checkpoint has the work done so far. "
        "Hint: start a scheduler, and repeat the call with a new client or without one"
    )
