"""Columns that are recorded because of the target are told of, strong measurements are not."""

import numpy as np
import pandas as pd
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.findings.rows import of_leaks

N = 300
RNG = np.random.default_rng(0)
ILL = RNG.random(N) < 0.3
Y = np.where(ILL, "ill", "well")
TIME = RNG.exponential(size=N)
DAYS = np.array([f"2020-{m:02d}-{d:02d}" for m, d in RNG.integers(1, 12, (N, 2))], dtype=object)


def clinical(**columns):
    age = RNG.normal(50, 10, N) + 8 * ILL
    return pd.DataFrame({"age": age, "sex": RNG.choice(["m", "f"], N), **columns})


def genes(p, **columns):
    made = pd.DataFrame(RNG.normal(size=(N, p)), columns=[f"g{j}" for j in range(p)])
    return made.assign(**columns)


def leaks_of(X, y, task="auto"):
    return of_leaks(dm.encode(X), y, "state", task)


# Name: table, target, words.
LEAKS = {
    "a date of some of the ill": (
        clinical(x=np.where(ILL & (RNG.random(N) < 0.8), DAYS, None)),
        Y,
        "has values only where state is 'ill'",
    ),
    "numbers of the ill": (clinical(x=np.where(ILL, RNG.normal(size=N), np.nan)), Y, "only where"),
    "numbers of the well": (
        clinical(x=np.where(ILL, np.nan, TIME)),
        Y,
        "only where state is 'well'",
    ),
    "a flag beside a strong column": (
        clinical(x=ILL.astype(int), dose=RNG.normal(size=N) + 4 * ILL),
        Y,
        "alone predicts state",
    ),
    "a flag": (clinical(x=ILL.astype(int)), Y, "alone predicts state in 100% of the rows"),
    "a flag with errors": (clinical(x=ILL ^ (RNG.random(N) < 0.01)), Y, "alone predicts state"),
    "categories": (
        clinical(x=np.where(ILL, RNG.choice(["a", "b"], N), RNG.choice(["c", "d"], N))),
        Y,
        "alone predicts state",
    ),
    "numbers in ranges": (clinical(x=TIME + 100 * ILL), Y, "alone predicts state"),
    "a flag among genes": (genes(400, x=ILL.astype(int)), Y, "alone predicts state"),
    "a copy in another unit": (clinical(x=np.round(365 * TIME)), TIME, "rank correlation 1.000"),
}
HONEST = {
    "a table without": (clinical(), Y),
    "a flag with more errors": (clinical(x=ILL ^ (RNG.random(N) < 0.05)), Y),
    "values missing by chance": (clinical(x=np.where(RNG.random(N) < 0.5, TIME, np.nan)), Y),
    "few values": (clinical(x=np.where(np.arange(N) < 6, TIME, np.nan)), Y),
    "a strong gene of many": (genes(400, x=RNG.normal(size=N) + 8 * ILL), Y),
    "many strong columns": (
        clinical(**{f"x{j}": RNG.normal(size=N) + 8 * ILL for j in range(5)}),
        Y,
    ),
    "two strong columns": (
        clinical(a=RNG.normal(size=N) + 4.5 * ILL, b=RNG.normal(size=N) + 3.5 * ILL),
        Y,
    ),
    "names": (clinical(x=[f"p{i}" for i in range(N)]), Y),
    "a correlated measurement": (clinical(x=TIME + 0.2 * RNG.normal(size=N)), TIME),
}


@one_test
@pytest.mark.parametrize("case", list(LEAKS))
def test_leaks_are_reported(case):
    X, y, words = LEAKS[case]
    (finding,) = leaks_of(X, y)
    assert finding.kind == "leak"
    assert finding.columns == ("x",)
    assert words in finding.message


@one_test
@pytest.mark.parametrize("case", list(HONEST))
def test_strong_measurements_are_not(case):
    assert leaks_of(*HONEST[case]) == []


@pytest.mark.slow
def test_chance_is_rarely_reported():
    """Targets that depend on nothing, with half of the values of each column missing."""
    result = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        X = random.normal(size=(40, 20))
        X[random.random(X.shape) < 0.6] = np.nan
        result += bool(leaks_of(X, random.choice(["a", "b"], 40)))
    assert result <= 1


def test_stores_and_events(tmp_path):
    X, y, _ = LEAKS["a date of some of the ill"]
    with pytest.warns(UserWarning, match="pack: column 'x' has dates as text"):
        store = dm.pack(X, tmp_path / "s")
    assert [of_leak.columns for of_leak in of_leaks(store, y, "state", "auto")] == [("x",)]
    result = dm.read(X.drop(columns="age"), y).provenance.findings
    assert result[0].kind == "leak"
