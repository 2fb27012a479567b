"""The folder in which a store is made, beside its place, and the step that moves it there."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from duramen.io.formats import spool
from duramen.io.store import layout
from duramen.io.store.writer import PROGRESS
from duramen.support.files import InUseError, finished, held, put_in_place, real, taken, unfinished
from duramen.support.interrupts import uninterrupted

PLAN = "plan.json"
LOCK = "lock"
# All that an unfinished store may hold; a folder with anything else is not one.
_KNOWN = {
    *(PLAN, LOCK, PROGRESS, f"{PROGRESS}.new", layout.HEADER, *layout.BESIDE, *layout.GROWING),
    *(spool.SPOOL, spool.INDEX, spool.DONE),
    *("report.html", "result.csv", "result.parquet", "run.json"),
}


def part_of(path: Path) -> Path:
    """Return where the store `path` is made."""
    place = real(path)
    return place.parent / f".{place.name}.part"


def check_place(path: Path, overwrite: bool, function: str) -> None:
    """Check, before any work, that a store can be made at `path`.

    Raises
    ------
    FileExistsError, NotADirectoryError, FileNotFoundError, PermissionError
    """
    parent = real(path).parent
    _clear_up(real(path), function)
    if real(path).is_symlink():
        raise FileExistsError(f"{function}: {path} is a link to itself; name another place")
    if path.exists():
        if not (path / layout.HEADER).is_file():
            what = "a folder that is not a column store" if path.is_dir() else "a file"
            raise FileExistsError(
                f"{function}: {path} is {what} and was left unchanged; choose another place"
            )
        if not overwrite:
            raise FileExistsError(
                f"{function}: {path} is a column store already. Hint: open_store opens it, "
                "overwrite=True packs anew and then replaces it"
            )
    if not parent.is_dir():
        raise FileNotFoundError(
            f"{function}: {path} is in {parent}, which is not a folder; create it first"
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{function}: {parent} cannot be written to; name another place")


def _clear_up(place: Path, function: str) -> None:
    """Put a store back that a process that was killed was about to replace, or remove it."""
    if not os.access(place.parent, os.W_OK | os.X_OK) or not unfinished(place, "old"):
        return
    with _held(place, function):
        for old in unfinished(place, "old"):
            if not old.is_dir():
                continue
            if not place.exists() and (old / layout.HEADER).is_file():
                old.rename(place)
            elif place.exists() and all(_is_known(entry.name) for entry in old.iterdir()):
                shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _held(place: Path, function: str) -> Iterator[None]:
    """Hold the lock of a place for as long as it takes to rename folders there."""
    try:
        with held(place):
            yield
    except InUseError:
        raise InUseError(
            f"{function}: another process is packing to {place}; wait for it, or name another place"
        ) from None


@contextmanager
def making(path: Path, plan: Mapping[str, Any] | None, function: str) -> Iterator[tuple[Path, str]]:
    """Give the folder in which the store `path` is made, and what was found in it.

    That is "nothing", "the same" or "another". At the end the folder takes the place of `path`.
    Where the work is stopped, by Ctrl-C, a kill or the system, the folder stays, for a later call
    with the same plan to go on from; where the source turns out to be wrong, or there is no plan
    (what is packed and how, as JSON can hold it), it is removed. A folder that was not left here,
    or in which another process is at work, is refused (OSError).
    """
    folder = part_of(path)
    try:
        _claim(folder, function)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        lock = os.fdopen(os.open(folder / LOCK, flags, 0o600), "ab")
    except FileExistsError:
        raise
    except OSError as error:
        raise type(error)(
            f"{function}: {folder} cannot be made ({error.strerror}); name another place"
        ) from None
    with lock:
        _take(lock, path, function)
        found = _found(folder, plan)
        if found != "the same":
            _clear(folder, plan)
        try:
            yield folder, found
            with uninterrupted(), _held(real(path), function):
                for name in (PLAN, LOCK):
                    (folder / name).unlink()
                folder.chmod(0o777 & ~_umask())
                _move(folder, path)
        except (KeyboardInterrupt, OSError, MemoryError):
            if plan is None:
                _remove(folder)
            raise
        except BaseException:
            _remove(folder)
            raise


def _claim(folder: Path, function: str) -> None:
    """Make the folder, or make sure that it is what an earlier call left.

    Whoever may write beside the store could have put a link or a folder of theirs there, whose
    content would be removed.
    """
    try:
        folder.mkdir(mode=0o700)
        return
    except FileExistsError:
        pass
    status = folder.lstat()
    ours = stat.S_ISDIR(status.st_mode) and status.st_uid == getattr(os, "geteuid", lambda: 0)()
    entries = list(os.scandir(folder)) if ours else []
    known = all(_is_known(e.name) and e.is_file(follow_symlinks=False) for e in entries)
    if not ours or not known:
        raise FileExistsError(
            f"{function}: {folder} exists already and was not left by an earlier call; move it "
            "away, or name another place"
        )


def _is_known(name: str) -> bool:
    return name in _KNOWN or finished(name) in _KNOWN


def _take(lock: IO[bytes], path: Path, function: str) -> None:
    """Make sure that no other process works in the folder, where the system can tell."""
    if not taken(lock.fileno()):
        raise BlockingIOError(
            f"{function}: another process is packing to {path}; wait for it, or name another place"
        )


def _found(folder: Path, plan: Mapping[str, Any] | None) -> str:
    try:
        known = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "nothing"
    except ValueError:
        return "another"
    return "the same" if plan is not None and known == json.loads(json.dumps(plan)) else "another"


def _clear(folder: Path, plan: Mapping[str, Any] | None) -> None:
    for entry in folder.iterdir():
        if entry.name != LOCK:
            entry.unlink()
    (folder / PLAN).write_text(json.dumps(plan or {}), encoding="utf-8")


def _remove(folder: Path) -> None:
    with uninterrupted():
        shutil.rmtree(folder, ignore_errors=True)


def _umask() -> int:
    """Return the permissions that new files do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _move(folder: Path, path: Path) -> None:
    """Put the whole folder in its place; an older store makes way for it first."""
    place = real(path)
    old = put_in_place(folder, place)
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)
    with contextlib.suppress(OSError):  # not every system can flush a folder
        descriptor = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
