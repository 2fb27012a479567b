"""Columns of text most of whose values are numbers: stray values among them, or decimal commas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrow import is_text, pc
from duramen.support.text import quoted
from duramen.support.warning import warn

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_FRACTION = re.compile(r".*[.eE].*")
_COMMA = re.compile(r"\s*[+-]?(\d*,\d+|\d{1,3}(,\d{3})+(\.\d+)?)\s*")  # decimal, or of thousands
_PADDED = re.compile(r"\s*0\d+\s*")  # 007: a code, which a number would lose the zeros of
# fmt: off
MISSING = frozenset((
    "", "?", "-", "--", ".", "*", "/", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "nd",
    "n.d.", "missing", "unknown", "unk", "undefined", "inf", "-inf", "not available",
    "not determined", "not applicable", "#n/a", "#na", "#value!", "#div/0!", "#null!",
))
# fmt: on

_FEWEST = 10  # distinct numbers, among which a word that is no usual sign of a missing value is odd
_MANY = 50  # distinct whole numbers, more than there are chromosomes
_LABEL = re.compile(r"[A-Za-z0-9]{1,3}")  # X, MT, 12a: a name among whole numbers, such as these
_FEWEST_COMMAS = 5  # distinct values with a comma
_FEWEST_BESIDEMISSING = 2  # distinct numbers beside signs of missing values
_MOST = 0.9  # fraction of the rows whose values are numbers
_MOST_STRAY = 0.1  # distinct stray values, as a fraction of all distinct values
_SAMPLE = 256  # distinct values that are looked at first
_SHOWN = 3
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
    """Values that keep a column of text from being one of numbers."""

    name: str
    # That are no numbers, the most frequent first; where numbers have commas, these.
    values: tuple[str, ...]
    n_rows: int  # that have such a value
    fraction: float  # of the rows with a value: whose value is a number, with commas or without
    commas: bool = False  # whether numbers have commas: for decimal points, or between thousands

    def describe(self) -> str:
        """Say what the column holds."""
        shown = ", ".join(map(quoted, self.values[:_SHOWN]))
        more = ", ..." if len(self.values) > _SHOWN else ""
        if self.commas:
            return f"column {quoted(self.name)} has numbers with commas, such as {shown}"
        if not self.values:
            return f"column {quoted(self.name)} has numbers, but as text"
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows"
        percent = min(int(100 * self.fraction), 99)
        return (
            f"column {quoted(self.name)} has numbers in {percent} % of its rows, but "
            f"{shown}{more} in {rows}"
        )


def stray_values(name: str, labels: Sequence[Any], counts: NDArray[np.int64]) -> StrayValues | None:
    """Find what keeps a column of text, given by distinct values and counts, from being numbers.

    None where the column looks like categories: where few of its values are numbers, where its
    numbers are codes with leading zeros, and where its stray values are no usual sign of a missing
    value beside numbers that could be names, such as the chromosomes 1, 2, ..., 22, X. Likewise for
    whole numbers as text with nothing else among them, which is how a column of numbers is made
    categorical.
    """
    texts = [str(label) for label in labels]
    if len(texts) > _SAMPLE:
        some = texts[:: len(texts) // _SAMPLE]
        numbers = sum(1 for text in some if _NUMBER.fullmatch(text) or _COMMA.fullmatch(text))
        if numbers < 0.5 * len(some):
            return None
    commas = [bool(_COMMA.fullmatch(text)) for text in texts]
    plain = [bool(_NUMBER.fullmatch(text)) for text in texts]
    missing = np.array([text.strip().casefold() in MISSING for text in texts], dtype=bool)
    if any(_PADDED.fullmatch(text) for text in texts):
        return None
    is_number, has_comma = np.array(plain, dtype=bool), np.array(commas, dtype=bool)
    readable = is_number | has_comma
    n_present = counts[~missing].sum()
    if not n_present or counts[readable].sum() < _MOST * n_present:
        return None
    if has_comma.sum() >= _FEWEST_COMMAS:
        return _stray(name, texts, counts, has_comma, readable, commas=True)
    others = ~is_number & ~missing
    n_numbers = int(is_number.sum())
    fractions = any(_FRACTION.fullmatch(t) for t, ok in zip(texts, plain, strict=True) if ok)
    odd = n_numbers >= _FEWEST and (
        fractions
        or n_numbers > _MANY
        or not any(_LABEL.fullmatch(texts[i].strip()) for i in np.flatnonzero(others).tolist())
    )
    if others.any():
        is_stray = odd and others.sum() <= max(1, _MOST_STRAY * len(texts))
    elif missing.any():
        is_stray = n_numbers >= _FEWEST_BESIDEMISSING
    else:
        is_stray = fractions and n_numbers >= _FEWEST
    return _stray(name, texts, counts, ~is_number, readable) if is_stray else None


def stray_values_of(name: str, column: Any) -> StrayValues | None:
    """Return the same of an Arrow column; None where it is no plain text."""
    if not is_text(column.type):
        return None
    counted = pc.value_counts(column.drop_null())
    counts = np.asarray(counted.field("counts").to_numpy(zero_copy_only=False), dtype=np.int64)
    return stray_values(name, counted.field("values").to_pylist(), counts)


def _stray(
    name: str,
    texts: Sequence[str],
    counts: NDArray[np.int64],
    stray: NDArray[np.bool_],
    readable: NDArray[np.bool_],
    commas: bool = False,
) -> StrayValues:
    chosen = np.flatnonzero(stray).tolist()
    return StrayValues(
        name,
        tuple(texts[i] for i in sorted(chosen, key=lambda i: (-counts[i], texts[i]))),
        int(counts[stray].sum()),
        float(counts[readable].sum() / counts.sum()),
        commas,
    )


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
