"""Writing a packed store: columns are appended in a folder beside it, until it is whole."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any
from zlib import crc32

import numpy as np

from duramen.data.encoded import EncodedTable
from duramen.io.formats import spool
from duramen.io.store import layout
from duramen.io.store.reader import (
    BLOCK_BYTES,
    LocalFile,
    Repeats,
    Runs,
    offsets_of,
    pieces_of,
    repetition,
)
from duramen.support.arrow import pa
from duramen.support.files import (
    InUseError,
    finished,
    held,
    put_in_place,
    real,
    remove_open,
    taken,
    unfinished,
    uninterrupted,
)
from duramen.support.warning import warn

PROGRESS = "progress.json"


class StoreWriter:
    """A store in the making.

    After each group of columns the lengths and the running checksums of all files are noted; a
    writer on the same folder goes on from there. `n_rows` is None until columns are there.
    """

    def __init__(self, folder: Path, named: bool, function: str) -> None:
        self._folder = folder
        self._function = function
        self.named = named
        self.n_rows: int | None = None
        self.n_columns = 0
        self._sizes = dict.fromkeys(layout.NEEDED, 0)
        self._checks = dict.fromkeys(layout.NEEDED, 0)
        self._repeats = Repeats()
        self._unsynced: set[str] = set()
        self._go_on()

    def _go_on(self) -> None:
        """Take up what another writer left in the folder."""
        noted = self._noted()
        if noted is not None:
            self.n_rows, self.n_columns = noted["n_rows"], noted["n_columns"]
            self._sizes, self._checks = noted["sizes"], noted["checks"]
        for name in layout.NEEDED:
            with open(self._folder / name, "ab") as file:
                file.truncate(self._sizes[name])
        if self.named:
            for names in self._names().chunks():
                self._repeats.see(names)

    def _noted(self) -> dict[str, Any] | None:
        """Return the note of another writer, if the files hold what it wrote."""
        try:
            noted: dict[str, Any] = json.loads((self._folder / PROGRESS).read_bytes())
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError):
            noted = {}
        if _is_note(noted) and all(self._holds(name, noted) for name in layout.NEEDED):
            return noted
        warn(
            f"{self._function}: what an earlier call left in {self._folder.name} is damaged: "
            "packing starts anew",
        )
        return None

    def _holds(self, name: str, noted: Mapping[str, Any]) -> bool:
        """Tell whether a file begins with the bytes that were noted."""
        path, left, check = self._folder / name, int(noted["sizes"][name]), 0
        if not path.is_file() or path.stat().st_size < left:
            return False
        with open(path, "rb") as file:
            while left:
                piece = file.read(min(left, BLOCK_BYTES))
                check, left = crc32(piece, check), left - len(piece)
        return bool(check == noted["checks"][name])

    def append(self, table: EncodedTable) -> None:
        """Append columns, of as many rows as those before."""
        if self.n_rows not in (None, table.n_rows):
            raise ValueError(
                f"{self._function}: columns {self.n_columns} and following have {table.n_rows} "
                f"rows, those before {self.n_rows}; the source changed while it was packed"
            )
        self.n_rows = table.n_rows
        columns = layout.columns_of(table)
        if self.named:
            self._repeats.see(layout.name_bytes(name) for name in table.names)
        self._write(layout.COLUMNS, columns.records)
        for name, data in columns.data.items():
            self._write(name, data)
        self.n_columns += table.n_columns
        self._note()

    def _write(self, name: str, data: Any) -> None:
        view = memoryview(data.reshape(-1).view(np.uint8) if hasattr(data, "view") else data)
        if not view.nbytes:
            return
        with open(self._folder / name, "ab", buffering=0) as file:
            written = 0
            while written < view.nbytes:
                written += file.write(view[written:]) or 0
        self._unsynced.add(name)
        self._sizes[name] += view.nbytes
        self._checks[name] = crc32(view, self._checks[name])

    def _note(self) -> None:
        noted = {
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "sizes": self._sizes,
            "checks": self._checks,
        }
        for name in self._unsynced:  # what is noted has to be on the disk
            _sync(self._folder / name)
        self._unsynced.clear()
        new = self._folder / f"{PROGRESS}.new"
        new.write_text(json.dumps(noted), encoding="ascii")
        _sync(new)
        os.replace(new, self._folder / PROGRESS)

    def finish(
        self, beside: Mapping[str, Iterator[pa.Table] | None], more: Mapping[str, Any], hint: str
    ) -> None:
        """Write what is known of rows and columns, and the header; the folder is a store then.

        `beside` has tables, in parts, by the names of their files, `more` is what else the header
        shall tell, `hint` what to do where names repeat.
        """
        self._check_names(hint)
        files = {name: [self._sizes[name], self._checks[name]] for name in layout.NEEDED}
        for name, parts in beside.items():
            if parts is not None:
                files[name] = self._write_table(name, parts)
        header = {
            "what": layout.WHAT,
            "format": layout.FORMAT,
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "named": self.named,
            "fingerprint": self._fingerprint(),
            **more,
            "files": {n: {"size": size, "crc32": check} for n, (size, check) in files.items()},
        }
        (self._folder / layout.HEADER).write_bytes(layout.header_to_bytes(header))
        for name in (*files, layout.HEADER):
            _sync(self._folder / name)
        (self._folder / PROGRESS).unlink()

    def _write_table(self, name: str, parts: Iterator[pa.Table]) -> list[int]:
        path = self._folder / name
        first = next(parts)
        options = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
        with (
            pa.OSFile(str(path), "wb") as file,
            pa.ipc.new_file(file, first.schema, options=options) as writer,
        ):
            for part in chain((first,), parts):
                writer.write_table(part)
        total = 0
        for piece in pieces_of(LocalFile(path)):
            total = crc32(piece, total)
        return [path.stat().st_size, total]

    def _check_names(self, hint: str) -> None:
        if not self.named:
            return
        repeated = self._repeats.among(name for part in self._names().chunks() for name in part)
        if repeated:
            raise repetition(repeated, "the table", self._function, hint)

    def _names(self) -> Runs:
        sizes = [part["n_name"].copy() for part in self._records()]
        lengths = np.concatenate(sizes) if sizes else np.empty(0, dtype=np.uint32)
        return Runs(offsets_of(lengths), LocalFile(self._folder / layout.NAMES))

    def _records(self) -> Iterator[Any]:
        for part in pieces_of(LocalFile(self._folder / layout.COLUMNS), layout.COLUMN.itemsize):
            yield np.frombuffer(part, dtype=layout.COLUMN)

    def _fingerprint(self) -> str:
        assert self.n_rows is not None
        return layout.fingerprint_of(self.n_rows, self.n_columns, self.named, self._records())


def _is_note(noted: Any) -> bool:
    """Tell whether the note of another writer has what it needs to have."""
    if not isinstance(noted, dict):
        return False
    sizes, checks = noted.get("sizes"), noted.get("checks")
    if not isinstance(sizes, dict) or not isinstance(checks, dict):
        return False
    numbers = [noted.get("n_rows"), noted.get("n_columns")]
    numbers += [part.get(name) for part in (sizes, checks) for name in layout.NEEDED]
    return all(type(number) is int and number >= 0 for number in numbers)


def _sync(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


PLAN = "plan.json"
LOCK = "lock"
# All that an unfinished store may hold; a folder with anything else is not one.
_KNOWN = {
    PLAN,
    LOCK,
    PROGRESS,
    f"{PROGRESS}.new",
    layout.HEADER,
    *layout.BESIDE,
    *layout.NEEDED,
    spool.SPOOL,
    spool.INDEX,
    spool.DONE,
    "report.html",
    "result.csv",
    "result.parquet",
    "run.json",
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
        state = _found(folder, plan)
        if state != "the same":
            _clear(folder, plan)
        try:
            yield folder, state
            with uninterrupted(), _held(real(path), function):
                (folder / PLAN).unlink()
                remove_open(folder / LOCK, lock)
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
    ours_only = all(_is_known(e.name) and e.is_file(follow_symlinks=False) for e in entries)
    if not ours or not ours_only:
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
        planned = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "nothing"
    except ValueError:
        return "another"
    return "the same" if plan is not None and planned == json.loads(json.dumps(plan)) else "another"


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
