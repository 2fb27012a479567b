"""A file beside a path that one process at a time holds, for as long as it works there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
    try:
        import fcntl
    except ImportError:
        yield
        return
    lock = path.with_name(f".{path.name}.lock")
    while True:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(lock, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise InUseError(f"another process works on {path}") from None
        except OSError:  # a file system without locks
            break
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(lock)):
                break
        os.close(descriptor)  # its owner removed the file in between: try again
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(descriptor)
