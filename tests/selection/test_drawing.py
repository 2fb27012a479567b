"""Subspaces: what they hold, and with which probabilities."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.grid import one_test
from tests.oracles.theory.subspaces import distribution_among_found, distribution_of_filling

from duramen.selection.subspace_search import among_found


@st.composite
def problems(draw):
    n_features = draw(st.integers(1, 30))
    size = draw(st.integers(1, n_features))
    result = draw(st.permutations(range(n_features)))[: draw(st.integers(0, n_features))]
    return n_features, size, result, draw(st.integers(0, size)), draw(st.integers(0, 10**6))


def is_subspace(drawn, n_features, size):
    assert drawn.dtype == np.int64
    assert drawn.shape == (size,)
    assert (np.diff(drawn) > 0).all()  # ascending and distinct
    assert drawn[0] >= 0
    assert drawn[-1] < n_features


@given(problems())
def test_a_subspace_holds_as_many_of_those_found_as_it_has_places_for(problem):
    n_features, size, result, places, seed = problem
    random = np.random.default_rng(seed)
    drawn = among_found(random, np.array(result, dtype=np.int64), n_features, size, places)
    is_subspace(drawn, n_features, size)
    assert np.isin(drawn, result).sum() >= min(places, len(result))
    if places == 0 and size == n_features:
        assert drawn.tolist() == list(range(n_features))


def p_value(draw, distribution, times):
    """Chi-square test of how often each subspace came against its probability."""
    random = np.random.default_rng(0)
    counts = Counter(frozenset(draw(random).tolist()) for _ in range(times))
    assert counts.keys() <= distribution.keys()
    subspaces = list(distribution)
    return chisquare(
        [counts[s] for s in subspaces], [times * distribution[s] for s in subspaces]
    ).pvalue


# Each of these tests has level 1/1000 (seed 0), and thousands of draws.
LEVEL = 1e-3


@one_test
@pytest.mark.parametrize("retained", [[], [0], [4, 1], [8, 0, 5], [3, 4, 5, 6]])
def test_what_fills_up_is_uniform(retained):
    retained = np.array(retained, dtype=np.int64)
    distribution = distribution_of_filling(retained.tolist(), 9, 5)
    assert (
        p_value(
            lambda random: among_found(random, retained, 9, 5, 5),
            distribution,
            40 * len(distribution),
        )
        > LEVEL
    )


@one_test
@pytest.mark.parametrize(
    ("result", "n_features", "size", "places"),
    [
        ([6, 1, 4], 7, 3, 2),
        ([6, 1, 4], 7, 3, 0),  # the random subspace method
        ([5, 2, 0, 3, 1], 6, 3, 3),  # more found than fit
        ([2], 6, 3, 3),
        ([], 6, 3, 3),
    ],
)
def test_distribution_among_those_found(result, n_features, size, places):
    distribution = distribution_among_found(result, n_features, size, places)
    result = np.array(result, dtype=np.int64)
    draw = lambda random: among_found(random, result, n_features, size, places)  # noqa: E731
    assert p_value(draw, distribution, 3000) > LEVEL
