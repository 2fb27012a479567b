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

RESULTS = ("report.html", "result.csv", "result.parquet", "run.json")


@contextmanager
def results_folder(out: Path, command: str) -> Iterator[Path]:
    """Give a new folder beside `out`; at the end it takes the place of `out`, in one step.

    The folder is made at once, so that a place that cannot be written to is known before any
    work. Where anything goes wrong on the way, Ctrl-C included, it is removed and `out` is left as
    it was. Other files in `out` stay. What a run that was killed left is removed, or put back.

    Raises
    ------
    OSError
        If `out` is no folder, cannot be made, holds a folder of a result's name, or another run
        writes to it.
    """
    from duramen.results.locking import InUseError, held
    from duramen.results.replacing import naming

    place, owner = _checked(out.expanduser(), command), f"duramen {command}: --out {out}"
    folder = _beside(place, "part")
    try:
        with held(place):
            _clear_up(place)
            try:
                folder.mkdir()
            except OSError as error:
                raise OSError(
                    f"{owner} cannot be made in {place.parent} ({error.strerror}); name another"
                ) from None
            try:
                with naming(out, folder):
                    yield folder
                    with _uninterrupted():
                        _move(folder, place)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except InUseError:
        raise InUseError(
            f"{owner} is being written by another run; wait for it, or name another folder"
        ) from None


def _checked(out: Path, command: str) -> Path:
    """Return the place of `out`, links resolved, once it is clear that a folder can be there."""
    place = out.resolve()
    if place.exists() and not place.is_dir():
        raise NotADirectoryError(f"duramen {command}: --out {out} is a file; name a folder")
    if not place.parent.is_dir():
        raise FileNotFoundError(
            f"duramen {command}: --out {out} lies in {out.parent}, which does not exist; make it"
        )
    if place.exists() and not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(f"duramen {command}: --out {out} is not writable; name another")
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"duramen {command}: --out {out} lies in {place.parent}, which is not writable; name "
            "another"
        )
    for name in RESULTS:
        if (place / name).is_dir():
            raise IsADirectoryError(
                f"duramen {command}: --out {out} holds a folder {name}, in place of a result; move "
                "it, or name another folder"
            )
    return place


def _beside(place: Path, kind: str) -> Path:
    return place.parent / f".{place.name}.{secrets.token_hex(4)}.{kind}"


def _clear_up(place: Path) -> None:
    """Remove what a killed run left beside `place`; put back what it was about to move."""
    from duramen.results.replacing import unfinished

    for part in unfinished(place):
        if part.is_dir() and not part.is_symlink() and set(os.listdir(part)) <= set(RESULTS):
            shutil.rmtree(part, ignore_errors=True)
    for old in unfinished(place, "old"):
        if place.exists():
            _move_others(old, place)
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(place)


def _move(folder: Path, place: Path) -> None:
    """Put the new folder in the place of an old one, whose other files come along."""
    if not place.exists():
        folder.rename(place)
        return
    here = Path.cwd()
    if place == here or place in here.parents or os.path.ismount(place):
        for name in RESULTS:  # a folder that is worked in, or mounted, stays itself
            (folder / name).replace(place / name)
        return
    shutil.copymode(place, folder)
    old = _beside(place, "old")
    place.rename(old)
    try:
        folder.rename(place)
    except OSError:
        old.rename(place)
        raise
    _move_others(old, place)
    shutil.rmtree(old, ignore_errors=True)


def _move_others(old: Path, place: Path) -> None:
    """Move everything but results from an old folder to the new one."""
    for entry in list(old.iterdir()):
        if entry.name not in RESULTS and not os.path.lexists(place / entry.name):
            entry.rename(place / entry.name)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold signals back for the moment it takes to rename a few files, where the system can."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    stops = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stops)
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
    spreadsheet_safe: bool,
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
    spreadsheet_safe : bool
        Whether result.csv is guarded against formulas.
    """
    import pyarrow as pa

    from duramen.reports import render
    from duramen.tables import write_table

    with clock.step("report"):
        (folder / "report.html").write_text(render(summary()), encoding="utf-8")
    with clock.step("write"):
        table = pa.table(dict(columns))
        write_table(table, folder / "result.csv", spreadsheet_safe=spreadsheet_safe)
        write_table(table, folder / "result.parquet")
    record = replace(run, timings=dict(clock.seconds))
    (folder / "run.json").write_text(record.to_json(), encoding="utf-8")
