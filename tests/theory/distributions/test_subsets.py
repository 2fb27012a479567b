from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from tests.grid import one_test
from tests.theory.dependences import distribution_of, joints

from duramen.theory import TARGET, FiniteDistribution
from duramen.theory.distributions import subsets
from duramen.theory.distributions.subsets import (
    conditional_entropies,
    gains,
    joint_entropies,
    layers,
)


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [0, 20, 1 << 16])
@settings(max_examples=60)
@given(joints())
def test_entropies(at_once, counts) -> None:
    dist = distribution_of(counts)
    p = dist.n_features
    lattice = layers(p, p)
    with mock.patch.object(subsets, "_AT_ONCE", at_once):
        result = conditional_entropies(dist.codes, dist.target, dist.weights, lattice)
        variables, joint = joint_entropies("test", dist)
    informations = gains(lattice, result)
    for layer, entropies, gained in zip(lattice, result, informations, strict=True):
        for row, entropy, fractions in zip(layer.members.tolist(), entropies, gained, strict=True):
            assert entropy == pytest.approx(dist.entropy(TARGET, row), abs=1e-12)
            for m, bits in zip(row, fractions, strict=True):
                rest = [j for j in row if j != m]
                assert bits == pytest.approx(dist.mutual_information(m, rest), abs=1e-12)
    for layer, entropies in zip(variables, joint, strict=True):
        for row, entropy in zip(layer.members.tolist(), entropies, strict=True):
            conditions = [TARGET if v == p else v for v in row]
            assert entropy == pytest.approx(dist.entropy(conditions), abs=1e-12)


@one_test
@pytest.mark.parametrize("at_once", [0, 300, 1 << 16])
@pytest.mark.parametrize("largest", [1, 2, 4])
def test_entropies_of_many_values_and_of_repeated_rows(largest, at_once) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 50, size=(80, 4)), rng.integers(0, 40, size=80)
    X[:, 1:3] //= 20
    dist = FiniteDistribution.from_table(X, y, context=rng.integers(0, 3, size=80))
    lattice = layers(4, largest)
    with mock.patch.object(subsets, "_AT_ONCE", at_once):
        result = conditional_entropies(dist.codes, dist.target, dist.weights, lattice)
    assert len(result) == largest + 1
    for layer, entropies in zip(lattice, result, strict=True):
        for row, entropy in zip(layer.members.tolist(), entropies, strict=True):
            assert entropy == pytest.approx(dist.entropy(TARGET, row), abs=1e-12)
