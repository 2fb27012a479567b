"""Whatever takes a table takes a store, with the same results bit for bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import duramen as dm
from duramen import pack

SPLITS = {
    "ordered": dm.RandomForestClassifier,
    "multiway": dm.TotallyRandomizedTreesClassifier,
    "one-vs-rest": dm.ExtraTreesClassifier,
}


@pytest.fixture
def problem(tmp_path):
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(rng.normal(size=(n, 6)).round(1), columns=list("abcdef"))
    frame["k"] = rng.choice(["u", "v", "w"], n)
    frame.loc[::7, "b"] = np.nan
    y = (frame["a"] + (frame["k"] == "u") > 0.5).astype(int).to_numpy()
    return frame, y, pack(frame, tmp_path / "s")


@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_forests(problem, splits, n_jobs):
    frame, y, store = problem
    fits = [
        SPLITS[splits](20, splits=splits, random_state=3, n_jobs=n_jobs).fit(X, y)
        for X in (frame, store)
    ]
    first, other = (fit.forest_ for fit in fits)
    assert first.fingerprint == other.fingerprint
    for name in ("feature", "cut", "child", "impurity", "leaf_values"):
        np.testing.assert_array_equal(getattr(first, name), getattr(other, name))
    for rows in (store, dm.encode(store)):
        np.testing.assert_array_equal(fits[0].predict_proba(frame), fits[1].predict_proba(rows))
    np.testing.assert_array_equal(fits[0].apply(frame), fits[1].apply(store))
    np.testing.assert_array_equal(
        dm.importances.mdi(fits[0]).values, dm.importances.mdi(fits[1]).values
    )
