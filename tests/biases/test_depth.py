"""Claims of docs/biases/depth.md."""

import numpy as np
import pytest
from benchmarks.biases import depth

from duramen.theory import population_importances


def test_weights_of_sets_are_those_of_the_theory():
    dist = depth.mixed_degrees()
    terms = population_importances(dist).by_degree[0]  # X1: one bit, whatever is given
    assert np.allclose(terms, 1 / 7)
    rows = depth.weights(7).rows
    assert np.allclose([row[3] for row in rows], 1 / 7)


def test_a_feature_appears_at_the_depth_above_its_degree():
    rows = {row[0]: row[1:] for row in depth.seen_by_depth().rows}
    assert rows[1][1] == rows[1][2] == rows[2][2] == 0
    assert min(rows[2][1], rows[3][2]) > 0
    assert np.allclose(rows[7], [1, 1 / 2, 1 / 3, 0, 3])


def test_noise_gathers_in_deep_nodes():
    rows = np.array(depth.noise_by_degree(10, seed=1).rows, dtype=float)
    assert np.allclose(rows[:, 1], rows[0, 1])  # the same at each degree
    assert np.allclose(rows[:4, 3], rows[:4, 4], rtol=0.35)  # what chance has is known
    ratio = rows[:, 5]
    assert np.all(np.diff(ratio) < 0)
    assert ratio[0] > 10 * ratio[-1]


def test_separated_counts_pairs_in_order():
    assert depth.separated(np.array([3.0, 1.0, 2.0, 1.0]), 2) == 0.625


@pytest.mark.slow
def test_deep_trees_rank_noise_of_many_values_and_shallow_ones_miss_interactions():
    rows = {(row[0], row[1]): row[2:] for row in depth.found_by_depth(6, seed=1).rows}
    noise, mdi, oob, mda = range(4)
    for name in ("additive", "additive, relevant bits"):
        fractions = [rows[name, d][noise] for d in (1, 2, 3, 5, "full")]
        assert fractions == sorted(fractions)
    bits = "additive, relevant bits"
    assert rows[bits, "full"][mdi] < rows[bits, 1][mdi] - 0.2
    assert min(rows[bits, "full"][oob], rows[bits, "full"][mda]) > rows[bits, "full"][mdi] + 0.2
    assert rows["exclusive or", 1][mdi] < 0.7
    assert rows["exclusive or", 3][mdi] > 0.95
