"""Cases of the command line: what is typed, and what of its results is pinned.

The table ``result.csv``, the results in ``run.json`` and the exit status are pinned; names of
columns and keys, sentences, times, versions and places are not.
"""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.contracts.inputs import jobs
from tests.contracts.registry import Case, add

_PLAIN = re.compile(r"^-?\d+(\.\d*)?(e-?\d+)?$")
# Beyond so many letters a text is a sentence, whose words may change.
_SENTENCE = 25


def command(
    key: str,
    line: str,
    write: Callable[[Path], None],
    *,
    status: int = 0,
    slow: bool = False,
    only: tuple[str, ...] = (),
) -> None:
    """Add a command to the cases.

    Parameters
    ----------
    key : str
        Key of the case, after the name of the command.
    line : str
        What is typed after ``duramen``, without ``--out`` and ``--jobs``.
    write : callable
        Writes the files that the command reads to a folder.
    status : int
        Exit status that the command shall have.
    slow : bool
        Whether it takes more than about a second.
    only : tuple of str
        Columns of the table of results that are the result, where others come from libraries of
        linear algebra, in bits of their own; by default all, with the record of the run.
    """
    words = tuple(line.split())
    run = partial(_left, words, write, status, only)
    add(Case(f"cli.{words[0]}/{key}", run, words=words, slow=slow))


def _left(
    words: tuple[str, ...], write: Callable[[Path], None], status: int, only: tuple[str, ...]
) -> Any:
    """Run a command in a folder of its own, and return what it left."""
    from tests.cli.commands import duramen, undrawn

    before = Path.cwd()
    # Charts of the report cost most of a command's time, and are pinned as plots.
    drawing = patch("duramen.reports.report.svg", undrawn)
    with tempfile.TemporaryDirectory() as folder, drawing:
        write(Path(folder))
        os.chdir(folder)
        try:
            threads = [] if words[0] == "plan" else ["--jobs", str(jobs())]
            done = duramen(*words, "--quiet", "--out", "out", *threads)
        finally:
            os.chdir(before)
        if done.exit_code != status:
            raise RuntimeError(f"{words}: exit status {done.exit_code}: {done.output}")
        out = Path(folder) / "out"
        if not out.exists():
            return done.exit_code
        if only:
            return _columns(out / "result.csv", only)
        more = [_rows(file) for file in sorted(out.glob("result-*.csv"))]
        return (_rows(out / "result.csv"), _record(out), done.exit_code, *more)


def _rows(table: Path) -> list[list[Any]]:
    """The rows of a table of results, without the names of its columns."""
    with table.open(encoding="utf-8", newline="") as file:
        return [[_value(cell) for cell in row] for row in csv.reader(file)][1:]


def _columns(table: Path, names: tuple[str, ...]) -> list[list[str]]:
    """Some columns of a table of results."""
    with table.open(encoding="utf-8", newline="") as file:
        return [[row[name] for name in names] for row in csv.DictReader(file)]


def _value(cell: str) -> Any:
    return float(cell) if _PLAIN.match(cell) else cell


def _record(out: Path) -> Any:
    """The results in the record of the run."""
    return _numbers(json.loads((out / "run.json").read_text(encoding="utf-8"))["results"])


def _numbers(value: Any) -> Any:
    """Numbers and short texts of a record; what stands under names that may change is sorted."""
    if isinstance(value, Mapping):
        parts = [_numbers(part) for part in value.values()]
        return sorted((part for part in parts if part is not None), key=repr)
    if isinstance(value, list):
        return [_numbers(part) for part in value]
    if isinstance(value, str):
        return None if len(value) > _SENTENCE or " " in value else value
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
