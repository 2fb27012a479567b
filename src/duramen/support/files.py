"""Paths as users write them, files that appear whole or not at all, locks beside them, signals."""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

STOPS = ("SIGTERM", "SIGHUP", "SIGXCPU")
"""Signals that end a command, as does SIGINT; the last is of a limit on processor time."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold SIGINT and the signals `STOPS` back for a short step; the first to come acts after it.

    Handlers of Python are exchanged rather than signals blocked: blocked for this thread only, a
    signal is taken by another one, such as a thread of a linear algebra library, and its handler
    runs here all the same. Signals with the system's own actions, and those of programs that call
    this from another thread than the main one, are left as they are.
    """
    came: list[int] = []
    handlers: dict[int, Any] = {}

    def later(number: int, _: Any) -> None:
        came.append(number)

    try:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", *STOPS):
                number = getattr(signal, name, None)
                if number is not None and callable(before := signal.getsignal(number)):
                    handlers[number] = before
                    signal.signal(number, later)
        yield
    finally:
        for number, before in handlers.items():
            signal.signal(number, before)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def replacing(path: Path) -> Iterator[io.BufferedWriter]:
    """Open a file beside `path` for writing bytes; at the end it takes the place of `path`.

    Where anything goes wrong on the way, Ctrl-C included, it is removed and `path` left as it was.

    Raises
    ------
    OSError
        With the name of `path`, if it cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from duramen.support.files import replacing
    >>> with replacing(Path("numbers.txt")) as file:
    ...     file.write(b"1 2")
    3
    """
    temporary = beside(path, "part")
    with naming(path):
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with uninterrupted(), suppress(OSError):
                temporary.unlink()
            raise


@contextmanager
def naming(path: Path, work: Path | None = None) -> Iterator[None]:
    """Name `path` in the system's errors about writing there, some of which name no file.

    It is made in the folder `work`; errors about files elsewhere stay as they are.
    """
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        elsewhere = error.filename is not None and not str(error.filename).startswith(str(work))
        if error.errno is None or (work is not None and elsewhere):
            raise
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "free some space, or name another place" if full else "name another place"
        raise type(error)(
            f"{path} cannot be written ({os.strerror(error.errno)}); {hint}"
        ) from None


def real(path: Path) -> Path:
    """Return a path with its links resolved; it is a link still where that leads back to it.

    `Path.resolve` raises a RuntimeError for such a link in some versions of Python.
    """
    return Path(os.path.realpath(path))


def beside(path: Path, suffix: str) -> Path:
    """Return a new name beside `path`, as `unfinished` knows it: ``.NAME.8digits.SUFFIX``."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.{suffix}")


def finished(name: str, suffix: str = "part") -> str | None:
    """Return the NAME in a name that `beside` gives; None for other names."""
    match = re.fullmatch(rf"\.(.+)\.[0-9a-f]{{8}}\.{suffix}", name, re.DOTALL)
    return None if match is None else match[1]


def unfinished(path: Path, suffix: str = "part") -> list[Path]:
    """Return the leftovers of killed writers beside `path` that belong to the user.

    Links, and files and folders of other users, may have been put there by others.
    """
    parent = path.absolute().parent
    entries = (entry for entry in parent.iterdir() if finished(entry.name, suffix) == path.name)
    return sorted(entry for entry in entries if is_own(entry))


def is_own(entry: Path) -> bool:
    """Return whether a file or folder is the user's, and no link."""
    try:
        status = entry.lstat()
    except FileNotFoundError:  # its writer is done with it
        return False
    own = status.st_uid == getattr(os, "geteuid", lambda: status.st_uid)()
    return own and not stat.S_ISLNK(status.st_mode)


def put_in_place(folder: Path, place: Path) -> Path | None:
    """Rename a folder to `place`, and move an old folder there out of the way.

    Returned is where the old folder is now, which `unfinished` finds by "old"; None where there was
    none. If `place` cannot be taken, what was there is in it again.
    """
    if not place.exists():
        folder.rename(place)
        return None
    old = beside(place, "old")
    place.rename(old)
    try:
        folder.rename(place)
    except OSError:
        old.rename(place)
        raise
    return old


def expanded(path: str | os.PathLike[str], function: str | None = None) -> Path:
    """Return a path with its ``~`` or ``~user`` replaced by the home of that user.

    Raises
    ------
    FileNotFoundError
        If there is no such user; it begins with the name of the function.

    Examples
    --------
    >>> from duramen.support.files import expanded
    >>> expanded("tables/ages.csv").name
    'ages.csv'
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        user = Path(path).parts[0]
        before = "" if function is None else f"{function}: "
        raise FileNotFoundError(
            f"{before}{path}: the home of {user} is not known; write the path without {user}"
        ) from None


class InUseError(BlockingIOError):
    """Error: another process writes to the same place."""


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
        # Without a buffer, which pipes cannot have: any file of that name serves as the lock.
        with uninterrupted(), os.fdopen(descriptor, "rb+", 0) as file, suppress(OSError):
            remove_open(lock, file)


def remove_open(path: Path, file: IO[bytes]) -> None:
    """Remove an open file; it is closed first where the system does not remove open files."""
    try:
        path.unlink()
    except PermissionError:
        file.close()
        path.unlink()


def taken(descriptor: int) -> bool:
    """Lock an open file until it is closed; return False if another process holds the lock.

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
