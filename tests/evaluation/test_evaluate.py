"""Evaluation of selectors and rankings under resampling."""

import itertools
import os
import pickle
import signal
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.grid import one_test

import duramen as dm
from duramen.evaluation import EvaluationInterrupted, Ranking, SelectionEvaluation
from duramen.evaluation.result import auc, balanced_accuracy, r2

FOREST = dm.RandomForestClassifier(10)
METHODS = {"mdi": "mdi", "F": SelectKBest(k=2), "all": None}
QUICK = {"estimator": FOREST, "learner": "k_nearest_neighbors", "random_state": 0}


def problem(n=60, p=8, seed=0):
    """Two of the normal features decide on the class."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "a", "b")


def evaluated(methods=METHODS, **options):
    return dm.evaluate_selection(
        methods, *problem(), **{"n_resamples": 6, "n_features": [1, 2, 4], **QUICK, **options}
    )


# --- scores ---------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_scikit_learn(n_classes):
    random = np.random.default_rng(n_classes)
    truth = np.arange(40) % n_classes
    sure = np.round(random.dirichlet(np.ones(n_classes), 40), 1)
    peer = sure[:, 1] if n_classes == 2 else sure / sure.sum(axis=1, keepdims=True)
    expected = roc_auc_score(truth, peer, multi_class="ovr")
    assert auc(truth, sure if n_classes == 2 else peer) == pytest.approx(expected)
    expected = balanced_accuracy_score(truth, sure.argmax(axis=1))
    assert balanced_accuracy(truth, sure) == pytest.approx(expected)
    numbers, predicted = random.normal(size=(2, 30))
    assert r2(numbers, predicted) == pytest.approx(r2_score(numbers, predicted))


def test_scores_where_a_class_is_missing():
    sure = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]])
    assert balanced_accuracy(np.array([0, 1]), sure) == 1
    assert auc(np.array([0, 1]), sure) == 1
    assert np.isnan(auc(np.array([1, 1]), sure))
    assert np.isnan(r2(np.ones(3), np.zeros(3)))


# --- splits and what is done in them ---------------------------------------------


def test_split_by_hand():
    """Scores and selections by scikit-learn alone, on the rows of each split."""
    X, y = problem()
    seen = []

    class Spy(SelectKBest):
        def fit(self, X, y):
            seen.append((X.copy(), y.copy()))
            return super().fit(X, y)

    result = dm.evaluate_selection(Spy(k=2), X, y, n_resamples=4, test_size=12, **QUICK)
    assert (result.n_train, result.n_test) == (48, 12)
    for b, (rows, codes) in enumerate(seen):
        train = np.array([np.flatnonzero((row == X).all(axis=1))[0] for row in rows])
        assert len(set(train.tolist())) == 48
        np.testing.assert_array_equal(codes, (y == "b")[train])
        test = np.setdiff1d(np.arange(60), train)
        fraction = np.mean(y[test] == "b") - np.mean(y == "b")
        assert abs(fraction) < 1 / 12  # within classes
        columns = SelectKBest(k=2).fit(rows, codes).get_support(indices=True)
        model = make_pipeline(StandardScaler(), KNeighborsClassifier())
        predicted = model.fit(X[train][:, columns], y[train]).predict(X[test][:, columns])
        expected = balanced_accuracy_score(y[test], predicted)
        assert result.scores["balanced_accuracy"][b, 0] == pytest.approx(expected)
    assert len({rows.tobytes() for rows, _ in seen}) == 4


def test_rankings_are_cut_and_nested():
    result = evaluated(["mdi", "mda"], n_features=[4, 1, 2])
    assert result.methods == ("mdi",) * 3 + ("mda",) * 3
    assert result.cuts.tolist() == [1, 2, 4] * 2
    assert (result.sizes == result.cuts).all()
    fractions = [result.frequencies("mdi", k) for k in (1, 2, 4)]
    assert all((a <= b).all() for a, b in itertools.pairwise(fractions))
    assert [fraction.sum() for fraction in fractions] == pytest.approx([1, 2, 4])


def test_stability_is_that_of_the_selections():
    chosen = []

    class Spy(SelectKBest):
        def fit(self, X, y):
            super().fit(X, y)
            chosen.append(self.get_support())
            return self

    result = dm.evaluate_selection({"k": Spy(k=3)}, *problem(), n_resamples=8, **QUICK)
    expected = dm.significance.stability(chosen)
    assert result.kuncheva[0] == pytest.approx(expected.kuncheva)
    assert result.nogueira[0] == pytest.approx(expected.nogueira)
    assert (result.stability_low[0], result.stability_high[0]) == pytest.approx(
        (expected.low, expected.high)
    )
    np.testing.assert_allclose(result.frequencies("k"), expected.frequency)


def test_every_kind_of_method():
    def first(forest, X, y):
        return np.arange(X.n_columns, 0, -1)

    methods = {
        "selector": dm.KnockOut(FOREST, n_permutations=19, max_rounds=1, n_jobs=2),
        "peer": RFE(LogisticRegression(), n_features_to_select=2),
        "function": first,
        "own forest": Ranking("minimal_depth", dm.ExtraTreesClassifier(5)),
        "refits": "air",
        "p-values": "vote_change",
        "all": None,
    }
    result = evaluated(methods, n_features=2, n_resamples=2, learner=FOREST)
    assert result.methods == tuple(methods)
    assert result.cuts.tolist() == [0, 0, 2, 2, 2, 2, 8]
    assert result.frequencies("function").tolist() == [1, 1] + [0] * 6
    assert set(result.seconds) == set(methods)
    assert np.isnan(result.nogueira[-1])


def test_a_method_keeps_its_numbers_whatever_it_is_compared_with():
    alone, among = evaluated({"mdi": "mdi"}), evaluated()
    rows = among.rows("mdi")
    for name in ("sizes", "kuncheva"):
        np.testing.assert_array_equal(getattr(alone, name).T, getattr(among, name).T[rows])
    np.testing.assert_array_equal(
        alone.scores["balanced_accuracy"], among.scores["balanced_accuracy"][:, rows]
    )


@pytest.mark.parametrize("learner", ["forest", "linear_svm", "ridge_regression"])
def test_numbers(learner):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 5))
    forest = dm.RandomForestRegressor(10)
    result = dm.evaluate_selection(
        ["mdi"],
        X,
        3 * X[:, 2] + random.normal(size=60),
        estimator=forest,
        learner=forest if learner == "forest" else learner,
        n_features=[1, 2],
        n_resamples=4,
        test_size=0.2,
        random_state=0,
    )
    assert result.mean("r2").min() > 0.5
    assert result.frequencies("mdi", 1).tolist() == [0, 0, 1, 0, 0]


def test_nothing_selected_predicts_by_frequencies():
    class Nothing(SelectKBest):
        def _get_support_mask(self):
            return np.zeros(self.n_features_in_, dtype=bool)

    result = evaluated({"none": Nothing(k=1)}, score=["balanced_accuracy", "auc"])
    assert (result.scores["balanced_accuracy"] == 0.5).all()
    assert (result.scores["auc"] == 0.5).all()
    assert np.isnan(result.nogueira[0])
    assert (result.n_features == 0).all()


def test_blocks_are_not_divided():
    X, y = problem()
    groups = np.repeat(np.arange(20), 3)
    seen = []

    class Spy(SelectKBest):
        def fit(self, X, y):
            seen.append(X.copy())
            return super().fit(X, y)

    dm.evaluate_selection(Spy(k=1), X, y, groups=groups, n_resamples=3, test_size=0.25, **QUICK)
    for rows in seen:
        inside = np.isin(X[:, 0], rows[:, 0])
        assert inside.sum() == 45
        assert all(len(set(inside[groups == b])) == 1 for b in range(20))


def test_selected_noise_predicts_nothing():
    """Features that are selected on the training rows alone: accuracy is .5 on noise."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 2000)), np.arange(60) % 2
    options = {"n_resamples": 20, "learner": "linear_svm", "random_state": 0}
    assert dm.evaluate_selection(SelectKBest(k=20), X, y, **options).mean()[0] < 0.6


# --- the same always ---------------------------------------------


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("options", [{"n_jobs": 3}, {"n_jobs": -1, "verbose": 1}])
def test_same_result_for_any_threads(options, capsys):
    assert evaluated(**options).equals(evaluated())


def test_blocks_go_to_selectors_that_have_use_for_them():
    """Others refuse them, and are given the rows of whole groups without saying so."""
    methods = [dm.KnockOut(n_estimators=5, n_permutations=19), dm.InformationFilter(n_features=2)]
    assert evaluated(methods, groups=np.arange(60) // 2, n_resamples=2).n_resamples == 2


def test_same_result_from_a_checkpoint(tmp_path):
    path = tmp_path / "kept.npz"
    first = evaluated(checkpoint=path, n_resamples=3)
    assert path.exists()
    whole = evaluated(checkpoint=path)
    assert whole.equals(evaluated())
    assert first.equals(evaluated(n_resamples=3))
    with pytest.raises(ValueError, match="another run"):
        evaluated(checkpoint=path, learner="linear_svm")


def test_interrupted_evaluation_has_a_result_of_what_is_done():
    calls = []

    class Interrupting(SelectKBest):
        def fit(self, X, y):
            calls.append(1)
            if len(calls) == 4:
                os.kill(os.getpid(), signal.SIGINT)
                threading.Event().wait(0.05)
            return super().fit(X, y)

    with pytest.raises(EvaluationInterrupted, match="interrupted after") as stop:
        evaluated({"F": Interrupting(k=2)})
    done = stop.value.result.n_resamples
    assert 2 <= done < 6
    whole = evaluated({"F": SelectKBest(k=2)})
    np.testing.assert_array_equal(stop.value.result.sizes, whole.sizes[:done])


def test_saved_pickled_and_shown(tmp_path):
    result = evaluated()
    result.save(tmp_path / "r.npz")
    assert SelectionEvaluation.load(tmp_path / "r.npz").equals(result)
    assert pickle.loads(pickle.dumps(result)).equals(result)
    assert "3 methods in 6 splits" in str(result)
    frame = result.to_frame()
    assert len(frame) == 5
    assert isinstance(frame, pd.DataFrame)
    assert result.plot().get_ylabel() == "balanced accuracy"


def test_interval_is_that_of_nadeau_and_bengio():
    result = evaluated(test_size=12)
    scores = result.scores["balanced_accuracy"]
    low, high = result.interval()
    reach = 2.570581835636314 * scores.std(axis=0, ddof=1) * np.sqrt(1 / 6 + 12 / 48)
    mean = scores.mean(axis=0)
    assert (mean + reach).max() > 1
    np.testing.assert_allclose(low, mean - reach)
    np.testing.assert_allclose(high, np.minimum(mean + reach, 1))


def test_paired_test_is_that_of_nadeau_and_bengio():
    result = evaluated(test_size=12)
    rows = [np.flatnonzero(np.array(result.methods) == name)[0] for name in ("F", "all")]
    paired = np.subtract(*result.scores["balanced_accuracy"].T[rows])
    error = paired.std(ddof=1) * np.sqrt(1 / 6 + 12 / 48)
    test = result.paired_test("F", "all")
    assert test.difference == pytest.approx(paired.mean())
    assert test.high - test.difference == pytest.approx(2.570581835636314 * error)
    assert test.p_value == pytest.approx(2 * stats.t.sf(abs(paired.mean()) / error, 5))
    back = result.paired_test("all", "F")
    assert (back.difference, back.p_value) == (-test.difference, test.p_value)
    same = result.paired_test("F", "F")
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    undefined = replace(result, scores={"auc": np.where(np.arange(6) > 4, 0.7, np.nan)[:, None]})
    alone = replace(undefined, methods=("F",), cuts=np.zeros(1, dtype=int))
    assert np.isnan(alone.paired_test("F", "F").p_value)
    row = result.rows("mdi")[result.cuts[result.rows("mdi")] == result.enough("mdi").n_features][0]
    gain = result.mean()[row] - result.mean()[rows[1]]
    assert result.paired_test("mdi", "all").difference == pytest.approx(gain)


def test_equal_methods_are_seldom_told_apart():
    """200 learning sets of 100 rows, of which each is predicted better by either method by chance.

    Of the corrected test at level .05 at most .08 are significant, 2 standard errors above it; the
    test that takes the splits for independent finds a difference in more than a quarter.
    """
    random, found = np.random.default_rng(0), np.zeros(2)
    whole = evaluated(n_resamples=50, test_size=10, n_features=[1], methods={"a": None, "b": None})
    for _ in range(200):
        better = random.choice([-1, 0, 1], 100)
        gains = np.array([better[random.permutation(100)[:10]].mean() for _ in range(50)])
        scores = {"auc": np.column_stack([gains, np.zeros(50)])}
        result = replace(whole, scores=scores, n_train=90, n_test=10)
        found += [
            result.paired_test("a", "b").p_value < 0.05,
            stats.ttest_1samp(gains, 0)[1] < 0.05,
        ]
    corrected, naive = found / 200
    assert corrected <= 0.08
    assert naive > 0.25


@one_test
@pytest.mark.parametrize("learner", ["linear_svm", "logistic_regression", "k_nearest_neighbors"])
def test_named_learners_take_missing_values(learner):
    X, y = problem()
    X[3, 0] = X[5, 1] = np.nan
    X[:, 7] = np.nan
    options = {"n_resamples": 3, **QUICK, "learner": learner}
    assert dm.evaluate_selection({"all": None}, X, y, **options).mean()[0] > 0.7


# --- refusals ---------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"methods": "nothing"}, ValueError, "methods must be names among"),
        ({"methods": []}, ValueError, "different names"),
        ({"methods": ["mdi", "mdi"]}, ValueError, "methods must have different names"),
        ({"methods": {"x": 3}}, TypeError, "methods must be selectors"),
        ({"n_features": 9}, ValueError, "n_features must be different numbers in 1..8"),
        ({"learner": "oracle"}, ValueError, "learner must be one of"),
        ({"learner": 3}, TypeError, "learner must be a name or an estimator"),
        ({"learner": dm.RandomForestRegressor()}, ValueError, "learner must be for"),
        ({"estimator": dm.RandomForestRegressor()}, ValueError, "estimator must be for"),
        ({"score": []}, ValueError, "score must be different names"),
        ({"test_size": 0}, ValueError, "test_size must be 1 to 58"),
        ({"test_size": 59}, ValueError, "test_size must be 1 to 58"),
    ],
)
def test_bad_arguments(options, error, message):
    with pytest.raises(error, match=message):
        evaluated(**options)


def test_categories_are_for_methods_of_this_package():
    X, y = problem()
    frame = pd.DataFrame(X[:, :2]).assign(color=np.array(["r", "g", "b"] * 20, dtype=object))
    frame.columns = ["a", "b", "color"]
    options = {"n_resamples": 2, "estimator": FOREST, "random_state": 0, "n_features": 1}
    assert dm.evaluate_selection("mdi", frame, y, learner=FOREST, **options).names[-1] == "color"
    with pytest.raises(ValueError, match="column of categories color"):
        dm.evaluate_selection("mdi", frame, y, learner="linear_svm", **options)
