"""Whatever the table and the settings: sound trees, right leaves, sums that add up."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import route as oracle

from duramen import estimators
from duramen.data.encoding import routing_values
from duramen.forests.growth import bag
from duramen.forests.structure import child_counts, decreases

KINDS = {
    "classes": [
        estimators.RandomForestClassifier,
        estimators.ExtraTreesClassifier,
        estimators.TotallyRandomizedTreesClassifier,
        estimators.RandomSubspaceClassifier,
        estimators.RandomPatchesClassifier,
        estimators.PERTClassifier,
    ],
    "numbers": [
        estimators.RandomForestRegressor,
        estimators.ExtraTreesRegressor,
        estimators.TotallyRandomizedTreesRegressor,
        estimators.RandomPatchesRegressor,
    ],
}
FLOATS = st.floats(-1e300, 1e300, allow_nan=False)
TIES = st.sampled_from([0.0, -0.0, 1.0, np.nextafter(1, 2), 2.5, 1e-308, -3.0])
LABELS = st.sampled_from(["a", "b", "c", "d", None])


def column(n):
    def of(values):
        return st.lists(values, min_size=n, max_size=n)

    return st.one_of(
        of(FLOATS),
        of(TIES),
        of(st.one_of(TIES, st.just(np.nan))),
        of(st.just(np.nan)),
        of(st.integers(-3, 300)),
        of(st.booleans()),
        of(LABELS).map(lambda v: pd.Series(v, dtype="object")),
        of(st.integers(0, 3)).map(
            lambda v: pd.Categorical.from_codes(v, list("SMLX"), ordered=True)
        ),
        of(st.integers(-1, 3)).map(lambda v: pd.Categorical.from_codes(v, list("SMLX"))),
    )


@st.composite
def problems(draw):
    n = draw(st.integers(1, 40))
    p = draw(st.integers(1, 5))
    X = pd.DataFrame({f"c{j}": draw(column(n)) for j in range(p)})
    if draw(st.booleans()):
        task, y = "classes", draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    else:
        # Numbers that differ, but all by less than 1e-70, are refused.
        floats = st.floats(-1e6, 1e6).filter(lambda v: v == 0 or abs(v) > 1e-60)
        values = st.one_of(floats, st.integers(-2, 2))
        task, y = "numbers", draw(st.lists(values, min_size=n, max_size=n))
    kind = draw(st.sampled_from(KINDS[task]))
    parameters = {
        "n_estimators": draw(st.integers(1, 3)),
        "random_state": draw(st.integers(0, 2**31)),
        "max_depth": draw(st.sampled_from([None, None, 1, 3])),
        "min_samples_leaf": draw(st.sampled_from([1, 1, 2, 5])),
        "min_samples_split": draw(st.sampled_from([2, 2, 6])),
        "bootstrap": draw(st.booleans()),
        "max_samples": draw(st.sampled_from([None, None, 0.6])),
    }
    names_of_parameters = kind().get_params()
    if "splits" in names_of_parameters:
        more = {
            "splits": draw(st.sampled_from(["ordered", "multiway", "one-vs-rest", "any"])),
            "max_features": draw(st.sampled_from([None, 1, 0.5, "sqrt"])),
            "max_leaf_nodes": draw(st.sampled_from([None, None, None, 4])),
            "stop_alpha": draw(st.sampled_from([None, None, 0.3])),
            "min_impurity_decrease": draw(st.sampled_from([0.0, 0.0, 0.01])),
            "min_impurity_split": draw(st.sampled_from([0.0, 0.0, 0.05])),
            "ccp_alpha": draw(st.sampled_from([0.0, 0.0, 0.02])),
            "feature_first": draw(st.booleans()),
            "count_constant_features": draw(st.booleans()),
        }
        if more["splits"] != "multiway":
            more["n_best_splits"] = draw(st.sampled_from([1, 1, 3]))
        if more["stop_alpha"] is not None:
            more["stop_permutations"] = draw(st.sampled_from([None, 9]))
        if kind.__name__.startswith("TotallyRandomizedTrees"):
            more["max_features"] = 1  # more of them are Extra-Trees, with a warning
        parameters |= {name: value for name, value in more.items() if name in names_of_parameters}
    if task == "classes":
        parameters |= {
            "criterion": draw(st.sampled_from(["gini", "entropy"])),
            "class_weight": draw(st.sampled_from([None, None, "balanced", "balanced_subsample"])),
        }
        y = list(np.array(y) % 2)  # the best bipartition of many codes is sought for two classes
    weights = draw(
        st.one_of(
            st.none(),
            st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.3]), min_size=n, max_size=n).filter(any),
        )
    )
    return X, y, weights, kind(**parameters)


@pytest.mark.slow
@given(problems())
def test_any_forest_is_sound(problem):
    X, y, weights, estimator = problem
    estimator.fit(X, y, sample_weight=weights)
    forest = estimator.forest_
    forest.check()

    values = routing_values(forest.schema, X)
    schema = {
        "kinds": forest.schema.kinds,
        "value_offsets": forest.schema.value_offsets,
        "cut_values": forest.schema.cut_values,
        "missing": forest.schema.missing,
    }
    leaves = estimator.apply(X)
    np.testing.assert_array_equal(leaves, oracle.leaves_of(forest.arrays(), schema, values))

    weighted = np.ones(len(X)) if weights is None else np.array(weights)
    plain = estimator.get_params().get("class_weight") is None
    indicator, offsets = estimator.decision_path(X)
    for t, tree in enumerate(forest):
        drawn = bag(forest, t) * (weighted > 0)
        passes = indicator[:, offsets[t] : offsets[t + 1]].toarray().T
        np.testing.assert_array_equal(tree.rows, (passes * (drawn > 0)).sum(axis=1))
        if plain:
            expected = passes @ (drawn * weighted)  # up to a factor: ratios of whole numbers
            scale = tree.weight[0] / expected[0] if expected[0] else 1.0
            np.testing.assert_allclose(tree.weight, scale * expected, rtol=1e-9)

    scale = max(1.0, float(forest.impurity.max(initial=0)))
    fall = decreases(forest)
    assert (fall >= -1e-9 * scale).all()
    roots = forest.offsets[:-1]
    trees = np.repeat(np.arange(forest.n_trees), np.diff(forest.offsets))
    fraction = forest.weight / np.where(forest.weight[roots] > 0, forest.weight[roots], 1)[trees]
    used = np.zeros(forest.n_features)
    np.add.at(used, forest.feature[forest.feature >= 0], (fraction * fall)[forest.feature >= 0])
    total = used.sum()
    if total > 1e-6 * scale:
        np.testing.assert_allclose(
            estimator.feature_importances_, used / total, rtol=1e-6, atol=1e-6
        )
    assert (child_counts(forest)[forest.feature >= 0] >= 2).all()

    prediction = estimator.predict(X)
    if estimator.forest_.is_classifier:
        np.testing.assert_allclose(estimator.predict_proba(X).sum(axis=1), 1)
        assert set(prediction) <= set(y)
    else:
        low, high = np.min(y), np.max(y)
        slack = 1e-9 * max(1.0, abs(low), abs(high))
        assert (prediction >= low - slack).all()
        assert (prediction <= high + slack).all()
