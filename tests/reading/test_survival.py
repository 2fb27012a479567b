"""Survival as files have it: words for events, competing events, entries, several rows a person."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.commands import done, duramen
from tests.grid import one_test

import duramen as dm
from duramen.data.survival import event_indicators, risk_intervals

N = 60
RANDOM = np.random.default_rng(0)
MONTHS, DIED = RANDOM.integers(5, 60, N).astype(float), RANDOM.random(N) < 0.6
FRAME = pd.DataFrame(RANDOM.normal(size=(N, 3)).round(3), columns=["a", "b", "c"])
FRAME = FRAME.assign(months=MONTHS)
FRAME["age"] = np.floor(RANDOM.random(N) * (MONTHS - 1))


def notes(data):
    return "; ".join([*data.provenance.notes, *map(str, data.provenance.findings)])


@pytest.mark.parametrize(
    ("occurred", "censored"),
    [
        (True, False),
        (1, 0),
        (1.0, 0.0),
        (2, 1),  # R's survival
        ("yes", "no"),
        ("TRUE", "FALSE"),
        ("dead", "censored"),
        ("Deceased ", "Alive"),
        ("1:DECEASED", "0:LIVING"),  # cBioPortal
        ("1:Recurred/Progressed", "0:DiseaseFree"),
        ("died", "in remission"),  # the other one of two words
        ("transplanted", "alive"),
    ],
)
def test_events_are_truth_values_numbers_or_words(occurred, censored):
    events = [occurred if died else censored for died in DIED]
    assert np.array_equal(event_indicators(events), DIED)
    data = dm.read(FRAME.assign(status=events), "months", event="status")
    assert np.array_equal(data.target.events, DIED)
    assert np.array_equal(data.y["time"], MONTHS)
    plain = {occurred, censored} <= {0, 1}
    assert plain != (f"the event is {occurred!r} of status; rows with {censored!r}" in notes(data))


def test_a_column_called_censored_may_be_meant_the_other_way_round():
    frame = FRAME.assign(censored=(~DIED).astype(int))
    assert "event_of_interest=0 if 1" in notes(dm.read(frame, "months", event="censored"))
    data = dm.read(frame, "months", event="censored", event_of_interest=0)
    assert np.array_equal(data.target.events, DIED)


@pytest.mark.parametrize("labels", [(0, 1, 2), ("alive", "dead", "relapse"), ("a", "b", "c")])
def test_competing_events_are_named_or_refused(labels):
    """The others are censored at their time, and a note says so."""
    events = np.array(labels)[np.where(DIED, 1 + np.arange(N) % 2, 0)]
    frame = FRAME.assign(status=events)
    with pytest.raises(ValueError, match="event_of_interest names the value that is the event"):
        dm.read(frame, "months", event="status")
    data = dm.read(frame, "months", event="status", event_of_interest=labels[2])
    assert np.array_equal(data.target.events, events == labels[2])
    assert "competing events too (cause-specific)" in notes(data)
    with pytest.raises(ValueError, match=r"event_of_interest must be .* one of .*, got 'x'"):
        dm.read(frame, "months", event="status", event_of_interest="x")


def test_entries_are_read_and_permuted_with_times():
    data = dm.read(FRAME.assign(status=DIED), "months", event="status", entry="age")
    assert data.names == ("a", "b", "c")
    assert np.array_equal(data.y["entry"], FRAME["age"])
    assert np.array_equal(data.y["time"], MONTHS)
    order = np.random.default_rng(1).permutation(N)
    assert np.array_equal(data.permuted(order).y, data.y[order])
    y = np.rec.fromarrays([DIED, MONTHS, FRAME["age"]], names="died,months,entry")
    again = dm.learning_set(FRAME[["a", "b", "c"]], y)
    assert again.fingerprint == data.fingerprint
    first, last, events = risk_intervals(data.target.values)
    held = (data.target.times[first - 1] == data.y["entry"]) & (first <= last)
    assert held.all()
    assert np.array_equal(events, DIED)
    gone = FRAME.assign(status=DIED, age=FRAME["age"].where(FRAME.index > 0))
    with pytest.raises(ValueError, match=r"is missing in 1 of 60 rows.*drop_missing_target"):
        dm.read(gone, "months", event="status", entry="age")
    kept = dm.read(gone, "months", event="status", entry="age", drop_missing_target=True)
    assert kept.n_rows == N - 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"event": "status", "entry": "months"}, "entry 'months' is the target"),
        ({"event": "status", "entry": "late"}, r"entry must be before the time .* number of such"),
        ({"event": "status", "entry": "below"}, "entry must be finite and not negative"),
        ({"entry": "age"}, "entry is for survival, and needs event=NAME"),
        ({"event_of_interest": 1}, "event_of_interest is for survival"),
    ],
)
def test_options_of_survival_are_refused_with_a_reason(options, said):
    frame = FRAME.assign(status=DIED, late=MONTHS + 1, below=-1.0)
    with pytest.raises(ValueError, match=said):
        dm.read(frame, "months", **options)


def test_an_entry_without_effect_is_warned_of():
    with pytest.warns(UserWarning, match="entry='zero' has no effect"):
        dm.read(FRAME.assign(status=DIED, zero=0), "months", event="status", entry="zero")


def test_columns_that_are_recorded_afterwards_are_noted():
    """Survival in other units, and a day of death that only the dead have."""
    days = (30.44 * MONTHS).round()
    frame = FRAME.assign(status=DIED, days=days, death=np.where(DIED, days, np.nan))
    said = notes(dm.read(frame, "months", event="status"))
    assert "'days' orders the rows as months does" in said
    assert "'death' has values only where status is True" in said
    assert "'a'" not in said


def intervals(n=40):
    """Rows of persons from visit to visit, with a feature that changes."""
    random, rows = np.random.default_rng(2), []
    for person in range(n):
        visits = np.cumsum(random.integers(2, 30, random.integers(1, 4)))
        begins, died = [0, *visits[:-1]], random.random() < 0.7
        rows += [
            (begin, end, int(died and end == visits[-1]), random.normal(), random.normal(), person)
            for begin, end in zip(begins, visits, strict=True)
        ]
    return pd.DataFrame(rows, columns=["begins", "stop", "died", "dose", "marker", "code"])


def test_intervals_of_persons_are_noticed_and_ranked(tmp_path):
    frame = intervals()
    said = notes(dm.read(frame, "stop", event="died"))
    assert "entry='begins' compares rows" in said
    assert "groups='code' keeps the rows of a person" in said
    said = notes(dm.read(frame, "stop", event="died", entry="begins"))
    assert "groups='code' keeps the rows of a person" in said
    assert "entry=" not in said
    frame.to_csv(tmp_path / "visits.csv", index=False)
    words = "--target", "stop", "--event", "died", "--entry", "begins", "--groups", "code"
    few = "--trees", 20, "--permutations", 19
    run = done(tmp_path / "out", "rank", *words, *few, tmp_path / "visits.csv")[1]
    assert run["n_features"] == 2
    assert run["settings"]["entry"] == "begins"


@pytest.mark.parametrize("name", ["start", "entry", "tstart", "age_at_entry", "Time.1", "left"])
def test_a_column_with_the_name_of_an_entry_time_is_noted(name):
    said = notes(dm.read(FRAME.rename(columns={"age": name}).assign(d=DIED), "months", event="d"))
    assert f"entry={name!r}" in said


def test_the_command_names_the_option(tmp_path):
    FRAME.assign(status=np.arange(N) % 3).to_csv(tmp_path / "t.csv", index=False)
    result = duramen("rank", tmp_path / "t.csv", "--target", "months", "--event", "status")
    assert result.exit_code == 2
    assert "--event-of-interest names the value" in result.stderr


def test_dates_of_entry_and_event_are_days_between_them(tmp_path):
    random = np.random.default_rng(3)
    start = np.datetime64("2010-02-20") + random.integers(0, 900, 60).astype("m8[D]")
    days = random.integers(0, 700, 60)
    frame = pd.DataFrame({"begin": start, "end": start + days.astype("m8[D]"), "x": range(60)})
    frame["dead"] = np.arange(60) % 2
    frame.to_csv(tmp_path / "a.csv", index=False)
    german = frame.assign(**{n: frame[n].dt.strftime("%d.%m.%Y") for n in ("begin", "end")})
    with pytest.warns(UserWarning, match="pack: columns 'begin', 'end' have dates"):
        dm.pack(tmp_path / "a.csv", tmp_path / "store")
    for source in (frame, german, tmp_path / "a.csv", tmp_path / "store"):
        options = {"event": "dead", "entry": "begin", "keep_identifiers": True}
        data = dm.read(source, "end", **options)
        assert data.names == ("x",)
        assert data.target.labels["time"].tolist() == days.tolist()
        assert not data.target.truncated
        assert "times are days since begin of each row" in notes(data)
    for missing in ({"missing": "drop"}, {"drop_missing_target": True}):
        gaps = frame.astype({"dead": float})
        gaps.loc[3, "begin"], gaps.loc[5, "dead"] = None, np.nan
        with pytest.raises(ValueError, match="entry='begin' is missing in 1 of 60 rows, first in"):
            dm.read(gaps, "end", **options)
        assert dm.read(gaps, "end", **options, **missing).n_rows == 58
    with pytest.raises(ValueError, match="'dead' is missing in 1 of 60 rows"):
        dm.read(gaps.assign(begin=frame["begin"]), "end", **options)


def test_intervals_of_a_person_count_from_the_first_one():
    texts = ["2020-01-01", "2020-03-01", "2020-06-01", "2021-01-01", "2021-01-11", "2021-02-01"]
    rows = {"start": [*texts[:2], *texts[3:5]], "stop": [*texts[1:3], *texts[4:]]}
    frame = pd.DataFrame(rows | {"person": [1, 1, 2, 2], "dead": [0, 1, 0, 1], "x": [1, 2, 3, 4]})
    more = pd.concat([frame.assign(person=frame["person"] + 2 * k) for k in range(8)])
    options = {"event": "dead", "entry": "start", "groups": "person"}
    data = dm.read(more.reset_index(drop=True), "stop", **options)
    assert data.target.labels["time"][:4].tolist() == [60, 152, 10, 31]
    assert data.target.labels["entry"][:4].tolist() == [0, 60, 0, 10]
    of_families = more.assign(stop="2022-01-01").reset_index(drop=True)
    assert not dm.read(of_families, "stop", **options).target.truncated


@one_test
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"end": "2020-05-01"}, "entry=NAME names the column of the date from which each row was"),
        ({"end": "2020-05-01", "begin": 3}, "target='end' has dates, but entry='begin' has not"),
        ({"end": 3, "begin": "2020-05-01"}, "entry='begin' has dates, but target='end' has not"),
        (
            {"end": "2020-05-01", "begin": "2020-05-03"},
            "target='end' is before entry='begin' in 40 of 40 rows, first in row 0: 2020-05-01 and "
            "2020-05-03",
        ),
    ],
)
def test_dates_of_survival_that_do_not_go_together(columns, message):
    frame = pd.DataFrame({"x": range(40), "dead": [0, 1] * 20, **columns})
    entry = {"entry": "begin"} if "begin" in columns else {}
    with pytest.raises(ValueError, match=message):
        dm.read(frame, "end", event="dead", **entry)


def test_dates_of_entry_and_event_tell_the_order_of_day_and_month(tmp_path):
    """A feature whose days are all below 13 is read as the other dates of the table are."""
    n = len(MONTHS)
    entry = pd.Timestamp("2020-01-03") + pd.to_timedelta(7 * np.arange(n), unit="D")
    end = entry + pd.to_timedelta(np.ceil(30 * MONTHS) + 1, unit="D")
    treated = [f"{1 + j * 7 % 12:02d}/{1 + j * 5 % 12:02d}/2021" for j in range(n)]
    frame = FRAME.drop(columns="age").assign(status=DIED, treated=treated)
    form = "%d/%m/%Y"
    frame = frame.assign(enrolled=entry.strftime(form), months=end.strftime(form))
    options = {"target": "months", "event": "status", "entry": "enrolled"}
    data = dm.read(frame, **options)
    assert data.table.dates["treated"].day_first
    assert "nothing tells" not in notes(data)
    assert dm.read(frame, "months", task="regression").table.dates["treated"].day_first
    with pytest.raises(ValueError, match=r"'months' has dates such as .* does not fit"):
        dm.read(frame, date_order="month-first", **options)
