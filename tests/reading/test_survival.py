"""Survival as files have it: words for events, competing events, entries, several rows a person."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.commands import done, duramen

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
