"""An offset of a target that is exact changes nothing but predictions, not in a single bit."""

import hashlib

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.effects import accumulated_local_effects
from duramen.forests import Forest
from duramen.importances import Inputs, catalogue

N = 50


def problem():
    random = np.random.default_rng(0)
    x = random.normal(size=N)
    X = np.column_stack([x, random.integers(0, 4, N), x.round(1), random.integers(0, 2, N)])
    y = np.rint(5 * x + 3 * X[:, 1] + 2 * random.normal(size=N))
    return X, y, random.uniform(0.5, 2, N)


X, Y, WEIGHTS = problem()
FORESTS = {
    "random forest": dm.RandomForestRegressor(20, oob_score=True, random_state=0),
    "pruned": dm.RandomForestRegressor(20, ccp_alpha=0.5, random_state=0),
    "extra trees": dm.ExtraTreesRegressor(20, random_state=0),
    "extra trees in bags": dm.ExtraTreesRegressor(20, bootstrap=True, random_state=0),
    "multiway": dm.TotallyRandomizedTreesRegressor(20, random_state=0),
}


def digest(*arrays):
    return hashlib.sha256(b"".join(np.asarray(a, float).tobytes() for a in arrays)).hexdigest()


def found_by(name, y, weights=None):
    """Digests of all that is computed from targets, by name."""
    model = FORESTS[name].fit(X, y, sample_weight=weights)
    forest = model.forest_
    results = {
        "trees": digest(forest.feature, forest.cut, forest.impurity, forest.leaf_values),
        "mdi": digest(dm.importances.mdi(model).values),
        "score": digest([model.score(X, y)]),
        "effects": digest(accumulated_local_effects(model, X, 0).values),
    }
    if not forest.settings.samples_rows:
        measured = dm.importances.mda(model, X, y, rows=None, random_state=0)
        return {**results, "mda": digest(measured.values, measured.standard_error)}
    if hasattr(model, "oob_score_"):
        results["oob"] = digest([model.oob_score_], model.oob_error_curve_)
    voted = dm.importances.mda(model, X, y, votes="ensemble", random_state=0)
    results["mda of the ensemble"] = digest(voted.values)
    data = dm.learning_set(X, y)
    for measure in ("mdi_oob", "mda", "noising", "conditional_mda"):
        results[measure] = digest(catalogue[measure](Inputs(model, data, 0)).values)
    return results


def assert_equal(result, expected, what):
    assert result == expected, (what, [name for name in result if result[name] != expected[name]])


def check_powers(name, weights, powers):
    expected = found_by(name, Y, weights)
    for k in powers:
        y = Y + (-1.0) ** k * 2.0**k
        assert_equal(found_by(name, y, weights), expected, k)


@one_test
@pytest.mark.parametrize("name", list(FORESTS))
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_powers_of_two_added_to_whole_numbers(name, weights):
    check_powers(name, weights, (6, 23, 52))


@one_test
@pytest.mark.parametrize("measure", ["air", "sandri", "holdout_mda"])
def test_measures_that_grow_forests_of_their_own(measure):
    model = dm.RandomForestRegressor(20, random_state=0)
    values = [
        catalogue[measure](Inputs(model.fit(X, y), dm.learning_set(X, y), 0))
        for y in (Y, Y + 2.0**40, Y - 2.0**52)
    ]
    assert len({digest(value.values) for value in values}) == 1


def test_networks_and_context():
    signals = np.column_stack([Y, X[:, 1], np.rint(10 * X[:, 0])])
    links = [
        dm.genie3(signals + offset, estimator=dm.RandomForestRegressor(8), random_state=0).weights
        for offset in (0.0, 2.0**30, -(2.0**52))
    ]
    assert len({digest(link) for link in links}) == 1
    context = np.where(np.arange(N) % 2, "a", "b")
    options = {"estimator": dm.TotallyRandomizedTreesRegressor(20), "n_permutations": 39}
    effects = [
        dm.contexts.context_importances(X, Y + offset, context, **options, random_state=0).signed
        for offset in (0.0, 2.0**45)
    ]
    assert len({digest(link) for link in effects}) == 1


def test_the_exact_theory():
    numbers = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    cells = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)])
    results = []
    for offset in (0, 2**30, -(2**50)):
        dist = dm.theory.FiniteDistribution.from_table(cells, numbers + offset)
        exact = [
            dm.theory.population_importances(dist, max_features=K, criterion="variance")
            for K in (1, 2, 3)
        ]
        exact.append(dm.theory.population_mda(dist, max_features=2, criterion="variance"))
        results.append(digest(*(result.values for result in exact)))
    assert len(set(results)) == 1


def test_predictions_move_by_the_offset(tmp_path):
    for name, model in FORESTS.items():
        before = model.fit(X, Y).predict(X)
        for offset in (2.0**20, -(2.0**52)):
            moved = model.fit(X, Y + offset)
            after = moved.predict(X)
            np.testing.assert_array_equal(after, model.forest_.origin + (before - np.sort(Y)[24]))
            path = tmp_path / f"{name}.npz"
            moved.forest_.save(path)
            assert Forest.load(path).origin == moved.forest_.origin == np.sort(Y)[24] + offset
    single = dm.ExtraTreesRegressor(1, random_state=0).fit(X, Y + 2.0**52)
    np.testing.assert_array_equal(single.predict(X), Y + 2.0**52)
    tree = single.forest_.tree(0)
    assert set(tree.values[:, 0]) <= set(Y + 2.0**52)


def test_ties_are_found_in_decimals_beside_an_offset():
    """Two columns that split alike tie, whatever rounding did to the numbers: each wins."""
    a = np.tile([0, 0, 1, 1], 6)
    b = np.tile([0, 1, 0, 1], 6)
    y = 0.1 * a + 0.1 * b + np.repeat(np.arange(6), 4) * 0.0
    for offset in (0.0, 293.15, 1e6 + 0.3):
        forest = dm.ExtraTreesRegressor(400, max_features=None, max_depth=1, random_state=0)
        fitted = forest.fit(np.column_stack([a, b]), y + offset).forest_
        first = fitted.feature[fitted.offsets[:-1]]
        assert 140 < np.count_nonzero(first == 0) < 260, offset
