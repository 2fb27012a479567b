"""Warnings point at the line of the caller."""

import warnings
from contextlib import contextmanager
from functools import wraps

import numpy as np
import pandas as pd
import pytest

import duramen as dm
from duramen.support.checks import gathered_warnings, warn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
Y = (X[:, 0] > 0).astype(int)
NEARLY = [*map(str, np.arange(60) / 8), "?"]


def named():
    return dm.RandomForestClassifier(3, random_state=0).fit(pd.DataFrame(X, columns=list("abc")), Y)


def many_trees():
    return dm.TotallyRandomizedTreesClassifier(2000, random_state=0, max_depth=3).fit(X, Y)


CALLS = {
    "fit": lambda: dm.RandomForestClassifier(3).fit(X, Y.reshape(-1, 1)),
    "learning_set": lambda: dm.learning_set(X, Y.reshape(-1, 1)),
    "out of bag": lambda: dm.RandomForestClassifier(1, oob_score=True).fit(X, Y),
    "predict": lambda: named().predict(X),
    "apply": lambda: named().apply(X),
    "stray": lambda: dm.encode(pd.DataFrame({"a": NEARLY})),
    "stray in fit": lambda: dm.RandomForestClassifier(3).fit(
        pd.DataFrame({"a": NEARLY}), np.arange(len(NEARLY)) % 2
    ),
    "max_t": lambda: dm.significance.max_t(
        dm.RandomForestClassifier(3), X[:4], [0, 1, 0, 1], n_permutations=9, strata=[0, 0, 1, 1]
    ),
    "altmann": lambda: dm.significance.altmann(
        dm.RandomForestClassifier(3), X[:4], [0, 1, 0, 1], n_permutations=9, strata=[0, 0, 1, 1]
    ),
    "vote_change": lambda: dm.importances.vote_change(many_trees(), X, Y, rows=None),
    "mcfs": lambda: dm.importances.mcfs(
        RNG.normal(size=(24, 30)), Y, n_subsets=2, subset_size=3, n_splits=1
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_warning_points_at_the_line_of_the_caller(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}


def test_frames_between_functions_of_the_package_are_passed_over():
    inside = {"__name__": "duramen.inner", "warn": warn, "contextmanager": contextmanager}
    exec(  # a context manager and a decorated function that warn inside the package
        "@contextmanager\ndef entered():\n    warn('in')\n    yield\n"
        "def public():\n    with entered():\n        pass\n",
        inside,
    )
    public = wraps(inside["public"])(inside["public"])
    with pytest.warns(UserWarning, match="in") as caught:
        public()
    assert caught[0].filename == __file__


def test_a_warning_that_repeats_is_gathered_once():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with gathered_warnings() as gathered:
            for _ in range(3):
                warn("a: first")
                warn("a: second", RuntimeWarning)
        assert [(type(warning), str(warning)) for warning in gathered] == [
            (UserWarning, "a: first"),
            (RuntimeWarning, "a: second"),
        ]
        assert seen == []
        warn("a: third")
    assert [str(warning.message) for warning in seen] == ["a: third"]
