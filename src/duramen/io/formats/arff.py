"""Attribute-relation files of Weka and OpenML (.arff)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from duramen.io.formats.format import Format, Request
from duramen.support.arrow import pa
from duramen.support.text import as_number, quoted, read_utf8

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|\S+?)\s*(\{{.*|\s.+)", re.IGNORECASE)
_FIELD = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(?:,|$)")
_ENTRY = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,]*?)\s*(?:,|$)")
_NUMERIC = ("numeric", "real", "integer")


def read_arff(path: Path, request: Request) -> pa.Table:
    """Read a table whose lines begin with ``@attribute`` and, of its rows, follow ``@data``.

    Numeric attributes become numbers, nominal ones categories, all others text. A question mark is
    a missing value. Rows in braces are sparse: what they leave out is 0, or the first category.
    """
    names, kinds, rows = list[str](), list[Any](), list[list[str | None]]()
    begun = False
    for number, text in enumerate(read_utf8(path, request.function).splitlines(), 1):
        line, where = text.strip(), f"{request.function}: {path}, line {number}"
        if not line or line.startswith("%"):
            continue
        if begun:
            rows.append(_row(line, kinds, where))
        elif line.lower().startswith("@data"):
            begun = True
        elif line.lower().startswith("@attribute"):
            if (match := _ATTRIBUTE.fullmatch(line)) is None:
                raise ValueError(f"{where}: an attribute needs a name and a type, got {line!r}")
            kind = match[2].strip()
            names.append(str(_unquoted(match[1])))
            kinds.append(_fields(kind[1:].rpartition("}")[0]) if kind[0] == "{" else kind.lower())
        elif not line.lower().startswith("@relation"):
            raise ValueError(f"{where}: before @data must come attributes, got {line!r}")
    if not names or not rows:
        raise ValueError(
            f"{request.function}: {path} must have lines @attribute, @data and rows, got "
            f"{len(names)} attributes and {len(rows)} rows. Hint: if it is a table of another "
            f"kind, call it {path.stem}.txt"
        )
    columns = zip(names, kinds, zip(*rows, strict=True), strict=True)
    arrays = [
        _column(values, kind, name, f"{request.function}: {path}") for name, kind, values in columns
    ]
    return pa.Table.from_arrays(arrays, names=names)


def _row(line: str, kinds: list[Any], where: str) -> list[str | None]:
    """Return the fields of a row."""
    if line[0] != "{":
        fields = _fields(line)
        if len(fields) != len(kinds):
            raise ValueError(
                f"{where}: {len(fields)} fields, but there are {len(kinds)} attributes; quote "
                "fields that contain a comma"
            )
        return fields
    row = [kind[0] if isinstance(kind, list) else "0" for kind in kinds]
    inside = line[1:].partition("}")[0]
    for match in _ENTRY.finditer(inside):
        if int(match[1]) >= len(row):
            raise ValueError(f"{where}: field {match[1]}, but there are {len(row)} attributes")
        row[int(match[1])] = _unquoted(match[2])
    return row


def _fields(line: str) -> list[str | None]:
    """Return the fields between the commas of a line, without quotes; None for a question mark."""
    if "'" not in line and '"' not in line:
        return [None if (field := part.strip()) == "?" else field for part in line.split(",")]
    matches = [*_FIELD.finditer(line)]
    if matches[-1].start() == len(line) and not line.endswith(","):  # behind the last field
        matches.pop()
    return [_unquoted(match[1]) for match in matches]


def _unquoted(field: str) -> str | None:
    if field[:1] in ("'", '"') and field[-1:] == field[:1] and len(field) > 1:
        return re.sub(r"\\(.)", r"\1", field[1:-1])
    return None if field == "?" else field


def _column(values: tuple[str | None, ...], kind: Any, name: str, where: str) -> Any:
    """Return the values of an attribute in the type that it declares."""
    if isinstance(kind, list):
        place = {category: code for code, category in enumerate(kind)}
        odd = next((value for value in values if value is not None and value not in place), None)
        if odd is not None:
            raise ValueError(
                f"{where}: attribute {quoted(name)} has {quoted(odd)}, which is none of its "
                f"{len(kind)} categories"
            )
        codes = pa.array([None if value is None else place[value] for value in values], pa.int32())
        return pa.DictionaryArray.from_arrays(codes, pa.array(kind, pa.string()))
    if kind not in _NUMERIC:
        return pa.array(values, pa.string())
    numbers = [np.nan if value is None else as_number(value) for value in values]
    if None in numbers:
        odd = values[numbers.index(None)]
        raise ValueError(f"{where}: attribute {quoted(name)} is {kind}, but has {quoted(odd)}")
    column = np.array(numbers, dtype=np.float64)
    present = column[~np.isnan(column)]
    whole = bool((present == np.floor(present)).all()) and np.abs(present).max(initial=0) < 2**53
    array = pa.array(column, from_pandas=True)
    return array.cast(pa.int64()) if whole and len(present) else array


ARFF = Format("arff", "ARFF", (".arff",), read=read_arff)
