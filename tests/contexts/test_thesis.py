"""Tables and examples of chapter 6 of the thesis, from forests."""

import itertools
from functools import cache

import numpy as np
import pytest
from tests.contexts.trees import random_trees

import duramen as dm
from duramen.contexts.effects import context_effects
from duramen.contexts.inputs import growth_of, split_off, template_for
from duramen.data import encode, learning_set
from duramen.forests.forest import mean_decreases


def of_rows(rows, names, n_estimators=400, **options):
    """Analyze rows whose last two entries are the context and the target, as categories."""
    *columns, context, y = zip(*rows, strict=True)
    X = np.array(columns).T.astype(str)
    return dm.contexts.context_importances(
        dm.encode(X, names=names),
        np.array(y),
        np.array(context),
        estimator=random_trees(n_estimators),
        n_permutations=0,
        random_state=0,
        **options,
    )


# --- example 6.1 and problem 1 -------------------------------------------------------------------


def example_6_1():
    """Table 6.A.1: Y is X1 where X2 = Xc, and 2 or 3 elsewhere."""
    return [
        (x1, x2, c, y)
        for x1, x2, c in itertools.product((0, 1), repeat=3)
        for y in ((x1, x1) if x2 == c else (2, 3))
    ]


@pytest.mark.parametrize("empty", ["skip", "zero"])
def test_example_6_1(empty):
    """X1 depends on the context though all averages are 0; X2 is complementary.

    Each tree splits on both features, in one order or the other: values vary from tree to tree
    only in so far as the orders come in other shares than one half.
    """
    rows = example_6_1()
    assert len(rows) == 16
    result = of_rows(rows, ["X1", "X2"], empty=empty)
    np.testing.assert_allclose(result.absolute[:, 0], 0.25, atol=0.08)
    np.testing.assert_allclose(result.signed[:, 0], 0, atol=1e-12)
    np.testing.assert_allclose(result.plain[:, 0], 0, atol=0.08)
    assert result.overall[0] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(result.absolute[:, 1], 1, atol=0.08)
    np.testing.assert_allclose(result.signed[:, 1], -result.absolute[:, 1], atol=1e-12)
    assert result.importances == pytest.approx([0.5, 0], abs=1e-12)
    assert result.kind.tolist() == [["mixed", "complementary"]] * 2
    assert result.relevance == pytest.approx(0.5, abs=0.04)


def problem_1():
    """Table 6.1: Y is 2 if X1 = 0, otherwise X2 in context 0 and X3 in context 1."""
    return [
        (x1, x2, x3, c, 2 if x1 == 0 else (x3 if c else x2))
        for x1, x2, x3, c in itertools.product((0, 1), repeat=4)
    ]


def test_problem_1():
    """Table 6.2, and its verdicts."""
    result = of_rows(problem_1(), ["X1", "X2", "X3"], n_estimators=2000)
    signed = [[0, -0.375, 0.125], [0, 0.125, -0.375]]
    np.testing.assert_allclose(result.importances, [1, 0.125, 0.125], atol=0.02)
    np.testing.assert_allclose(result.absolute, np.abs(signed), atol=0.02)
    np.testing.assert_allclose(result.signed, signed, atol=0.02)
    np.testing.assert_allclose(result.plain, signed, atol=0.03)
    np.testing.assert_allclose(result.conditional, [[1, 0.5, 0], [1, 0, 0.5]], atol=0.02)
    np.testing.assert_allclose(result.within, [[1, 0.5, 0], [1, 0, 0.5]], atol=0.02)
    np.testing.assert_allclose(result.overall, [0, -0.125, -0.125], atol=0.02)
    # X3 is redundant in context 0, and more than that: irrelevant.
    assert result.kind.tolist() == [
        ["independent", "complementary", "irrelevant"],
        ["independent", "irrelevant", "complementary"],
    ]
    assert result.absolute[:, 0].tolist() == [0, 0]
    one_signed = np.abs(result.signed[:, 1:]) - result.absolute[:, 1:]
    assert np.abs(one_signed).max() < 1e-12


# --- Table 6.4 -----------------------------------------------------------------------------------

# Imp, Imp(.|xc) twice, Imp^|xc| twice, Imp_s twice; context 0 is female.
TABLE_6_4 = {
    "age": (0.2974, 0.2942, 0.2900, 0.1505, 0.1717, 0.0032, 0.0074),
    "histologic-type": (0.3513, 0.1354, 0.4005, 0.2265, 0.1183, 0.2159, -0.0492),
    "degree-of-diffe": (0.4415, 0.3725, 0.4070, 0.1827, 0.1724, 0.0690, 0.0345),
    "bone": (0.2452, 0.2342, 0.2220, 0.1088, 0.0845, 0.0110, 0.0232),
    "bone-marrow": (0.0188, 0.0190, 0.0131, 0.0128, 0.0105, -0.0001, 0.0057),
    "lung": (0.1677, 0.1837, 0.1420, 0.1134, 0.1079, -0.0160, 0.0257),
    "pleura": (0.1474, 0.1132, 0.1127, 0.0613, 0.1026, 0.0342, 0.0348),
    "peritoneum": (0.3171, 0.2954, 0.2084, 0.0939, 0.1516, 0.0216, 0.1087),
    "liver": (0.2300, 0.1844, 0.2784, 0.0888, 0.1382, 0.0456, -0.0483),
    "brain": (0.0466, 0.0334, 0.0566, 0.0403, 0.0279, 0.0131, -0.0101),
    "skin": (0.0679, 0.0310, 0.0786, 0.0426, 0.0420, 0.0369, -0.0107),
    "neck": (0.2183, 0.0774, 0.2255, 0.1562, 0.0710, 0.1409, -0.0071),
    "supraclavicular": (0.1701, 0.1807, 0.1344, 0.0942, 0.0738, -0.0106, 0.0357),
    "axillar": (0.1339, 0.1236, 0.0846, 0.0748, 0.0663, 0.0103, 0.0493),
    "mediastinum": (0.1826, 0.1752, 0.1613, 0.1129, 0.0867, 0.0074, 0.0213),
    "abdominal": (0.2558, 0.2883, 0.1512, 0.1419, 0.1526, -0.0325, 0.1046),
}


@cache
def primary_tumor():
    """The 132 patients of whom all is known."""
    tumor = dm.datasets.load_primary_tumor()
    X = tumor.X.to_pandas()
    complete = X.notna().all(axis=1).to_numpy()
    assert complete.sum() == 132
    return X[complete], np.asarray(tumor.y)[complete]


def columns(importances, conditional, absolute, signed):
    return np.vstack([importances, conditional, absolute, signed]).T


@cache
def spread_of_1000_trees(n_forests=100, n_trees=50):
    """Standard deviation of each number between forests of 1000 trees, from smaller ones."""
    X, y = primary_tumor()
    inputs, sex = split_off(encode(X), "sex", 3, "test")
    subject = growth_of(
        learning_set(inputs, y), template_for(random_trees(n_trees), "test"), 0, "test"
    )
    drawn = []
    for seed in range(1000, 1000 + n_forests):
        forest = subject.forest(seed)
        result = context_effects(forest, subject, sex, "zero", seed=0)
        effects = (result.conditional[0], result.absolute[0], result.signed[0])
        drawn.append(columns(mean_decreases(forest).values, *effects))
    return np.std(drawn, axis=0, ddof=1) * np.sqrt(n_trees / 1000)


@pytest.mark.slow
def test_table_6_4():
    """The printed forest is one of 1000 trees, and ours another: their difference varies by
    sqrt(2) times what one of them does.

    Seed 0: the largest of the 112 differences is 2.8 of its standard errors (for ten seeds 2.3 to
    4.5; about half of them have one or two beyond 3). Seeds 0, 1 and 2 find the same features;
    with seed 3 liver (male, printed p = .053) has p = .048 and joins them. The thesis permutes sex
    among all rows.
    """
    X, y = primary_tumor()
    settings = {"permute": "all", "empty": "zero", "plain": "none", "n_permutations": 399}
    result = dm.contexts.context_importances(X, y, "sex", random_state=0, **settings)
    assert result.names == tuple(TABLE_6_4)
    assert result.contexts == ("female", "male")
    ours = columns(result.importances, result.conditional, result.absolute, result.signed)
    scores = (ours - list(TABLE_6_4.values())) / (np.sqrt(2) * spread_of_1000_trees())
    assert np.abs(scores).max() < 3
    assert np.mean(scores**2) < 1.5

    significant = result.mask("absolute", 0.05, "none")
    results = [{n for n, s in zip(result.names, row, strict=True) if s} for row in significant]
    assert results == [{"histologic-type", "neck"}, {"peritoneum", "abdominal"}]
    # In the thesis the importance of these decreases.
    assert (result.signed[significant] > 0).all()
    assert result.relevance_p_value < 0.02


@pytest.mark.slow
def test_table_6_4_within_the_sites():
    """Sex shifts the sites. Within these nothing is left after a correction for 32 tests."""
    X, y = primary_tumor()
    settings = {"empty": "zero", "plain": "none", "n_permutations": 399, "random_state": 0}
    result = dm.contexts.context_importances(X, y, "sex", estimator=random_trees(300), **settings)
    p_values = dict(zip(result.names, result.absolute_p_values[0], strict=True))
    assert 0.005 < p_values["histologic-type"] < 0.06
    assert not result.mask("absolute", 0.05, "fdr").any()
    assert result.relevance_p_value < 0.02


def test_a_small_forest_comes_near_table_6_4():
    """200 trees: every number within .06, three times what the most variable one varies."""
    X, y = primary_tumor()
    settings = {"empty": "zero", "n_permutations": 0, "plain": "none", "random_state": 1}
    result = dm.contexts.context_importances(X, y, "sex", estimator=random_trees(200), **settings)
    ours = columns(result.importances, result.conditional, result.absolute, result.signed)
    np.testing.assert_allclose(ours, list(TABLE_6_4.values()), atol=0.06)
