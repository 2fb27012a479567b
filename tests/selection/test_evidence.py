"""Counts and sums over trees."""

import numpy as np

from duramen.selection.subspace_search import Evidence, Outcome

NONE = np.zeros(0)


def outcome(columns, values, probes=NONE, excess=NONE):
    parts = (np.asarray(part, dtype=float) for part in (values, probes, excess))
    return Outcome(np.array(columns), *parts, arrays={})


def nothing_found(p):
    return np.zeros(p, dtype=bool)


def test_by_hand_with_probes():
    evidence = Evidence(5)
    evidence.add(outcome([0, 2, 3], [0.3, 0.1, 0.0], probes=[0.1, 0.05]), nothing_found(5))
    evidence.add(outcome([0, 1, 2], [0.2, 0.0, 0.4], probes=[0.0, 0.3]), nothing_found(5))
    assert evidence.n_trees == 2
    assert evidence.drawn.tolist() == [2, 1, 2, 1, 0]
    assert evidence.wins.tolist() == [1, 0, 1, 0, 0]  # a tie with the best probe is no win
    np.testing.assert_allclose(evidence.total, [0.5, 0, 0.5, 0, 0])
    assert not evidence.compared.any()
    assert not evidence.excess.any()


def test_by_hand_with_decoys():
    """Features found before a tree are not compared by it, but its other results count."""
    evidence = Evidence(4)
    evidence.add(outcome([0, 1, 3], [0.3, 0.1, 0.0], excess=[0.2, -0.1, 0.0]), nothing_found(4))
    result = np.array([True, False, False, False])
    evidence.add(outcome([0, 1, 2], [0.5, 0.4, 0.1], excess=[-0.1, 0.3, 0.0]), result)
    assert evidence.drawn.tolist() == [2, 2, 1, 1]
    assert evidence.compared.tolist() == [1, 2, 1, 1]
    np.testing.assert_allclose(evidence.excess, [0.2, 0.2, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(evidence.total, [0.8, 0.5, 0.1, 0.0])
    assert not evidence.wins.any()
    assert result.tolist() == [True, False, False, False]


def test_advantage_by_hand():
    evidence = Evidence(4)
    evidence.compared[:], evidence.excess[:] = [0, 5, 15, 2], [0.0, 1.0, -2.0, 3.0]
    np.testing.assert_allclose(evidence.advantage(), [0, 0.1, -0.1, 0])  # two trees are too few
    np.testing.assert_allclose(evidence.advantage(np.array([2, 1])), [-0.1, 0.1])
    assert evidence.excess.tolist() == [0.0, 1.0, -2.0, 3.0]


def test_the_deepest_shortfall_of_all_trees_is_kept():
    """Sums -1, -2, -4, -3, +5 over 1 to 5 trees: below three trees nothing counts, then -4/8."""
    evidence = Evidence(2)
    for value, expected in ((-1, 0), (-1, 0), (-2, 4 / 8), (1, 4 / 8), (8, 4 / 8)):
        evidence.add(outcome([1], [0.0], excess=[value]), nothing_found(2))
        np.testing.assert_allclose(evidence.shortfall, [0, expected])
    evidence.add(outcome([1], [0.0], excess=[-100]), np.array([False, True]))  # found: no more
    np.testing.assert_allclose(evidence.shortfall, [0, 4 / 8])
