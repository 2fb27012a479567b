"""Writing a packed store: columns are appended in a folder beside it, until it is whole."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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
    beside,
    finished,
    held,
    naming,
    put_in_place,
    real,
    unfinished,
    uninterrupted,
)

_SHOWN = 5


class StoreWriter:
    """A store in the making; `n_rows` is None until columns are there."""

    def __init__(self, folder: Path, named: bool, function: str) -> None:
        self._folder, self._function, self.named = folder, function, named
        self.n_rows: int | None = None
        self.n_columns = 0
        self._written = {name: {"size": 0, "crc32": 0} for name in layout.NEEDED}

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
            written = self._written[name]
            with open(self._folder / name, "ab") as file:
                file.write(view)
            written["size"] += view.nbytes
            written["crc32"] = crc32(view, written["crc32"])
        self.n_columns += table.n_columns

    def finish(
        self, annotations: Mapping[str, Iterator[pa.Table] | None], more: Mapping[str, Any]
    ) -> None:
        """Write annotations of rows and columns, and the header, which completes the store.

        `annotations` has tables, in parts, by the names of their files; `more` are further entries
        of the header.
        """
        data = (self._folder / layout.COLUMNS).read_bytes()
        records = np.frombuffer(data, dtype=layout.COLUMN)
        names = layout.Names((self._folder / layout.NAMES).read_bytes(), records["n_name"])
        check_repeated(names.repeated(), "the table", self._function)
        files = dict(self._written)
        options = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
        for name, parts in annotations.items():
            if not parts:
                continue
            path, first = self._folder / name, next(parts)
            with (
                open(path, "wb") as file,
                pa.ipc.new_file(file, first.schema, options=options) as writer,
            ):
                for part in chain((first,), parts):
                    writer.write_table(part)
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
        (self._folder / layout.HEADER).write_bytes(layout.header_to_bytes(header))
        for path in self._folder.iterdir():  # on the disk before the folder takes its place
            with open(path, "rb+") as written:
                os.fsync(written.fileno())


def check_repeated(repeated: Sequence[str], where: str, function: str) -> None:
    """Raise ValueError if names of columns occur more than once."""
    if repeated:
        shown = ", ".join(map(repr, repeated[:_SHOWN]))
        more = f" and {len(repeated) - _SHOWN} more" if len(repeated) > _SHOWN else ""
        raise ValueError(
            f"{function}: {where} has more than one column named {shown}{more}; column names must "
            "be unique. Hint: rename them (in Python also names=...); of features in rows, such as "
            "probes of one gene, keep one row or their mean"
        )


# --- the place of a store -------------------------------------------------------------------------

# All that an unfinished store may hold; a folder with anything else is not one.
_FILES = {layout.HEADER, *layout.BESIDE, *layout.NEEDED, SPOOL}
_FILES |= {"report.html", "result.csv", "result.parquet", "run.json"}


def check_place(path: Path, overwrite: bool, function: str) -> None:
    """Check, before any work, that a store can be made at `path`.

    Raises
    ------
    FileExistsError, NotADirectoryError, FileNotFoundError, PermissionError
    """
    place = real(path)
    parent = place.parent
    writable = os.access(parent, os.W_OK | os.X_OK)
    if writable and not place.exists():
        for old in unfinished(place, "old"):  # was about to be replaced by a process that ended
            if (old / layout.HEADER).is_file() and not place.exists():
                old.rename(place)
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
def making(path: Path, function: str) -> Iterator[Path]:
    """Yield a new folder for the store `path`, which is moved there at the end.

    If anything goes wrong on the way, Ctrl-C included, the folder is removed and `path` left as it
    was. Folders of processes that were killed are removed.

    Raises
    ------
    InUseError
        If another process makes a store there.
    """
    place = real(path)
    folder = beside(place, "part")
    try:
        with ExitStack() as stack:
            with naming(path):
                stack.enter_context(held(place))
                for left in (*unfinished(place), *unfinished(place, "old")):
                    names = os.listdir(left) if left.is_dir() else ["a file"]
                    if all(name in _FILES or finished(name) in _FILES for name in names):
                        shutil.rmtree(left, ignore_errors=True)
                folder.mkdir(mode=0o700)
            stack.enter_context(naming(path, folder))
            try:
                yield folder
                with uninterrupted():
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
            except BaseException:
                with uninterrupted():
                    shutil.rmtree(folder, ignore_errors=True)
                raise
    except InUseError:
        raise InUseError(
            f"{function}: another process is packing to {path}; wait for it, or name another place"
        ) from None
