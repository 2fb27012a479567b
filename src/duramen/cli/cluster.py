"""Dask scheduler whose workers do the work of a command."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from duramen.cli.console import notes

_TIMEOUT = 10  # seconds to reach a scheduler


@contextmanager
def connected(command: str, scheduler: str | None, quiet: bool) -> Iterator[Any]:
    """Connect to a scheduler by its address, or the file that it writes; give the Dask client.

    Gives None where no scheduler is named: threads do the work.

    Raises
    ------
    ModuleNotFoundError
        If the extra that has Dask is not installed.
    FileNotFoundError, ConnectionError
        If there is no such file, or no scheduler answers.
    """
    if scheduler is None:
        yield None
        return
    from duramen.results.summary import counted
    from duramen.support.checks import extra_package

    distributed = extra_package("distributed", f"duramen {command}: --scheduler", "distributed")
    for name in ("asyncio", *logging.root.manager.loggerDict):  # what matters is raised as well
        if name.partition(".")[0] in ("asyncio", "distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    file = scheduler.endswith(".json")
    if file and not Path(scheduler).is_file():
        raise FileNotFoundError(
            f"--scheduler {scheduler} does not exist; name the file that the scheduler writes "
            "(dask scheduler --scheduler-file), or its address"
        )
    try:
        where = {"scheduler_file" if file else "address": scheduler}
        client = distributed.Client(**where, timeout=_TIMEOUT)
    except (OSError, ValueError, TypeError):
        raise ConnectionError(
            f"--scheduler {scheduler}: no Dask scheduler answers there within {_TIMEOUT} s. Hint: "
            "`dask scheduler` prints its address, such as tcp://192.0.2.1:8786; for an encrypted "
            "one, DASK_CONFIG names the file of its certificates"
        ) from None
    with client:
        of_worker = client.scheduler_info(n_workers=-1)["workers"].values()
        line = f"scheduler {scheduler}: no worker yet; the work begins when one has come"
        if of_worker:
            n_threads = sum(worker["nthreads"] for worker in of_worker)
            limits = [worker["memory_limit"] for worker in of_worker if worker["memory_limit"]]
            memory = f", {min(limits) / 1e9:.3g} GB of memory each at least" if limits else ""
            workers, threads = counted(len(of_worker), "worker"), counted(n_threads, "thread")
            line = f"scheduler {scheduler}: {workers}, {threads} in all{memory}"
        lines = [line]
        if client.scheduler.address.startswith("tcp:"):
            lines.append(
                "the connection to the scheduler is not encrypted: every user of its network can "
                "run code on its workers (docs/how-to/running/cluster.md)"
            )
        notes(lines, quiet)
        yield client
