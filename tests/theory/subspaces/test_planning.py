import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.grid import one_test

from duramen.theory import expected_trees, search_plan
from duramen.theory.subspaces import draws_needed, simulate
from duramen.theory.subspaces.planning import chance_of_the_best

ROWS = 1000
# 24 bytes a row, 41 a node of the largest tree and 8 a class and leaf.
OVERHEAD = ROWS * 24 + (2 * ROWS - 1) * 41 + ROWS * 2 * 8


def memory_for(features, bytes_per_value=1):
    return OVERHEAD + features * ROWS * bytes_per_value


def planned(features, p, relevant, **more):
    return search_plan(
        n_rows=ROWS, n_features=p, memory=memory_for(features), relevant=relevant, **more
    )


# --- what is advised ------------------------------------------------------------------------------


def test_memory_gives_the_subspace():
    assert planned(300, 5000, {0: 3}).subspace == 300
    below = search_plan(n_rows=ROWS, n_features=5000, memory=memory_for(300) - 1, relevant={0: 3})
    assert below.subspace == 299
    asked = {"n_rows": ROWS, "n_features": 5000, "relevant": {0: 3}}
    sizes = [search_plan(memory=size, **asked).memory for size in ("1.5MB", 1_500_000, "1MiB")]
    assert sizes == [1_500_000, 1_500_000, 2**20]
    wide = search_plan(
        n_rows=ROWS, n_features=5000, memory=memory_for(300), relevant={0: 3}, bytes_per_value=4
    )
    assert wide.subspace == 75
    assert wide.overhead == OVERHEAD
    assert wide.bytes_per_feature == 4 * ROWS


def test_marginal_features_ask_for_plain_subspaces():
    advice = planned(100, 5000, {0: 60})
    assert advice.keep == 0.0
    rs, half, srs = advice.options
    assert rs.trees < half.trees <= srs.trees
    setting = {"n_features": 5000, "subspace": 100, "n_relevant": 60}
    assert srs.marginal_trees == expected_trees("marginal", **setting, keep=1)
    assert rs.chances == {0: 0.02}
    assert srs.chances[0] == pytest.approx((100 - 59) / (5000 - 59))


def test_chains_ask_for_features_to_be_kept():
    advice = planned(100, 5000, {0: 1, 1: 1, 2: 1, 3: 1})
    assert advice.keep > 0
    rs, _, srs = advice.options
    assert rs.trees > 1000 * srs.trees
    setting = {"n_features": 5000, "subspace": 100, "n_relevant": 4}
    assert srs.chain_trees == expected_trees("chain", **setting, keep=1)
    assert rs.chances[3] == pytest.approx(math.comb(4996, 96) / math.comb(5000, 100))


def test_exclusive_or_asks_for_features_to_be_kept():
    advice = planned(100, 2000, {1: 2})
    assert advice.keep > 0
    assert any("cliques" in reason for reason in advice.reasons)
    rs, half, _ = advice.options
    assert half.trees < rs.trees
    assert half.chain_trees < rs.chain_trees


def test_more_relevant_features_than_places_leave_room():
    advice = planned(20, 2000, {0: 30, 1: 2})
    assert advice.keep < 1
    assert advice.options[-1].trees == math.inf
    assert any("do not all fit into one tree" in reason for reason in advice.reasons)


def test_everything_fits():
    advice = planned(500, 200, {0: 3, 1: 1})
    assert (advice.subspace, advice.keep, advice.n_trees) == (200, 0.0, 1)
    assert "All 200 features fit into memory" in advice.reasons[0]


def test_coupon_collector_bound():
    advice = planned(100, 5000, {0: 3}, risk=0.01)
    best = advice.options[0]
    assert best.trees_to_see == draws_needed(5000, 100, 0.01)
    assert best.trees_to_find < best.trees_to_see == advice.n_trees
    assert advice.options[2].trees_to_see == draws_needed(4997, 97, 0.01)


# --- the advice holds -----------------------------------------------------------------------------


def nested(relevant):
    """Conditionings of these degrees: a feature of degree k needs the first k features."""
    degrees = [k for k, number in sorted(relevant.items()) for _ in range(number)]
    return [[set(range(k))] for k in degrees]


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("keep", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "relevant, needs",
    [
        ({0: 2, 1: 3}, nested({0: 2, 1: 3})),
        ({0: 1, 1: 1, 2: 2}, nested({0: 1, 1: 1, 2: 2})),
        ({0: 9}, nested({0: 9})),
        ({1: 2}, [[{1}], [{0}]]),
        ({0: 3, 1: 4}, nested({0: 3, 1: 4})),
        ({2: 3, 0: 1}, [[()], [{2, 3}], [{1, 3}], [{1, 2}]]),
    ],
)
def test_trees_advised_find_all(relevant, needs, keep):
    p, q, risk = 40, 12, 0.1
    advice = planned(q, p, relevant, risk=risk, keep=[keep])
    n_trees = int(advice.options[0].trees_to_find)
    result = simulate(
        needs, n_features=p, subspace=q, keep=keep, n_trees=n_trees, n_repeats=1000,
        random_state=0,
    )  # fmt: skip
    missed = np.mean(np.any(result.found_at > n_trees, axis=1))
    assert missed < risk + 3 * math.sqrt(risk * (1 - risk) / 1000)
    # Nor is it far more than needed.
    early = np.mean(np.all(result.found_at <= n_trees / 8, axis=1))
    assert early < 0.9


@pytest.mark.slow
@given(
    st.integers(5, 60),
    st.integers(60, 2000),
    st.dictionaries(st.integers(0, 3), st.integers(1, 5), min_size=1),
    st.floats(0.001, 0.5),
)
@settings(max_examples=60)
def test_advice_is_consistent(q, p, relevant, risk):
    if max(relevant) >= sum(relevant.values()):
        return
    advice = planned(q, p, relevant, risk=risk)
    assert advice.subspace == q
    best = min(advice.options, key=lambda option: option.trees)
    assert advice.n_trees == best.trees
    assert advice.n_relevant == sum(relevant.values())
    for option in advice.options:
        assert option.places <= option.keep * q
        assert all(0 <= chance <= 1 for chance in option.chances.values())
        assert option.trees == max(option.trees_to_find, option.trees_to_see)
    more = search_plan(
        n_rows=ROWS, n_features=p, memory=memory_for(q + 3), relevant=relevant, risk=risk
    )
    assert more.options[0].trees <= advice.options[0].trees
    safer = planned(q, p, relevant, risk=risk / 2)
    assert safer.n_trees >= advice.n_trees


# --- the result -----------------------------------------------------------------------------------


def test_plan_prints_and_converts_itself():
    advice = planned(20, 2000, {0: 30, 1: 2})
    assert repr(advice).startswith(f"Plan: at least {advice.n_trees:,} trees on 20 of 2000")
    assert all(words in repr(advice) for words in advice.reasons + advice.cautions)
    plain = json.loads(json.dumps(advice.to_dict(), allow_nan=False))
    assert (plain["subspace"], plain["relevant"]) == (20, {"0": 30, "1": 2})
    assert plain["options"][-1]["trees"] is None
    assert (plain["reasons"], plain["cautions"]) == (list(advice.reasons), list(advice.cautions))
    assert plain["options"][0]["chances"].keys() == {"0", "1"}
    assert pickle.loads(pickle.dumps(advice)) == advice


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_chance_of_the_best_irrelevant_feature(n_classes):
    random = np.random.default_rng(0)
    n, q, n_tables = 400, 100, 60
    best = []
    for _ in range(n_tables):
        X = random.integers(0, 2, (n, q))
        if n_classes == 1:
            y = random.normal(size=n)
            best.append(max(np.corrcoef(x, y)[0, 1] ** 2 for x in X.T))
            continue
        y = random.integers(0, n_classes, n)
        indicator = (y[:, np.newaxis] == np.arange(n_classes)).astype(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            joint = np.stack([(1 - X).T @ indicator, X.T @ indicator], axis=1) / n
            expected = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
            best.append(np.nansum(joint * np.log2(joint / expected), axis=(1, 2)).max())
    said = chance_of_the_best(n, q, n_classes)
    # The bound of Bonferroni is a little above the median.
    assert 0.8 < np.median(best) / said < 1.1


# --- errors ---------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "changes, message",
    [
        ({"memory": 1000}, rf"memory must be at least {memory_for(2)} bytes .* of degree 1 with"),
        ({"memory": "much"}, "memory must be an int >= 1, got 'much'.*such as '512MB'"),
        ({"memory": memory_for(1)}, "of degree 1 with its 1 companion"),
        ({"relevant": {}}, "relevant must be a mapping of degrees"),
        ({"relevant": [3]}, "relevant must be a mapping"),
        ({"relevant": {0: 501}}, "and at most 500, got"),
        ({"relevant": {0: 1, 2: 1}}, "at least 3 features if one has degree 2"),
        ({"bytes_per_value": 3}, "bytes_per_value must be 1, 2 or 4"),
    ],
)
def test_clear_errors(changes, message):
    setting = {
        "n_rows": ROWS,
        "n_features": 500,
        "memory": memory_for(50),
        "relevant": {0: 3, 1: 1},
    }
    with pytest.raises(ValueError, match=message):
        search_plan(**(setting | changes))
