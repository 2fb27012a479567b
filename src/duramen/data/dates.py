"""Dates and times as numbers: days since the first one, or seconds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.data.provenance import Finding, columns, dropping
from duramen.data.text_numbers import is_missing_word
from duramen.results.archive import Savable
from duramen.results.summary import counted
from duramen.support.arrays import FloatArray
from duramen.support.arrow import is_text, nw, pa, pc
from duramen.support.text import quoted

DateOrder: TypeAlias = Literal["auto", "day-first", "month-first"]

_SAMPLE = 64  # distinct values that are looked at first
_FEWEST = 3  # distinct values like 2020-01, which may also be codes
_MOST_STRAY = 0.1  # fraction of the distinct values that are no dates beside dates
_SHOWN = 3
_MONTHS = (  # in English, German, French, Spanish, Italian and Dutch
    "january jan januar j\u00e4nner janvier janv enero ene gennaio gen januari",
    "february feb februar f\u00e9vrier f\u00e9vr f\u00e9v fevrier febrero febbraio februari",
    "march mar m\u00e4rz maerz mrz mars marzo maart mrt",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag mei",
    "june jun juni juin junio giugno giu",
    "july jul juli juillet juil julio luglio lug",
    "august aug ao\u00fbt aout agosto ago augustus",
    "september sept sep septembre septiembre settembre set",
    "october oct oktober okt octobre octubre ottobre ott",
    "november nov novembre noviembre",
    "december dec dezember dez d\u00e9cembre d\u00e9c decembre diciembre dic dicembre",
)
_MONTH_OF = {word: 1 + i for i, words in enumerate(_MONTHS) for word in words.split()}
_NAME = rf"(?P<name>{'|'.join(sorted(_MONTH_OF, key=len, reverse=True))})\.?"
_WEEKDAY = (
    r"(?:(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|(?:mon|diens|donners|"
    r"frei|sams|sonn)tag|mittwoch|mo|di|mi|do|fr|sa|so)[.,]*\s+)?"
)
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\.?)?"
)
_AFTER = rf"(?:(?:t|,?\s+){_CLOCK}\s*(?P<zone>z|utc|gmt|[+-]\d\d:?\d\d)?)?"
_YEAR, _MONTH, _DAY = r"(?P<year>\d{4})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_ANY_YEAR = r"(?P<year>\d{4}|\d\d)"
_MOST_TICKS = 6
_SECONDS = (1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 6 * 3600, 24 * 3600)  # between two ticks
_YEARS = [(step * power, "Y") for power in (1, 10, 100, 1000) for step in (1, 2, 5)]
_CALENDAR = ((1, "D"), (2, "D"), (7, "D"), (14, "D"), (1, "M"), (3, "M"), (6, "M"), *_YEARS)
_UNITS = {"days": np.timedelta64(1, "D"), "seconds": np.timedelta64(1, "s")}
_ISO, _NUMBERS, _TIME, _MONTHLY = "year, month, day", "numbers", "time", "year and month"
_FORMS = {
    form: re.compile(rf"\s*{pattern}\s*", re.IGNORECASE | re.ASCII)
    for form, pattern in {
        _ISO: rf"{_WEEKDAY}{_YEAR}(?P<sign>[-/.]){_MONTH}(?P=sign){_DAY}{_AFTER}",
        _NUMBERS: rf"{_WEEKDAY}{_DAY}(?P<sign>[-/.]){_MONTH}(?P=sign){_ANY_YEAR}{_AFTER}",
        "day, month, year": rf"{_WEEKDAY}{_DAY}[-/. ]*{_NAME}[-/, ]*{_ANY_YEAR}{_AFTER}",
        "month, day, year": rf"{_WEEKDAY}{_NAME}[-/ ]*{_DAY}(?:st|nd|rd|th)?[-/, ]+{_YEAR}{_AFTER}",
        _MONTHLY: rf"{_YEAR}-(?P<month>\d\d)",
        "month and year": rf"{_NAME}[-/, ]+{_YEAR}",
        _TIME: _CLOCK,
    }.items()
}
"""Forms of dates in text; of `_NUMBERS` the month may also stand before the day."""


@dataclass(frozen=True)
class Dates(Savable):
    """Conversion of a column of dates or times to numbers.

    Attributes
    ----------
    kind : {"dates", "times of day", "durations"}
        Content of the column.
    unit : {"days", "seconds"}
        Unit of the numbers.
    first : str
        Date whose number is 0, in the form of ISO 8601; empty for times of day and durations.
    form : str
        Form of dates in text; empty for a column with a type of dates.
    day_first : bool
        Whether the day stands before the month in text where both are numbers.
    """

    kind: Literal["dates", "times of day", "durations"]
    unit: Literal["days", "seconds"]
    first: str
    form: str = ""
    day_first: bool = True

    def __post_init__(self) -> None:
        kinds, forms = ("dates", "times of day", "durations"), ("", *_FORMS)
        if self.kind not in kinds or self.unit not in _UNITS or self.form not in forms:
            raise ValueError(f"Dates: kind, unit and form must be of a table, got {self}")
        np.datetime64(self.first or 0, "us")  # or ValueError

    @property
    def scale(self) -> str:
        """Return unit and origin of the numbers."""
        if not self.first:
            return f"{self.unit}{' since midnight' if self.kind == 'times of day' else ''}"
        return f"{self.unit} since the first, {self.label(0.0)}"

    def numbers(self, times: NDArray[Any]) -> FloatArray:
        """Return dates, or durations, in the unit; NaN where missing."""
        since = times - np.datetime64(self.first, "us") if self.first else times
        return np.asarray(since / _UNITS[self.unit], dtype=np.float64)

    def times(self, numbers: FloatArray) -> NDArray[Any]:
        """Return the dates, or durations, for which numbers stand; NaT where missing."""
        micros = np.round(numbers * float(_UNITS[self.unit] / np.timedelta64(1, "us")))
        since = micros.astype("m8[us]")  # NaN becomes NaT
        return np.datetime64(self.first, "us") + since if self.first else since

    def numbers_from(self, numbers: FloatArray, other: Dates, name: str) -> FloatArray:
        """Return numbers of a column that is read in another way, such as from another first date.

        Raises
        ------
        ValueError
            If one column holds dates and the other one times of day, or durations.
        """
        if (other.kind, other.unit, other.first) == (self.kind, self.unit, self.first):
            return numbers
        if other.kind != self.kind:
            raise ValueError(
                f"column {quoted(name)} must hold {self.kind}, as in the table, got {other.kind}"
            )
        scaled = numbers * float(_UNITS[other.unit] / _UNITS[self.unit])
        if not self.first:
            return scaled
        later = self.numbers(np.array([other.first], dtype="M8[us]"))
        return np.asarray(scaled + later)

    def numbers_of(self, column: Any, name: str) -> FloatArray:
        """Return further values of the column as numbers; NaN where missing.

        Raises
        ------
        ValueError
            If a value is no date, or one of another form.
        """
        if column is None:
            raise ValueError(f"column {quoted(name)} must hold {self.kind}, as in the table")
        form = self.form or {"dates": _ISO, "times of day": _TIME}.get(self.kind, "")
        if form and is_text(column.type):
            read = _read(_words(column), form, self.day_first)
            if stray := [word for word, time in read.items() if time is None]:
                raise ValueError(
                    f"column {quoted(name)} must hold {self.kind} in the form of the table "
                    f"({form}), got {quoted(stray[0])}"
                )
            return self.numbers(_times_of_text(column, read))
        if pa.types.is_null(column.type):
            return np.full(len(column), np.nan)
        kind, times = _times(column) if is_date(column.type) else ("", np.zeros(0))
        if kind != self.kind:
            raise ValueError(
                f"column {quoted(name)} must hold {self.kind}, as in the table, got {column.type}"
            )
        return self.numbers(times)

    def label(self, number: float) -> str:
        """Return the date or time of a number as text."""
        since = timedelta(**{self.unit: number})
        if not self.first:
            return str(timedelta(seconds=round(since.total_seconds())))
        moment = np.datetime64(self.first, "us") + np.timedelta64(since)
        day = moment.astype("M8[D]")
        return str(day if moment == day else moment.astype("M8[s]")).replace("T", " ")

    def ticks(self, low: float, high: float) -> tuple[list[float], list[str]]:
        """Return at most six round dates, or times, between two numbers, and their texts."""
        if self.unit == "seconds" or not self.first:
            steps = _SECONDS if self.unit == "seconds" else [step for step, _ in _YEARS]
            step = next((step for step in steps if high - low <= 5 * step), (high - low) / 5)
            places = np.arange(np.ceil(low / step) * step, high + 1e-9, step).tolist()
            text = self.label if self.unit == "seconds" else "{:g} days".format
            return places, [*map(text, places)]
        ends = np.array([self.label(low)[:10], self.label(high)[:10]], dtype="M8[D]")
        for step, unit in _CALENDAR:
            first, last = ends.astype(f"M8[{unit}]").astype(np.int64).tolist()
            numbers = np.arange(first // step * step, last + 1, step)
            dates = numbers.astype(f"M8[{unit}]")
            places = self.numbers(dates.astype("M8[us]"))
            inside = (places >= low) & (places <= high)
            if np.count_nonzero(inside) <= _MOST_TICKS:
                break
        return places[inside].tolist(), dates[inside].astype(str).tolist()


def is_date(kind: Any) -> bool:
    """Return whether an Arrow type holds dates, times of day or durations."""
    return bool(pa.types.is_temporal(kind) and not pa.types.is_interval(kind))


def dates_of(
    table: Mapping[str, Any], order: DateOrder = "auto", jointly: bool = True
) -> tuple[dict[str, tuple[Dates, FloatArray]], list[Finding]]:
    """Read the columns of dates and times of a table as numbers.

    A column of text is read where all of its values, usual words for missing values aside, are
    dates of one form. Where day and month are both numbers, the order follows from a number above
    12, else from points between them, from a day that is the same in all rows, from rows in the
    order of time, or from other columns of the table; at last, the month comes first.

    Parameters
    ----------
    table : mapping
        Arrow arrays of any type by name.
    order : {"auto", "day-first", "month-first"}
        Order of day and month where both are numbers.
    jointly : bool
        Whether columns decide about the order in others.

    Returns
    -------
    read : dict
        How each column of dates is read, and its numbers, by name.
    findings : list of Finding
        Columns that are read, and columns of text that hold other words beside dates.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from duramen.data.dates import dates_of
    >>> read, findings = dates_of({"visit": pa.array(["03.02.2024", "13.02.2024", "?"])})
    >>> read["visit"][1].tolist()
    [0.0, 10.0, nan]
    >>> findings[0].message[:75]
    "column 'visit' has dates as text, such as '03.02.2024' (day before month), "
    """
    read: dict[str, tuple[Dates, FloatArray]] = {}
    findings = list[Finding]()
    alike: dict[tuple[Dates, str], list[str]] = defaultdict(list)  # columns with one remark
    texts: dict[str, tuple[str, list[str]]] = {}
    for name, column in table.items():
        if is_date(column.type):
            read[name] = _numbered(*_times(column))
            alike[replace(read[name][0], first=""), ""].append(name)
        elif is_text(column.type) and (form := _form_of(column)):
            texts[name] = form, _words(column)
    day_first = {
        name: _day_first(words) if order == "auto" else order == "day-first"
        for name, (form, words) in texts.items()
        if form == _NUMBERS
    }
    settled = {first for first in day_first.values() if jointly and first is not None}
    for name, (form, words) in texts.items():
        first, remark = day_first.get(name, True), ""
        if form == _NUMBERS:
            if first is None and len(settled) == 1:
                first = next(iter(settled))
            remark = f" ({'day before month' if first else 'month before day'})"
            remark += ", where nothing tells the day from the month" if first is None else ""
        if any(_has_short_year(word, form) for word in words):
            remark += ", with years of two digits from 1969 to 2068"
        moments = _read(words, form, bool(first))
        stray = [word for word, moment in moments.items() if moment is None]
        if len(stray) == len(words) or len(stray) > max(1, _MOST_STRAY * len(words)):
            continue
        if stray:
            findings.append(_of_stray(name, table[name], stray))
            continue
        kind: Any = "times of day" if form == _TIME else "dates"
        times = _times_of_text(table[name], moments)
        read[name] = _numbered(kind, times, form, bool(first))
        alike[replace(read[name][0], first=""), remark].append(name)
    for (_, remark), names in alike.items():
        example = texts[names[0]][1][0] if names[0] in texts else ""
        findings.append(finding_of_dates(names, read[names[0]][0], remark, example))
    return read, findings


def settled_order(columns: Iterable[Any]) -> DateOrder:
    """Return the order of day and month on which the dates of Arrow arrays agree, or auto."""
    orders = {
        _day_first(_words(column))
        for column in columns
        if is_text(column.type) and _form_of(column) == _NUMBERS
    } - {None}
    return "auto" if len(orders) != 1 else "day-first" if True in orders else "month-first"


def arrow_of(frame: nw.DataFrame[Any], name: str) -> Any:
    """Return a column of a data frame as an Arrow array; None where Arrow has no type for it."""
    series = frame[name]
    native = series.to_native()
    if series.implementation.is_pandas() and type(native.dtype).__name__ == "PeriodDtype":
        native = native.dt.to_timestamp()
    try:
        pandas = series.implementation.is_pandas()
        return pa.array(native, from_pandas=True) if pandas else series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError):
        return None


def with_numbers_of_dates(X: Any, dates: Mapping[str, Dates], function: str) -> Any:
    """Return a data frame with numbers in place of dates, as in the table of `dates`.

    Anything but a data frame is returned as it is.

    Raises
    ------
    ValueError
        If a column does not hold dates as the table does.
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return X
    try:
        numbers = {
            name: how.numbers_of(arrow_of(frame, name), name)
            for name, how in dates.items()
            if name in frame.columns
        }
    except ValueError as error:
        raise ValueError(f"{function}: {error}") from None
    return with_numbers(frame, numbers).to_native()


def with_numbers(frame: nw.DataFrame[Any], numbers: Mapping[str, FloatArray]) -> nw.DataFrame[Any]:
    """Return a data frame with numbers in place of some of its columns."""
    backend: Any = frame.implementation
    if not numbers:
        return frame
    return frame.with_columns(
        *(nw.new_series(name, values, backend=backend) for name, values in numbers.items())
    )


def frame_with_dates(
    frame: nw.DataFrame[Any], left: Collection[str], order: DateOrder, jointly: bool = True
) -> tuple[nw.DataFrame[Any], dict[str, tuple[Dates, FloatArray]], list[Finding]]:
    """Return a data frame with numbers in place of dates, how each is read, and findings.

    Columns of `left` are not read: those with a type of dates become text.
    """
    columns = {
        name: column
        for name, kind in frame.schema.items()
        if not (kind.is_numeric() or kind == nw.Boolean)
        and (column := arrow_of(frame, name)) is not None
    }
    texts = {
        name: np.array(column.cast(pa.string()).to_pylist(), dtype=object)
        for name, column in columns.items()
        if name in left and is_date(column.type)
    }
    to_read = {name: column for name, column in columns.items() if name not in left}
    read, findings = dates_of(to_read, order, jointly)
    numbers = {name: values for name, (_, values) in read.items()}
    return with_numbers(frame, numbers | texts), read, findings


def finding_of_dates(
    names: Sequence[str], how: Dates, remark: str = "", example: str = ""
) -> Finding:
    """Return the finding about columns of dates that are read in one way, from text or not."""
    have = "has" if len(names) == 1 else "have"
    scale = how.scale
    if len(names) > 1 and how.first:
        scale = f"{how.unit} since the first of each column"
    hint, text = dropping(names), ""
    if example:
        text = f" as text, such as {quoted(example)}{remark}"
        hint = f"as_text={[*names]!r} keeps the text"
        if "nothing tells" in remark:
            hint = f"date_order='day-first' puts the day first; {hint}"
    message = f"{columns(names)} {have} {how.kind}{text}, read as {scale}"
    return Finding("date", tuple(names), message, hint)


def _of_stray(name: str, column: Any, stray: Sequence[str]) -> Finding:
    """Return the finding about a column of dates among which some text is no date."""
    rows = int(pc.sum(pc.is_in(column, pa.array(stray, column.type))).as_py())
    words = f"{', '.join(map(quoted, stray[:_SHOWN]))}{', ...' if len(stray) > _SHOWN else ''}"
    message = (
        f"column {quoted(name)} has dates as text, but {words} in {counted(rows, 'row')}, so that "
        "each date is treated as a category"
    )
    return Finding("date", (name,), message, "write dates of one form there", values=tuple(stray))


def _words(column: Any) -> list[str]:
    """Return the distinct texts of a column but words for missing values, in their order."""
    words = column.unique().drop_null().to_pylist()
    return [w for w in words if not (is_missing_word(w) or w.startswith("0000-00-00"))]


def _form_of(column: Any) -> str:
    """Return the form of most of the first texts of a column; "" where they are no dates."""
    words = _words(column.slice(0, 4 * _SAMPLE))[:_SAMPLE]
    for form, pattern in _FORMS.items():
        matching = sum(pattern.fullmatch(word) is not None for word in words)
        if (
            matching
            and matching >= (1 - _MOST_STRAY) * len(words) - 1
            and 2 * matching > len(words)
        ):
            return form if form != _MONTHLY or matching >= _FEWEST else ""
    return ""


def _has_short_year(word: str, form: str) -> bool:
    match = _FORMS[form].fullmatch(word)
    return match is not None and len(match.groupdict().get("year") or "") == 2


def _day_first(words: Iterable[str]) -> bool | None:
    """Tell whether the day stands before the month; None if the dates are ambiguous."""
    matches = [match for word in words if (match := _FORMS[_NUMBERS].fullmatch(word))]
    before, after = ({int(match[part]) for match in matches} for part in ("day", "month"))
    if max(before) > 12 or max(after) > 12:
        return max(before) > 12
    if all(match["sign"] == "." for match in matches):
        return True
    if (len(before) == 1) != (len(after) == 1) and len(matches) >= _FEWEST:
        return len(before) == 1  # the same day of all months
    ordered = set()
    for day_first in (True, False):
        moments = [_moment(match, day_first) for match in matches]
        if None not in moments and sorted(moments) in (moments, moments[::-1]):
            ordered.add(day_first)
    return ordered.pop() if len(ordered) == 1 else None


def _read(words: Iterable[str], form: str, day_first: bool) -> dict[str, Any]:
    """Return the moment or time of day of each text; None for other text."""
    pattern = _FORMS[form]
    return {
        word: None if (match := pattern.fullmatch(word)) is None else _moment(match, day_first)
        for word in words
    }


def _moment(match: re.Match[str], day_first: bool) -> Any:
    """Return the moment of a match, in UTC where it has a zone, or the time of day."""
    parts: dict[str, str | None] = match.groupdict()
    hour = int(parts.get("hour") or 0)
    if half := parts.get("half"):
        hour = hour % 12 + 12 * (half.lower() == "p")
    minute, second = int(parts.get("minute") or 0), int(parts.get("second") or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    micros = int((parts.get("fraction") or "0")[:6].ljust(6, "0"))
    time = timedelta(hours=hour, minutes=minute, seconds=second, microseconds=micros)
    if match.re is _FORMS[_TIME]:
        return time
    year, name = parts["year"] or "", parts.get("name")
    month = _MONTH_OF[name.lower()] if name else int(parts["month"] or 1)
    day = int(parts.get("day") or 1)
    if match.re is _FORMS[_NUMBERS] and not day_first:
        day, month = month, day
    if len(year) == 2:
        year = f"{20 if int(year) < 69 else 19}{year}"
    zone, shift = parts.get("zone") or "", timedelta()
    if zone[:1] in ("+", "-"):
        shift = timedelta(hours=int(zone[:3]), minutes=int(f"{zone[0]}{zone[-2:]}"))
    try:
        return datetime(int(year), month, day) + time - shift
    except (ValueError, OverflowError):
        return None


def _times_of_text(column: Any, moments: Mapping[str, Any]) -> NDArray[Any]:
    """Return the moments, or times of day, of a column of text."""
    kind = "m8[us]" if any(isinstance(m, timedelta) for m in moments.values()) else "M8[us]"
    return np.array([moments.get(word) for word in column.to_pylist()], dtype=kind)


def _times(column: Any) -> tuple[Any, NDArray[Any]]:
    """Return the content of a column of dates, and its moments or durations.

    Dates with a zone are those of the clock there; other moments are in UTC.
    """
    kind = column.type
    if pa.types.is_time(kind):
        micros = column.cast(pa.time64("us"), safe=False).cast(pa.int64())
        return "times of day", np.asarray(micros.cast(pa.duration("us")))
    if pa.types.is_duration(kind):
        return "durations", np.asarray(column.cast(pa.duration("us"), safe=False))
    if getattr(kind, "tz", None) is not None:
        local = np.asarray(pc.local_timestamp(column).cast(pa.timestamp("us"), safe=False))
        if (local.astype("M8[D]") == local)[~np.isnat(local)].all():
            return "dates", local
    return "dates", np.asarray(column.cast(pa.timestamp("us"), safe=False), dtype="M8[us]")


def _numbered(
    kind: Any, times: NDArray[Any], form: str = "", day_first: bool = True
) -> tuple[Dates, FloatArray]:
    """Return moments, or durations, as numbers: in days, or in seconds within two days."""
    present, first = times[~np.isnat(times)], ""
    day = np.timedelta64(1, "D")
    if kind == "dates":
        least = present.min() if len(present) else np.datetime64(0, "us")
        in_days = (present == present.astype("M8[D]")).all() or np.ptp(present) >= 2 * day
        first = str(least.astype("M8[D]") if in_days else least)
    else:
        in_days = kind == "durations" and (present % day == np.timedelta64(0)).all()
    how = Dates(kind, "days" if in_days else "seconds", first, form, day_first)
    return how, how.numbers(times)
