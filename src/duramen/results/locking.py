"""A file beside a path that one process at a time holds, for as long as it works there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from duramen.results.interrupts import uninterrupted


class InUseError(BlockingIOError):
    """Another process works at the same place."""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of `path`: a file ``.NAME.lock`` beside it, which is removed at the end.

    The lock of a process that was killed is free, and its file is taken over. Systems without
    `fcntl`, and file systems without locks, have no such lock.

    Raises
    ------
    InUseError
        If another process, or this one elsewhere, holds it.
    OSError
        If the file cannot be made.
    """
    lock = path.with_name(f".{path.name}.lock")
    while True:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(lock, flags, 0o600)
        if not taken(descriptor):
            os.close(descriptor)
            raise InUseError(f"another process works on {path}")
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(lock)):
                break
        os.close(descriptor)  # its owner removed the file in between: try again
    try:
        yield
    finally:
        with uninterrupted(), suppress(OSError):
            lock.unlink()
        os.close(descriptor)


def taken(descriptor: int) -> bool:
    """Take the lock of an open file for as long as it is open; False where another one holds it.

    True, too, where the system or the file system has no such locks.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
