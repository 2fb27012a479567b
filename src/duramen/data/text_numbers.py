"""Numbers that are written as text, and text that is nearly numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from duramen.data.provenance import Finding
from duramen.results.summary import counted
from duramen.support.arrays import IntArray
from duramen.support.arrow import is_text, pa, pc
from duramen.support.checks import warn
from duramen.support.text import quoted

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_FRACTION = re.compile(r".*[.eE].*")
_COMMA = re.compile(r"\s*[+-]?(\d*,\d+|\d{1,3}(,\d{3})+(\.\d+)?)\s*")  # decimal, or of thousands
_PADDED = re.compile(r"\s*0\d+\s*")  # 007: a code, which a number would lose the zeros of
# fmt: off
MISSING = frozenset((
    "", "?", "-", "--", ".", "*", "/", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "nd",
    "n.d.", "missing", "unknown", "unk", "undefined", "inf", "-inf", "not available",
    "not determined", "not applicable", "not known", "not reported", "#n/a", "#na", "#value!",
    "#div/0!", "#null!", "unbekannt", "keine angabe", "k.a.", "k. a.", "inconnu",
    "non renseign\u00e9", "desconocido", "sconosciuto", "onbekend",
))
CLASSES = frozenset(("none", "nil", ".", "-", "--", "*", "/", "inf", "-inf", "nd"))
"""Signs of missing values that may also be classes."""
# fmt: on

_FEWEST_NUMBERS = 10  # distinct ones, among which a word that is no usual sign of missing is odd
_MANY = 50  # distinct whole numbers, more than there are chromosomes
_LABEL = re.compile(r"[A-Za-z0-9]{1,3}")  # X, MT, 12a: a name among whole numbers, such as these
_FEWEST_COMMAS = 5  # distinct values with a comma
_FEWEST_BESIDE_MISSING = 2  # distinct numbers beside signs of missing values
_MOST = 0.9  # fraction of the rows whose values are numbers
_MOST_STRAY = 0.1  # distinct stray values, as a fraction of all distinct values
_LOOKED_AT = 256  # distinct values that are looked at first
_SHOWN_COLUMNS = 5


class StrayValuesWarning(UserWarning):
    """A column of text is treated as categorical although most of its values are numbers.

    Attributes
    ----------
    columns : tuple of StrayValues
        The columns.

    Examples
    --------
    >>> import warnings
    >>> import duramen as dm
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = dm.encode([["1"], ["2"], ["?"], ["4"]], names=["grade"])
    >>> caught[0].category.__name__, caught[0].message.columns[0].values
    ('StrayValuesWarning', ('?',))
    """

    columns: tuple[StrayValues, ...] = ()


@dataclass(frozen=True)
class StrayValues:
    """Values that prevent the conversion of a column of text to numbers."""

    name: str
    # That are no numbers, the most frequent first; where numbers have commas, these.
    values: tuple[str, ...]
    n_rows: int  # that have such a value
    fraction: float  # of the rows with a value: whose value is a number, with commas or without
    commas: bool = False  # whether numbers have commas: for decimal points, or between thousands

    def describe(self) -> str:
        """Describe the content of the column."""
        shown = ", ".join(map(quoted, self.values[:_SHOWN]))
        more = ", ..." if len(self.values) > _SHOWN else ""
        if self.commas:
            return f"column {quoted(self.name)} has numbers with commas, such as {shown}"
        if not self.values:
            return f"column {quoted(self.name)} has numbers, but as text"
        rows = counted(self.n_rows, "row")
        percent = min(int(100 * self.fraction), 99)
        return (
            f"column {quoted(self.name)} has numbers in {percent} % of its rows, but "
            f"{shown}{more} in {rows}"
        )


def stray_values(name: str, labels: Sequence[Any], counts: IntArray) -> StrayValues | None:
    """Find values that prevent the conversion of a column of text to numbers.

    None where the column looks like categories: where few of its values are numbers, where its
    numbers are codes with leading zeros, and where its stray values are no usual sign of a missing
    value beside numbers that could be names, such as the chromosomes 1, 2, ..., 22, X. Likewise for
    whole numbers as text with nothing else among them, which is how a column of numbers is made
    categorical.
    """
    texts = [str(label) for label in labels]
    if len(texts) > _LOOKED_AT:
        some = texts[:: len(texts) // _LOOKED_AT]
        if sum(bool(_NUMBER.fullmatch(t) or _COMMA.fullmatch(t)) for t in some) < 0.5 * len(some):
            return None
    if any(_PADDED.fullmatch(text) for text in texts):
        return None
    is_number = np.array([_NUMBER.fullmatch(text) is not None for text in texts], dtype=bool)
    has_comma = np.array([_COMMA.fullmatch(text) is not None for text in texts], dtype=bool)
    missing = np.array([is_missing_word(text) for text in texts], dtype=bool)
    readable = is_number | has_comma
    n_present = counts[~missing].sum()
    alone = np.count_nonzero(~readable & ~missing) == 1 and readable.sum() > _MANY // 2
    if not n_present or counts[readable].sum() < (0.5 if alone else _MOST) * n_present:
        return None
    commas = bool(has_comma.sum() >= _FEWEST_COMMAS)
    stray = has_comma if commas else ~is_number
    if not commas:
        numbers = [text for text, ok in zip(texts, is_number, strict=True) if ok]
        others = [t for t, no in zip(texts, ~is_number & ~missing, strict=True) if no]
        fractions = any(_FRACTION.fullmatch(text) for text in numbers)
        enough = len(numbers) >= _FEWEST_NUMBERS
        if others:
            names = any(_LABEL.fullmatch(text.strip()) for text in others)
            odd = enough and (fractions or len(numbers) > _MANY or not names)
            if not odd or len(others) > max(1, _MOST_STRAY * len(texts)):
                return None
        elif not (len(numbers) >= _FEWEST_BESIDE_MISSING if missing.any() else fractions & enough):
            return None
    chosen = sorted(np.flatnonzero(stray).tolist(), key=lambda i: (-counts[i], texts[i]))
    part = float(counts[readable].sum() / counts.sum())
    values = tuple(texts[i] for i in chosen)
    return StrayValues(name, values, int(counts[stray].sum()), part, commas)


def stray_values_of(name: str, column: Any) -> StrayValues | None:
    """Find stray values of an Arrow column; None where it is no plain text."""
    if not is_text(column.type):
        return None
    distinct = pc.value_counts(column.drop_null())
    counts = np.asarray(distinct.field("counts").to_numpy(zero_copy_only=False), dtype=np.int64)
    return stray_values(name, distinct.field("values").to_pylist(), counts)


def warn_of_stray_values(stray: Sequence[StrayValues], function: str) -> None:
    """Warn of columns that are treated as categorical, at the line that called this package."""
    if not stray:
        return
    shown = "; ".join(column.describe() for column in stray[:_SHOWN_COLUMNS])
    more = len(stray) - _SHOWN_COLUMNS
    rest = f"; and {more:,} more columns" if more > 0 else ""
    them = "It is" if len(stray) == 1 else "They are"
    warning = StrayValuesWarning(
        f"{function}: {shown}{rest}. {them} treated as categorical. Hint: convert to numbers with "
        "missing values (pandas.to_numeric with errors='coerce'; na_values= or decimal= where a "
        f"file is read), or give kinds={{{quoted(stray[0].name)}: 'nominal'}}, which silences "
        "this warning."
    )
    warning.columns = tuple(stray)
    warn(warning)


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
    r"\s*(?P<limit>[<>≤≥]=?|)\s*(?P<minus>[+\u2212-]?)(?P<money>[$€£¥₹]?)\s*(?P<sign>[+\u2212-]?)"
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


class _Value(NamedTuple):
    """Text as a number."""

    number: float
    limit: str  # "<" or ">" where the number is a limit
    unit: str
    group: str  # sign between thousands
    code: bool  # whether it begins with a zero before another digit


def numbers_in_text(
    table: pa.Table, *, as_text: Sequence[str] = (), decimal: str = ".", thousands: bool = False
) -> tuple[pa.Table, tuple[Finding, ...]]:
    """Convert columns of text to numbers if all their values have one form.

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
    >>> print(found[0].message[:47])
    column 'bmi' has numbers as text, such as '27.2
    """
    findings = []
    for j, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if not is_text(column.type) or name in as_text:
            continue
        some = column.slice(0, 4 * _SAMPLE).unique().drop_null().to_pylist()[:_SAMPLE]
        if not some or not all(is_missing_word(text) or _value(text, decimal) for text in some):
            continue
        texts = column.unique().drop_null().to_pylist()
        read = {text: _value(text, decimal) for text in texts if not is_missing_word(text)}
        values = {text: value for text, value in read.items() if value is not None}
        if len(values) < len(read) or not values:
            continue
        units = Counter(value.unit for value in values.values())
        if len(units) > 1:
            odd = len(units) > 2 and min(units.values()) == 1
            if len(values) >= _FEWEST and len(units) <= _SHOWN + 1 and not odd:
                listed = ", ".join(quoted(unit) if unit else "none" for unit in units)
                message = (
                    f"column {quoted(name)} has numbers with several units, {listed}; it is "
                    "treated as categorical"
                )
                hint = "convert the numbers to one unit"
                findings.append(Finding("several units", (name,), message, hint))
            continue
        remarks = _remarks(column, texts, values, thousands)
        if not remarks:
            continue
        # Examples of limits and of separators come first.
        order = sorted(values, key=lambda text: not (values[text].limit or values[text].group))
        message = (
            f"column {quoted(name)} has numbers as text, such as "
            f"{', '.join(map(quoted, order[:_SHOWN]))}, and was read as numbers: "
            f"{'; '.join(remarks)}"
        )
        limits = tuple(text for text, value in values.items() if value.limit)
        hint = "keep it as text if it is none"
        findings.append(Finding("numbers in text", (name,), message, hint, values=limits))
        numbers = {text: value.number for text, value in values.items()}
        parsed = pa.array([numbers.get(text) for text in column.to_pylist()], pa.float64())
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


def is_missing_word(text: str) -> bool:
    """Return whether a text is empty or a usual sign of a missing value."""
    return text.strip().casefold() in MISSING


def _value(text: str, decimal: str) -> _Value | None:
    """Return text as a number, or None if it is not a number."""
    match = None if len(text) > 40 else _FORMS[decimal].fullmatch(text)
    if match is None or (match["money"] and match["after"]) or (match["minus"] and match["sign"]):
        return None
    digits = match["number"]
    grouped = _GROUPED.search(digits)
    group = "" if grouped is None or grouped[1] == decimal else grouped[1]
    plain = digits.replace(group, "") if group else digits
    number = float(plain.replace(decimal, "."))
    unit = " ".join((match["money"] or match["after"]).split()).casefold()
    code = re.match(r"0\d", plain) is not None
    limit = {"≤": "<", "≥": ">"}.get(match["limit"][:1], match["limit"][:1])
    negative = (match["minus"] or match["sign"]) in ("-", "\u2212")  # a hyphen, or a minus sign
    return _Value(-number if negative else number, limit, unit, group, code)


def _remarks(
    column: Any, texts: Sequence[str], read: dict[str, _Value], thousands: bool
) -> list[str]:
    """Return remarks on the conversion of values with a unit; none if it is ambiguous."""
    values = list(read.values())
    groups = {value.group for value in values if value.group}
    limits = [text for text, value in read.items() if value.limit]
    unit = values[0].unit
    different = len({value.number for value in values if not value.limit})
    fewest = _FEWEST if unit or groups else _FEWEST_BESIDE_LIMITS
    minus = any("\u2212" in text for text in read)
    if not (unit or groups or limits or minus) or different < fewest or len(groups) > 1:
        return []
    whole = not any(value.number % 1 for value in values)
    usual_unit = unit in _UNITS or re.search(r"[/%‰²³^]", unit)
    names = whole and different == len(column) - column.null_count  # such as 12A, 7 north
    if any(value.code for value in values) or (
        names and not (groups or limits or usual_unit or minus)
    ):
        return []
    remarks = ["a minus sign stands for a hyphen"] if minus else []
    if groups:
        sign = min(groups)
        if not _separates_thousands(sign, read, thousands):
            return []
        signs = {",": "commas", ".": "points", "'": "apostrophes", "’": "apostrophes"}
        remarks.append(f"{signs.get(sign, 'spaces')} separate thousands")
    if unit:
        remarks.append(f"{quoted(unit)} is the unit")
    if limits:
        remarks.append(f"{quoted(limits[0])} becomes its limit, {read[limits[0]].number:g}")
    if gone := [text for text in texts if text not in read]:
        remarks.append(f"{', '.join(map(quoted, gone[:_SHOWN]))} as missing")
    return remarks


def _separates_thousands(sign: str, read: dict[str, _Value], sure: bool) -> bool:
    """Return whether a sign between groups of three digits separates thousands, not decimals."""
    grouped = [text.strip().lstrip("<>≤≥=+-$€£¥₹ ") for text, value in read.items() if value.group]
    if any(text.startswith("0") for text in grouped):  # 0,123
        return False
    fraction = any(value.number % 1 for value in read.values() if value.group)
    if sign not in ",." or fraction or any(len(_GROUPED.findall(text)) > 1 for text in grouped):
        return True
    plain = [abs(value.number) for value in read.values() if not value.group]
    if plain and max(plain) >= 1000:
        return False
    return sure or sign == "." or bool(plain)  # points beside decimal commas


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
