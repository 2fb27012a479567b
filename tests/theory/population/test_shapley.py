"""Shapley effects by brute force, and the two identities with MDI and MDA."""

from itertools import product

import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles import local as shapley
from tests.theory.tables import distribution, random_rows

from duramen.theory import (
    FiniteDistribution,
    examples,
    population_importances,
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


@one_test
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(67))
def test_brute_force_over_subsets(seed, criterion):
    rows = drawn(seed)
    dist = distribution(rows)
    p = dist.n_features

    def worth(members):
        masses = {}
        for x, y, mass in rows:
            masses.setdefault(tuple(x[j] for j in members), {}).setdefault(y, []).append(mass)
        total = sum(mass for *_, mass in rows)
        of_cells = ({y: sum(parts) for y, parts in cell.items()} for cell in masses.values())
        return -sum(
            sum(cell.values()) / total * shapley.impurity(cell, criterion) for cell in of_cells
        )

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


def test_wrong_arguments():
    with pytest.raises(TypeError, match="shapley_effects: dist must be a FiniteDistribution"):
        shapley_effects([[0, 1]])
    with pytest.raises(ValueError, match="shapley_effects: criterion must be one of"):
        shapley_effects(examples.xor(), criterion="mse")
