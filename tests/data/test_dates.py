"""Columns of dates and times as numbers."""

import datetime

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import duramen as dm
from duramen.data.dates import arrow_of, dates_of

N = 48
RNG = np.random.default_rng(4)
DAYS = pd.Timestamp("1999-12-20") + pd.to_timedelta(RNG.permutation(400)[:N], unit="D")
MOMENTS = DAYS + pd.to_timedelta(RNG.integers(0, 86400, N), unit="s")
Y = np.where(DAYS.month > 6, "summer", "winter")
SINCE = (DAYS - DAYS.min()) / pd.Timedelta(days=1)
EXACT = (MOMENTS - MOMENTS.min().normalize()) / pd.Timedelta(days=1)


def read(values, **options):
    """The numbers of a column of dates or text, how it is read, and what is said of it."""
    column = values if isinstance(values, pa.Array) else pa.array(list(values))
    found, findings = dates_of({"day": column}, **options)
    how, numbers = found.get("day", (None, None))
    return numbers, how, " ".join(f"{one.message}. {one.hint}" for one in findings)


FORMATS = [
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%y",
    "%d.%m.%y", "%b %d %Y", "%B %d, %Y", "%d%b%Y", "%d-%b-%y", "%d %B %Y", " %Y-%m-%d ",
]  # fmt: skip
CLOCKS = [
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.000+00:00", "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p", "%b %d, %Y %H:%M:%S", "%d.%m.%Y, %H:%M:%S",
]  # fmt: skip


@pytest.mark.parametrize("form", [*FORMATS, *CLOCKS])
def test_text_of_one_form_is_days_since_the_first(form):
    times, expected = (MOMENTS, EXACT) if form in CLOCKS else (DAYS, SINCE)
    numbers, how, said = read(times.strftime(form))
    np.testing.assert_allclose(numbers, expected, rtol=0, atol=1e-9)
    assert how.unit == "days"
    assert "days since the first, 19" in said
    assert "as_text=['day'] keeps the text" in said
    assert "nothing tells" not in said
    assert ("years of two digits" in said) == form.endswith("y")


def columns_of_types():
    dates = [day.date() for day in DAYS]
    zoned = DAYS.tz_localize("America/New_York")  # over a change of the clock
    yield "pandas", pd.DataFrame({"day": DAYS})
    yield "pandas, objects", pd.DataFrame({"day": dates})
    yield "pandas, a zone", pd.DataFrame({"day": zoned})
    yield "pandas, periods", pd.DataFrame({"day": pd.PeriodIndex(DAYS, freq="D")})
    yield "pandas, text", pd.DataFrame({"day": DAYS.strftime("%d.%m.%Y")})
    yield "pandas, index", pd.DataFrame({"day": DAYS}, index=range(N, 0, -1))
    yield "pandas of Arrow", pd.DataFrame({"day": pd.array(dates, "date32[pyarrow]")})
    yield "polars", pl.DataFrame({"day": dates})
    yield "polars, moments", pl.DataFrame({"day": [*DAYS.to_pydatetime()]})
    yield "Arrow", pa.table({"day": dates})
    yield "Arrow, a zone", pa.table({"day": pa.array(zoned)})


@pytest.mark.parametrize(("name", "frame"), [*columns_of_types()])
def test_types_of_dates_are_days_since_the_first(name, frame):
    data = dm.read(frame, Y)
    assert data.table.column_values(0).tolist() == SINCE.tolist()
    assert "read as days since the first, 19" in data.provenance.findings[0].message
    assert data.table.dates["day"].label(SINCE[5]) == str(DAYS[5].date())


def test_missing_dates_stay_missing():
    for days in (
        pa.array([*DAYS.to_pydatetime(), None]),
        pa.array([*DAYS.strftime("%d.%m.%Y"), "n/a"]),
        pa.array([*DAYS.strftime("%Y-%m-%d"), "0000-00-00"]),
    ):
        numbers, _, _ = read(days)
        assert np.isnan(numbers[-1])
        assert numbers[:-1].tolist() == SINCE.tolist()


@pytest.mark.parametrize(
    ("values", "numbers", "scale"),
    [
        (pa.array([datetime.time(0, 1), datetime.time(12)]), [60, 43200], "seconds since midnight"),
        (["0:01", "12:00", "11:59 pm"], [60, 43200, 86340], "seconds since midnight"),
        (pa.array([90, None, 60], pa.duration("s")), [90, np.nan, 60], "seconds"),
        (pa.array([172800, 86400], pa.duration("s")), [2, 1], "days"),
        (["2024-01-01 10:00", "2024-01-01 10:00:30"], [0, 30], "seconds since the first, 2024"),
        (["2024-01-01T01:00+01:00", "2024-01-01T03:00Z"], [0, 10800], "seconds since the first"),
        (["2024-03", "2024-01", "2024-02"], [60, 0, 31], "days since the first, 2024-01-01"),
        (["Jan 2024", "March 2024"], [0, 60], "days since the first, 2024-01-01"),
    ],
)
def test_times_are_seconds(values, numbers, scale):
    got, how, said = read(values)
    np.testing.assert_array_equal(got, numbers)
    assert how.scale.startswith(scale)
    assert f"read as {scale}" in said


@pytest.mark.parametrize(
    ("texts", "order", "first"),
    [
        (["03/04/2024", "13/04/2024"], "auto", True),
        (["03/04/2024", "04/13/2024"], "auto", False),
        (["03.04.2024", "04.03.2024"], "auto", True),
        (["1/1/2024", "2/1/2024", "3/1/2024", "1/1/2025"], "auto", False),  # firsts of months
        (["1/1/2024", "1/2/2024", "1/3/2024", "1/1/2025"], "auto", True),
        (["01/02/2024", "07/02/2024", "03/03/2024"], "auto", True),  # rows in order
        (["01/05/2024", "02/03/2024", "02/11/2024"], "auto", False),
        (["03/04/2024", "04/03/2024", "05/07/2024", "01/02/2024"], "auto", None),
        (["03/04/2024", "04/03/2024", "05/07/2024", "01/02/2024"], "day-first", True),
        (["03/04/2024", "04/03/2024", "05/07/2024", "01/02/2024"], "month-first", False),
    ],
)
def test_day_and_month_are_told_apart(texts, order, first):
    numbers, how, said = read(texts, order=order)
    assert how.day_first == bool(first)
    moments = pd.to_datetime(texts, dayfirst=bool(first), format="mixed")
    assert numbers.tolist() == ((moments - moments.min()) / pd.Timedelta(days=1)).tolist()
    assert ("day before month" if first else "month before day") in said
    assert ("date_order='day-first'" in said) == (first is None)


def test_one_column_tells_the_order_for_others():
    texts = ["03/04/2024", "04/03/2024", "05/07/2024", "01/02/2024"]
    found, _ = dates_of({"a": pa.array(texts), "b": pa.array([*texts[:3], "30/01/2024"])})
    assert found["a"][0].day_first
    assert found["a"][1].tolist() == [62.0, 32.0, 155.0, 0.0]


@pytest.mark.parametrize(
    "texts",
    [
        ["1.2.3", "1.2.4"],
        ["10.0.0.1", "10.0.0.2"],
        ["2024-13-01", "2024-14-02"],
        ["1:10", "1:20", "1:80", "1:160"],
        ["2024-01", "2024-02"],  # two codes
        ["03/13/2024", "13/03/2024"] * 4,
        ["a", "b", "2024-01-01"],
        ["May", "June"],
        ["?", ""],
    ],
)
def test_other_text_stays_text(texts):
    assert read(texts)[0] is None


def test_a_word_beside_dates_is_named():
    column = pa.array([*DAYS.strftime("%Y-%m-%d"), "in spring", "in spring"])
    numbers, _, said = read(column)
    assert numbers is None
    assert "'day' has dates as text, but 'in spring' in 2 rows" in said


def test_text_and_categories_stay_as_they_are():
    frame = pa.table({"day": pa.array([day.date() for day in DAYS]), "dose": RNG.normal(size=N)})
    for options in ({"categorical": ["day"]}, {"kinds": {"day": "nominal"}}):
        data = dm.read(frame, Y, **options)
        assert data.table.kinds == ("nominal", "numeric")
        assert sorted(data.table.values(0)) == sorted(map(str, DAYS.date))
    data = dm.read(pd.DataFrame({"day": DAYS.strftime("%Y-%m-%d")}), Y, as_text=["day"])
    assert data.table.kinds == ("nominal",)


def test_dates_settle_other_parameters():
    frame = pd.DataFrame({"day": DAYS, "x": RNG.normal(size=N), "month": DAYS.to_period("M")})
    data = dm.read(frame, "day", task="regression")
    assert data.target.values.tolist() == SINCE.tolist()
    leak, *others = [finding.message for finding in data.provenance.findings]
    assert leak.startswith("column 'month' orders the rows as day does")
    assert "target 'day' has dates, read as days since" in others[0]
    strata = dm.read(frame.assign(y=Y, month=DAYS.month.astype(str)), "y", covariates=["day"])
    assert strata.provenance.covariates["day"].to_pylist() == SINCE.tolist()
    with pytest.raises(ValueError, match="task='regression' explains the days since the first"):
        dm.read(frame, "day")


def test_new_rows_are_read_as_the_table_was():
    frame = pd.DataFrame({"day": DAYS.strftime("%d/%m/%Y"), "x": RNG.normal(size=N)})
    report = dm.rank(frame, Y, n_estimators=20, test="none", explain_rows=frame[30:34], n_jobs=1)
    columns = report.rows[0].columns()
    values = zip(columns["feature"], columns["value"], strict=True)
    shown = [value for name, value in values if name == "day"]
    assert shown == [str(day.date()) for day in DAYS[30:34]]
    how = dm.read(frame, Y).table.dates["day"]
    column = arrow_of(nw.from_native(frame[30:34]), "day")
    assert how.numbers_of(column, "day").tolist() == SINCE[30:34].tolist()
    new = frame[:2].assign(day="2000-01-01")
    with pytest.raises(ValueError, match="explain_rows: column 'day' must hold dates in the form"):
        dm.rank(frame, Y, n_estimators=20, test="none", explain_rows=new, n_jobs=1)
