"""Commands under limits of the system: memory, threads, open files, sizes, and a full disk."""

from __future__ import annotations

import functools
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.faults import places
from tests.faults.aftermath import after_next_run, after_stop
from tests.faults.commands import COMMANDS, OUT, counted, prepare, run_command, tree, uninterrupted
from tests.faults.commands import overwriting as replacing
from tests.faults.commands import words_of as words

LIMITS = ("memory", "threads", "files", "sizes", "disk")
# What a message may name: the place that cannot be written, or what ran out.
NAMES = {
    "memory": ("memory", "allocate", "thread", OUT),
    "threads": ("thread",),
    "files": ("open files",),
    "sizes": (OUT, "kept"),
    "disk": (OUT, "kept"),
}


@counted
def attempt(number: int, folder: Path) -> str:
    """Run a command under a limit, and then without it."""
    random = np.random.default_rng(number)
    command = list(COMMANDS)[number % len(COMMANDS)]
    limit = LIMITS[number // len(COMMANDS) % len(LIMITS)]
    prior = bool(random.integers(2))
    if limit == "disk":
        uninterrupted(command, prior)  # once, not in a child
        room = int(random.integers(0, 60)) * 4096
        try:
            return places.on_disk(folder, lambda place: _on_disk(command, place, prior, room))
        except places.UnavailableError as why:
            return f"skipped: {why}"
    user: Callable[[], None] | None = None
    if limit == "threads":
        user = places.become_ordinary
        try:
            places.check_ordinary()
        except places.UnavailableError as why:
            return f"skipped: {why}"
    within = {
        "memory": functools.partial(_memory, int(2 ** random.uniform(22, 28))),
        "threads": functools.partial(_threads, int(random.integers(0, 4))),
        "files": functools.partial(_files, int(random.integers(0, 24))),
        "sizes": functools.partial(_sizes, int(2 ** random.uniform(4, 17))),
    }[limit]
    prepare(folder, command, prior)
    if user is not None:
        places.give_away(folder)
    fault = _fault(command, folder, prior, limit, within)
    if fault in ("finished", "refused"):
        return after_next_run(command, folder, prior, _wanted(command, prior), user) or fault
    return fault


def _fault(
    command: str, folder: Path, prior: bool, limit: str, within: Callable[[], None] | None
) -> str:
    """Run a command under a limit; return what is wrong, or how it ended."""
    jobs = [] if command == "plan" else ["--jobs", "8"]
    before = tree(folder)
    options = words(command, *jobs, *replacing(command, prior))
    ended = run_command(options, folder, inside=within)
    wanted = _wanted(command, prior)
    killed = "OpenBLAS error" in ended.stderr  # it ends the process by itself
    fault = after_stop(command, before, folder, wanted, ended, killed=killed, names=NAMES[limit])
    if fault is not None:
        return f"{fault} [{command}, prior {prior}, {limit}]"
    return "refused" if ended.code else "finished"


def _on_disk(command: str, place: Path, prior: bool, room: int) -> str:
    """Run a command on a disk that has some room left, and then with more of it."""
    prepare(place, command, prior)
    places.mount(place, places.used(place) + room)
    outcome = _fault(command, place, prior, "disk", None)
    if outcome not in ("finished", "refused"):
        return f"{outcome}, {room} bytes free"
    places.mount(place, 64 << 20)
    return after_next_run(command, place, prior, _wanted(command, prior)) or outcome


def _wanted(command: str, prior: bool) -> dict[str, str]:
    return uninterrupted(command, prior).left


def _memory(room: int) -> None:
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + room, size + room))


def _threads(count: int) -> None:
    places.become_ordinary()
    resource.setrlimit(resource.RLIMIT_NPROC, (count, count))


def _files(count: int) -> None:
    open_ones = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    most = max(open_ones) + count
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _sizes(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
