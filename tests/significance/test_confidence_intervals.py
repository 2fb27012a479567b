from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import duramen as dm
from duramen.forests.growth import bag
from duramen.importances import Importances, mda
from duramen.importances.permutation import Permutations, permutation_losses
from duramen.importances.samples import Sample
from duramen.significance.confidence_intervals import (
    METHODS,
    confidence_intervals,
    mda_of_copies,
    normal_tails,
    scale_of,
    standard_error,
)
from duramen.significance.measured import measured
from duramen.significance.resampling import bootstraps, subsamples

STUMP = dm.RandomForestRegressor(1, max_depth=1, max_features=1)


def column_means(forest, X, y):
    return np.array([X.values(j)[X.codes(j)].mean() for j in range(X.n_columns)])


def linear(n=80, p=4, seed=0, classes=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    y = X[:, 0] + 0.5 * X[:, 1] + random.normal(size=n)
    return X, (y > 0).astype(int) if classes else y


# --- standard errors: what is exact for a mean -------------------------------------------------


@pytest.mark.parametrize("method", ["subsampling", "delete-d"])
@pytest.mark.parametrize("m", [2, 3, 5])
def test_all_subsets_give_the_standard_error_of_a_mean(method, m):
    x = np.random.default_rng(0).normal(size=8)
    means = np.array([[x[list(rows)].mean()] for rows in combinations(range(8), m)])
    observed = x.mean(keepdims=True)
    # Over all subsets the variance is that with ddof 0; replicates are a sample of them.
    ddof = 1.0 if method == "delete-d" else np.sqrt(1 - 1 / len(means))
    exact = x.std(ddof=1) / np.sqrt(8)
    for correction, factor in ((True, 1.0), (False, np.sqrt(1 - m / 8))):
        scale = scale_of(m, 8, correction)
        found = standard_error(observed, means, scale, method) * ddof
        np.testing.assert_allclose(found, factor * exact, rtol=1e-12)


def test_without_the_correction_a_mean_has_0398_for_0500(tmp_path):
    x = np.random.default_rng(0).normal(size=100)
    x = (x - x.mean()) / x.std(ddof=1) / 2  # standard error .0500
    errors = [
        confidence_intervals(
            STUMP,
            x[:, np.newaxis],
            x,
            measure=column_means,
            n_replicates=600,
            correction=correction,
            random_state=0,
            checkpoint=tmp_path / "both",
        ).standard_error[0]
        for correction in (True, False)
    ]
    # 600 replicates: the standard error of a standard error is 2.9 %.
    assert errors == pytest.approx([0.05, 0.0398], rel=0.08)
    assert errors[1] / errors[0] == pytest.approx(np.sqrt(1 - 37 / 100), rel=1e-12)


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("subsampling", "normal"),
        ("subsampling", "percentile"),
        ("delete-d", "normal"),
        ("double-bootstrap", "normal"),
        ("double-bootstrap", "percentile"),
    ],
)
def test_intervals_of_means_cover_and_p_values_are_uniform(method, kind):
    """300 independent columns of mean 0, seed 1: coverage .95 and uniform p-values.

    The binomial standard error of the coverage is .013. 200 replicates cost a percentile interval
    about 1 %.
    """
    X = np.random.default_rng(1).normal(size=(150, 300))
    result = confidence_intervals(
        STUMP,
        X,
        X[:, 0],
        measure=column_means,
        method=method,
        kind=kind,
        n_replicates=200,
        random_state=0,
        n_jobs=2,
    )
    covers = (result.low <= 0) & (result.high >= 0)
    assert 0.90 < covers.mean() < 0.98
    assert stats.kstest(result.p_values, "uniform").pvalue > 0.01
    exact = X.std(axis=0, ddof=1) / np.sqrt(150)
    assert (result.standard_error / exact).mean() == pytest.approx(1, abs=0.02)
    np.testing.assert_allclose(result.replicate_mean, X.mean(axis=0), atol=0.03)


def test_normal_interval_and_p_value_by_hand():
    X, y = linear()
    forest = dm.RandomForestRegressor(20)
    result = confidence_intervals(forest, X, y, n_replicates=10, level=0.8, random_state=0)
    reach = stats.norm.ppf(0.9) * result.standard_error
    np.testing.assert_allclose(result.low, result.values - reach)
    np.testing.assert_allclose(result.high, result.values + reach)
    np.testing.assert_allclose(
        result.p_values, stats.norm.sf(result.values / result.standard_error)
    )
    assert result.unit == "squared error"
    assert (result.measure, result.method, result.kind) == ("mda", "subsampling", "normal")
    assert result.metadata["subsample"] == round(80 / np.e)
    assert result.p_values[0] < 0.01 < result.p_values[3]


# --- subsamples and bootstraps -----------------------------------------------------------------


def test_double_bootstrap_leaves_1636_of_the_rows_out():
    """e^-1 (e^(1/e) - 1) = .1636 of n, and on so many the trees are measured.

    The share of one first sample has a standard error of about .005, that of 16 of .0013.
    """
    n, shares = 1000, []
    X, y = linear(n, 2, classes=True)
    table, random = dm.encode(X), np.random.default_rng(0)
    model = dm.RandomForestClassifier(4, max_depth=3, random_state=0)
    for _ in range(16):
        rows = bootstraps(None, n)(random)
        copies, labels = table.take_rows(rows), y[rows].astype(np.uint32)
        forest = model.fit(copies, labels).forest_
        outside = 0
        for tree in range(4):
            inside = set(rows[bag(forest, tree) > 0].tolist())
            outside += len(set(rows.tolist()) - inside)
        shares.append(outside / (4 * n))
        sample = Sample(copies, labels, True, rows.astype(np.uint32))
        scored = permutation_losses(
            forest, sample, Permutations(0), score="accuracy", votes=True
        ).votes.sum()
        assert scored == outside
    assert np.mean(shares) == pytest.approx(0.1636, abs=0.004)


def test_copies_that_are_none_are_the_ordinary_mda():
    X, y = linear(classes=True)
    subject = measured(dm.RandomForestClassifier(30), X, y, "mda", "test")
    found = mda_of_copies(subject, 5, subject.table, y, np.arange(80, dtype=np.uint32))
    forest = dm.RandomForestClassifier(30, random_state=5).fit(X, y)
    np.testing.assert_array_equal(found, mda(forest, X, y).values)


def test_copies_in_the_bag_would_make_noise_look_important(monkeypatch):
    """Deep trees know the copies of a row, and noise passes for what tells them apart."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 3)), random.integers(0, 2, 60)
    options = {"method": "double-bootstrap", "n_replicates": 30, "random_state": 0}
    forest = dm.RandomForestClassifier(50)
    fair = confidence_intervals(forest, X, y, **options)
    monkeypatch.setitem(
        confidence_intervals.__globals__,
        "mda_of_copies",
        lambda subject, seed, table, y, rows: subject.scores(seed, table=table, y=y),
    )
    naive = confidence_intervals(forest, X, y, **options)
    assert np.abs(fair.replicate_mean).max() < 0.03
    assert naive.replicate_mean.min() > 0.05


def test_subsamples_hold_each_class_in_proportion():
    labels = np.array(["a"] * 60 + ["b"] * 30 + ["c"] * 9 + ["d"])
    draw = subsamples(labels, 100, 20)
    for seed in range(20):
        rows = draw(np.random.default_rng(seed))
        assert len(set(rows.tolist())) == 20
        found = dict(zip(*np.unique(labels[rows], return_counts=True), strict=True))
        assert found == {"a": 12, "b": 6, "c": 1, "d": 1}  # of 12, 6, 1.8 and .2
    rows = bootstraps(labels, 100)(np.random.default_rng(0))
    assert np.unique(labels[rows], return_counts=True)[1].tolist() == [60, 30, 9, 1]
    assert len(set(rows.tolist())) < 80


def test_every_row_is_as_likely_to_be_drawn():
    labels = np.array([0] * 6 + [1] * 4)
    for draw in (subsamples(None, 10, 5), subsamples(labels, 10, 5), bootstraps(labels, 10)):
        counts = np.zeros(10)
        random = np.random.default_rng(0)
        for _ in range(2000):
            counts += np.bincount(draw(random), minlength=10)
        share = counts / counts.sum()
        np.testing.assert_allclose(share, 0.1, atol=0.01)


@pytest.mark.parametrize(("n", "size"), [(100, 37), (1000, 368), (4000, 736), (3, 2)])
def test_default_size_of_a_subsample(n, size):
    X = np.random.default_rng(0).normal(size=(n, 1))
    result = confidence_intervals(
        STUMP, X, X[:, 0], measure=column_means, n_replicates=2, random_state=0
    )
    assert result.metadata["subsample"] == size


# --- measures, ties, nothing at all ------------------------------------------------------------


def test_importances_that_never_vary():
    X, y = linear()
    X[:, 3] = 1.0  # a constant column: 0 in every forest
    result = confidence_intervals(
        dm.RandomForestRegressor(10), X, y, n_replicates=5, random_state=0
    )
    assert result["x3"] == (0.0, 0.0)
    assert result.p_values[3] == 1.0
    found = normal_tails(np.array([1.0, 0.0, -1.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    assert found.tolist() == [0.0, 1.0, 1.0, 0.5]


def test_no_p_values_where_irrelevant_features_have_more_than_0():
    X, y = linear(classes=True)
    forest = dm.RandomForestClassifier(10, random_state=0)
    for measure in ("mdi", "frequency", "minimal_depth"):
        result = confidence_intervals(forest, X, y, measure=measure, n_replicates=4, random_state=0)
        assert result.p_values is None
    own = confidence_intervals(
        forest,
        X,
        y,
        measure=lambda forest, X, y: Importances(X.names, np.arange(4.0), "count", "1"),
        method="double-bootstrap",
        n_replicates=4,
        random_state=0,
    )
    assert own.p_values.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert own.above() == ("x3", "x2", "x1")


@pytest.mark.parametrize("method", METHODS)
def test_the_same_for_any_number_of_threads(method):
    X, y = linear(classes=True)
    one, two = (
        confidence_intervals(
            dm.RandomForestClassifier(8, random_state=1),
            X,
            y,
            method=method,
            n_replicates=9,
            random_state=3,
            n_jobs=n_jobs,
        )
        for n_jobs in (1, 3)
    )
    assert one.equals(two)


@pytest.mark.parametrize("method", ["subsampling", "double-bootstrap"])
def test_a_checkpoint_goes_on_to_the_same_bytes(method, tmp_path, monkeypatch):
    X, y = linear()
    forest = dm.RandomForestRegressor(5)
    options = {"method": method, "random_state": 0}
    path = tmp_path / "run"
    confidence_intervals(forest, X, y, n_replicates=4, checkpoint=path, **options)
    fits = []
    original = dm.RandomForestRegressor.fit
    monkeypatch.setattr(
        dm.RandomForestRegressor, "fit", lambda self, *a: fits.append(1) or original(self, *a)
    )
    resumed = confidence_intervals(forest, X, y, n_replicates=10, checkpoint=path, **options)
    assert len(fits) == 7  # the forest on all rows and six replicates
    assert resumed.equals(confidence_intervals(forest, X, y, n_replicates=10, **options))
    if method == "subsampling":  # the same replicates serve the jackknife
        fits.clear()
        options["method"] = "delete-d"
        confidence_intervals(forest, X, y, n_replicates=10, checkpoint=path, **options)
        assert len(fits) == 1
    with pytest.raises(ValueError, match="is of another run"):
        confidence_intervals(forest, X[::-1], y, checkpoint=path, **options)


def test_a_jackknife_is_wider_where_small_samples_find_less():
    X, y = linear(100)
    forest = dm.RandomForestRegressor(30)
    wide = confidence_intervals(forest, X, y, method="delete-d", n_replicates=30, random_state=0)
    narrow = confidence_intervals(forest, X, y, n_replicates=30, random_state=0)
    bias = narrow.replicate_mean - narrow.values
    around_mean = narrow.standard_error**2 * 29 / 30
    np.testing.assert_allclose(wide.standard_error**2, around_mean + 37 / 63 * bias**2)
    assert np.abs(bias).max() > 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bootstrap"}, "The 'method' parameter of confidence_intervals must be one of"),
        ({"kind": "bca"}, "The 'kind' parameter"),
        ({"n_replicates": 1}, "The 'n_replicates' parameter"),
        ({"correction": 1}, "The 'correction' parameter"),
        ({"level": 95}, r"level must be a number in \(0, 1\), got 95"),
        ({"subsample": 80}, r"an int in 2..79 or a share of the rows, got 80"),
        ({"subsample": 1.0}, "subsample must leave some of the 80 rows out"),
        ({"subsample": "half"}, "got 'half'"),
        ({"method": "double-bootstrap", "subsample": 9}, "subsample must be None"),
        ({"method": "double-bootstrap", "correction": False}, "correction=False is for samples"),
        ({"method": "double-bootstrap", "measure": "mdi_oob"}, "rows to be held out whose copies"),
        ({"method": "delete-d", "kind": "percentile"}, "does not go with"),
        ({"measure": "gini"}, "measure must be one of"),
    ],
)
def test_arguments_that_do_not_go_together(options, message):
    X, y = linear()
    with pytest.raises(ValueError, match=message):
        confidence_intervals(dm.RandomForestRegressor(5), X, y, **options)


def test_estimators_of_others_and_too_few_rows_are_refused():
    X, y = linear(classes=True)
    with pytest.raises(TypeError, match="must be a forest estimator of duramen"):
        confidence_intervals("forest", X, y)
    with pytest.raises(ValueError, match=r"keep 3 at least: an int in 3..3"):
        confidence_intervals(
            dm.RandomForestClassifier(5), X[:4], [0, 1, 2, 0], subsample=2, measure="mdi"
        )


# --- coverage of importances -------------------------------------------------------------------


@pytest.mark.slow
def test_coverage_of_mda_on_a_linear_problem():
    """60 learning sets of 150 rows, seed 0: of the expected importance of forests on 150 rows.

    The three relevant features together: 180 intervals of 95 %, about 60 of them independent, so
    that .86 is three binomial standard errors below. Irrelevant ones are covered more often, and
    their p-values are too large: at most .05 + 3 standard errors of .016 below .05.
    """
    random = np.random.default_rng(0)

    def draw():
        X = random.normal(size=(150, 6))
        return X, X @ [1.0, 0.7, 0.5, 0, 0, 0] + random.normal(size=150)

    def forest(seed):
        return dm.RandomForestRegressor(60, random_state=seed)

    values = []
    for seed in range(400):
        X, y = draw()
        values.append(mda(forest(seed).fit(X, y), X, y).values)
    expected = np.mean(values, axis=0)
    covered, rejected, ratio = [], [], []
    for seed in range(60):
        X, y = draw()
        result = confidence_intervals(forest(0), X, y, n_replicates=50, random_state=seed, n_jobs=2)
        covered.append((result.low <= expected) & (expected <= result.high))
        rejected.append(result.p_values[3:] <= 0.05)
        ratio.append(result.standard_error / np.std(values, axis=0))
    covered = np.mean(covered, axis=0)
    assert covered[:3].mean() > 0.86
    assert covered[3:].mean() > 0.93
    assert np.mean(rejected) < 0.1
    assert np.mean(ratio, axis=0)[:3] == pytest.approx(np.ones(3), abs=0.25)
