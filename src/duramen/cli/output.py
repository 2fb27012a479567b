"""Results in a folder, all or nothing."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.clock import Clock

if TYPE_CHECKING:
    from duramen.reports import Report, Run


@contextmanager
def results_folder(out: Path, command: str) -> Iterator[Path]:
    """Give a new folder beside `out`; at the end its files take their places in `out`.

    The folder is made at once, so that a place that cannot be written to is known before any
    work. Where anything goes wrong on the way, Ctrl-C included, it is removed and `out` is left as
    it was. Other files in `out` stay.

    Raises
    ------
    OSError
        If `out` is no folder, or cannot be made.
    """
    out = out.expanduser()
    parent = out.resolve().parent
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"duramen {command}: --out {out} is a file; name a folder")
    if not parent.is_dir():
        raise FileNotFoundError(
            f"duramen {command}: --out {out} lies in {out.parent}, which does not exist; make it"
        )
    if out.exists() and not os.access(out, os.W_OK | os.X_OK):
        raise PermissionError(f"duramen {command}: --out {out} is not writable; name another")
    folder = parent / f".{out.resolve().name}.{secrets.token_hex(4)}.part"
    try:
        folder.mkdir()
    except OSError as error:
        raise OSError(
            f"duramen {command}: --out {out} cannot be made in {parent} ({error.strerror}); name "
            "another"
        ) from None
    try:
        yield folder
        with _uninterrupted():
            _move(folder, out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move(folder: Path, out: Path) -> None:
    if not out.exists():
        folder.rename(out)
        return
    for file in sorted(folder.iterdir()):
        file.replace(out / file.name)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back for the moment it takes to rename a few files, where the system can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def write_results(
    folder: Path,
    columns: Mapping[str, Any],
    run: Run,
    summary: Callable[[], Report],
    clock: Clock,
) -> None:
    """Write report.html, result.csv, result.parquet and run.json.

    Parameters
    ----------
    folder : Path
        Where to.
    columns : mapping of str to sequences of one length
        The result, column by column.
    run : Run
        What was run; the record on disk gets the timings of all steps, these ones included.
    summary : callable
        Gathers the report.
    clock : Clock
        Times the steps.
    """
    import pyarrow as pa

    from duramen.reports import render
    from duramen.tables import write_table

    with clock.step("report"):
        (folder / "report.html").write_text(render(summary()), encoding="utf-8")
    with clock.step("write"):
        table = pa.table(dict(columns))
        write_table(table, folder / "result.csv")
        write_table(table, folder / "result.parquet")
    record = replace(run, timings=dict(clock.seconds))
    (folder / "run.json").write_text(record.to_json(), encoding="utf-8")
