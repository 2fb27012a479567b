from itertools import combinations

import numpy as np
import pytest
from benchmarks.accuracy.intervals import Cell, coverage
from scipy import stats
from tests.grid import one_test

import duramen as dm
from duramen import Importances
from duramen.forests.growth import bag
from duramen.importances import mda
from duramen.importances.arguments import Sample
from duramen.importances.measure import TreeSums
from duramen.importances.permutation import permutations, tree_losses
from duramen.significance import confidence_intervals
from duramen.significance.measured import measured
from duramen.significance.resampling import (
    Replicated,
    bootstraps,
    log_normal_kurtosis,
    scale_of,
    standard_error,
    subsamples,
    t_tails,
    tree_variance,
    variance_error,
    wilson_reach,
)

STUMP = dm.RandomForestRegressor(1, max_depth=1, max_features=1)


def column_means(forest, X, y):
    return np.array([X.values(j)[X.codes(j)].mean() for j in range(X.n_columns)])


def linear(n=80, p=4, seed=0, classes=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    y = X[:, 0] + 0.5 * X[:, 1] + random.normal(size=n)
    return X, (y > 0).astype(int) if classes else y


# --- standard errors: what is exact for a mean -------------------------------------------------


@one_test
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
        options = Replicated(observed, means, np.zeros(1), np.zeros(1), n_rows=8)
        result = standard_error(options, scale, method)[0] * ddof
        np.testing.assert_allclose(result, factor * exact, rtol=1e-12)


@pytest.mark.parametrize("m", [40, 80])
def test_the_noise_of_finite_forests_is_counted_once(m):
    """A mean of 120 rows plus noise of known variance, as large as that of the mean, seed 0.

    2000 repetitions: SE^2 is on average their sum, 2 / n, whatever the size of a subsample, within
    4 of its standard errors and .02 that the floor of D at 0 adds.
    """
    random, n, count = np.random.default_rng(0), 120, 2000
    x = random.normal(size=(n, count))
    noise = np.full(count, 1 / n)
    rows = [random.permutation(n)[:m] for _ in range(60)]
    means = np.stack([x[chosen].mean(axis=0) for chosen in rows])
    options = Replicated(
        x.mean(axis=0) + random.normal(0, np.sqrt(1 / n), count),
        means + random.normal(0, np.sqrt(1 / n), means.shape),
        noise,
        noise,
        n_rows=n,
    )
    error, freedom = standard_error(options, scale_of(m, n, True), "subsampling")
    result = error**2 * n
    assert abs(result.mean() - 2) < 4 * result.std() / np.sqrt(count) + 0.02
    # Satterthwaite's degrees of freedom are those of the spread of SE^2 over repetitions.
    assert np.median(freedom) == pytest.approx(2 * result.mean() ** 2 / result.var(), rel=0.25)


def test_degrees_of_freedom_by_hand():
    replicates = np.array([[0.0], [1.0], [2.0]])[[0, 1, 1, 2] * 4]  # mean 1, S^2 = 8 / 15
    options = Replicated(np.ones(1), replicates, np.array([0.25]), np.array([0.2]), 11, 6)
    error, freedom = standard_error(options, np.sqrt(3), "subsampling")
    data = 3 * (8 / 15 - 0.2)  # 1
    assert error == pytest.approx([np.sqrt(data + 0.25)])
    uncertain = (3 * 8 / 15) ** 2 / 15 + data**2 / 10 + 0.25**2 / 5
    assert freedom == pytest.approx([1.25**2 / uncertain])
    error, _ = standard_error(options, np.sqrt(3), "delete-d")  # mean square about v: 1/2
    assert error == pytest.approx([np.sqrt(3 * (0.5 - 0.2 - 0.25) + 0.25)])
    noisy = Replicated(np.ones(1), replicates, np.array([0.25]), np.ones(1), 11, 6)
    error, freedom = standard_error(noisy, 1.0, "subsampling")  # trees explain all of the spread
    assert error == pytest.approx([0.5])
    assert freedom == pytest.approx([0.25**2 / ((8 / 15) ** 2 / 15 + 0.25**2 / 5)])
    still = Replicated(np.ones(1), np.ones((3, 1)), np.zeros(1), np.zeros(1), 11)
    assert standard_error(still, 1.0, "subsampling") == (pytest.approx([0.0]), pytest.approx([1.0]))


def test_the_upper_end_of_wilson_solves_its_equation():
    values, reach = np.array([3.0, 0.5, 0.0, -0.2, -4.0, 2.0]), np.array([1.0, 1, 1, 1, 1, 0])
    above = wilson_reach(values, reach)
    around = np.maximum(np.abs(values), reach)
    np.testing.assert_allclose(above**2, reach**2 * (1 + above / np.maximum(around, 1e-9)))
    assert above[2] == pytest.approx((1 + np.sqrt(5)) / 2)
    assert above[5] == 0.0
    assert (above >= reach).all()


def test_without_the_correction_a_mean_has_0398_for_0500(tmp_path):
    x = np.random.default_rng(0).normal(size=100)
    x = (x - x.mean()) / x.std(ddof=1) / 2  # standard error .0500
    options = {"measure": column_means, "n_resamples": 600, "subsample": 37, "random_state": 0}
    options["checkpoint"] = tmp_path / "both"
    errors = [
        confidence_intervals(STUMP, x[:, None], x, correction=each, **options).standard_error[0]
        for each in (True, False)
    ]
    # 600 replicates: the standard error of a standard error is 2.9 %.
    assert errors == pytest.approx([0.05, 0.0398], rel=0.08)
    assert errors[1] / errors[0] == pytest.approx(np.sqrt(1 - 37 / 100), rel=1e-12)


@pytest.mark.slow
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
    options = {"measure": column_means, "n_resamples": 200, "random_state": 0, "n_jobs": 2}
    result = confidence_intervals(STUMP, X, X[:, 0], method=method, kind=kind, **options)
    covers = (result.low <= 0) & (result.high >= 0)
    assert 0.90 < covers.mean() < 0.98
    assert stats.kstest(result.p_values, "uniform").pvalue > 0.01
    exact = X.std(axis=0, ddof=1) / np.sqrt(150)
    assert (result.standard_error / exact).mean() == pytest.approx(1, abs=0.02)
    np.testing.assert_allclose(result.replicate_mean, X.mean(axis=0), atol=0.03)


def test_intervals_and_p_values_by_hand():
    X, y = linear()
    forest = dm.RandomForestRegressor(20)
    options = {"n_resamples": 10, "confidence_level": 0.8, "random_state": 0}
    result, normal = (
        confidence_intervals(forest, X, y, kind=kind, **options) for kind in ("wilson", "normal")
    )
    reach = stats.t.ppf(0.9, result.degrees_of_freedom) * result.standard_error
    for actual in (result, normal):
        np.testing.assert_allclose(actual.low, result.values - reach)
        np.testing.assert_allclose(
            actual.p_values,
            stats.t.sf(result.values / result.standard_error, result.degrees_of_freedom),
        )
    np.testing.assert_allclose(normal.high, result.values + reach)
    np.testing.assert_allclose(result.high, result.values + wilson_reach(result.values, reach))
    assert result.unit == "squared error"
    assert (result.measure, result.method, result.kind) == ("mda", "subsampling", "wilson")
    assert result.metadata["subsample"] == 60
    assert result.p_values[0] < 0.05 < result.p_values[3]


def test_the_standard_error_over_trees_is_separated_where_there_is_one():
    X, y = linear()
    forest, options = dm.RandomForestRegressor(20), {"n_resamples": 5, "random_state": 0}
    for choices, separated in (
        *(({"measure": name}, True) for name in ("mda", "mdi", "air", "holdout_mda")),
        *(({"measure": other}, False) for other in ("sandri", column_means)),
        *(({"correction": False}, False), ({"method": "double-bootstrap"}, False)),
    ):
        result = confidence_intervals(forest, X, y, **choices, **options)
        assert result.metadata["trees_separated"] == separated
    fitted = dm.RandomForestRegressor(20, random_state=0).fit(X, y)
    values = mda(fitted, X, y)
    actual = tree_variance(measured(forest, X, y, "mda", "test"), values)
    np.testing.assert_array_equal(actual, values.standard_error**2)


# --- subsamples and bootstraps -----------------------------------------------------------------


def test_double_bootstrap_leaves_1636_of_the_rows_out():
    """e^-1 (e^(1/e) - 1) = .1636 of n, and on so many the trees are measured.

    The fraction of one first sample has a standard error of about .005, that of 16 of .0013.
    """
    n, proportions = 1000, []
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
        proportions.append(outside / (4 * n))
        sample = Sample(copies, labels, True, rows.astype(np.uint32))
        losses = tree_losses("test", forest, sample, permutations(0), score="accuracy", votes=True)
        scored = TreeSums(losses).importances().votes.sum()
        assert scored == outside
    assert np.mean(proportions) == pytest.approx(0.1636, abs=0.004)


def test_copies_in_the_bag_do_not_make_noise_look_important():
    """Deep trees know the copies of a row: on these all means would be above .05."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 3)), random.integers(0, 2, 60)
    options = {"method": "double-bootstrap", "n_resamples": 30, "random_state": 0}
    result = confidence_intervals(dm.RandomForestClassifier(50), X, y, **options)
    assert np.abs(result.replicate_mean).max() < 0.03


def test_subsamples_hold_each_class_in_proportion():
    labels = np.array(["a"] * 60 + ["b"] * 30 + ["c"] * 9 + ["d"])
    draw = subsamples(labels, 100, 20)
    for seed in range(20):
        rows = draw(np.random.default_rng(seed))
        assert len(set(rows.tolist())) == 20
        result = dict(zip(*np.unique(labels[rows], return_counts=True), strict=True))
        assert result == {"a": 12, "b": 6, "c": 1, "d": 1}  # of 12, 6, 1.8 and .2
    rows = bootstraps(labels, 100)(np.random.default_rng(0))
    assert np.unique(labels[rows], return_counts=True)[1].tolist() == [60, 30, 9, 1]
    assert len(set(rows.tolist())) < 80


def test_default_size_of_a_subsample():
    for n, size in ((100, 75), (1000, 750), (4000, 1500), (3, 2)):
        X = np.random.default_rng(0).normal(size=(n, 1))
        result = confidence_intervals(STUMP, X, X[:, 0], measure=column_means, n_resamples=2)
        assert result.metadata["subsample"] == size


# --- measures, ties, nothing at all ------------------------------------------------------------


def test_importances_that_never_vary():
    X, y = linear()
    X[:, 3] = 1.0  # a constant column: 0 in every forest
    result = confidence_intervals(dm.RandomForestRegressor(10), X, y, n_resamples=5, random_state=0)
    assert result["x3"] == (0.0, 0.0)
    assert result.p_values[3] == 1.0
    actual = t_tails(np.array([1.0, 0.0, -1.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]), np.ones(4))
    assert actual.tolist() == [0.0, 1.0, 1.0, 0.5]


def test_no_p_values_where_irrelevant_features_have_more_than_0():
    X, y = linear(classes=True)
    forest = dm.RandomForestClassifier(10, random_state=0)
    for measure in ("mdi", "frequency", "minimal_depth"):
        result = confidence_intervals(forest, X, y, measure=measure, n_resamples=4, random_state=0)
        assert result.p_values is None

    def count(forest, X, y):
        return Importances(X.names, np.arange(4.0), "count", "1")

    options = {"method": "double-bootstrap", "n_resamples": 4, "random_state": 0}
    own = confidence_intervals(forest, X, y, measure=count, **options)
    assert own.p_values.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert own.above() == ("x3", "x2", "x1")


# --- fractions, heavy tails and rare classes ---------------------------------------------------


def uncertainty(numbers):
    """Relative standard error of the variance of a target; infinite where intervals are refused."""
    data = dm.learning_set(np.zeros((len(numbers), 1)), numbers)
    try:
        return variance_error(data, "squared error", "test")
    except ValueError:
        return np.inf


def test_heavy_tails_are_noted_and_the_variance_of_one_row_is_refused():
    X, y = linear()
    forest, options = dm.RandomForestRegressor(5), {"n_resamples": 4, "random_state": 0}
    heavy = np.exp(1.5 * y / y.std())
    square = (heavy - heavy.mean()) ** 2
    assert square.max() < 0.5 * square.sum()
    kurtosis = max(stats.kurtosis(heavy) + 3, log_normal_kurtosis(heavy))
    assert uncertainty(heavy) == pytest.approx(np.sqrt((kurtosis - 1) / len(heavy)))
    (note,) = confidence_intervals(forest, X, heavy, **options).notes
    assert f"relative standard error of {min(uncertainty(heavy), 1):.2f} or more" in note

    def fractions(forest, X, y):
        values = dm.importances.mdi(forest).values
        return values / values.sum()

    assert confidence_intervals(forest, X, heavy, measure=fractions, **options).notes == ()
    y[0] = 1000
    with pytest.raises(ValueError, match=r"one row has .* of the sum of squares of the target"):
        confidence_intervals(forest, X, y, **options)
    assert confidence_intervals(forest, X, y, measure=fractions, **options)


@one_test
@pytest.mark.parametrize(
    ("kind", "n", "least", "most"),
    [
        ("log-normal", 60, 0.97, 1.0),
        ("log-normal", 200, 0.95, 1.0),
        ("exponential", 60, 0.9, 1.0),
        ("normal", 60, 0.0, 0.02),
        ("normal", 200, 0.0, 0.02),
        ("uniform", 60, 0.0, 0.02),
    ],
)
def test_skewed_targets_are_noted_in_nearly_all_samples(kind, n, least, most):
    """200 samples; the relative standard error of the variance is noted above .3."""
    random = np.random.default_rng(0)
    draw = getattr(random, kind.replace("-", ""))
    noted = np.mean([uncertainty(draw(size=n)) > 0.3 for _ in range(200)])
    assert least <= noted <= most


def test_kurtosis_of_log_normal_distributions_with_a_known_skewness():
    numbers = np.exp(np.random.default_rng(0).normal(scale=0.5, size=200_000))
    w = np.exp(0.25)
    assert log_normal_kurtosis(numbers) == pytest.approx(w**4 + 2 * w**3 + 3 * w**2 - 3, rel=0.03)
    assert log_normal_kurtosis(-numbers) == pytest.approx(log_normal_kurtosis(numbers), rel=1e-6)
    assert log_normal_kurtosis(np.array([-1.0, 0.0, 1.0])) == pytest.approx(3)


def test_arguments_that_do_not_go_together():
    for options, message in (
        ({"subsample": 80}, r"an int in 2..79 or a fraction, got 80"),
        ({"subsample": 1.0}, "subsample must leave some of the 80 rows out"),
        ({"method": "double-bootstrap", "subsample": 9}, "must have their "),
        ({"method": "double-bootstrap", "correction": False}, "must have their "),
        ({"method": "double-bootstrap", "measure": "mdi_oob"}, "rows as held out although their"),
        ({"method": "delete-d", "kind": "percentile"}, "cannot be combined with"),
    ):
        with pytest.raises(ValueError, match=message):
            confidence_intervals(dm.RandomForestRegressor(5), *linear(), **options)


# --- coverage of importances -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["regression", "classification"])
def test_coverage_of_features_that_matter(problem):
    """benchmarks.accuracy.intervals in small: 30 data sets of 90 rows, 30 trees, 30 replicates.

    Intervals of 95 %. Of the four features that matter 120 are looked at, about 50 of them
    independent, so that .80 is three binomial standard errors below .92, the bar of the benchmark.
    """
    cell = Cell(problem, 90, n_trees=30, n_resamples=30)
    result = coverage(cell, 30, 200, seed=1, kinds=("wilson",))
    for measure in ("mda", "mdi"):
        covers = result.covers[measure, "wilson"]
        assert covers[:, :4].mean() > 0.80, measure
        assert covers[:, 4:].mean() > 0.93, measure
        ratio = result.error[measure].mean(axis=0) / result.deviation[measure]
        assert ratio[0] == pytest.approx(1, abs=0.25)
    assert (result.p_values["mda"][:, 4:] <= 0.05).mean() < 0.05


def test_intervals_lie_around_importances_that_were_there_before():
    """They are those around the forest that is grown otherwise, moved and without its noise."""
    X = np.random.default_rng(0).normal(size=(80, 3))
    forest = dm.RandomForestRegressor(20, random_state=3)
    grown = forest.fit(X, X[:, 0])
    importances = dm.importances.mda(grown, X, X[:, 0])
    choices = {"n_resamples": 5, "random_state": 0, "kind": "normal"}
    intervals = confidence_intervals(forest, X, X[:, 0], measure=importances, **choices)
    np.testing.assert_array_equal(intervals.values, importances.values)
    np.testing.assert_allclose((intervals.low + intervals.high) / 2, importances.values, atol=1e-12)
    own = confidence_intervals(forest, X, X[:, 0], **choices)
    np.testing.assert_array_equal(intervals.replicate_mean, own.replicate_mean)
    renamed = dm.Importances(tuple("abc"), own.values, "mda", own.unit)
    with pytest.raises(ValueError, match=r"measure must be .* importances of the 3 columns of X"):
        confidence_intervals(forest, X, X[:, 0], measure=renamed, **choices)
