"""Workers that run jobs: threads of this process, or those of a Dask cluster."""

from __future__ import annotations

import os
import pickle
import platform
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice, starmap
from typing import Any, TypeAlias

from duramen.support.checks import extra_package, processors, refuse
from duramen.support.provenance import versions
from duramen.support.threads import Pool, one_blas_thread
from duramen.support.warning import warn

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


@dataclass(frozen=True)
class Threads:
    """Threads of this process."""

    number: int

    @property
    def at_a_time(self) -> int:
        """Number of threads that have a processor."""
        return min(self.number, processors("n_jobs"))

    @contextmanager
    def running(self, task: Task) -> Iterator[Run]:
        """Run jobs one after the other, or over several threads, with one thread of BLAS each.

        Parameters
        ----------
        task : callable
            Given the arguments of a job, it returns the result. On a cluster it is sent, with all
            that it refers to, once to each worker, and must not depend on later changes here.

        Returns
        -------
        context manager of a callable
            ``run(jobs)`` takes the arguments of the jobs, a tuple each, as they are needed, and
            yields the results in the order of the jobs. Leaving the context cancels the rest.
        """
        if self.number == 1:
            with one_blas_thread():
                yield partial(starmap, task)
            return

        def run(jobs: Jobs) -> Iterator[Any]:
            ahead: deque[Future[Any]] = deque()
            upcoming = iter(jobs)
            while True:
                more = islice(upcoming, _AHEAD * self.number - len(ahead))
                ahead.extend(pool.submit(copy_context().run, task, *job) for job in more)
                if not ahead:
                    return
                yield ahead.popleft().result()

        with one_blas_thread(), Pool(self.number) as pool:
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
        """Run jobs on the workers; what these have of the task goes with the context."""
        crew = None
        try:
            crew = _Crew(self.client, task, max(_FEWEST_AHEAD, _AHEAD * self.at_a_time))
            yield crew.run
        except OSError as error:
            if type(error).__name__ == "CommClosedError":  # of distributed, which may be absent
                raise _lost_scheduler() from None
            raise
        finally:
            if crew is not None:
                crew.leave()


Workers: TypeAlias = Threads | Cluster
"""What runs jobs: both have `at_a_time` and `running`."""


def check_client(owner: str, client: Any) -> Cluster:
    """Take a client, or refuse it: one that is asynchronous or closed, or none."""
    distributed = extra_package("distributed", f"{owner}: client", "distributed")
    if not isinstance(client, distributed.Client):
        raise refuse(
            owner,
            "client",
            "a dask.distributed.Client or None",
            client,
            'Client("scheduler:8786") makes one',
        )
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

    def __init__(
        self,
        task: Task | None = None,
        packed: bytes = b"",
        sender: dict[str, str] | None = None,
        home: tuple[str, int] | None = None,
    ) -> None:
        self._task, self._packed = task, packed
        self._sender = sender or versions()
        self._home = home or _process()
        self._turn = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        packed = self._packed
        if not packed:  # functions within functions, or of a notebook, by their code
            cloudpickle: Any = import_module("cloudpickle")  # Dask has it
            packed = cloudpickle.dumps(self._task)
        return PickledTask, (None, packed, self._sender, self._home)

    @property
    def at_home(self) -> bool:
        """True in the process that sent it."""
        return self._home == _process()

    def open(self) -> Task:
        """Return the task, if it came from this version of the package and of NumPy.

        Results of other versions may differ (ClusterError). Errors about stores that it refers to,
        and that cannot be read here, are raised as they are.
        """
        with self._turn:
            if self._task is None:
                _require_same(self._sender)
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


def _require_same(sender: dict[str, str]) -> None:
    here = versions()
    other = [name for name in _SAME if here.get(name) != sender.get(name)]
    if other:
        have = ", ".join(f"{name} {here.get(name)}" for name in other)
        want = ", ".join(f"{name} {sender.get(name)}" for name in other)
        raise ClusterError(
            f"client: a worker has {have}, its client {want}; results might differ. Hint: install "
            "the same versions everywhere"
        )


def _process() -> tuple[str, int]:
    return platform.node(), os.getpid()


def _ended_workers() -> ClusterError:
    """Return the error for jobs that end their workers whenever they are run."""
    return ClusterError(
        f"client: workers ended while they ran the same jobs, {_RETRIES + 1} times in a row, as "
        "they do where memory runs out. Hint: give each worker more memory or fewer threads; "
        "their logs say why they ended"
    )


def _lost_scheduler() -> ClusterError:
    """Return the error where no further job can be sent."""
    return ClusterError(
        "client: the connection to the scheduler was lost; a checkpoint has the work done so far. "
        "Hint: start a scheduler, and call the same with a new client, or with none"
    )


CaughtWarning = tuple[type[Warning], str]


class _Listener:
    """Gathers the warnings of jobs in a worker process, whose filters its threads share."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._jobs = 0

    @contextmanager
    def hearing(self) -> Iterator[list[CaughtWarning]]:
        """Give a list that has the warnings at the end, also those of jobs at the same time."""
        warnings_heard: list[CaughtWarning] = []
        with self._turn:
            if not self._jobs:
                self._catching = warnings.catch_warnings(record=True)
                self._heard: Any = self._catching.__enter__()
                warnings.simplefilter("always")
            self._jobs += 1
            heard, start = self._heard, len(self._heard)
        try:
            yield warnings_heard
        finally:
            with self._turn:
                warnings_heard += dict.fromkeys(
                    (warning.category, str(warning.message)) for warning in heard[start:]
                )
                self._jobs -= 1
                if not self._jobs:
                    self._catching.__exit__(None, None, None)


_LISTENER = _Listener()


def run_there(sent: PickledTask, *job: Any) -> bytes:
    """Run a job on a worker; return its result and its warnings, packed.

    Packed, because arrays that come over a connection keep all of the message in memory.
    """
    if sent.at_home:  # where warnings are seen anyway
        return pickle.dumps((sent.open()(*job), []))
    with _LISTENER.hearing() as warnings_heard:
        result = sent.open()(*job)
    return pickle.dumps((result, warnings_heard))


class _Crew:
    """Workers of a cluster that are sent a task once."""

    def __init__(self, client: Any, task: Task, most_ahead: int) -> None:
        self._client, self._task, self._most = client, task, most_ahead
        self._task_there: Any = None
        self._sent: deque[Any] = deque()

    def run(self, jobs: Jobs) -> Iterator[Any]:
        """Yield the results of jobs in their order.

        Jobs of a worker that dies are run by others: Dask sees to that, unless all died that had
        the task. It is then sent anew, with all jobs that are not done.
        """
        upcoming, ahead, lost = iter(jobs), deque[tuple[Any, ...]](), 0
        repeated: set[CaughtWarning] = set()
        while True:
            for job in islice(upcoming, self._most - len(ahead)):
                ahead.append(job)
                self._send(job)
            if not ahead:
                return
            try:
                done = self._client.gather(self._first_done())
            except CancelledError:
                lost += 1
                if self._client.status != "running":
                    raise _lost_scheduler() from None
                if lost > _RETRIES:
                    raise _ended_workers() from None
                self.leave()
                for job in ahead:
                    self._send(job)
                continue
            except Exception as error:
                if type(error).__name__ == "KilledWorker":  # of distributed, which may be absent
                    raise _ended_workers() from None
                raise
            lost = 0
            for packed in done:
                self._sent.popleft()
                ahead.popleft()
                result, warnings_heard = pickle.loads(packed)
                for category, text in warnings_heard:
                    if (category, text) not in repeated:  # each job may say the same
                        repeated.add((category, text))
                        warn(text, category)
                yield result

    def _send(self, job: tuple[Any, ...]) -> None:
        if self._task_there is None:
            self._task_there = self._client.scatter(
                PickledTask(self._task), broadcast=True, hash=False
            )
        # Not one `client.map`: its arguments would travel as one large message.
        sent = self._client.submit(run_there, self._task_there, *job, pure=False, retries=_RETRIES)
        self._sent.append(sent)

    def _first_done(self) -> list[Any]:
        """Return the future of the first job, and those after it that are done without a gap."""
        first = [self._sent[0]]
        for future in islice(self._sent, 1, None):
            if not future.done():
                break
            first.append(future)
        return first

    def leave(self) -> None:
        """Cancel what is not done, and have the workers forget the task."""
        if self._sent and self._client.status == "running":
            with suppress(OSError):  # of a scheduler that is lost
                self._client.cancel(list(self._sent))
        self._sent.clear()
        self._task_there = None
