"""Files that appear whole or not at all."""

import errno
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from duramen.results.interrupts import uninterrupted


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
    >>> from duramen.results.replacing import replacing
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
    """Return what writers of `path` that were killed left beside it, and only what is the user's.

    Links, and files and folders of other users, may have been put there by others.
    """
    parent = path.absolute().parent
    found = (entry for entry in parent.iterdir() if finished(entry.name, suffix) == path.name)
    return sorted(entry for entry in found if _is_own(entry))


def _is_own(entry: Path) -> bool:
    try:
        status = entry.lstat()
    except FileNotFoundError:  # its writer is done with it
        return False
    own = status.st_uid == getattr(os, "geteuid", lambda: status.st_uid)()
    return own and not stat.S_ISLNK(status.st_mode)


def put_in_place(folder: Path, place: Path) -> Path | None:
    """Rename a folder to `place`; what was there makes way for it.

    Returned is where the old folder is now, which `unfinished` finds by "old"; None where there was
    none. The two are exchanged in one step where the system can do that, so that `place` is never
    missing; elsewhere it is for the moment between two renames. If `place` cannot be taken, what
    was there is in it again.
    """
    if not place.exists():
        folder.rename(place)
        return None
    old = beside(place, "old")
    folder.rename(old)  # under this name already, what was in `place` is found after a kill
    if _exchanged(old, place):
        return old
    old.rename(folder)
    place.rename(old)
    try:
        folder.rename(place)
    except OSError:
        old.rename(place)
        raise
    return old


# Function of the C library that exchanges two paths, its arguments before each, and its flag.
_HERE = -100  # AT_FDCWD of Linux: paths are relative to the working folder
_EXCHANGES = {"linux": ("renameat2", (_HERE,), 2), "darwin": ("renamex_np", (), 2)}


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system or the disk cannot."""
    name, before, flag = _EXCHANGES.get(sys.platform, ("", (), 0))
    try:
        import ctypes

        exchange = getattr(ctypes.CDLL(None), name)
        sys.audit("os.rename", one, other, -1, -1)
        paths = (os.fsencode(one), os.fsencode(other))
        return bool(exchange(*before, paths[0], *before, paths[1], flag) == 0)
    except (ImportError, AttributeError, TypeError, OSError):
        return False
