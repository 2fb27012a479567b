"""Dates of rows that a forest has not seen count from the first date of its table."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import duramen as dm
from duramen.data.dates import Dates, dates_of
from duramen.forests import Forest

N = 160
RNG = np.random.default_rng(7)
DAY = RNG.integers(0, 400, N)
START = pd.Timestamp("2020-01-01")


def visits(path, later, form="%Y-%m-%d"):
    """A file whose first date is some days later; those after day 200 are late."""
    day = DAY + later
    frame = pd.DataFrame({"visit": START + pd.to_timedelta(day, unit="D"), "x": RNG.random(N)})
    frame["y"] = np.where(day > 200, "late", "early")
    frame.assign(visit=frame["visit"].dt.strftime(form)).to_csv(path, index=False)
    return frame


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    path = tmp_path_factory.mktemp("visits") / "a.csv"
    visits(path, 0)
    data = dm.read(path, "y")
    return dm.RandomForestClassifier(10, max_features=2, random_state=0).fit(data)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y"])
def test_a_second_file_counts_from_the_first_date_of_the_fitted_one(fitted, tmp_path, form):
    frame = visits(tmp_path / "b.csv", 100, form)
    new = dm.read(tmp_path / "b.csv", "y")
    assert new.table.dates["visit"].first == str(
        (START + pd.Timedelta(100 + DAY.min(), "D")).date()
    )
    assert np.mean(fitted.predict(new) == frame["y"]) > 0.97
    assert np.mean(fitted.predict(new.table) == frame["y"]) > 0.97
    features = frame[["visit", "x"]]
    as_text = features.assign(visit=features["visit"].dt.strftime("%Y-%m-%d"))
    for rows in (features, as_text, pa.Table.from_pandas(features)):
        assert np.array_equal(fitted.predict_proba(rows), fitted.predict_proba(new))
    numbers = features.assign(visit=DAY)
    with pytest.raises(
        ValueError, match="predict: column 'visit' must hold dates, as in the table"
    ):
        fitted.predict(numbers)


def test_a_saved_forest_keeps_how_dates_were_read(fitted, tmp_path):
    frame = visits(tmp_path / "b.csv", 100)
    fitted.save(tmp_path / "forest.npz")
    loaded = dm.RandomForestClassifier.load(tmp_path / "forest.npz")
    assert loaded.forest_.schema.dates == fitted.forest_.schema.dates
    new = dm.read(tmp_path / "b.csv", "y")
    assert np.array_equal(loaded.predict(new), fitted.predict(new))
    assert np.mean(loaded.predict(new) == frame["y"]) > 0.97
    fitted.forest_.save(tmp_path / "trees.npz")
    assert Forest.load(tmp_path / "trees.npz").schema.dates["visit"].unit == "days"


@pytest.mark.filterwarnings("ignore:pack. column 'visit' has dates")
def test_a_store_counts_from_the_first_date_of_the_fitted_file(fitted, tmp_path):
    frame = visits(tmp_path / "b.csv", 100)
    dm.pack(tmp_path / "b.csv", tmp_path / "store")
    for data in (dm.read(tmp_path / "store", "y"), dm.read(tmp_path / "store", "y", max_rows=90)):
        assert np.mean(fitted.predict(data) == data.y) > 0.97
    assert np.mean(fitted.predict(dm.read(tmp_path / "store", drop=["y"])) == frame["y"]) > 0.97


def test_numbers_of_one_column_are_those_of_another():
    texts = ["2020-01-01 06:00", "2020-01-01 18:30", "2020-01-02 00:00"]
    moments, days = np.array(texts, dtype="M8[us]"), Dates("dates", "days", "2019-12-31")
    read, _ = dates_of({"at": pa.array(moments)})
    how, numbers = read["at"]
    assert how.unit == "seconds"
    assert days.numbers_from(numbers, how, "at").tolist() == days.numbers(moments).tolist()
    assert how.numbers_from(days.numbers(moments), days, "at") == pytest.approx(numbers, abs=1e-6)
    assert np.array_equal(how.times(numbers), moments)
    with pytest.raises(ValueError, match="'at' must hold dates, as in the table, got times of day"):
        days.numbers_from(numbers, Dates("times of day", "seconds", ""), "at")
    for wrong in ({"kind": "day"}, {"unit": "weeks"}, {"first": "yesterday"}, {"form": "%Y"}):
        with pytest.raises(ValueError, match=r"unit|datetime"):
            Dates(**{"kind": "dates", "unit": "days", "first": "2020-01-01", **wrong})


def test_ticks_of_times():
    at = Dates("times of day", "seconds", "")
    assert at.ticks(8 * 3600.0, 20 * 3600.0)[1] == ["9:00:00", "12:00:00", "15:00:00", "18:00:00"]
    assert Dates("durations", "days", "").ticks(3, 17) == (
        [5, 10, 15],
        ["5 days", "10 days", "15 days"],
    )
    since = Dates("dates", "seconds", "2020-01-01T06:00:00")
    assert since.ticks(0.0, 30.0)[1][:2] == ["2020-01-01 06:00:00", "2020-01-01 06:00:15"]
    assert at.ticks(60.0, 60.0) == ([60.0], ["0:01:00"])
    assert Dates("dates", "days", "2020-01-05").ticks(3.0, 3.0) == ([3.0], ["2020-01-08"])


def test_a_weekday_before_a_time_is_no_part_of_it():
    read, _ = dates_of({"at": pa.array(["Mon 14:05", "Tue 09:30", "Wed 10:00"] * 3)})
    assert read == {}


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 4, ["2020-02-27", "2020-02-28", "2020-02-29", "2020-03-01", "2020-03-02"]),
        (3, 120, ["2020-03", "2020-04", "2020-05", "2020-06"]),
        (0, 800, ["2020-07", "2021-01", "2021-07", "2022-01"]),
        (0, 7000, ["2025", "2030", "2035"]),
    ],
)
def test_ticks_are_round_dates(low, high, labels):
    how = Dates("dates", "days", "2020-02-27")
    places, texts = how.ticks(low, high)
    assert texts == labels[-len(texts) :]
    assert 2 <= len(texts) <= 6
    for place, text in zip(places, texts, strict=True):
        assert low <= place <= high
        assert how.label(place) == (text + "-01-01")[:10]


def test_the_axes_of_effects_have_dates(fitted, tmp_path):
    visits(tmp_path / "a.csv", 0)
    data = dm.read(tmp_path / "a.csv", "y")
    effect = dm.effects.accumulated_local_effects(fitted, data, "visit")
    texts = [tick.get_text() for tick in dm.plots.effect(effect).get_xticklabels()]
    assert {"2020-07", "2021-01"} <= {*texts}
    assert effect.to_frame()["visit"].tolist() == effect.points.tolist()
    effect.save(tmp_path / "effect.npz")
    assert effect.load(tmp_path / "effect.npz").dates == effect.dates == data.table.dates["visit"]
    ax = dm.plots.against_target(data.column("visit"), data.y, dates=data.table.dates["visit"])
    assert "2020-07" in [tick.get_text() for tick in ax.get_xticklabels()]
    report = dm.rank(data, test="none", n_estimators=10)
    report.save(tmp_path / "out")
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert ">2020-07<" in page
    assert "in days since the first" not in page
