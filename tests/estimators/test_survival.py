"""Survival forests: splits, leaves and concordance as their definitions say."""

import numpy as np
import pytest
from tests.oracles import survival as oracle

import duramen as dm
from duramen.data.target import encode_target
from duramen.forests.growth import bag
from duramen.forests.prediction import concordance

EVERY = {"max_features": None, "bootstrap": False, "min_samples_split": 2, "min_samples_leaf": 1}


def drawn(seed, n=60, p=3, *, distinct=8, values=6):
    """Draw survival with ties, censoring, and a first feature that matters."""
    random = np.random.default_rng(seed)
    X = random.integers(0, values, size=(n, p)).astype(float)
    time = np.ceil(random.exponential(distinct / (1 + X[:, 0]), size=n))
    event = random.random(n) < 0.7
    event[0] = True
    return X, time, event


def outcome(time, event):
    """Return times and events as scikit-survival has them."""
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


@pytest.mark.parametrize(
    ("n", "values", "distinct", "seed"),
    [(*size, seed) for size in ((12, 3, 6), (60, 6, 6), (90, 99, 40)) for seed in range(9)]
    + [(140, 999, 10_000, seed) for seed in range(3)],
)
def test_the_root_is_split_where_every_cut_was_tried(n, values, distinct, seed):
    """Many values and many times take the other way to the variances of the cuts."""
    X, time, event = drawn(seed, n, 1 if n > 100 else 3, distinct=distinct, values=values)
    counts = np.random.default_rng(seed).integers(0, 4, n).astype(float)
    counts[0] = 1.0
    model = dm.RandomSurvivalForest(1, max_depth=1, random_state=seed, **EVERY)
    tree = model.fit(X, outcome(time, event), sample_weight=counts).forest_.tree(0)
    best, cuts = oracle.best_cuts(X, time, event, counts)
    assert tree.impurity[0] == pytest.approx(best, rel=1e-9, abs=1e-12)
    if best > 0:
        column = X[counts > 0, tree.feature[0]]
        last = column[column <= tree.threshold[0]].max()
        assert (int(tree.feature[0]), float(last)) in cuts


@pytest.mark.parametrize("forest", [dm.RandomSurvivalForest, dm.ExtraSurvivalTrees])
def test_every_split_has_its_statistic_and_every_leaf_its_curves(forest):
    """Bags, categories and missing values included."""
    X, time, event = drawn(3, 120, 4, distinct=15)
    X[::7, 1] = np.nan
    y = outcome(time, event)
    model = forest(4, random_state=0, bootstrap=True, categorical_features=[2]).fit(X, y)
    grown, leaves, times = model.forest_, model.apply(X), model.event_times_
    for t, tree in enumerate(grown):
        weight = bag(grown, t).astype(float)
        at = np.zeros((tree.n_nodes, len(X)), dtype=bool)
        path = model.decision_path(X)[0].toarray().astype(bool)
        at = path[:, grown.offsets[t] : grown.offsets[t + 1]].T
        for node in np.flatnonzero(tree.feature >= 0):
            held = at[node] & (weight > 0)
            first = at[tree.child[node]][held]
            expected = oracle.log_rank(time[held], event[held], weight[held], first)
            assert tree.impurity[node] == pytest.approx(expected, rel=1e-9)
            assert min(first.sum(), (~first).sum()) >= model.min_samples_leaf
        part = grown.part(t, t + 1)
        single = forest()
        single._adopt(part)
        hazards = single.predict_cumulative_hazard_function(X)
        survival = single.predict_survival_function(X)
        for leaf in np.unique(leaves[:, t]):
            rows = leaves[:, t] == leaf
            options = time[rows], event[rows], weight[rows], times
            i = np.flatnonzero(rows)[0]
            assert np.allclose(hazards[i], oracle.nelson_aalen(*options))
            assert np.allclose(survival[i], oracle.kaplan_meier(*options))
    assert np.allclose(model.predict(X), model.predict_cumulative_hazard_function(X).sum(axis=1))


@pytest.mark.parametrize("seed", range(20))
def test_concordance_counts_pairs(seed):
    """Ties of times and of risks."""
    _, time, event = drawn(seed, 40, distinct=5)
    risk = np.random.default_rng(seed).integers(0, 9, 40).astype(float)
    target = encode_target(outcome(time, event))
    assert concordance(target, risk) == oracle.concordance(time, event, risk)
    assert concordance(target, -risk) == pytest.approx(1 - concordance(target, risk))


@pytest.mark.smoke
def test_same_bytes_for_any_number_of_threads_and_after_saving(tmp_path):
    """Trees, leaves, curves and importances."""
    X, time, event = drawn(1, 200, 5, values=50)
    y = outcome(time, event)
    model = dm.RandomSurvivalForest(40, random_state=5, oob_score=True).fit(X, y)
    three = dm.RandomSurvivalForest(40, random_state=5, oob_score=True, n_jobs=3).fit(X, y)
    model.save(tmp_path / "forest.npz")
    loaded = dm.RandomSurvivalForest.load(tmp_path / "forest.npz")
    for other in (three, loaded):
        for name, array in model.forest_.arrays().items():
            assert array.tobytes() == getattr(other.forest_, name).tobytes(), name
        for name, array in model.forest_.leaf_events.arrays().items():
            assert array.tobytes() == getattr(other.forest_.leaf_events, name).tobytes(), name
        assert model.oob_error_curve_.tobytes() == other.oob_error_curve_.tobytes()
        assert model.predict_survival_function(X).tobytes() == (
            other.predict_survival_function(X).tobytes()
        )
    first, second = (dm.importances.mda(model, X, y, n_jobs=jobs).values for jobs in (1, 3))
    assert first.tobytes() == second.tobytes()


def test_out_of_bag_is_the_concordance_of_what_the_other_trees_say():
    """The score, and the error after every tree."""
    X, time, event = drawn(2, 90)
    model = dm.RandomSurvivalForest(30, random_state=0, oob_score=True)
    model.fit(X, outcome(time, event))
    leaves, sums, counts = model.apply(X), np.zeros(90), np.zeros(90)
    grown = model.forest_
    for t, tree in enumerate(grown):
        out = bag(grown, t) == 0
        sums[out] += tree.values[tree.child[leaves[out, t]], 0]
        counts[out] += 1
        seen = counts > 0
        means = sums[seen] / counts[seen]
        error = 1 - oracle.concordance(time[seen], event[seen], means)
        assert model.oob_error_curve_[t] == pytest.approx(error, abs=1e-12)
    assert np.array_equal(model.oob_prediction_, sums / counts)
    assert model.oob_score_ == pytest.approx(1 - model.oob_error_curve_[-1])


def test_curves_at_any_time():
    """They are step functions: 1 and 0 before the first event, constant after the last."""
    X, time, event = drawn(4, 50)
    model = dm.RandomSurvivalForest(5, random_state=0).fit(X, outcome(time, event))
    times = model.event_times_
    asked = [times[0] - 0.5, times[2], times[2] + 1e-9, times[-1] + 99]
    for curve, start in (
        (model.predict_survival_function, 1.0),
        (model.predict_cumulative_hazard_function, 0.0),
    ):
        whole, some = curve(X[:5]), curve(X[:5], asked)
        assert (some[:, 0] == start).all()
        assert np.array_equal(some[:, 1:], whole[:, [2, 2, -1]])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda y: y["time"], "two columns"),
        (lambda y: np.column_stack([y["event"], y["time"]]), "the times come first"),
        (lambda y: np.column_stack([-y["time"], y["event"]]), "times must be finite and not neg"),
        (lambda y: np.column_stack([y["time"], 0 * y["time"]]), "occurred in no row"),
        (lambda y: np.column_stack([y["time"] / 0, y["event"]]), "times must be finite"),
        (lambda y: y[:-1], "inconsistent numbers of samples"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_what_is_no_survival_is_refused(change, said):
    """The message says what it should be."""
    X, time, event = drawn(0, 20)
    with pytest.raises(ValueError, match=said):
        dm.RandomSurvivalForest(2).fit(X, change(outcome(time, event)))


def test_weights_are_numbers_of_copies():
    """Rows of weight 0 are left out; fractions are refused."""
    X, time, event = drawn(8, 50)
    y = outcome(time, event)
    weights = np.arange(50) % 3 > 0
    model = dm.RandomSurvivalForest(1, random_state=0, **EVERY)
    whole = model.fit(X, y, sample_weight=weights).forest_
    part = dm.RandomSurvivalForest(1, random_state=0, **EVERY).fit(X[weights], y[weights]).forest_
    assert np.array_equal(whole.threshold, part.threshold, equal_nan=True)
    assert np.array_equal(whole.leaf_events.at_risk, part.leaf_events.at_risk)
    with pytest.raises(ValueError, match="whole numbers"):
        model.fit(X, y, sample_weight=weights + 0.5)


def test_fewest_leaves_take_the_largest_statistics():
    """With max_leaf_nodes, the split with the largest statistic comes first."""
    X, time, event = drawn(9, 150, values=30)
    y = outcome(time, event)
    full = dm.RandomSurvivalForest(1, random_state=0, **EVERY).fit(X, y).forest_.tree(0)
    few = dm.RandomSurvivalForest(1, random_state=0, max_leaf_nodes=3, **EVERY).fit(X, y)
    tree = few.forest_.tree(0)
    assert tree.n_leaves == 3
    children = full.child[0] + np.arange(2)
    inner = tree.impurity[tree.feature >= 0]
    assert inner.max() == pytest.approx(max(full.impurity[0], *full.impurity[children]))
