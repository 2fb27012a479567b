"""Workers that the options of a command ask for, as long as it runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from duramen.cli.console import notes

_TIMEOUT = 10  # seconds to reach a scheduler

_OPEN = "every user of its network can run code on its workers (docs/how-to/running/cluster.md)"

_MOST_WORKERS = 1024


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Workers of a cluster, in place of the parameter `client` of an analysis.

    Parameters
    ----------
    scheduler : str, optional
        Address of a Dask scheduler, such as tcp://192.0.2.1:8786, or the .json file that it writes:
        its workers grow the forests. The result does not depend on it.
    workers : int, optional
        Number of worker processes to start on this machine, from 1 to 1024, which divide the
        threads of --n-jobs; by default, threads of one process do the work. The result does not
        depend on it.
    """

    scheduler: str | None = None
    workers: int | None = None


@contextmanager
def connected(command: str, asked: Workers, jobs: int, quiet: bool) -> Iterator[Any]:
    """Connect to a scheduler, or start worker processes here, and leave them at the end.

    Gives the Dask client; None where threads do the work.

    Raises
    ------
    ValueError
        If both are asked for, the address is none, or the number of workers is out of range.
    ModuleNotFoundError
        If the extra that has Dask is not installed.
    ConnectionError
        If no scheduler answers.
    """
    scheduler, workers = asked.scheduler, asked.workers
    if workers is not None and not 1 <= workers <= _MOST_WORKERS:
        raise ValueError(f"--workers must be a number from 1 to {_MOST_WORKERS}, got {workers}")
    if scheduler is None and workers is None:
        yield None
        return
    if scheduler is not None and workers is not None:
        raise ValueError(
            "--scheduler and --workers do not go together: the first names workers that run "
            "already, the second starts some on this machine"
        )
    from duramen.support.checks import extra_package

    option = "--workers" if scheduler is None else "--scheduler"
    distributed = extra_package("distributed", f"duramen {command}: {option}", "distributed")
    for name in ("asyncio", *logging.root.manager.loggerDict):  # what matters is raised as well
        if name.partition(".")[0] in ("asyncio", "distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        if scheduler is not None:
            client = stack.enter_context(_reached(distributed, scheduler))
        else:
            client = stack.enter_context(_started(distributed, workers or 1, jobs))
        notes([_described(client, scheduler)], quiet)
        if client.scheduler.address.startswith("tcp:"):
            notes(["the connection to the scheduler is not encrypted: " + _OPEN], quiet)
        yield client


def _reached(distributed: Any, scheduler: str) -> Any:
    """Return a client of a scheduler, of its address or of the file that it writes."""
    file = scheduler.endswith(".json")
    if file and not Path(scheduler).is_file():
        raise FileNotFoundError(
            f"--scheduler {scheduler} does not exist; name the file that the scheduler writes "
            "(dask scheduler --scheduler-file), or its address"
        )
    try:
        where = {"scheduler_file" if file else "address": scheduler}
        return distributed.Client(**where, timeout=_TIMEOUT)
    except TypeError:
        raise ConnectionError(
            f"--scheduler {scheduler}: the scheduler takes encrypted connections only, and this "
            "process has no certificate. Hint: set DASK_CONFIG to the file of certificates that "
            "the scheduler was started with"
        ) from None
    except (OSError, ValueError):
        raise ConnectionError(
            f"--scheduler {scheduler}: no Dask scheduler answers there within {_TIMEOUT} s. Hint: "
            "`dask scheduler` prints its address, such as tcp://192.0.2.1:8786"
        ) from None


@contextmanager
def _started(distributed: Any, workers: int, jobs: int) -> Iterator[Any]:
    """Start so many processes on this machine, among which the threads are divided.

    Whoever reaches a worker can run code in it, and a machine may have other users. Connections
    are therefore encrypted and need a certificate that only these processes have, and nothing
    answers HTTP.
    """
    from duramen.support.checks import check_jobs, extra_package

    extra_package("cryptography", "duramen: --workers", "distributed")
    http: dict[str, list[str]] = {
        f"distributed.{part}.http.routes": [] for part in ("scheduler", "worker")
    }

    class WithoutHttp(distributed.WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            worker.http_server.stop()

    with ExitStack() as stack:
        stack.enter_context(import_module("dask").config.set(http))
        # A signal must not interrupt the start, which leaves processes that cannot be closed.
        starting = stack.enter_context(ThreadPoolExecutor(1)).submit(
            distributed.LocalCluster,
            n_workers=workers,
            threads_per_worker=max(1, check_jobs("--jobs", jobs) // workers),
            processes=True,
            host="127.0.0.1",
            security=distributed.Security.temporary(),
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
        stack.callback(lambda: starting.result().close())
        cluster = starting.result()
        cluster.scheduler.http_server.stop()
        client = stack.enter_context(distributed.Client(cluster))
        client.register_plugin(WithoutHttp())
        yield client


def _described(client: Any, scheduler: str | None) -> str:
    """Say what workers there are."""
    from duramen.results.columns import counted

    of_worker = client.scheduler_info(n_workers=-1)["workers"].values()
    owner = "workers of this machine" if scheduler is None else f"scheduler {scheduler}"
    if not of_worker:
        return f"{owner}: no worker yet; the work begins when one has come"
    n_threads = sum(worker["nthreads"] for worker in of_worker)
    limits = [worker["memory_limit"] for worker in of_worker if worker["memory_limit"]]
    memory = f", {min(limits) / 1e9:.3g} GB of memory each at least" if limits else ""
    workers = counted(len(of_worker), "worker")
    return f"{owner}: {workers}, {counted(n_threads, 'thread')} in all{memory}"
