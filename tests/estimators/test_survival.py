"""Survival forests: splits, leaves and concordance as their definitions say."""

import shutil
import subprocess

import numpy as np
import pytest
from tests.oracles import survival as oracle

import duramen as dm
from duramen.data import SurvivalTarget
from duramen.data.survival import martingale_residuals
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


def outcome(time, event, entry=None):
    """Return times and events as scikit-survival has them, and entries."""
    fields = [("event", bool), ("time", float), ("entry", float)]
    y = np.zeros(len(time), dtype=fields[: 2 if entry is None else 3])
    y["event"], y["time"] = event, time
    if entry is not None:
        y["entry"] = entry
    return y


def entries(seed, time):
    """Draw whole entry times before whole times."""
    return np.floor(np.random.default_rng(seed).random(len(time)) * time)


@pytest.mark.parametrize(
    ("n", "values", "distinct", "seed"),
    [(*size, seed) for size in ((12, 3, 6), (60, 6, 6), (90, 99, 40)) for seed in range(9)]
    + [(140, 999, 10_000, seed) for seed in range(3)],
)
@pytest.mark.parametrize("truncated", [False, True])
def test_the_root_is_split_where_every_cut_was_tried(n, values, distinct, seed, truncated):
    """Many values and many times take the other way to the variances of the cuts."""
    X, time, event = drawn(seed, n, 1 if n > 100 else 3, distinct=distinct, values=values)
    counts = np.random.default_rng(seed).integers(0, 4, n).astype(float)
    counts[0] = 1.0
    model = dm.RandomSurvivalForest(1, max_depth=1, random_state=seed, **EVERY)
    entry = entries(seed, time) if truncated else None
    tree = model.fit(X, outcome(time, event, entry), sample_weight=counts).forest_.tree(0)
    best, cuts = oracle.best_cuts(X, time, event, counts, *([entry] * truncated))
    assert tree.impurity[0] == pytest.approx(best, rel=1e-9, abs=1e-12)
    if best > 0:
        column = X[counts > 0, tree.feature[0]]
        last = column[column <= tree.threshold[0]].max()
        assert (int(tree.feature[0]), float(last)) in cuts


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("forest", [dm.RandomSurvivalForest, dm.ExtraSurvivalTrees])
def test_every_split_has_its_statistic_and_every_leaf_its_curves(forest, truncated):
    """Bags, categories and missing values included."""
    X, time, event = drawn(3, 120, 4, distinct=15)
    X[::7, 1] = np.nan
    entry = entries(3, time) if truncated else -np.ones(120)
    y = outcome(time, event, entry if truncated else None)
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
            expected = oracle.log_rank(time[held], event[held], weight[held], first, entry[held])
            assert tree.impurity[node] == pytest.approx(expected, rel=1e-9)
            assert min(first.sum(), (~first).sum()) >= model.min_samples_leaf
        part = grown.part(t, t + 1)
        single = forest()
        single._adopt(part)
        hazards = single.predict_cumulative_hazard_function(X)
        survival = single.predict_survival_function(X)
        for leaf in np.unique(leaves[:, t]):
            rows = leaves[:, t] == leaf
            options = time[rows], event[rows], weight[rows], times, entry[rows]
            i = np.flatnonzero(rows)[0]
            assert np.allclose(hazards[i], oracle.nelson_aalen(*options))
            assert np.allclose(survival[i], oracle.kaplan_meier(*options))
    assert np.allclose(model.predict(X), model.predict_cumulative_hazard_function(X).sum(axis=1))


@pytest.mark.parametrize("seed", range(20))
def test_concordance_counts_pairs(seed):
    """Ties of times and of risks."""
    _, time, event = drawn(seed, 40, distinct=5)
    risk = np.random.default_rng(seed).integers(0, 9, 40).astype(float)
    for entry in (None, entries(seed, time)):
        target = encode_target(outcome(time, event, entry))
        expected = oracle.concordance(time, event, risk, *([] if entry is None else [entry]))
        assert concordance(target, risk) == expected
        assert concordance(target, -risk) == pytest.approx(1 - expected)


@pytest.mark.smoke
@pytest.mark.parametrize("truncated", [False, True])
def test_same_bytes_for_any_number_of_threads_and_after_saving(tmp_path, truncated):
    """Trees, leaves, curves and importances."""
    X, time, event = drawn(1, 200, 5, values=50)
    y = outcome(time, event, entries(1, time) if truncated else None)
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


@pytest.mark.parametrize("truncated", [False, True])
def test_out_of_bag_is_the_concordance_of_what_the_other_trees_say(truncated):
    """The score, and the error after every tree."""
    X, time, event = drawn(2, 90)
    entry = entries(2, time) if truncated else -np.ones(90)
    model = dm.RandomSurvivalForest(30, random_state=0, oob_score=True)
    model.fit(X, outcome(time, event, entry if truncated else None))
    leaves, sums, counts = model.apply(X), np.zeros(90), np.zeros(90)
    grown = model.forest_
    for t, tree in enumerate(grown):
        out = bag(grown, t) == 0
        sums[out] += tree.values[tree.child[leaves[out, t]], 0]
        counts[out] += 1
        seen = counts > 0
        means = sums[seen] / counts[seen]
        error = 1 - oracle.concordance(time[seen], event[seen], means, entry[seen])
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
        (lambda y: outcome(y["time"], y["event"], y["time"]), "entry must be before the time"),
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


def truncated_cohort(seed, n=400):
    """Draw ages of death of persons who were observed from some age on.

    The hazard grows with age; x0 raises it a lot, x1 a little. x2 depends on the age at entry, and
    has no effect.
    """
    random = np.random.default_rng(seed)
    X = random.normal(size=(6 * n, 5))
    death = 80 * random.weibull(8, 6 * n) * np.exp(-(X[:, 0] + 0.4 * X[:, 1]) / 8)
    entry = random.uniform(20, 90, 6 * n)
    alive = np.flatnonzero(death > entry)[:n]
    X, death, entry = X[alive], death[alive], entry[alive]
    X[:, 2] = entry + 2 * X[:, 2]
    end = entry + random.exponential(25, n)
    return X, np.minimum(death, end), death <= end, entry


def test_forests_rank_left_truncated_cohorts_as_cox_models_do():
    """Ignoring the entries confuses what enters late with what lives long."""
    sums = {name: np.zeros(5) for name in ("cox", "forest", "ignoring")}
    for seed in range(5):
        X, time, event, entry = truncated_cohort(seed)
        sums["cox"] += np.abs(oracle.cox_z(X, time, event, entry))
        for name, given in (("forest", entry), ("ignoring", None)):
            model = dm.RandomSurvivalForest(40, min_samples_leaf=15, random_state=seed)
            sums[name] += model.fit(X, outcome(time, event, given)).feature_importances_
    assert np.argsort(-sums["cox"])[:2].tolist() == [0, 1]
    assert np.argsort(-sums["forest"])[:2].tolist() == [0, 1]
    assert np.argsort(-sums["ignoring"])[:2].tolist() == [0, 2]


def test_risk_sets_by_hand():
    """Of four rows, the third enters after the first event, and the last after the second."""
    time, entry = np.array([2.0, 4.0, 5.0, 6.0]), np.array([0.0, 0.0, 3.0, 4.0])
    event, first = np.array([True, True, False, True]), np.array([True, False, True, False])
    target = encode_target(outcome(time, event, entry))
    # At 2 rows 0 and 1 are at risk, at 4 rows 1 and 2, at 6 row 3 alone.
    assert martingale_residuals(target.values).tolist() == [0.5, 0.0, -0.5, 0.0]
    assert oracle.log_rank(time, event, np.ones(4), first, entry) == 0.0
    # At 2 all rows at risk are in child 0; at 4 half an event is expected there, and one occurs.
    tree = dm.RandomSurvivalForest(1, max_depth=1, **EVERY)
    grown = tree.fit([[0], [0], [1], [1]], outcome(time, event, entry)).forest_.tree(0)
    assert grown.impurity[0] == pytest.approx((1 - 0.5) ** 2 / 0.25)
    # Row 0 has its event beside row 1, and row 1 beside row 2; none is at risk with row 3.
    assert concordance(target, np.array([3.0, 2.0, 1.0, 9.0])) == 1.0
    assert concordance(target, np.array([3.0, 2.0, 4.0, 9.0])) == 0.5


def test_entries_before_the_first_time_change_nothing():
    """Not a byte, whether they are given or not, and whether the kernel reads them or not."""
    X, time, event = drawn(5, 80)
    model = dm.RandomSurvivalForest(5, random_state=0)
    forest = model.fit(X, outcome(time, event)).forest_
    given = model.fit(X, outcome(time, event, 0 * time)).forest_
    data = dm.learning_set(X, outcome(time, event))
    wide = SurvivalTarget(data.target.values.astype(np.uint64), times=data.target.times)
    read = model.fit(data.with_target(wide)).forest_
    for other in (given, read):
        for name, array in (forest.arrays() | forest.leaf_events.arrays()).items():
            source = other if hasattr(other, name) else other.leaf_events
            assert array.tobytes() == getattr(source, name).tobytes(), name


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R")
@pytest.mark.parametrize("tied", [False, True])
def test_agrees_with_survival_of_r(tied, tmp_path):
    """The log-rank test (Cox's score test, without ties), concordance and martingale residuals."""
    X, time, event, entry = truncated_cohort(7, 80)
    if tied:
        entry = np.floor(8 * entry)
        time = np.maximum(np.ceil(8 * time), entry + 1)
    y, group, risk = outcome(time, event, entry), (X[:, 0] > 0).astype(float), X[:, 0].round(1)
    np.savetxt(tmp_path / "d.txt", np.column_stack([entry, time, event, group, risk]))
    code = (
        f"library(survival); d <- read.table('{(tmp_path / 'd.txt').as_posix()}')\n"
        "s <- Surv(d$V1, d$V2, d$V3)\n"
        "left <- residuals(coxph(s ~ 1, ties = 'breslow'), 'martingale')\n"
        "cat(format(c(summary(coxph(s ~ d$V4))$sctest[[1]], "
        "concordance(s ~ d$V5, reverse = TRUE)$concordance, left), digits = 15))"
    )
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=False)
    if "there is no package called" in done.stderr:
        pytest.skip("needs the package survival of R")
    statistic, fraction, *left = map(float, done.stdout.split())
    target = encode_target(y)
    assert concordance(target, risk) == pytest.approx(fraction, abs=1e-12)
    assert martingale_residuals(target.values) == pytest.approx(left, abs=1e-12)
    if not tied:  # of which Cox's test has another variance
        model = dm.RandomSurvivalForest(1, max_depth=1, **EVERY).fit(group[:, None], y)
        assert model.forest_.tree(0).impurity[0] == pytest.approx(statistic, rel=1e-12)
