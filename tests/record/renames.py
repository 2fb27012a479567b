"""Old names of options, columns and types, read as their new ones.

``renames.json`` maps old names to new ones, so that a record made before a renaming is compared
with results after it. Each of its parts is a mapping:

``options``
    Words of a command line, such as ``{"--trees": "--n-estimators"}``. The new side may be several
    words, as in ``{"--no-test": "--test none"}``. Words that a message shall name are renamed too.
``columns``
    Columns of tables.
``keys``
    Keys of the record of a run, and names of facts about a call.
``files``
    Files that a command writes.
``types``
    Classes of results and errors.

An old name may begin with the name of a command and a space, as in ``"rank --seed"``: it then
holds for this command only. Once records are made anew, the entries can go.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("renames.json")


def read() -> dict[str, dict[str, str]]:
    """Read the new names."""
    return _read(FILE)


@cache
def _read(file: Path) -> dict[str, dict[str, str]]:
    result: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return result


def new_name(kind: str, old: str, command: str) -> str:
    """Return the new name of a column, key, file, type or option of a command."""
    names = read()[kind]
    return names.get(f"{command} {old}", names.get(old, old))


def new_words(words: Sequence[str], command: str) -> list[str]:
    """Return a command line, or words of its message, with the new names of options."""
    return [new for old in words for new in new_name("options", old, command).split(" ")]


def renamed(record: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Return a record under the new names."""
    return {part: _PARTS.get(part, _keys)(value, command) for part, value in record.items()}


def _files(names: list[str], command: str) -> list[str]:
    return sorted(new_name("files", name, command) for name in names)


def _types(types: dict[str, str], command: str) -> dict[str, str]:
    return {name: new_name("types", old, command) for name, old in types.items()}


def _tables(tables: dict[str, Any], command: str) -> dict[str, Any]:
    return {
        new_name("files", name, command): {
            **table,
            "columns": [new_name("columns", column, command) for column in table["columns"]],
        }
        for name, table in tables.items()
    }


def _keys(value: Any, command: str) -> Any:
    if isinstance(value, dict):
        return {
            new_name("keys", key, command): _keys(inner, command) for key, inner in value.items()
        }
    return [_keys(inner, command) for inner in value] if isinstance(value, list) else value


_PARTS: dict[str, Callable[[Any, str], Any]] = {
    "files": _files,
    "types": _types,
    "tables": _tables,
    "error": partial(new_name, "types"),
}
