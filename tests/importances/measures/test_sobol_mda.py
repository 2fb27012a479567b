"""Sobol-MDA against projected trees row by row, exact indices and closed forms."""

from itertools import product

import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles import projection as oracle

import duramen as dm
from duramen.forests.growth import bag
from duramen.importances import catalogue, sobol_mda


def problem(task, n=50, seed=0):
    """Few and many values and missing ones; classes or numbers that depend on them."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [random.integers(0, 2, n), random.integers(0, 5, n), random.normal(size=n).round(1)]
    ).astype(float)
    number = X[:, 0] + 0.4 * X[:, 1] * (X[:, 2] > 0) + 0.3 * random.normal(size=n)
    X[random.random(n) < 0.1, 2] = np.nan
    return X, np.digitize(number, [0.5, 1.5]) if task == "classes" else number


def as_lists(estimator, table):
    """Trees as the oracle reads them; a row is its number."""
    trees = []
    for t, tree in enumerate(estimator.forest_):
        # The side of every row at a node that it does not reach: that of the tree cut to the node.
        nodes = []
        for i in range(tree.n_nodes):
            if tree.feature[i] < 0:
                nodes.append({})
                continue
            sides = sides_of(estimator.forest_, t, i, table)
            first = int(tree.child[i])
            nodes.append(
                {
                    "feature": int(tree.feature[i]),
                    "children": list(range(first, first + int(tree.n_children[i]))),
                    "side": sides.__getitem__,
                }
            )
        trees.append(nodes)
    return trees


def sides_of(forest, t, node, table):
    """Child of each row at a node, from codes and the description of the flat arrays."""
    tree = forest.tree(t)
    j, cut, flags = int(tree.feature[node]), int(tree.cut[node]), int(tree.split[node])
    codes = np.asarray(table.codes(j)).astype(int)
    n_values = int(forest.schema.n_values[j])
    missing = codes == n_values if forest.schema.missing[j] else np.zeros(len(codes), dtype=bool)
    family = flags & 3
    if family == 1:
        count, heaviest = int(tree.pool[cut]), int(tree.pool[cut + 1])
        place = {int(code): c for c, code in enumerate(tree.pool[cut + 2 : cut + 2 + count])}
        return [place.get(int(code), heaviest) for code in codes]
    assert family == 0
    sides = np.where(missing, 0 if flags & 4 else 1, codes > cut)
    return sides.astype(int).tolist()


def by_the_oracle(estimator, table, responses, ignored, weights, fewest=1):
    """Out-of-bag predictions of the projected forest, NaN where there is none."""
    n = len(responses)
    sums, counts = np.zeros(responses.shape), np.zeros(n)
    for t, tree in enumerate(as_lists(estimator, table)):
        drawn = bag(estimator.forest_, t)
        rows = [(i, drawn[i] * weights[i], responses[i]) for i in np.flatnonzero(drawn * weights)]
        for i in np.flatnonzero(drawn == 0):
            sums[i] += oracle.prediction(tree, i, rows, ignored, fewest)
            counts[i] += 1
    return sums[counts > 0] / counts[counts > 0, np.newaxis], counts > 0


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("task", ["classes", "numbers"])
@pytest.mark.parametrize("splits", ["ordered", "multiway"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fewest", [1, 4])
def test_against_each_row_level_by_level(task, splits, weighted, fewest):
    X, y = problem(task)
    random = np.random.default_rng(3)
    weights = random.integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    kind = dm.RandomForestClassifier if task == "classes" else dm.RandomForestRegressor
    model = kind(5, splits=splits, max_features=2, min_samples_leaf=fewest, random_state=0)
    data = dm.learning_set(X, y, sample_weight=weights)
    model.fit(data)
    responses = np.eye(3)[y] if task == "classes" else y[:, np.newaxis]
    groups = {"0": [0], "1": [1], "2": [2], "0 and 2": [0, 2], "all": [0, 1, 2]}
    result = sobol_mda(model, data, feature_groups=groups)
    before, seen = by_the_oracle(model, data.table, responses, (), weights, fewest)
    truth = responses[seen]
    variance = truth.var(axis=0).sum()
    losses = [((before - truth) ** 2).sum(axis=1)]
    for ignored in groups.values():
        after, _ = by_the_oracle(model, data.table, responses, ignored, weights, fewest)
        losses.append(((after - truth) ** 2).sum(axis=1))
    rises = (np.array(losses[1:]) - losses[0]) / variance
    np.testing.assert_allclose(result.values, rises.mean(axis=1), rtol=1e-9, atol=1e-12)
    error = rises.std(axis=1, ddof=1) / np.sqrt(seen.sum())
    np.testing.assert_allclose(result.standard_error, error, rtol=1e-9, atol=1e-12)
    explained = 1 - losses[0].mean() / variance
    assert np.isclose(result.metadata["sobol_mda"]["r_squared"], explained)


def test_threads_and_parts_change_no_bit():
    X, y = problem("numbers", n=200)
    model = dm.RandomForestRegressor(40, random_state=0).fit(X, y)
    first = sobol_mda(model, X, y, n_jobs=1)
    assert first.equals(sobol_mda(model, X, y, n_jobs=2))
    record = catalogue["sobol_mda"]
    from duramen.importances import Inputs

    data = dm.learning_set(X, y)
    sums = record.compute(Inputs(model.forest_, data))
    for start in (0, 7, 30):
        sums.add(model.forest_.part(start, {0: 7, 7: 30, 30: 40}[start]))
    np.testing.assert_array_equal(sums.importances().values, first.values)


@pytest.mark.slow
def test_forests_converge_to_the_exact_index_of_a_finite_distribution():
    # Dependent features of which every combination occurs: trees of a table that lacks some of
    # them need not tell apart what only the ignored feature does.
    random = np.random.default_rng(1)
    X = np.array(list(product(range(3), repeat=4)), dtype=float)
    y = X[:, 0] + 2.0 * X[:, 1] * X[:, 2] + (X[:, 3] == 2)
    weights = random.uniform(0.2, 1.0, len(X)) * np.exp(-((X[:, 1] - X[:, 2]) ** 2) / 3)
    dist = dm.theory.FiniteDistribution.from_table(X, y, weights=weights)
    exact = dm.theory.total_sobol_indices(dist)
    sample = dist.sample(3000, 0)
    table = sample.X.astype(float)
    model = dm.RandomForestRegressor(100, max_features=None, random_state=0).fit(table, sample.y)
    assert np.abs(sobol_mda(model, table, sample.y).values - exact.values).max() < 0.02


def paper(n, seed):
    """Section 4 of Bénard et al. (2022): products of two pairs, switched by the sign of x2."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    for a, b, r in ((0, 1, 0.9), (3, 4, 0.6)):
        X[:, b] = r * X[:, a] + np.sqrt(1 - r**2) * X[:, b]
    signal = np.where(X[:, 2] > 0, 1.5 * X[:, 0] * X[:, 1], X[:, 3] * X[:, 4])
    squares = 1.5**2 * (1 + 2 * 0.81), 1 + 2 * 0.36
    variance = sum(squares) / 2 - ((1.5 * 0.9 + 0.6) / 2) ** 2
    exact = np.array(
        [
            *[0.5 * 1.5**2 * (1 - 0.81)] * 2,
            0.25 * (sum(squares) - 2 * 1.5 * 0.9 * 0.6),
            *[0.5 * (1 - 0.36)] * 2,
        ]
    )
    y = signal + random.normal(size=n) * np.sqrt(variance / 9)
    return X, y, exact / (variance / 0.9)


@pytest.mark.slow
def test_the_analytic_example_of_the_paper():
    """The error is that of the rows: of 100 trees .017, of 300 trees .018."""
    values = []
    for seed in range(3):
        X, y, exact = paper(3000, seed)
        model = dm.RandomForestRegressor(
            100, max_features=None, min_samples_leaf=5, random_state=seed
        )
        values.append(sobol_mda(model.fit(X, y), X, y).values)
    assert np.abs(np.mean(values, axis=0) - exact).max() < 0.02


def test_an_unused_feature_has_exactly_nothing():
    X, y = problem("numbers")
    X = np.column_stack([X, np.ones(len(y))])
    model = dm.RandomForestRegressor(20, random_state=0).fit(X, y)
    result = sobol_mda(model, X, y)
    assert result.values[3] == 0.0
    assert result.standard_error[3] == 0.0


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_weights_that_the_forest_was_not_grown_with_are_refused(task):
    X, y = problem(task)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    kind = dm.RandomForestClassifier if task == "classes" else dm.RandomForestRegressor
    model = kind(10, random_state=0).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="weights of the rows must be those"):
        sobol_mda(model, X, y)


def test_class_weights_are_those_of_the_rows():
    X, y = problem("classes")
    weights = len(y) / (3 * np.bincount(y)[y])
    settings = {"max_features": 2, "random_state": 0}
    by_class = dm.RandomForestClassifier(20, class_weight="balanced", **settings).fit(X, y)
    data = dm.learning_set(X, y, sample_weight=weights)
    by_row = sobol_mda(dm.RandomForestClassifier(20, **settings).fit(data), data)
    np.testing.assert_allclose(sobol_mda(by_class, X, y).values, by_row.values, atol=1e-9)
    per_bag = dm.RandomForestClassifier(20, class_weight="balanced_subsample", **settings)
    # Ignoring a feature that no tree uses keeps all predictions, and so their weights.
    X = np.column_stack([X, np.ones(len(y))])
    per_bag.fit(X, y)
    everything = sobol_mda(per_bag, X, y, feature_groups={"all": [0, 1, 2]})
    responses = np.eye(3)[y]
    sums, counts = np.zeros((len(y), 3)), np.zeros(len(y))
    for t in range(20):
        drawn = bag(per_bag.forest_, t)
        present = np.bincount(y, drawn, 3) > 0
        sums[drawn == 0] += present / present.sum()  # at the root all classes weigh the same
        counts += drawn == 0
    seen = counts > 0
    after = sums[seen] / counts[seen, np.newaxis]
    truth, facts = responses[seen], everything.metadata["sobol_mda"]
    error = ((after - truth) ** 2).sum(axis=1).mean() / facts["variance"]
    assert np.isclose(everything.values[0], error - (1 - facts["r_squared"]))


def test_rows_are_needed_and_must_leave_some_out():
    X, y = problem("classes")
    with pytest.raises(TypeError, match="X is missing"):
        sobol_mda(dm.RandomForestClassifier(5, random_state=0).fit(X, y))
    with pytest.raises(ValueError, match="leave rows out"):
        sobol_mda(dm.ExtraTreesClassifier(5, random_state=0).fit(X, y), X, y)
