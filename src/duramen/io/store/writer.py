"""Writing a packed store: columns are appended in a folder beside it, until it is whole."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from duramen.data.encoded import EncodedTable
from duramen.io.formats.format import SPOOL
from duramen.io.store import layout
from duramen.io.store.reader import LocalFile, check_of
from duramen.support.arrow import pa
from duramen.support.files import (
    InUseError,
    finished,
    held,
    is_own,
    put_in_place,
    real,
    remove_open,
    taken,
    unfinished,
    uninterrupted,
)
from duramen.support.warning import warn

PROGRESS = "progress.json"
_SHOWN = 5


class StoreWriter:
    """A store in the making.

    After each group of columns the lengths and the running checksums of all files are noted; a
    writer on the same folder goes on from there. `n_rows` is None until columns are there.
    """

    def __init__(self, folder: Path, named: bool, function: str) -> None:
        self._folder, self._function, self.named = folder, function, named
        self.n_rows: int | None = None
        self.n_columns = 0
        self._written = {name: {"size": 0, "crc32": 0} for name in layout.NEEDED}
        try:
            if (folder / PROGRESS).exists():
                self._resume(json.loads((folder / PROGRESS).read_bytes()))
        except (ValueError, LookupError, TypeError, RecursionError, OSError):
            warn(
                f"{function}: what an earlier call left in {folder.name} is damaged: packing "
                "starts anew",
            )
        for name, written in self._written.items():
            with open(folder / name, "ab") as file:
                file.truncate(written["size"])

    def _resume(self, noted: dict[str, Any]) -> None:
        """Take up what another writer has noted, if the files hold it."""
        n_rows, n_columns = int(noted["n_rows"]), int(noted["n_columns"])
        written = {name: dict(noted["written"][name]) for name in layout.NEEDED}
        for name, entry in written.items():
            file = LocalFile(self._folder / name)
            file.size = min(file.size, entry["size"])
            if (file.size, check_of(file)) != (entry["size"], entry["crc32"]):
                raise ValueError(name)
        if written[layout.COLUMNS]["size"] != n_columns * layout.COLUMN.itemsize or n_rows < 1:
            raise ValueError(layout.COLUMNS)
        self.n_rows, self.n_columns, self._written = n_rows, n_columns, written

    def append(self, table: EncodedTable) -> None:
        """Append columns; all columns have the same number of rows."""
        if self.n_rows not in (None, table.n_rows):
            raise ValueError(
                f"{self._function}: columns {self.n_columns} and following have {table.n_rows} "
                f"rows, those before {self.n_rows}; the source changed while it was packed"
            )
        self.n_rows = table.n_rows
        for name, data in layout.columns_of(table).items():
            view = memoryview(data.reshape(-1).view(np.uint8) if hasattr(data, "view") else data)
            if not view.nbytes:
                continue
            written = self._written[name]
            with open(self._folder / name, "ab") as file:
                file.write(view)
                file.flush()
                os.fsync(file.fileno())  # what is noted has to be on the disk
            written["size"] += view.nbytes
            written["crc32"] = crc32(view, written["crc32"])
        self.n_columns += table.n_columns
        noted = {"n_rows": self.n_rows, "n_columns": self.n_columns, "written": self._written}
        new = self._folder / f"{PROGRESS}.new"
        _write(new, json.dumps(noted).encode())
        os.replace(new, self._folder / PROGRESS)

    def finish(
        self, beside: Mapping[str, Iterator[pa.Table] | None], more: Mapping[str, Any]
    ) -> None:
        """Write what is known of rows and columns, and the header; the folder is a store then.

        `beside` has tables, in parts, by the names of their files; `more` is what else the header
        shall tell.
        """
        data = (self._folder / layout.COLUMNS).read_bytes()
        records = np.frombuffer(data, dtype=layout.COLUMN)
        names = layout.Names((self._folder / layout.NAMES).read_bytes(), records["n_name"])
        check_repeated(names.repeated(), "the table", self._function)
        files = dict(self._written)
        options = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
        for name, parts in beside.items():
            if not parts:
                continue
            path, first = self._folder / name, next(parts)
            with (
                open(path, "wb") as file,
                pa.ipc.new_file(file, first.schema, options=options) as writer,
            ):
                for part in chain((first,), parts):
                    writer.write_table(part)
                writer.close()
                file.flush()
                os.fsync(file.fileno())
            files[name] = {"size": path.stat().st_size, "crc32": check_of(LocalFile(path))}
        assert self.n_rows is not None
        header = {
            "what": layout.WHAT,
            "format": layout.FORMAT,
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "named": self.named,
            "fingerprint": layout.fingerprint_of(self.n_rows, self.named, records),
            **more,
            "files": files,
        }
        _write(self._folder / layout.HEADER, layout.header_to_bytes(header))
        (self._folder / PROGRESS).unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    """Write a file, and wait until it is on the disk."""
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def check_repeated(repeated: Sequence[str], where: str, function: str) -> None:
    """Raise ValueError where names of columns occur more than once."""
    if repeated:
        shown = ", ".join(map(repr, repeated[:_SHOWN]))
        more = f" and {len(repeated) - _SHOWN} more" if len(repeated) > _SHOWN else ""
        raise ValueError(
            f"{function}: {where} has more than one column named {shown}{more}; column names must "
            "be unique. Hint: rename them, or give names=; of features in rows, such as probes of "
            "one gene, keep one row or their mean"
        )


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
    SPOOL,
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

    A store that a process that was killed was about to replace is put back, or removed.

    Raises
    ------
    FileExistsError, NotADirectoryError, FileNotFoundError, PermissionError
    """
    place = real(path)
    parent = place.parent
    writable = os.access(parent, os.W_OK | os.X_OK)
    if writable and unfinished(place, "old"):
        with _held(place, function):
            for old in filter(Path.is_dir, unfinished(place, "old")):
                if not place.exists() and (old / layout.HEADER).is_file():
                    old.rename(place)
                elif place.exists() and all(_is_known(entry.name) for entry in old.iterdir()):
                    shutil.rmtree(old, ignore_errors=True)
    if place.is_symlink():
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
    if not writable:
        raise PermissionError(f"{function}: {parent} cannot be written to; name another place")


@contextmanager
def _held(place: Path, function: str) -> Iterator[None]:
    """Hold the lock of a place for as long as it takes to rename folders there."""
    try:
        with held(place):
            yield
    except InUseError:
        raise InUseError(_in_use(place, function)) from None


def _in_use(path: Path, function: str) -> str:
    return f"{function}: another process is packing to {path}; wait for it, or name another place"


def _is_known(name: str) -> bool:
    return name in _KNOWN or finished(name) in _KNOWN


@contextmanager
def making(path: Path, plan: Mapping[str, Any] | None, function: str) -> Iterator[tuple[Path, str]]:
    """Give the folder in which the store `path` is made, and what was found in it.

    That is "nothing", "the same" or "another". At the end the folder takes the place of `path`.
    Where the work is stopped, by Ctrl-C, a kill or the system, the folder stays, for a later call
    with the same plan to go on from; where the source turns out to be wrong, or there is no plan
    (what is packed and how, as JSON can hold it), it is removed. A folder that was not left here,
    or in which another process is at work, is refused (OSError).
    """
    folder, place = part_of(path), real(path)
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        # Whoever may write beside the store could have put a link or a folder of theirs there,
        # whose content would be removed.
        ours = folder.is_dir() and is_own(folder)
        entries = list(os.scandir(folder)) if ours else []
        known = (_is_known(e.name) and e.is_file(follow_symlinks=False) for e in entries)
        if not ours or not all(known):
            raise FileExistsError(
                f"{function}: {folder} exists already and was not left by an earlier call; move "
                "it away, or name another place"
            )
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        lock = os.fdopen(os.open(folder / LOCK, flags, 0o600), "ab")
    except FileExistsError:
        raise
    except OSError as error:
        raise type(error)(
            f"{function}: {folder} cannot be made ({error.strerror}); name another place"
        ) from None
    with lock:
        if not taken(lock.fileno()):
            raise BlockingIOError(_in_use(path, function))
        state, wanted = "another", json.dumps(plan or {})
        with contextlib.suppress(ValueError):
            if not (folder / PLAN).exists():
                state = "nothing"
            elif json.loads((folder / PLAN).read_text(encoding="utf-8")) == json.loads(wanted):
                state = "another" if plan is None else "the same"
        if state != "the same":
            for entry in folder.iterdir():
                if entry.name != LOCK:
                    entry.unlink()
            (folder / PLAN).write_text(wanted, encoding="utf-8")
        try:
            yield folder, state
            with uninterrupted(), _held(place, function):
                (folder / PLAN).unlink()
                remove_open(folder / LOCK, lock)
                mask = os.umask(0o077)
                os.umask(mask)
                folder.chmod(0o777 & ~mask)
                if (old := put_in_place(folder, place)) is not None:
                    shutil.rmtree(old, ignore_errors=True)
                with contextlib.suppress(OSError):  # not every system can flush a folder
                    descriptor = os.open(place.parent, os.O_RDONLY)
                    try:
                        os.fsync(descriptor)
                    finally:
                        os.close(descriptor)
        except BaseException as error:
            stopped = isinstance(error, KeyboardInterrupt | OSError | MemoryError)
            if plan is None or not stopped:
                with uninterrupted():
                    shutil.rmtree(folder, ignore_errors=True)
            raise
