"""Trees as text."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from tests.grid import one_test

from duramen import estimators


def test_text_of_a_small_tree():
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "same": [0.0] * 4})
    best = estimators.RandomSubspaceClassifier(1, n_subspace_features=1.0, random_state=0)
    text = best.fit(X, ["no", "no", "yes", "yes"]).export_text()
    assert text == (
        "all rows [rows 4, weight 4, gini 0.5]\n"
        "|--- size <= 2.5 [rows 2, weight 2, gini 0]: no (1)\n"
        "|--- size > 2.5 [rows 2, weight 2, gini 0]: yes (1)\n"
    )
    assert best.export_text(max_depth=0) == "all rows [rows 4, weight 4, gini 0.5] ...\n"


@pytest.mark.slow
@one_test
@pytest.mark.parametrize(
    "name",
    [
        f"{task}, {cut}, {splits}"
        for task in ("classes", "numbers")
        for cut in ("best", "random")
        for splits in ("ordered", "multiway", "one-vs-rest", "any")
    ],
)
def test_every_node_has_its_line(name, grown):
    estimator = grown[name]
    for index, tree in enumerate(estimator.forest_):
        text = estimator.export_text(index)
        assert len(text.splitlines()) == tree.n_nodes
        depth = max(line.count("|   ") + line.startswith("|") for line in text.splitlines())
        assert depth <= tree.depth.max()


def test_tests_read_well(grown):
    text = "".join(grown["classes, best, ordered"].export_text(t) for t in range(6))
    assert re.search(r"--- depth <= -?[\d.]+ ", text)
    assert re.search(r"--- size <= (S|M|L) ", text)
    assert re.search(r"--- holed (<=|>) -?[\d.]+ or missing", text)
    multiway = grown["classes, best, multiway"].export_text(0)
    assert re.search(r"--- \w+ = ", multiway)
    single = "".join(grown["classes, random, one-vs-rest"].export_text(t) for t in range(6))
    assert re.search(r"--- colour = \w+", single)
    assert re.search(r"--- colour != \w+", single)
    groups = "".join(grown["numbers, best, any"].export_text(t) for t in range(6))
    assert re.search(r"--- colour in \{\w+(, \w+)*\}", groups)
    assert "more}" in groups


def test_missing_alone():
    X = np.array([[np.nan], [1.0], [2.0], [np.nan]])
    forest = estimators.RandomSubspaceClassifier(1, random_state=0).fit(X, [0, 1, 1, 0])
    text = forest.export_text()
    assert "x0 missing [" in text
    assert "x0 known [" in text


def test_bad_requests():
    X, y = load_iris(return_X_y=True)
    forest = estimators.RandomForestClassifier(2, random_state=0).fit(X, y)
    with pytest.raises(IndexError, match=r"index must be in -2..1, got 2"):
        forest.export_text(2)
    with pytest.raises(ValueError, match="export_text: decimals"):
        forest.export_text(decimals=0)
    with pytest.raises(ValueError, match="export_text: max_depth"):
        forest.export_text(max_depth=-1)


def test_names_are_escaped():
    names = ["\x1b[31mred", "b\x9bc"]
    X = pd.DataFrame(np.arange(12.0).reshape(6, 2), columns=names)
    forest = estimators.RandomForestClassifier(1, random_state=0).fit(X, ["\x1b]0;x", "\x85"] * 3)
    text = forest.export_text()
    assert text.replace("\n", "").isprintable()
    assert r"\x1b" in text
