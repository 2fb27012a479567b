"""Links between groups of variables."""

import numpy as np
import pytest
from scipy import sparse
from tests.grid import one_test

from duramen import Network
from duramen.networks import group_links

WEIGHTS = np.array(
    [
        [0, 1, 2, 3],
        [4, 0, 5, 6],
        [7, 8, 0, 9],
        [-1, -2, -3, 0.0],
    ]
)
NETWORK = Network(tuple("abcd"), WEIGHTS)
GROUPS = {"ab": ["a", "b"], "cd": [2, 3]}


@one_test
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ("sum", [[0, 16], [12, 0]]),  # 2 + 3 + 5 + 6; 7 + 8 - 1 - 2
        ("mean", [[0, 4], [3, 0]]),
        ("max", [[0, 6], [8, 0]]),
    ],
)
def test_by_hand(kind, how, wanted):
    result = group_links(Network(tuple("abcd"), kind(WEIGHTS)), GROUPS, how=how)
    assert result.names == ("ab", "cd")
    assert result.weights.tolist() == wanted
    assert result.measure == f"group {how} of weight"
    assert result.metadata["group"]["sizes"] == {"ab": 2, "cd": 2}
    labels = ["x", "x", "y", "y"]
    np.testing.assert_array_equal(group_links(NETWORK, labels, how=how).weights, wanted)


def test_single_regulators_and_a_group_of_targets():
    """Sums over the targets of each source, and of all sources for one group."""
    result = group_links(NETWORK, {"bcd": ["b", "c", "d"]}, rest="own")
    assert result.names == ("bcd", "a")
    assert result.weights.tolist() == [[0, 10], [6, 0]]
    assert group_links(NETWORK, {"a": ["a"], "b": ["b"]}).metadata["group"]["left_out"] == 2


def test_groups_that_overlap():
    """A variable of both groups is no source of itself: a to b, a to c, b to c; mean of three."""
    groups = {"ab": ["a", "b"], "bc": ["b", "c"]}
    assert group_links(NETWORK, groups).weights[0, 1] == 1 + 2 + 5
    assert group_links(NETWORK, groups, how="mean").weights[0, 1] == pytest.approx(8 / 3)
    assert group_links(NETWORK, groups, how="max").weights[0, 1] == 5


def test_candidates_alone_count():
    sources, targets = np.array([1, 1, 0, 0], bool), np.array([0, 1, 1, 0], bool)
    network = Network(tuple("abcd"), WEIGHTS * np.outer(sources, targets), sources, targets)
    groups = {"ab": ["a", "b"], "c": ["c"], "d": ["d"]}
    result = group_links(network, groups, how="mean")
    assert result.sources.tolist() == [True, False, False]
    assert result.targets.tolist() == [True, True, False]
    assert result.weights[0].tolist() == [0, (2 + 5) / 2, 0]
    assert not group_links(network, groups, how="max").weights[1:].any()


def test_all_groups_of_one_are_the_network():
    result = group_links(NETWORK, {name: [name] for name in NETWORK.names})
    np.testing.assert_array_equal(result.weights, NETWORK.weights)


@one_test
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"network": WEIGHTS}, TypeError, "network must be a Network, got ndarray"),
        ({"feature_groups": ["x"]}, ValueError, "one label per feature"),
        ({"how": "median"}, ValueError, "how must be one of"),
        ({"names": ["x"]}, ValueError, "names must be None"),
    ],
)
def test_refuses(options, error, message):
    with pytest.raises(error, match=f"group_links: .*{message}"):
        group_links(**{"network": NETWORK, "feature_groups": GROUPS} | options)
