"""Folders on small and on read-only disks, and users who may not write everywhere."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import traceback
from collections.abc import Callable
from pathlib import Path

_USER = 54321  # who owns nothing and runs nothing
_PR_SET_KEEPCAPS, _CAP_DAC_READ_SEARCH = 8, 2
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_RDONLY, _MS_REMOUNT, _MS_REC, _MS_PRIVATE = 1, 32, 16384, 1 << 18


class UnavailableError(Exception):
    """The system lets this process make no disk."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def become_ordinary() -> None:
    """Become a user who may write only what is theirs; to be called in a child.

    The interpreter may lie in the home of another user: where the system allows it, the child
    keeps the privilege of reading all files.
    """
    if os.geteuid() != 0:
        return
    os.setgroups([])
    os.setgid(_USER)
    _call("prctl", _PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setuid(_USER)
    reading = (ctypes.c_uint32 * 6)(1 << _CAP_DAC_READ_SEARCH, 1 << _CAP_DAC_READ_SEARCH)
    _call("capset", ctypes.byref(_Header(0x20080522, 0)), reading)


@functools.cache
def check_ordinary() -> None:
    """Check that a child that has become an ordinary user can go on importing.

    Raises
    ------
    UnavailableError
        If the interpreter cannot be read by others.
    """
    pid = os.fork()
    if not pid:
        try:
            become_ordinary()
            os._exit(int(not _readable(os.__file__)))
        finally:
            os._exit(2)
    if os.waitpid(pid, 0)[1]:
        raise UnavailableError("other users cannot read the interpreter")


def _readable(path: str) -> bool:
    try:
        with open(path, "rb"):
            return True
    except OSError:
        return False


def give_away(folder: Path) -> None:
    """Make a folder and all in it that of the user who `become_ordinary` becomes."""
    if os.geteuid() == 0:
        for place, folders, files in os.walk(folder):
            for name in (".", *folders, *files):
                with contextlib.suppress(OSError):  # on a disk that is read only
                    os.lchown(os.path.join(place, name), _USER, _USER)


def on_disk(folder: Path, use: Callable[[Path], str]) -> str:
    """Call `use` with a new disk below a folder, which only it sees and which goes with it.

    Raises
    ------
    UnavailableError
        If this process may not make one.
    """
    place = folder / "disk"
    place.mkdir()
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        text = "!no word"
        try:
            _separate()
            mount(place, 64 << 20, remount=False)
            text = f" {use(place)}"
        except UnavailableError as error:
            text = f"?{error}"
        except BaseException:
            text = f"!{traceback.format_exc()[-3000:]}"
        finally:
            os.write(write, text.encode()[:60000])
            os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        text = file.read().decode()
    os.waitpid(pid, 0)
    place.rmdir()
    if text.startswith("?"):
        raise UnavailableError(text[1:])
    if not text.startswith(" "):
        raise RuntimeError(f"the attempt failed: {text[1:]}")
    return text[1:]


def _separate() -> None:
    """Give this process mounts of its own; where it takes privileges, as root of its own users."""
    user, group = os.geteuid(), os.getegid()
    if _call("unshare", _CLONE_NEWNS):
        if why := _call("unshare", _CLONE_NEWNS | _CLONE_NEWUSER):
            raise UnavailableError(f"no mounts of its own ({why})")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    if why := _call("mount", b"none", b"/", None, _MS_REC | _MS_PRIVATE, None):
        raise UnavailableError(f"no private mounts ({why})")


def mount(place: Path, size: int, *, remount: bool = True, read_only: bool = False) -> None:
    """Mount a disk of `size` bytes, or change its size or whether it can be written to."""
    flags = (_MS_REMOUNT if remount else 0) | (_MS_RDONLY if read_only else 0)
    options = f"size={size},mode=0777".encode()
    if why := _call("mount", b"none", os.fsencode(place), b"tmpfs", flags, options):
        raise UnavailableError(f"no disk in memory ({why})")


def used(place: Path) -> int:
    """Return the bytes that are used on the disk of a folder."""
    status = os.statvfs(place)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def _call(name: str, *arguments: object) -> str:
    """Call the system; return the reason where it refuses."""
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, name):
        return f"there is no {name}"
    if getattr(library, name)(*arguments) == 0:
        return ""
    return os.strerror(ctypes.get_errno())
