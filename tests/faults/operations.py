"""Operations on files: counted in a child, and cut short at one of them."""

from __future__ import annotations

import errno
import functools
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Events of Python's audit hooks that change what is on disk, and the index of their path.
_EVENTS = {
    "open": 0,
    "os.rename": 0,
    "os.remove": 0,
    "os.rmdir": 0,
    "os.mkdir": 0,
    "os.chmod": 0,
    "os.truncate": 0,
    "os.link": 1,
    "os.symlink": 1,
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# Operations that a full disk refuses; others free space or need none.
_TAKE_SPACE = ("open", "os.mkdir", "fsync", "os.rename")


@dataclass(frozen=True)
class Cut:
    """What happens right before one of the operations, counted from 0.

    Parameters
    ----------
    at : int
        Number of the operation; -1 for none.
    how : str
        Name of a signal, "twice" for SIGINT there and at the next one, or name of an error, which
        the operation fails with; ENOSPC is the error of all later ones that take space, too.
    """

    at: int = -1
    how: str = ""

    @property
    def kills(self) -> bool:
        """Tell whether the process cannot clean up."""
        return self.how == "SIGKILL"

    @property
    def is_error(self) -> bool:
        """Tell whether an operation fails, in place of a signal."""
        return self.how.startswith("E")

    def inside(self, folder: Path) -> Callable[[], Callable[[], int]]:
        """Return a function for `run_command`, which notes the number of operations."""
        return functools.partial(_watch, self, str(folder))


def _watch(cut: Cut, folder: str) -> Callable[[], int]:
    """Count the operations below a folder from now on, for the rest of the process."""
    count, on = 0, True

    def step(event: str) -> None:
        nonlocal count
        if not on:
            return
        count += 1
        _act(cut, count - 1, event)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        place = _EVENTS.get(event)
        if place is None or (event == "open" and not int(arguments[2] or 0) & _WRITING):
            return
        path = arguments[place]
        if not isinstance(path, str | bytes | os.PathLike):
            return
        if os.path.abspath(os.fsdecode(path)).startswith(folder):
            step(event)

    fsync = os.fsync

    def synced(descriptor: int) -> None:
        step("fsync")
        fsync(descriptor)

    def end() -> int:
        nonlocal on
        on = False
        return count

    sys.addaudithook(hook)
    os.fsync = synced  # type: ignore[assignment]
    return end


def _act(cut: Cut, number: int, event: str) -> None:
    if cut.at < 0:
        return
    if cut.how == "ENOSPC":
        if number >= cut.at and event in _TAKE_SPACE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    elif cut.is_error:
        if number == cut.at:
            code = getattr(errno, cut.how)
            raise OSError(code, os.strerror(code))
    elif number == cut.at or (cut.how == "twice" and number == cut.at + 1):
        name = "SIGINT" if cut.how == "twice" else cut.how
        os.kill(os.getpid(), getattr(signal, name))
