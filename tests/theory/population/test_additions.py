"""Copies and irrelevant features: closed forms against literally adding them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.theory import population as oracle
from tests.theory.tables import distribution, tables

from duramen.theory import examples, population_importances
from duramen.theory.population import redundant_importances

CRITERIA = ("entropy", "gini", "variance")


@given(
    rows=tables(most=4, n_rows=10),
    copies=st.integers(0, 3),
    criterion=st.sampled_from(CRITERIA),
    data=st.data(),
)
@settings(max_examples=40)
def test_copies_against_adding_them(rows, copies, criterion, data):
    """Thesis, propositions 5.9 (one copy, the feature), 5.10 (one copy, others) and 5.11."""
    p = len(rows[0][0])
    j = data.draw(st.integers(0, p - 1))
    depth = data.draw(st.none() | st.integers(1, p + copies))
    longer = distribution(oracle.with_copies(rows, j, copies))
    wanted = population_importances(longer, max_depth=depth, criterion=criterion)
    result = redundant_importances(
        distribution(rows), j, copies=copies, max_depth=depth, criterion=criterion
    )
    np.testing.assert_allclose(result.by_degree, wanted.by_degree, rtol=0, atol=1e-12)
    assert result.unit == wanted.unit


def test_the_factor_of_proposition_5_9():
    # Each term of degree k is multiplied by (p - k) / (p + 1).
    dist = examples.digits7()
    plain = population_importances(dist).by_degree[3]
    result = redundant_importances(dist, "X4", copies=1).by_degree[3]
    factor = (7 - np.arange(7)) / 8
    np.testing.assert_allclose(result[:7], factor * plain, rtol=1e-13)
    assert result[7] == 0


def test_a_copy_raises_some_features_and_lowers_others():
    # Proposition 5.10: information given X_j gains weight, information without it loses.
    exclusive_or = redundant_importances(examples.xor(), "X1", copies=3)
    plain = population_importances(examples.xor())
    assert exclusive_or["X2"] > plain["X2"]
    digits = redundant_importances(examples.digits7(), "X2", copies=1)
    assert digits["X6"] < population_importances(examples.digits7())["X6"]


def test_clear_errors():
    with pytest.raises(ValueError, match="redundant_importances: copies must be an int >= 0"):
        redundant_importances(examples.xor(), 0, copies=-1)
    with pytest.raises(TypeError, match="dist must be a FiniteDistribution"):
        redundant_importances(np.zeros((2, 2)), 0)
