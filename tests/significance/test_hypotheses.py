"""Groups of features first, then the members of those that are direct."""

import numpy as np
import pytest

from duramen.significance import conditional
from duramen.significance.hypotheses import YEKUTIELI, Hypotheses

NAMES = tuple("abcdef")
GROUPS = {"first": ["a", "b", "c"], "second": ["d", "e"]}


def by_steps(p_values, alpha):
    """The procedure in words: BH of the families, one after the other, at a level of the bound."""

    def discoveries(family, level):
        ordered = sorted(family, key=p_values.__getitem__)
        most = [k for k, j in enumerate(ordered, 1) if p_values[j] <= level * k / len(ordered)]
        return set(ordered[: max(most, default=0)])

    level = alpha / YEKUTIELI
    rejected = discoveries([0, 1, 7], level)  # two groups, and "f", which is in none
    for group, members in ((0, [2, 3, 4]), (1, [5, 6])):
        if group in rejected:
            rejected |= discoveries(members, level)
    return rejected


def test_q_values_are_those_of_the_procedure_step_by_step():
    hypotheses = Hypotheses.of(NAMES, GROUPS, True, "test")
    assert hypotheses.names == ("first", "second", *NAMES)
    assert hypotheses.single.tolist() == [2, 3, 4, 5, 6, 7]
    random = np.random.default_rng(0)
    counts = set()
    for _ in range(300):
        p_values = random.random(8) ** 4
        q_values = hypotheses.q_values(p_values)
        for alpha in (0.05, 0.1, 0.3):
            rejected = by_steps(p_values, alpha)
            assert set(np.flatnonzero(q_values <= alpha)) == rejected
            counts.add(len(rejected))
    assert counts >= {0, 1, 2, 3, 4, 5}


@pytest.mark.slow
def test_the_false_discovery_rate_of_the_tree_is_below_its_bound():
    groups = {f"g{k}": [f"x{5 * k + i}" for i in range(5)] for k in range(20)}
    hypotheses = Hypotheses.of(tuple(f"x{j}" for j in range(100)), groups, True, "test")
    random = np.random.default_rng(1)
    true = np.arange(120) >= 4  # groups 0 to 3 are direct, by their first member
    true[20 + 5 * np.arange(4)] = False
    rates = []
    for _ in range(1000):
        p_values = np.where(true, random.random(120), random.random(120) ** 8)
        rejected = hypotheses.q_values(p_values) <= 0.1
        rates.append((rejected & true).sum() / max(rejected.sum(), 1))
    assert 0.02 < np.mean(rates) <= 0.1


def test_trees_that_are_none_are_refused():
    for groups, message in (
        (None, "members must be False without feature_groups"),
        ({"a": ["b", "c"]}, "must not have the name of a feature that is tested too, got 'a'"),
        ({"g": ["a", "b"], "h": ["b", "c"]}, "must not overlap where members are tested, but 'b'"),
    ):
        with pytest.raises(ValueError, match=message):
            Hypotheses.of(NAMES, groups, True, "test")


def test_a_group_of_one_feature_is_that_feature():
    hypotheses = Hypotheses.of(NAMES, {"a": ["a"], "g": ["b", "c"]}, True, "test")
    assert hypotheses.names == ("g", *NAMES)
    assert hypotheses.parents.tolist() == [-1, -1, 0, 0, -1, -1, -1]


def near_copies(n=300, seed=0):
    """Ten near copies of a feature that matters, one that matters alone, and noise."""
    random = np.random.default_rng(seed)
    signal = random.normal(size=(n, 1))
    X = np.hstack([signal + 0.05 * random.normal(size=(n, 10)), random.normal(size=(n, 3))])
    return X, signal[:, 0] + X[:, 10] + random.normal(size=n)


@pytest.mark.slow
def test_a_group_is_direct_where_no_member_is():
    X, y = near_copies()
    copies = {"copies": list(range(10))}
    with pytest.warns(UserWarning, match="10 of 14 groups and features vary so little"):
        result = conditional(None, X, y, feature_groups=copies, members=True, random_state=0)
    verdicts = dict(zip(result.names, result.verdicts(), strict=True))
    assert verdicts["copies"] == verdicts["x10"] == "direct"
    assert result.verdicts()[1:11].count("direct") <= 1
    assert verdicts["x12"] != "direct"
    assert result.adjustment == "hierarchical"
    assert result.metadata["parents"] == [-1, *[0] * 10, -1, -1, -1]
    # The others tell little of the group, and each other nearly all of its members.
    assert result.details["explained"][0] < 0.2 < 0.9 < result.details["explained"][1]
    assert result.take([0]).q_values[0] == result.q_values[0]
