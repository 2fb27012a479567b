"""Numbers that are written as text: with units, currency, thousands separators or limits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.data.finding import Finding
from duramen.data.stray import MISSING
from duramen.support.arrow import is_text, pa
from duramen.support.text import quoted
from duramen.support.warning import warn

_FEWEST = 5  # distinct numbers with a unit, a currency or separators
_FEWEST_BESIDE_LIMITS = 10  # distinct numbers beside such as <5, which may also be categories
_SAMPLE = 64  # distinct values that are looked at first
_SHOWN = 3
# Units of whole numbers that are different in each row, which are names with others: 12A, 7 north.
# fmt: off
_UNITS = frozenset((
    "kg", "g", "mg", "µg", "ug", "ng", "pg", "l", "dl", "ml", "µl", "km", "m", "cm", "mm", "µm",
    "nm", "ms", "s", "sec", "min", "h", "hours", "days", "weeks", "months", "years", "yr", "yrs",
    "mmhg", "bpm", "mmol", "mol", "iu", "kda", "bp", "kb", "mb", "hz", "khz", "mv", "v", "usd",
    "eur", "gbp", "chf", "°c", "°f", "$", "€", "£", "¥", "₹",
))
# fmt: on
_SPACES = " \u00a0\u2009\u202f"
_FORM = (
    r"\s*(?P<limit>[<>≤≥]=?|)\s*(?P<minus>[+-]?)(?P<money>[$€£¥₹]?)\s*(?P<sign>[+-]?)"
    r"(?P<number>\d{{1,3}}(?:[{groups}]\d{{3}})+(?:{point}\d+)?"
    r"|(?:\d+{point}?\d*|{point}\d+)(?:[eE][+-]?\d+)?)"
    r"\s*(?P<after>[$€£¥₹]|[^\W\d_%°‰][\w/%°^·*²³µ. -]{{0,15}}|[%°‰][\w/]{{0,15}}|)\s*"
)
_FORMS = {
    ".": re.compile(_FORM.format(groups=f",'’{_SPACES}", point=r"\.")),
    ",": re.compile(_FORM.format(groups=f".'’{_SPACES}", point=",")),
}
_GROUPED = re.compile(rf"(?<=\d)([,.'’{_SPACES}])\d{{3}}")


class NumbersInTextWarning(UserWarning):
    r"""Columns of text were read as numbers, or hold numbers with several units.

    Attributes
    ----------
    findings : tuple of Finding
        One for each column.

    Examples
    --------
    >>> import warnings
    >>> from pathlib import Path
    >>> from duramen.io import read_table
    >>> rows = [f"{dose} mg" for dose in range(5)]
    >>> _ = Path("doses.csv").write_text("\n".join(["dose", *rows]))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     read_table("doses.csv").to_pydict()
    {'dose': [0.0, 1.0, 2.0, 3.0, 4.0]}
    >>> caught[0].message.findings[0].kind
    'numbers in text'
    """

    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class _Value:
    """One text as a number."""

    number: float
    limit: str  # "<" or ">" where the number is a limit
    unit: str
    group: str  # sign between thousands
    code: bool  # whether it begins with a zero before another digit


def numbers_in_text(
    table: pa.Table,
    *,
    as_text: Sequence[str] = (),
    decimal: str = ".",
    thousands: bool = False,
) -> tuple[pa.Table, tuple[Finding, ...]]:
    """Read columns of text as numbers where all of their values have one form.

    The forms are numbers with one unit or currency ("27.2kg/m2", "$5", "12 %"), with thousands
    separators ("20,303"), and limits of detection ("<5"), which become the limit. A column is read
    if each of its values has the same form and unit, or is a usual sign of a missing value, which
    becomes missing; at least five numbers must be different, ten beside limits. Columns of numbers
    with several units stay as they are.

    Parameters
    ----------
    table : pyarrow.Table
    as_text : sequence of str
        Columns to leave as they are.
    decimal : str
        Decimal point of the numbers: "." or ",".
    thousands : bool
        Whether three digits after a single comma, such as in "20,303", are thousands also where
        nothing tells them from decimals.

    Returns
    -------
    table : pyarrow.Table
    findings : tuple of Finding
        One for each column that was read, of the kind "numbers in text", and for each with
        several units, of the kind "several units".

    Examples
    --------
    >>> import pyarrow as pa
    >>> from duramen.data import numbers_in_text
    >>> table = pa.table({"bmi": ["27.2kg/m2", "31 kg/m2", "?", "19kg/m2", "22kg/m2", "25kg/m2"]})
    >>> read, found = numbers_in_text(table)
    >>> read.to_pydict()["bmi"]
    [27.2, 31.0, None, 19.0, 22.0, 25.0]
    >>> print(found[0].found[:47])
    column 'bmi' has numbers as text, such as '27.2
    """
    findings = []
    for j, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        text = is_text(column.type)
        if not text or name in as_text or not _promising(column, decimal):
            continue
        texts = column.unique().drop_null().to_pylist()
        values = {label: _value(label, decimal) for label in texts if not _is_missing(label)}
        if any(value is None for value in values.values()):
            continue
        read = {label: value for label, value in values.items() if value is not None}
        if len({value.unit for value in read.values()}) > 1:
            findings += _several(name, column, read)
        elif finding := _finding(name, column, texts, read, thousands):
            findings.append(finding)
            numbers = {label: value.number for label, value in read.items()}
            parsed = pa.array([numbers.get(label) for label in column.to_pylist()], pa.float64())
            table = table.set_column(j, name, parsed)
    return table, tuple(findings)


def warned(
    table: pa.Table, function: str, *, as_text: Sequence[str], decimal: str, thousands: bool
) -> pa.Table:
    """Return a table whose columns of text are read as numbers, with a warning."""
    table, noted = numbers_in_text(table, as_text=as_text, decimal=decimal, thousands=thousands)
    if noted:
        warning = NumbersInTextWarning(f"{function}: {'; '.join(map(str, noted))}")
        warning.findings = noted
        warn(warning)
    return table


def _promising(column: Any, decimal: str) -> bool:
    """Return whether the first different values of a column are numbers in text, or missing."""
    some = column.slice(0, 4 * _SAMPLE).unique().drop_null().to_pylist()[:_SAMPLE]
    return bool(some) and all(_is_missing(text) or _value(text, decimal) for text in some)


def _is_missing(text: str) -> bool:
    return text.strip().casefold() in MISSING


def _value(text: str, decimal: str) -> _Value | None:
    """Return a text as a number; None where it is none."""
    if len(text) > 40:
        return None
    match = _FORMS[decimal].fullmatch(text)
    if match is None or (match["money"] and match["after"]) or (match["minus"] and match["sign"]):
        return None
    digits = match["number"]
    grouped = _GROUPED.search(digits)
    group = "" if grouped is None or grouped[1] == decimal else grouped[1]
    plain = digits.replace(group, "") if group else digits
    number = float(plain.replace(decimal, "."))
    negative = "-" in (match["minus"], match["sign"])
    unit = " ".join((match["money"] or match["after"]).split()).casefold()
    code = re.match(r"0\d", plain) is not None
    limit = {"≤": "<", "≥": ">"}.get(match["limit"][:1], match["limit"][:1])
    return _Value(-number if negative else number, limit, unit, group, code)


def _finding(
    name: str, column: Any, texts: Sequence[str], read: dict[str, _Value], thousands: bool
) -> Finding | None:
    """Tell how the values of one form are read; None where they may be something else."""
    values = list(read.values())
    groups = {value.group for value in values if value.group}
    unit, limits = values[0].unit if values else "", {v.limit for v in values if v.limit}
    different = len({value.number for value in values if not value.limit})
    fewest = _FEWEST if unit or groups else _FEWEST_BESIDE_LIMITS
    if not (unit or groups or limits) or different < fewest or len(groups) > 1:
        return None
    n_rows = len(column) - column.null_count
    whole = not any(value.number % 1 for value in values)
    known_unit = unit in _UNITS or re.search(r"[/%‰²³^]", unit)
    if whole and different == n_rows and not (groups or limits or known_unit):
        return None
    if any(value.code for value in values) or (groups and not _thousands(read, thousands)):
        return None
    remarks = []
    if groups:
        sign = {",": "commas", ".": "points"}.get(min(groups), "apostrophes")
        sign = "spaces" if min(groups) in _SPACES else sign
        remarks.append(f"{sign} separate thousands")
    if unit:
        remarks.append(f"{quoted(unit)} is the unit")
    if limits:
        shown = next(label for label, value in read.items() if value.limit)
        remarks.append(f"{quoted(shown)} becomes its limit, {read[shown].number:g}")
    if gone := [label for label in texts if label not in read]:
        remarks.append(f"{', '.join(map(quoted, gone[:_SHOWN]))} as missing")
    # Examples of what is special come first.
    order = sorted(read, key=lambda label: not (read[label].limit or read[label].group))
    examples = ", ".join(map(quoted, order[:_SHOWN]))
    return Finding(
        "numbers in text",
        (name,),
        f"column {quoted(name)} has numbers as text, such as {examples}, and was read as numbers: "
        f"{'; '.join(remarks)}",
        "keep it as text if it is none",
        values=tuple(label for label in read if read[label].limit),
    )


def _thousands(read: dict[str, _Value], sure: bool) -> bool:
    """Return whether signs between groups of three digits separate thousands, not decimals."""
    grouped = [(text, value) for text, value in read.items() if value.group]
    if any(text.strip().lstrip("<>≤≥=+-$€£¥₹ ").startswith("0") for text, _ in grouped):
        return False  # 0,123
    sign = grouped[0][1].group
    if sign not in ",.":
        return True
    many = any(len(re.findall(_GROUPED, text)) > 1 for text, _ in grouped)
    fraction = any(value.number != np.floor(value.number) for _, value in grouped)
    plain = [value.number for value in read.values() if not value.group]
    if any(abs(number) >= 1000 for number in plain):
        return many or fraction
    return many or fraction or sure or sign == "." or bool(plain)  # points beside decimal commas


def _several(name: str, column: Any, read: dict[str, _Value]) -> list[Finding]:
    """Tell of numbers with several units."""
    rows = Counter(column.drop_null().to_pylist())
    units: Counter[str] = Counter()
    for label, value in read.items():
        units[value.unit] += rows[label]
    numbers = len({value.number for value in read.values()})
    if numbers < _FEWEST or len(units) > _SHOWN + 1 or min(units.values()) == 1 < len(units) - 1:
        return []
    listed = ", ".join(
        f"{quoted(unit) if unit else 'none'} in {count:,} rows"
        for unit, count in units.most_common()
    )
    return [
        Finding(
            "several units",
            (name,),
            f"column {quoted(name)} has numbers with several units, {listed}; it is treated as "
            "categorical",
            "convert the numbers to one unit",
        )
    ]


def places_of_text(table: Any, names: Sequence[str], as_text: Sequence[str]) -> list[int]:
    """Return the places of the columns of an Arrow table that are to stay the text that they are.

    These are categories, of which nothing is to be said as of columns that are nearly numbers.
    """
    if not as_text or type(table).__module__.partition(".")[0] != "pyarrow":
        return []
    return [
        j
        for j, (name, kind) in enumerate(zip(names, table.schema.types, strict=True))
        if name in as_text and is_text(kind)
    ]
