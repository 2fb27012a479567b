"""Best splits are the best; drawn ones have their distribution; ties are broken fairly."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.grid import one_test
from tests.oracles import splits as oracle

import duramen as dm
from duramen import estimators
from duramen.data import encode
from duramen.forests.growth import bag


def small_table(seed, n=28):
    random = np.random.default_rng(seed)
    holed = random.integers(0, 6, n) / 4
    holed[random.random(n) < 0.25] = np.nan
    colour = pd.Series(random.choice(list("abcd"), n), dtype="object")
    colour[random.random(n) < 0.1] = None
    X = pd.DataFrame(
        {
            "real": random.normal(size=n),
            "tied": random.integers(0, 4, n),
            "holed": holed,
            "colour": colour,
            "size": pd.Categorical.from_codes(
                random.integers(-1, 4, n), list("SMLX"), ordered=True
            ),
        }
    )
    return X, random


@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
@pytest.mark.parametrize("family", ["ordered", "multiway", "one-vs-rest", "any"])
def test_best_splits(family, criterion, weighted, least):
    for seed in range(3):
        X, random = small_table(seed)
        if family == "any":
            X = X[["colour", "tied", "size"]]
        elif least > 1:  # the shortcut for bipartitions is exact without a rule on their sizes
            X = X.drop(columns="colour")
        y = random.integers(0, 3, len(X))
        weights = random.random(len(X)) + 0.2 if weighted else np.ones(len(X))
        kind = estimators.BaggedTreesClassifier
        if criterion == "variance":
            kind, y = estimators.BaggedTreesRegressor, random.normal(size=len(X))
        forest = kind(
            4,
            criterion=criterion,
            splits=family,
            min_samples_leaf=least,
            bootstrap=seed > 0,
            random_state=seed,
        ).fit(X, y, sample_weight=weights if weighted else None)
        table = encode(X)
        families = [
            "any" if kind == "nominal" and family == "ordered" else family for kind in table.kinds
        ]
        codes = np.column_stack([table.codes(j) for j in range(table.n_columns)]).astype(int)
        holes = np.diff(table.value_offsets).tolist()
        indicator, offsets = forest.decision_path(X)
        for t, tree in enumerate(forest.forest_):
            drawn = bag(forest.forest_, t)
            passes = indicator[:, offsets[t] : offsets[t + 1]].toarray().T > 0
            for node in range(tree.n_nodes):
                rows = np.flatnonzero(passes[node] & (drawn > 0))
                if tree.impurity[node] == 0:
                    continue
                best = oracle.best_decrease(
                    codes[rows].T.tolist(),
                    families,
                    holes,
                    y[rows].tolist(),
                    (drawn * weights)[rows].tolist(),
                    criterion,
                    least,
                )
                if tree.feature[node] < 0:
                    assert best is None or (family == "any" and least > 1)
                elif family == "any" and least > 1:
                    assert tree.decrease[node] <= best + 1e-12
                else:
                    assert tree.decrease[node] == pytest.approx(best, rel=1e-9, abs=1e-12)


def roots(forest, *names):
    at = forest.forest_.offsets[:-1]
    return [getattr(forest.forest_, name)[at] for name in names]


@one_test
@pytest.mark.parametrize(
    "kind",
    [
        estimators.RandomForestClassifier,
        estimators.ExtraTreesClassifier,
        estimators.TotallyRandomizedTreesClassifier,
        estimators.RandomForestRegressor,
        estimators.ExtraTreesRegressor,
    ],
)
def test_one_candidate_is_drawn_uniformly_among_columns_that_vary(kind):
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 6)).round(1)
    X[:, 2] = 1.0
    y = (X[:, 0] > 0).astype(int)
    settings = {"max_features": 1, "max_depth": 1, "random_state": 0}
    (feature,) = roots(kind(6000, bootstrap=False, **settings).fit(X, y), "feature")
    counts = np.bincount(feature, minlength=6)
    assert counts[2] == 0
    assert stats.chisquare(counts[[0, 1, 3, 4, 5]]).pvalue > 1e-3


@one_test
@pytest.mark.parametrize("family", ["ordered", "multiway", "one-vs-rest", "any"])
@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
def test_equal_columns_are_chosen_equally_often(task, family):
    random = np.random.default_rng(1)
    column = random.integers(0, 3, 40).astype(float)
    other = random.integers(0, 3, 40).astype(float)
    X = np.column_stack([other, column, 2 - column, column, column + 5])
    y = (column == 1) + (column == 2) * 2
    kind = getattr(estimators, f"BaggedTrees{task}")
    forest = kind(4000, bootstrap=False, splits=family, max_depth=1, random_state=0).fit(X, y)
    (feature,) = roots(forest, "feature")
    counts = np.bincount(feature, minlength=5)
    assert counts[0] == 0
    assert stats.chisquare(counts[1:]).pvalue > 1e-3


@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
def test_equal_cuts_are_chosen_equally_often(task):
    X = np.arange(6.0).reshape(-1, 1)
    y = np.array([0, 1, 0, 1, 0, 1])  # the cuts next to the ends are equally good
    kind = getattr(estimators, f"BaggedTrees{task}")
    forest = kind(4000, bootstrap=False, max_depth=1, random_state=0).fit(X, y)
    (threshold,) = roots(forest, "threshold")
    values, counts = np.unique(threshold, return_counts=True)
    assert values.tolist() == [0.5, 4.5]
    assert stats.chisquare(counts).pvalue > 1e-3


@one_test
@pytest.mark.parametrize("n_rows", [12, 400])
@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
def test_random_cuts_are_uniform_in_real_values(task, n_rows):
    random = np.random.default_rng(0)
    X = np.exp(random.normal(size=(n_rows, 1)))
    X[0], X[1] = 0.0, 20.0
    y = random.integers(0, 2, n_rows)
    kind = getattr(estimators, f"ExtraTrees{task}")
    forest = kind(5000, max_depth=1, random_state=0).fit(X, y)
    cut, threshold = roots(forest, "cut", "threshold")
    # A cut may be moved within the gap that it falls into, so gaps are what is compared.
    values = np.unique(X)
    counts = np.bincount(cut, minlength=len(values))[: len(values) - 1]
    expected = np.diff(values) / 20.0 * 5000
    order = np.argsort(expected)
    bins = np.searchsorted(np.linspace(0, 5000, 15), np.cumsum(expected[order]))
    counts, expected = (np.bincount(bins, weights=a[order]) for a in (counts, expected))
    keep = expected > 5
    chi2 = ((counts[keep] - expected[keep]) ** 2 / expected[keep]).sum()
    assert stats.chi2.sf(chi2, keep.sum() - 1) > 1e-3
    assert ((threshold >= values[cut]) & (threshold < values[cut + 1])).all()


def test_random_groups_are_uniform_among_bipartitions():
    colour = np.repeat(list("abcd"), 3)
    X = pd.DataFrame({"colour": colour})
    y = np.tile([0, 1, 2], 4)
    forest = estimators.ExtraTreesClassifier(7000, splits="any", max_depth=1, random_state=0)
    forest.fit(X, y)
    words = forest.forest_.pool[forest.forest_.pool_offsets[:-1]] & 15
    groups = np.minimum(words, 15 - words)
    values, counts = np.unique(groups, return_counts=True)
    assert len(values) == 7
    assert stats.chisquare(counts).pvalue > 1e-3


def test_constant_columns_count_where_asked_to():
    random = np.random.default_rng(0)
    X = np.hstack([random.normal(size=(40, 1)), np.zeros((40, 9))])
    y = (X[:, 0] > 0).astype(int)
    settings = {"max_features": 3, "bootstrap": False, "random_state": 0}
    passing = estimators.RandomForestClassifier(400, **settings).fit(X, y)
    assert (roots(passing, "feature")[0] == 0).all()
    counting = estimators.RandomForestClassifier(
        4000, count_constant_features=True, **settings
    ).fit(X, y)
    assert (roots(counting, "feature")[0] == 0).mean() == pytest.approx(0.3, abs=0.03)


def test_columns_of_a_subspace_are_drawn_uniformly():
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 5))
    forest = estimators.RandomSubspaceClassifier(
        6000, n_subspace_features=1, max_depth=1, random_state=0
    ).fit(X, random.integers(0, 2, 20))
    (feature,) = roots(forest, "feature")
    assert stats.chisquare(np.bincount(feature, minlength=5)).pvalue > 1e-3


@one_test
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [3, 7])
@pytest.mark.parametrize("n_categories", [13, 53])
def test_many_categories_are_cut_in_the_order_of_the_first_principal_component(
    n_categories, n_classes, criterion, weighted
):
    random = np.random.default_rng([n_categories, n_classes])
    ends = random.dirichlet(np.ones(n_classes), 2)  # one direction, in which fractions differ most
    part = random.random((n_categories, 1))
    fractions = part * ends[0] + (1 - part) * ends[1]
    codes = np.concatenate([np.arange(n_categories), random.integers(0, n_categories, 700)])
    y = np.array([random.choice(n_classes, p=fractions[code]) for code in codes])
    weights = random.random(len(y)) + 0.2 if weighted else np.ones(len(y))
    counts = np.zeros((n_categories, n_classes))
    np.add.at(counts, (codes, y), weights)
    sizes = counts.sum(axis=1)
    deviations = counts / sizes[:, None] - counts.sum(axis=0) / sizes.sum()
    component = np.linalg.eigh((deviations * sizes[:, None]).T @ deviations)[1][:, -1]
    order = np.argsort(deviations @ component)

    def impurity(rows):
        parts = rows.sum(axis=0)
        p = parts / parts.sum()
        of_classes = p**2 if criterion == "gini" else p * np.log2(np.where(p > 0, p, 1))
        return parts.sum() * ((criterion == "gini") - of_classes.sum())

    gains = [
        impurity(counts) - impurity(counts[order[:k]]) - impurity(counts[order[k:]])
        for k in range(1, n_categories)
    ]
    forest = estimators.BaggedTreesClassifier(
        1, criterion=criterion, max_depth=1, bootstrap=False, random_state=0
    ).fit(pd.DataFrame({"c": [f"c{code:02}" for code in codes]}), y, sample_weight=weights)
    total = sizes.sum()
    assert importances(forest) == pytest.approx(max(gains) / total, rel=1e-9)


@pytest.mark.parametrize("splits", ["ordered", "any"])
def test_categories_of_equal_class_proportions_are_not_cut(splits):
    """Also by a component of rounding errors."""
    codes, y = np.divmod(np.arange(20 * 6), 6)
    forest = estimators.BaggedTreesClassifier(
        1, splits=splits, max_depth=1, bootstrap=False, random_state=0
    ).fit(pd.DataFrame({"c": [f"c{code:02}" for code in codes]}), y % 3)
    assert forest.forest_.impurity[0] == pytest.approx(2 / 3)
    assert importances(forest) == pytest.approx(0, abs=1e-12)


def importances(forest):
    """MDI of the only feature."""
    return dm.importances.mdi(forest).values[0]
