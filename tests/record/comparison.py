"""Records on disk, and their differences from results, cell by cell."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.record.cases import Case
from tests.record.renames import renamed

FOLDER = Path(__file__).with_name("records")
# Texts for readers; the words of `not_named` are compared in place of the message.
NOT_COMPARED = {"message"}
_TINY = 1e-12
_WIDTH = 100
_ABSENT = object()


def path(name: str) -> Path:
    """Return the file of a record."""
    return FOLDER / f"{name}.json"


def recorded() -> set[str]:
    """Return the names of all records."""
    return {file.relative_to(FOLDER).with_suffix("").as_posix() for file in FOLDER.rglob("*.json")}


def read(name: str) -> dict[str, Any] | None:
    """Read a record; None if there is none."""
    file = path(name)
    if not file.is_file():
        return None
    record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return record


def write(name: str, record: Mapping[str, Any]) -> None:
    """Write a record: a row of a table on a line."""
    file = path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text(record) + "\n", encoding="utf-8")


def update(case: Case, outcome: Mapping[str, Any], *, changed: bool) -> None:
    """Write a record, unless it would differ in its last digits only."""
    before = read(case.name)
    same = before is not None and not changed and before.get("message") == outcome.get("message")
    if before is None or not same or before != renamed(before, _command(case)):
        write(case.name, outcome)


def text(value: Any, margin: str = "") -> str:
    """Return a value as JSON; what fits on a line, and a list without lists, stands on one."""
    line = json.dumps(value, ensure_ascii=False)
    flat = isinstance(value, list) and not any(isinstance(x, list | dict) for x in value)
    if flat or not isinstance(value, list | dict) or len(margin + line) <= _WIDTH:
        return line
    inner = margin + " "
    if isinstance(value, list):
        parts = [inner + text(part, inner) for part in value]
    else:
        parts = [f"{inner}{json.dumps(key)}: {text(part, inner)}" for key, part in value.items()]
    brackets = "[]" if isinstance(value, list) else "{}"
    return f"{brackets[0]}\n" + ",\n".join(parts) + f"\n{margin}{brackets[1]}"


def differences(case: Case, outcome: Mapping[str, Any]) -> list[str]:
    """Return the differences of a result from its record, a cell on a line."""
    before = read(case.name)
    if before is None:
        return ["no record"]
    return list(_differences(renamed(before, _command(case)), outcome, "", case.digits))


def _command(case: Case) -> str:
    return case.words[0] if case.words else ""


def _differences(before: Any, now: Any, place: str, digits: int) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        if "columns" in before and "rows" in before and "rows" in now:
            yield from _cells(before, now, place, digits)
            return
        for key in (*before, *(key for key in now if key not in before)):
            if key not in NOT_COMPARED:
                there = before.get(key, _ABSENT), now.get(key, _ABSENT)
                yield from _differences(*there, f"{place}, {key}".lstrip(", "), digits)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for i, pair in enumerate(zip(before, now, strict=True)):
            yield from _differences(*pair, f"{place} [{i}]", digits)
    elif not _equal(before, now, digits):
        yield f"{place}: {_shown(before)} -> {_shown(now)}"


def _cells(before: Any, now: Any, place: str, digits: int) -> Iterator[str]:
    """Yield the differences of two tables; the order of columns does not matter."""
    old, new = before["columns"], now["columns"]
    yield from (f"{place}: column {name!r} is no longer there" for name in old if name not in new)
    yield from (f"{place}: column {name!r} is new" for name in new if name not in old)
    n_rows = [table.get("n_rows", len(table["rows"])) for table in (before, now)]
    if n_rows[0] != n_rows[1]:
        yield f"{place}: {n_rows[0]} -> {n_rows[1]} rows"
    title = old.index("name") if "name" in old else 0
    for i, (row, other) in enumerate(zip(before["rows"], now["rows"], strict=False)):
        for j, name in enumerate(old):
            if name in new:
                cell = other[new.index(name)]
                yield from _differences(
                    row[j], cell, f"{place}, row {i + 1} ({row[title]}), {name}", digits
                )


def _equal(before: Any, now: Any, digits: int) -> bool:
    """Return whether two values are equal; numbers, up to one unit of the last digit."""
    if {type(before), type(now)} in ({float}, {float, int}):
        return math.isclose(before, now, rel_tol=10.0 ** (1 - digits), abs_tol=_TINY)
    return type(before) is type(now) and before == now


def _shown(value: Any) -> str:
    return "nothing" if value is _ABSENT else json.dumps(value, ensure_ascii=False)[:_WIDTH]
