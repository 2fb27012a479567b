"""Writing a packed store: columns are appended, and what is done is noted after each group."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from duramen.data.encoded import EncodedTable
from duramen.io.store import layout
from duramen.io.store.reader import BLOCK_BYTES, LocalFile, pieces_of
from duramen.io.store.runs import Repeats, Runs, offsets_of, repetition
from duramen.support.arrow import pa
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
        self._sizes = dict.fromkeys(layout.GROWING, 0)
        self._checks = dict.fromkeys(layout.GROWING, 0)
        self._shared = layout.SharedLists()
        self._repeats = Repeats()
        self._unsynced: set[str] = set()
        self._go_on()

    def _go_on(self) -> None:
        """Take up what another writer left in the folder."""
        noted = self._noted()
        if noted is not None:
            self.n_rows, self.n_columns = noted["n_rows"], noted["n_columns"]
            self._sizes, self._checks = noted["sizes"], noted["checks"]
        for name in layout.GROWING:
            with open(self._folder / name, "ab") as file:
                file.truncate(self._sizes[name])
        self._shared = layout.SharedLists((self._folder / layout.SHARED).read_bytes())
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
        if _is_note(noted) and all(self._holds(name, noted) for name in layout.GROWING):
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
        known = len(self._shared.values)
        columns = layout.columns_of(table, self._shared)
        if self.named:
            self._repeats.see(layout.name_bytes(name) for name in table.names)
        self._write(layout.COLUMNS, columns.records)
        self._write(layout.SHARED, self._shared.to_bytes(known))
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
        files = {name: [self._sizes[name], self._checks[name]] for name in layout.GROWING}
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
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, first.schema) as writer:
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
    numbers += [part.get(name) for part in (sizes, checks) for name in layout.GROWING]
    return all(type(number) is int and number >= 0 for number in numbers)


def _sync(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
