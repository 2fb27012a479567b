"""Wrong parameters and hostile input: a clear error before any work."""

import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from tests.grid import one_test

from duramen import estimators
from duramen.data import encode

X, Y = load_iris(return_X_y=True)
RF = estimators.RandomForestClassifier
RR = estimators.RandomForestRegressor


@one_test
@pytest.mark.parametrize(
    ("name", "values", "allowed"),
    [
        ("n_estimators", [0, -1, 2.5, "many", True, None], "an int >= 1|an int in 1"),
        ("criterion", ["variance", "squared_error", 3, None], "one of 'gini', 'entropy'"),
        ("max_depth", [0, -2, 2.5, "deep", True], "an int >= 1 or None"),
        ("min_samples_split", [1, 0, 0.0, 1.5, -3, "two", None], "an int >= 2 or a float in"),
        ("min_samples_leaf", [0, 0.0, 1.5, "one", None], "an int >= 1 or a float in"),
        (
            "max_features",
            ["auto", 0, -1, 0.0, 1.5, True, [1]],
            r"'sqrt', 'log2', None \(all\), an int in",
        ),
        ("max_leaf_nodes", [1, 0, 2.5, "few"], "an int >= 2 or None"),
        ("min_impurity_decrease", [-0.1, np.nan, np.inf, "little", None], "a number >= 0"),
        ("min_impurity_split", [-0.1, np.nan, np.inf, "little", None], "a number >= 0"),
        ("ccp_alpha", [-0.1, np.nan, np.inf, "little", None], "a number >= 0"),
        ("n_best_splits", [0, -1, 1.5, "many", None, True], "an int in 1"),
        ("stop_permutations", [0, -1, 1.5, "many", True], "an int >= 1"),
        ("bootstrap", [1, "yes", None], "True or False"),
        ("oob_score", [1, "yes", None], "True or False"),
        ("n_jobs", [0, 1.5, "all", True], "an int other than 0"),
        ("verbose", [-1, "loud", 0.5, None], "an int >= 0 or a bool"),
        ("class_weight", ["equal", 3, [1, 2, 3]], "None, 'balanced', 'balanced_subsample'"),
        ("max_samples", [0, 0.0, 1.5, "half", -3], r"None, an int in 1\.\."),
        ("splits", ["both", 3, None], "one of 'auto', 'ordered', 'multiway', 'one-vs-rest', 'any'"),
        ("categorical_features", ["all", 3, {"a": 1}, [0.5], [0, "a"]], "None, 'from_dtype'"),
        ("stop_alpha", [-0.1, 1.1, np.nan, "small", True], r"a number in \[0, 1\]"),
        ("count_constant_features", [1, "yes", None], "True or False"),
    ],
)
def test_wrong_values_are_named(name, values, allowed):
    for value in values:
        with pytest.raises(ValueError, match=allowed) as error:
            RF(5, random_state=0).set_params(**{name: value}).fit(X, Y)
        text = str(error.value)
        assert f"RandomForestClassifier: {name} must be" in text
        assert "got" in text


def test_regressors_have_their_own_criteria():
    with pytest.raises(ValueError, match=r"one of 'squared_error', 'variance', got 'gini'"):
        RR(5, criterion="gini").fit(X, Y)
    for criterion in ("squared_error", "variance"):
        assert RR(2, criterion=criterion).fit(X, Y).forest_.settings.criterion == "variance"
    assert RF(2, criterion="log_loss").fit(X, Y).forest_.settings.criterion == "entropy"


def test_candidates():
    wide = np.random.default_rng(0).normal(size=(150, 20))

    def k(value, kind=RF, **more):
        return kind(1, max_features=value, **more).fit(wide, Y).forest_.settings.max_features

    assert [k(v) for v in ("sqrt", "log2", None, 7, 0.5, 0.01, 1.0, 20)] == [
        4, 4, 20, 7, 10, 1, 20, 20,
    ]  # fmt: skip
    kind = estimators.RandomSubspaceClassifier
    assert [k(v, kind, n_subspace_features=9) for v in ("sqrt", None, 4, 0.5)] == [3, 9, 4, 4]
    with pytest.raises(ValueError, match=r"an int in 1\.\.20 .* got 21. Hint: X has 20"):
        k(21)
    with pytest.raises(ValueError, match=r"got 10. Hint: .* leaves 9 of them"):
        k(10, kind, n_subspace_features=9)
    with pytest.raises(ValueError, match=r"n_subspace_features must be an int in 1\.\.20"):
        k(None, kind, n_subspace_features=21)
    for value in (0, 0.0, 1.5, "half", True):
        with pytest.raises(ValueError, match=": n_subspace_features must be"):
            k(None, kind, n_subspace_features=value)


def test_rows_drawn():
    def rows(kind=RF, **more):
        return kind(1, **more).fit(X, Y).forest_.settings.row_samples

    assert rows() == 0
    assert rows(max_samples=1.0) == 0
    assert rows(max_samples=0.5) == 75
    assert rows(max_samples=40) == 40
    assert rows(max_samples=300) == 300
    assert rows(estimators.RandomPatchesClassifier) == 75
    with pytest.raises(ValueError, match=r"in 1\.\.150 .* got 151. Hint: bootstrap=False"):
        rows(bootstrap=False, max_samples=151)


def test_out_of_bag_needs_rows_left_out():
    for kind in (estimators.ExtraTreesClassifier, estimators.RandomSubspaceRegressor):
        with pytest.raises(ValueError, match="oob_score needs trees that leave rows out"):
            kind(5, oob_score=True).fit(X, Y)
    forest = estimators.ExtraTreesClassifier(50, oob_score=True, max_samples=0.5, random_state=0)
    assert forest.fit(X, Y).oob_score_ > 0.9


def test_parameters_are_checked_before_the_data_are_read():
    endless = np.broadcast_to(np.zeros(1), (10**7, 10**6))  # would take minutes to encode
    start = time.process_time()
    with pytest.raises(ValueError, match=r"max_features must be .* got 1000001"):
        RF(max_features=10**6 + 1).fit(endless, np.broadcast_to(0, 10**7))
    with pytest.raises(ValueError, match="n_estimators"):
        RF(0).fit(endless, None)
    assert time.process_time() - start < 1


@one_test
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(149), r"must have shape \(150,\), got \(149,\)"),
        (np.ones((150, 2)), r"must have shape \(150,\), got \(150, 2\)"),
        (np.r_[np.ones(149), np.nan], "holds NaN or infinity"),
        (np.r_[np.ones(149), np.inf], "holds NaN or infinity"),
        (np.r_[np.ones(149), -1], "holds -1.0"),
        (np.zeros(150), "is zero in every row"),
        (["a"] * 150, "must hold numbers"),
    ],
)
def test_wrong_weights(weights, message):
    for kind in (RF, RR):
        with pytest.raises(ValueError, match=f"fit: sample_weight {message}"):
            kind(2).fit(X, Y, sample_weight=weights)


def test_wrong_class_weights():
    for weight in (-1, np.nan, np.inf, "heavy", None):
        with pytest.raises(ValueError, match="must hold finite numbers >= 0"):
            RF(2, class_weight={0: weight}).fit(X, Y)
    with pytest.raises(ValueError, match="every row has weight 0"):
        RF(2, class_weight={0: 0, 1: 0, 2: 0}).fit(X, Y)


def test_categorical_features():
    frame = pd.DataFrame(X, columns=list("abcd"))
    for chosen in (["b"], [1], [False, True, False, False], np.array([1]), np.array(["b"])):
        forest = RR(2, categorical_features=chosen).fit(frame, Y)
        assert forest.forest_.schema.kinds == ("numeric", "nominal", "numeric", "numeric")
    for chosen in (None, "from_dtype", []):
        assert set(RR(2, categorical_features=chosen).fit(frame, Y).forest_.schema.kinds) == {
            "numeric"
        }
    for chosen, data, message in (
        (["z"], frame, "holds 'z', which is none of the 4 columns"),
        (["b"], X, r"holds 'b', which is none of the 4 columns \('x0'"),
        ([4], X, "holds 4, which is none of the 4 columns"),
        ([-1], X, "holds -1, which is none of the 4 columns"),
        ([True], X, r"must have shape \(4,\), got \(1,\)"),
        ([0], encode(X), "kinds are set already"),
    ):
        with pytest.raises(ValueError, match=message):
            RR(2, categorical_features=chosen).fit(data, Y)


def test_what_cannot_fit_in_memory_is_refused():
    start = time.process_time()
    with pytest.raises(MemoryError, match="a forest of 1000000000000 trees such as"):
        RF(10**12).fit(X, Y)
    with pytest.raises(ValueError, match="n_estimators"):
        RF(10**30).fit(X, Y)
    with pytest.raises(MemoryError, match="a forest of 1000000000 trees such as"):
        RF(10**9).fit(X, Y)
    with pytest.raises(MemoryError):
        RF(1).fit(sparse.csr_matrix((4 * 10**9, 10**6)), np.broadcast_to(0, 4 * 10**9))
    assert time.process_time() - start < 5


def test_large_forests_are_judged_by_their_first_trees(leave_memory):
    leave_memory(50_000_000)
    with pytest.raises(MemoryError, match="a forest of 200000 trees such as its first ones"):
        RF(200_000).fit(X, Y)
    leave_memory(10_000)
    with pytest.raises(MemoryError, match="a tree on 150 rows, with 3 values a leaf"):
        RF(1).fit(X, Y)
    leave_memory(200_000)  # the largest 20 trees would not fit, the real ones do
    RF(20, random_state=0).fit(X, Y)


def test_proximities_that_cannot_fit_are_refused(leave_memory):
    forest = RF(2, random_state=0).fit(X, Y)
    leave_memory(150 * 150 * 8 - 1)
    with pytest.raises(MemoryError, match=r"proximity: 150 x 150 proximities needs? at least"):
        forest.proximity(X)


@one_test
@pytest.mark.parametrize(
    "kind", [RF, RR, estimators.ExtraTreesClassifier, estimators.PERTClassifier]
)
def test_little_data(kind):
    model = kind(3, random_state=0).fit(X[:1], Y[:1])
    np.testing.assert_array_equal(model.predict(X[:5]), 0)
    alike = kind(3, random_state=0).fit(np.ones((20, 3)), np.arange(20) % 2)
    assert (alike.forest_.feature == -1).all()
    np.testing.assert_array_equal(alike.feature_importances_, 0)
    pure = kind(3, random_state=0).fit(X, np.ones(150, dtype=int))
    assert pure.forest_.n_nodes == 3
    np.testing.assert_array_equal(pure.predict(X), 1)
    np.testing.assert_array_equal(pure.feature_importances_, 0)


def test_an_interrupt_stops_growth_at_once():
    random = np.random.default_rng(0)
    table, y = random.normal(size=(20_000, 30)), random.normal(size=20_000)
    forest = RR(1000, n_jobs=2)
    start = time.process_time()
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        forest.fit(table, y)
    assert time.process_time() - start < 2
    assert not hasattr(forest, "forest_")


def test_an_interrupt_during_a_refit_keeps_the_former_forest():
    forest = RR(3, random_state=0).fit(X, Y)
    former = forest.forest_
    random = np.random.default_rng(0)
    forest.set_params(n_estimators=5000, verbose=1)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        forest.fit(random.normal(size=(20_000, 30)), random.normal(size=20_000))
    assert forest.forest_ is former


def test_a_parameter_of_another_estimator_is_none_of_this_one():
    """Lacking parameters are fields without a place in the signature."""
    for kind, name in [
        (RR, "class_weight"),
        (RF, "feature_first"),
        (RF, "n_subspace_features"),
        (estimators.PERTClassifier, "max_features"),
        (estimators.RandomSurvivalForest, "criterion"),
        (estimators.GuidedForestRegressor, "n_best_splits"),
    ]:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            kind(**{name: 1})
        assert name not in kind().get_params()


def test_one_of_the_best_splits_has_no_meaning_in_multiway_trees():
    with pytest.raises(ValueError, match="n_best_splits must be 1 with splits='multiway'"):
        RF(2, n_best_splits=2, splits="multiway").fit(np.round(X), Y)
