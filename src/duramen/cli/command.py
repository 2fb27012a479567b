"""Folder, printed output and Dask cluster of a command."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.console import note, notes, warnings_as_notes
from duramen.support.files import (
    InUseError,
    beside,
    expanded,
    finished,
    held,
    naming,
    put_in_place,
    real,
    unfinished,
    uninterrupted,
)

if TYPE_CHECKING:
    from duramen.analyses.execution import Execution
    from duramen.reports import Report

RESULTS = ("report.html", "result.csv", "result.parquet", "run.json")
# Results that only some runs write.
_FURTHER = ("groups", "rows", "pairs")
_ASKED = ("result.xlsx", *(f"result-{what}.csv" for what in _FURTHER))
_OWN = (*RESULTS, *_ASKED)  # files that a run replaces or removes


@dataclass(frozen=True, kw_only=True)
class Output:
    """Folder and printed output of the results.

    Parameters
    ----------
    out : path
        Folder for the results. It receives result.csv, result.parquet, run.json and report.html.
    spreadsheet_safe : bool
        Put an apostrophe before text in result.csv that a spreadsheet would evaluate as a formula,
        such as names that begin with =, +, - or @.
    xlsx : bool
        Also write the results to result.xlsx, where no text is evaluated as a formula.
    json : bool
        Print one JSON object in place of the tables. It has the conclusion, the files, the record
        of the run and the first rows of the results.
    quiet : bool
        Print errors only.
    top : int
        Number of rows to print, at most 1000.
    explain_output : bool
        Also print what the numbers mean, and their limitations, as the report does.
    scheduler : str, optional
        Address of a Dask scheduler, such as tcp://192.0.2.1:8786, or the .json file that it writes:
        its workers grow the forests. The result does not depend on it.
    """

    out: Path
    spreadsheet_safe: bool = False
    xlsx: bool = False
    json: bool = False
    quiet: bool = False
    top: int = 20
    explain_output: bool = False
    scheduler: str | None = None

    def check(self, command: str) -> None:
        """Check the options, and that the package that writes workbooks is there if it is needed.

        Raises
        ------
        ValueError, ModuleNotFoundError
            If not.
        """
        if self.top < 0:
            raise ValueError(f"--top must be 0 or more, got {self.top}")
        if self.xlsx:
            from duramen.io.formats.excel import require_writer

            require_writer(f"duramen {command}: --xlsx")


@contextmanager
def results_folder(out: Path, command: str) -> Iterator[Path]:
    """Yield a new folder beside `out` that replaces `out` at the end, in one step.

    The folder is made at once, so that a place that cannot be written to is known before any work
    (OSError). Where anything goes wrong on the way, Ctrl-C included, it is removed and `out` is
    left as it was. Other files in `out` stay. What a run that was killed left is removed, or put
    back.
    """
    place, owner = _checked(expanded(out), command), f"duramen {command}: --out {out}"
    folder = beside(place, "part")
    with ExitStack() as stack:
        try:
            stack.enter_context(held(place))
            _clear_up(place)
            folder.mkdir()
        except InUseError:
            raise InUseError(
                f"{owner} is being written by another run; wait for it, or name another folder"
            ) from None
        except OSError as error:
            raise OSError(
                f"{owner} cannot be created in {place.parent} "
                f"({error.strerror or error}); name another"
            ) from None
        try:
            with naming(out, folder):
                yield folder
                with uninterrupted():
                    _move(folder, place)
        finally:
            with uninterrupted():
                _remove(folder)


def _checked(out: Path, command: str) -> Path:
    """Return the place of `out`, links resolved, once it is clear that a folder can be there."""
    place, owner = real(out), f"duramen {command}: --out {out}"
    if place.is_symlink():
        raise OSError(f"{owner} is a link to itself; name a folder")
    if place.exists() and not place.is_dir():
        raise NotADirectoryError(f"{owner} is a file; name a folder")
    if place.exists() and not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(f"{owner} is not writable; name another")
    check_parent(owner, place.parent, out.parent)
    for name in _OWN:
        if (place / name).is_dir():
            raise IsADirectoryError(
                f"{owner} contains a folder called {name}, which is the name of a result file; "
                "move that folder, or choose another --out"
            )
    return place


def _clear_up(place: Path) -> None:
    """Remove the leftovers of a killed run beside `place`; restore files that it was moving."""
    for part in unfinished(place):
        if part.is_dir() and {finished(name) or name for name in os.listdir(part)} <= {*_OWN}:
            shutil.rmtree(part, ignore_errors=True)
    for old in unfinished(place, "old"):
        if not old.is_dir():
            continue
        if place.exists():
            _move_others(old, place)
        else:
            old.rename(place)


def _move(folder: Path, place: Path) -> None:
    """Replace an old folder by the new one, and keep the other files of the old folder."""
    here = Path.cwd()
    if place.exists() and (place == here or place in here.parents or os.path.ismount(place)):
        for name in _ASKED:
            (place / name).unlink(missing_ok=True)
        for entry in list(folder.iterdir()):  # a folder that is worked in, or mounted, stays itself
            entry.replace(place / entry.name)
        return
    if place.exists():
        shutil.copymode(place, folder)
    old = put_in_place(folder, place)
    if old is None:
        return
    try:
        _move_others(old, place)
    except OSError as error:
        raise OSError(
            f"some files of {place} are still in {old.name} ({error.strerror}); the next run "
            "moves them back"
        ) from None


def _move_others(old: Path, place: Path) -> None:
    """Move everything but results from an old folder to the new one, and remove the old one.

    It stays where it holds a file whose name is taken in the new one.
    """
    for entry in list(old.iterdir()):
        if entry.name not in _OWN and not os.path.lexists(place / entry.name):
            entry.rename(place / entry.name)
    if set(os.listdir(old)) <= set(_OWN):
        _remove(old)


def _remove(folder: Path) -> None:
    """Remove a folder of results, even where no more files can be opened to list it."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        for name in _OWN:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


@contextmanager
def _dispensable(file: Path) -> Iterator[None]:
    """Leave out a file that cannot be made, with a note: the tables are there."""
    try:
        yield
    except Exception as error:
        file.unlink(missing_ok=True)
        note(f"{file.name} is left out: {type(error).__name__}: {error}")


def write_results(
    folder: Path, report: Report, execution: Execution, output: Output, paths: Mapping[str, str]
) -> Report:
    """Write report.html, result.csv, result.parquet and run.json.

    Also result.xlsx if it is asked for, and the further tables of the report. Returns the report
    with the record that was written; `paths` has the files that the user named.
    """
    from duramen.io import write_table
    from duramen.reports import render
    from duramen.reports.report import WORKBOOK, write_tables
    from duramen.support.arrow import pa

    safe = output.spreadsheet_safe
    with execution.step("write"):
        write_tables(folder, report.table, report.further, spreadsheet_safe=safe)
        if output.xlsx:
            with _dispensable(folder / WORKBOOK):
                write_table(pa.table(dict(report.table)), folder / WORKBOOK)
    page = folder / "report.html"
    with execution.step("report"), _dispensable(page), warnings_as_notes(output.quiet):
        report = report.drawn()
        page.write_text(render(report), encoding="utf-8")
    record = replace(
        report.run,
        paths=paths,
        references=report.references,
        timings={**report.run.timings, **execution.seconds},
    )
    (folder / "run.json").write_text(record.to_json(), encoding="utf-8")
    return replace(report, run=record)


def print_report(report: Report, output: Output) -> None:
    """Print a report, on one line as JSON if asked for; unless quiet, as tables."""
    if not output.json:
        if not output.quiet:
            from duramen.cli.show import show  # imports that take long

            show(report, output.top, output.out, explain=output.explain_output)
        return
    import pyarrow as pa

    table = {name: values[: output.top] for name, values in report.table.items()}
    place = expanded(output.out)
    printed = {
        "conclusion": report.conclusion,
        "methods": report.methods,
        "notes": list(report.notes),
        **({"explanations": report.explanations()} if output.explain_output else {}),
        "folder": str(output.out),
        "files": [name for name in _OWN if (place / name).is_file()],
        "run": asdict(report.run),
        "rows": [
            {
                name: None if isinstance(value, float) and not isfinite(value) else value
                for name, value in row.items()
            }
            for row in pa.table(table).to_pylist()
        ],
    }
    print(json.dumps(printed, ensure_ascii=False, allow_nan=False))


def writable(checkpoint: Path | None) -> Path | None:
    """Return the path of ``--checkpoint`` once a file can be written there, else raise OSError."""
    if checkpoint is None:
        return None
    checkpoint = expanded(checkpoint)
    if checkpoint.is_dir():
        raise IsADirectoryError(f"--checkpoint {checkpoint} is a folder; name a file")
    check_parent(f"--checkpoint {checkpoint}", checkpoint.absolute().parent, checkpoint.parent)
    if checkpoint.exists() and not os.access(checkpoint, os.R_OK):
        raise PermissionError(f"--checkpoint {checkpoint} cannot be read; name another file")
    return checkpoint


def check_parent(owner: str, parent: Path, shown: Path) -> None:
    """Check that a file or folder can be created in a parent that messages call `shown`."""
    if not parent.is_dir():
        raise FileNotFoundError(f"{owner} is in {shown}, which does not exist; create that folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(
            f"{owner} lies in {parent}, which is not writable; choose another folder"
        )


# --- a Dask scheduler, whose workers do the work of a command -------------------------------------

_TIMEOUT = 10  # seconds to reach a scheduler


@contextmanager
def connected(command: str, scheduler: str | None, quiet: bool) -> Iterator[Any]:
    """Connect to a scheduler by its address or its file, and yield the Dask client.

    Gives None where no scheduler is named: threads do the work.

    Raises
    ------
    ModuleNotFoundError
        If the extra that has Dask is not installed.
    FileNotFoundError, ConnectionError
        If there is no such file, or no scheduler answers.
    """
    if scheduler is None:
        yield None
        return
    from duramen.results.summary import counted
    from duramen.support.checks import extra_package

    distributed = extra_package("distributed", f"duramen {command}: --scheduler", "distributed")
    for name in ("asyncio", *logging.root.manager.loggerDict):  # what matters is raised as well
        if name.partition(".")[0] in ("asyncio", "distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    file = scheduler.endswith(".json")
    if file and not Path(scheduler).is_file():
        raise FileNotFoundError(
            f"--scheduler {scheduler} does not exist; name the file that the scheduler writes "
            "(dask scheduler --scheduler-file), or its address"
        )
    try:
        where = {"scheduler_file" if file else "address": scheduler}
        client = distributed.Client(**where, timeout=_TIMEOUT)
    except (OSError, ValueError, TypeError):
        raise ConnectionError(
            f"--scheduler {scheduler}: no Dask scheduler answers there within {_TIMEOUT} s. Hint: "
            "`dask scheduler` prints its address, such as tcp://192.0.2.1:8786; for an encrypted "
            "one, DASK_CONFIG names the file of its certificates"
        ) from None
    with client:
        of_worker = client.scheduler_info(n_workers=-1)["workers"].values()
        line = f"scheduler {scheduler}: no worker yet; the work begins when one has come"
        if of_worker:
            n_threads = sum(worker["nthreads"] for worker in of_worker)
            limits = [worker["memory_limit"] for worker in of_worker if worker["memory_limit"]]
            memory = f", {min(limits) / 1e9:.3g} GB of memory each at least" if limits else ""
            workers, threads = counted(len(of_worker), "worker"), counted(n_threads, "thread")
            line = f"scheduler {scheduler}: {workers}, {threads} in all{memory}"
        lines = [line]
        if client.scheduler.address.startswith("tcp:"):
            lines.append(
                "the connection to the scheduler is not encrypted: every user of its network can "
                "run code on its workers; the guide on several machines shows how to encrypt it"
            )
        notes(lines, quiet)
        yield client
