"""Shapley effects by brute force, and the two identities with MDI and MDA."""

from itertools import combinations, product

import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles import local as shapley
from tests.theory.tables import distribution, random_rows

import duramen as dm
from duramen.theory import (
    FiniteDistribution,
    examples,
    population_importances,
    population_interactions,
    population_mda,
    shapley_effects,
)
from duramen.theory.population import last_level_importances

CRITERIA = ("entropy", "gini", "variance")


def drawn(seed):
    """Random rows of random weights, of 1 to 4 features."""
    random = np.random.default_rng(seed)
    n, p = int(random.integers(2, 13)), int(random.integers(1, 5))
    rows = random_rows(random, n, p, 3, 3)
    return [(x, y, float(w)) for (x, y, _), w in zip(rows, random.integers(1, 9, n), strict=True)]


def worth_of(rows, criterion):
    """Negative impurity of Y given a set of features, by its definition."""
    total = sum(mass for *_, mass in rows)

    def worth(members):
        cells = {}
        for x, y, mass in rows:
            cell = cells.setdefault(tuple(x[j] for j in members), {})
            cell[y] = cell.get(y, 0.0) + mass
        return -sum(
            sum(cell.values()) / total * shapley.impurity(cell, criterion)
            for cell in cells.values()
        )

    return worth


@one_test
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(67))
def test_brute_force_over_subsets(seed, criterion):
    rows = drawn(seed)
    dist = distribution(rows)
    p = dist.n_features

    worth = worth_of(rows, criterion)
    result = shapley_effects(dist, criterion=criterion)
    np.testing.assert_allclose(result.values, shapley.shapley(p, worth), atol=1e-12)
    everything = worth(range(p)) - worth(())
    assert result.values.sum() == pytest.approx(everything, abs=1e-12)
    same = population_importances(dist, criterion=criterion)
    np.testing.assert_array_equal(result.values, same.values)
    assert (result.measure, result.unit) == ("shapley effect", same.unit)


def independent(seed):
    """Independent features, and a numeric Y that depends on them and on noise."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 4, 3)
    margins = [random.dirichlet(np.ones(size)) for size in sizes]
    f = random.integers(-3, 4, sizes)
    X, y, weights = [], [], []
    for cell in product(*map(range, sizes)):
        mass = np.prod([margin[x] for margin, x in zip(margins, cell, strict=True)])
        for noise, part in ((-1, 0.25), (0, 0.5), (2, 0.25)):
            X.append(cell)
            y.append(int(f[cell]) + noise)
            weights.append(mass * part)
    return FiniteDistribution.from_table(np.array(X), y, weights=weights)


@one_test
@pytest.mark.parametrize("seed", range(30))
def test_mda_is_twice_the_total_sobol_index_of_independent_features(seed):
    dist = independent(seed)
    total = last_level_importances(dist, criterion="variance")
    mda = population_mda(dist, criterion="variance")
    np.testing.assert_allclose(mda.values, 2 * total.values, atol=1e-10)


def test_it_is_not_where_features_depend_on_each_other():
    dist = FiniteDistribution.from_table([[0, 0], [1, 1]], [0, 1])
    total = last_level_importances(dist, criterion="variance")
    assert total.values.tolist() == [0.0, 0.0]
    assert population_mda(dist, criterion="variance").values.min() > 0.1


# --- interactions --------------------------------------------------------------------------------


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(67))
def test_interactions_by_brute_force(seed, criterion):
    rows = drawn(seed)
    dist = distribution(rows)
    p = dist.n_features
    result = population_interactions(dist, criterion=criterion)
    worth = worth_of(rows, criterion)
    for m, j in combinations(range(p), 2):
        wanted = shapley.interaction(p, worth, m, j)
        assert result.values[m, j] == pytest.approx(wanted, abs=1e-12)
    assert result.values.shape == (p, p)
    if p > 1:  # those of a feature add up to its last importance less its first
        last = last_level_importances(dist, criterion=criterion).values
        first = [dist.impurity_decrease(m, criterion=criterion) for m in dist.names]
        np.testing.assert_allclose(result.values.sum(axis=1), last - first, atol=1e-12)


def test_known_interactions():
    xor = population_interactions(examples.xor())
    assert xor["X1", "X2"] == pytest.approx(1.0, abs=1e-12)
    noisy = population_interactions(examples.noisy_copy(0.05))
    # X3 alone tells I = 1 - H(.05) bits: it is redundant by half of that with each of the others.
    half = (1 + 0.05 * np.log2(0.05) + 0.95 * np.log2(0.95)) / 2
    assert noisy["X1", "X2"] == pytest.approx(1 - half, abs=1e-12)
    assert noisy["X1", "X3"] == noisy["X3", "X2"] == pytest.approx(-half, abs=1e-12)
    clique = population_interactions(examples.clique(3))
    np.testing.assert_allclose(clique.values, 0.5 * (1 - np.eye(3)), atol=1e-12)
    copies = FiniteDistribution.from_table([[0, 0], [1, 1]], [0, 1])
    assert population_interactions(copies).values[0, 1] == pytest.approx(-1.0, abs=1e-12)


@pytest.mark.slow
def test_forests_of_10000_trees_converge():
    digits, tumor = dm.datasets.digits7(), dm.datasets.load_primary_tumor()
    findings = tumor.X.drop_columns("sex").to_pandas().dropna()
    for X, y in ((dm.encode(findings), tumor.y[findings.index]), (digits.X, digits.y)):
        exact = population_interactions(FiniteDistribution.from_table(X, y))
        forest = dm.TotallyRandomizedTreesClassifier(10_000, random_state=0).fit(X, y)
        pairs = dm.importances.interactions(forest, X)
        first, second = np.triu_indices(len(pairs.names), 1)
        error = pairs.standard_error[first, second]
        z = np.abs(pairs.values - exact.values)[first, second] / error
        assert z.max() < 3.5
        assert 0.4 < np.mean(z**2) < 1.6
        assert pairs.notes == ()


def test_wrong_arguments():
    for function in (population_interactions, shapley_effects):
        with pytest.raises(TypeError, match=f"{function.__name__}: dist must be a Finite"):
            function([[0, 1]])
        with pytest.raises(ValueError, match=f"{function.__name__}: criterion must be one of"):
            function(examples.xor(), criterion="mse")
    with pytest.raises(ValueError, match="numeric"):
        population_interactions(
            FiniteDistribution.from_table([[0], [1]], ["a", "b"]), criterion="variance"
        )
