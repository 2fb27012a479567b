"""Results of commands and calls as plain values.

This is the only file here that knows how a command is run and where its results lie.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from tests.record import inputs
from tests.record.renames import new_words

DIGITS = 12
# Parts of run.json that are texts, times, places or versions.
NOT_RECORDED = {
    *("command", "file", "paths", "timings", "versions", "fingerprint", "citation", "references"),
    *("message", "hint", "notes", "null", "meaning"),
}
# Fingerprints depend on the way in which data are stored.
_FINGERPRINT = re.compile(r"^[0-9a-f]{64}$")
# Columns of tables that are times.
TIMES = {"seconds"}
# Rows that are recorded of a table, and features of a mapping: the most important ones.
MOST_ROWS = 60
_NUMBER = re.compile(r"^-?(\d+(\.\d*)?(e[-+]?\d+)?|\.\d+)$", re.IGNORECASE)


def of_command(
    words: Sequence[str],
    *,
    before: Sequence[Sequence[str]] = (),
    without: Sequence[str] = (),
) -> dict[str, Any]:
    """Run a command that succeeds; return its exit code, files, tables and ``run.json``."""
    with _folder(words, before) as folder:
        there = set(_files(folder))
        result = _run(words)
        if result.exit_code != 0:
            raise RuntimeError(f"{' '.join(words)}: exit code {result.exit_code}: {result.output}")
        files = sorted(set(_files(folder)) - there)
        tables = {name: _table(folder / name) for name in files if name.endswith((".csv", ".tsv"))}
        run = json.loads((folder / "out/run.json").read_text(encoding="utf-8"))
    left_out = NOT_RECORDED.union(without)
    return {"exit_code": 0, "files": files, "tables": tables, "run": _recorded(run, left_out)}


def of_refusal(
    words: Sequence[str], *, names: Sequence[str], before: Sequence[Sequence[str]] = ()
) -> dict[str, Any]:
    """Run a command that is refused; return its exit code, and words that its message lacks."""
    with _folder(words, before) as folder:
        there = set(_files(folder))
        result = _run(words)
        files = sorted(set(_files(folder)) - there)
        message = " ".join(result.output.split()).replace(str(folder), ".")
    return {
        "exit_code": result.exit_code,
        "files": files,
        "not_named": _not_named(new_words(names, words[0]), message),
        "message": message,
    }


def of_call(function: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Call a function; return the types and tables of its results, and its facts."""
    types, tables, facts = {}, {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in function().items():
            if hasattr(value, "to_frame"):
                types[name] = type(value).__name__
                tables[name] = _frame(value.to_frame())
            elif hasattr(value, "iloc"):  # a data frame
                tables[name] = _frame(value)
            else:
                facts[name] = _plain(value)
    return {"types": types, "tables": tables, "facts": facts}


def of_error(function: Callable[[], Any], names: Sequence[str]) -> dict[str, Any]:
    """Call a function that raises; return the error's type, and words that its message lacks."""
    try:
        function()
    except Exception as error:
        return {
            "error": type(error).__name__,
            "not_named": _not_named(names, str(error)),
            "message": str(error),
        }
    raise RuntimeError("the call raised no error")


def _not_named(names: Sequence[str], message: str) -> list[str]:
    """Return the names that a message lacks; `_` and `-` are one sign."""
    message = message.replace("_", "-")
    words = {name: re.escape(name.replace("_", "-")) for name in names}
    return [
        name
        for name, word in words.items()
        if not re.search(rf"(?<![\w-]){word}(?![\w-])", message)
    ]


@contextmanager
def _folder(words: Sequence[str], before: Sequence[Sequence[str]]) -> Iterator[Path]:
    """Work in a folder of its own with the files that the commands read."""
    back = Path.cwd()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name).resolve()
        # Figures take most of a command's time, and no table depends on them.
        stack.enter_context(patch("duramen.reports.report.svg", lambda *_: "<svg/>"))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        for line in (*before, words):
            inputs.write(line, folder)
        os.chdir(folder)
        stack.callback(os.chdir, back)
        for line in before:
            result = _run(line, out=())
            if result.exit_code != 0:
                raise RuntimeError(f"{' '.join(line)}: {result.output}")
        yield folder


def _run(words: Sequence[str], out: Sequence[str] = ("--out", "out")) -> Any:
    """Run a command in this process."""
    from tests.cli.commands import duramen

    jobs = () if words[0] == "plan" else ("--jobs", "1")
    return duramen(*new_words([*words, *out, *jobs, "--quiet"], words[0]))


def _files(folder: Path) -> Iterator[str]:
    """Yield the files in a folder."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix()


def _table(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
    table = {name: [_cell(row[j]) for row in rows] for j, name in enumerate(header)}
    return _rows(table)


def _rows(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    columns = {name: cells for name, cells in columns.items() if name not in TIMES}
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    table = {"columns": list(columns), "rows": rows[:MOST_ROWS]}
    return table if len(rows) <= MOST_ROWS else {**table, "n_rows": len(rows)}


def _cell(text: str) -> Any:
    """Return a cell of a CSV file, a number if it is one."""
    return _plain(float(text)) if _NUMBER.match(text) else text


def _frame(frame: Any) -> dict[str, Any]:
    return _rows({str(name): [_plain(x) for x in frame[name].tolist()] for name in frame.columns})


def _recorded(value: Any, left_out: Collection[str]) -> Any:
    """Return ``run.json`` without texts, times, places and versions."""
    if isinstance(value, dict):
        return {
            key: _recorded(x, left_out)
            for key, x in value.items()
            if key not in left_out and not (isinstance(x, str) and _FINGERPRINT.match(x))
        }
    return [_recorded(x, left_out) for x in value] if isinstance(value, list) else _plain(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it: floats to twelve digits, missing ones as texts."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        if not math.isfinite(number):
            return str(number)
        return int(number) if number.is_integer() and abs(number) < 1e15 else _rounded(number)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [_plain(inner) for inner in value]
    import pandas as pd

    if value is pd.NA or value is pd.NaT:
        return None
    raise TypeError(f"record: a call must return plain values, got {type(value).__name__}")


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")
