"""`strata` and `groups` in every test that permutes rows, and in resampling and hold-out parts."""

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.error_rates.rejections import correlation, rates, refitted
from benchmarks.error_rates.strata import PROBLEMS, variants
from tests.grid import one_test
from tests.significance.noise import TINY, band

import duramen as dm

N = 24
STRATA = np.arange(N) // 4 % 3
GROUPS = np.arange(N) // 2  # each in one of the strata
FOREST = dm.ExtraTreesRegressor(1, max_depth=1)

PERMUTED, FEW = {"n_permutations": 5}, {"n_permutations": 3, "stop_at": None}
METHODS = {
    "altmann": PERMUTED,
    "fdr_curve": PERMUTED,
    "max_t": PERMUTED,
    "hapfelmeier": {**PERMUTED, "features": ["row"]},
    "conditional_error_rate": FEW,
    "conditional_error_rate, by rank": {**FEW, "rank_based": "later"},
    "mean_rank_test": {**PERMUTED, "n_resamples": 2},
    "multiple_probes": {"n_permutations": 5},
}
BLOCKS_ONLY = {"one_probe": {"n_permutations": 5}, "forest_probe_ranking": {"n_permutations": 5}}
RESAMPLING = {
    "confidence_intervals": {"n_resamples": 5},
    "confidence_intervals, doubly": {"n_resamples": 5, "method": "double-bootstrap"},
    "ranking_stability": {"n_resamples": 5, "k": 1},
    "mean_rank_test": {"n_resamples": 5, "n_permutations": 2},
}


def call(name, *arguments, **options):
    return getattr(dm.significance, name.partition(",")[0])(*arguments, **options)


class Watching:
    """A measure that sees which row every value comes from: y and a column hold its number."""

    def __init__(self):
        self.seen = []

    def __call__(self, forest, table, y):
        columns = {
            name: table.values(j)[table.codes(j)].astype(int) for j, name in enumerate(table.names)
        }
        self.seen.append((columns, np.asarray(y).astype(int)))
        return np.random.default_rng(len(self.seen)).random(table.n_columns)

    def sources(self):
        """Of each table: the rows that its values come from, the target's last."""
        for columns, y in self.seen:
            rows = [values for name, values in columns.items() if name.startswith("row")]
            yield columns, [*rows, y]


def table():
    """Columns and a target that hold the row's number, and columns of strata and groups."""
    columns = {"row": np.arange(N), "stratum": STRATA, "group": GROUPS}
    return pa.table(columns), np.arange(float(N))


@one_test
@pytest.mark.parametrize("name", METHODS)
def test_rows_are_exchanged_within_strata(name):
    X, y = table()
    watching = Watching()
    result = call(name, FOREST, X, y, measure=watching, strata=STRATA, **METHODS[name])
    moved = 0
    for columns, sources in watching.sources():
        for rows in sources:
            np.testing.assert_array_equal(STRATA[rows], columns["stratum"])
            moved += (rows != sources[0]).any()
    assert moved
    sentence = getattr(result, "null", None) or result.meaning
    assert "only within strata" in sentence
    assert set(result.metadata) >= {"strata"}


@one_test
@pytest.mark.parametrize("name", {**METHODS, **BLOCKS_ONLY})
def test_blocks_of_rows_stay_together(name):
    X, y = table()
    watching = Watching()
    options = {**METHODS, **BLOCKS_ONLY}[name]
    result = call(name, FOREST, X, y, measure=watching, groups=GROUPS, **options)
    moved = 0
    for _, sources in watching.sources():
        for rows in sources:
            pairs = rows.reshape(-1, 2)
            assert (pairs[:, 0] % 2 == 0).all()
            np.testing.assert_array_equal(pairs[:, 1], pairs[:, 0] + 1)
            moved += (rows != sources[0]).any()
    assert moved
    assert "Whole groups" in (getattr(result, "null", None) or result.meaning)


@one_test
@pytest.mark.parametrize("name", {**METHODS, "frequency_control": {}})
def test_one_stratum_and_blocks_of_one_row_are_no_restriction(name):
    X, y = table()
    own = {"measure": correlation_of} if name != "frequency_control" else {"null": "permuted"}
    options = {**METHODS.get(name, {"n_permutations": 5}), **own, "random_state": 3}
    plain = call(name, FOREST, X, y, **options)
    settings = {"strata": ["a"] * N, "groups": np.arange(N)[::-1]}
    assert call(name, FOREST, X, y, **options, **settings).equals(plain)
    assert "strata" not in plain.metadata


def correlation_of(forest, table, y):
    return correlation(table, y, 0)


@one_test
@pytest.mark.parametrize("name", RESAMPLING)
def test_resampling_draws_whole_groups(name):
    X, y = table()
    watching = Watching()
    groups = np.array([0, 0, 0, 1, 2, 2] * 4) + 3 * (np.arange(N) // 6)
    sizes = np.bincount(groups)
    call(name, FOREST, X, y, measure=watching, groups=groups, **RESAMPLING[name])
    fewer = 0
    for columns, _ in watching.sources():
        counts = np.bincount(groups[columns["row"]], minlength=len(sizes))
        assert (counts % sizes == 0).all()
        for block in np.flatnonzero(counts):
            rows = columns["row"][groups[columns["row"]] == block]
            assert len(np.unique(rows)) == sizes[block]
        fewer += (counts == 0).any()
    assert fewer >= 4


def test_standard_errors_by_blocks_count_copies_once():
    random = np.random.default_rng(0)
    values = random.normal(size=40)
    X, y = np.repeat(values, 4)[:, None], np.arange(160.0)

    def mean(forest, table, y):
        return [float(table.values(0)[table.codes(0)].mean())]

    def error(**options):
        result = dm.significance.confidence_intervals(
            FOREST, X, y, measure=mean, n_resamples=150, random_state=0, **options
        )
        return result.standard_error[0]

    right = values.std(ddof=1) / np.sqrt(40)
    assert error(groups=np.repeat(np.arange(40), 4)) == pytest.approx(right, rel=0.2)
    assert error() == pytest.approx(right / 2, rel=0.2)
    doubly = error(groups=np.repeat(np.arange(40), 4), method="double-bootstrap")
    assert doubly == pytest.approx(right, rel=0.2)


# --- what is refused -----------------------------------------------------------------------------


def test_methods_that_permute_nothing_refuse_strata():
    X, y = table()
    forest = dm.ExtraTreesRegressor(2, max_features=1, random_state=0)
    for rows in ({"strata": STRATA}, {"groups": GROUPS}):
        with pytest.raises(ValueError, match='must be None for null="binomial"'):
            dm.significance.frequency_control(forest, X, y, null="binomial", **rows)
    result = dm.significance.frequency_control(forest, X, y, strata=STRATA, n_permutations=3)
    assert result.metadata["null"] == "permuted"


def test_few_arrangements_are_pointed_out_at_the_caller():
    X, y = np.arange(8.0)[:, None], np.array([0, 1] * 4)
    options = {"measure": "mdi", "strata": np.arange(8) // 2, "n_permutations": 19}
    for name in ("altmann", "hapfelmeier"):
        with pytest.warns(UserWarning, match=f"{name}: strata allow only 16 different") as caught:
            call(name, TINY, X, y, **options)
        assert caught[0].filename == __file__


# --- known answers -------------------------------------------------------------------------------


def test_p_values_of_all_arrangements():
    """Three strata of two rows have eight arrangements; the data are one of two extreme ones."""
    x, y = np.array([0.0, 1, 2, 3, 4, 5]), np.array([0.0, 1, 0, 1, 0, 1])

    def product(X, y, seed):
        return [float(np.round(abs(X @ (y - 0.5)), 9))]

    with pytest.warns(UserWarning, match="only 8 different"):
        result = dm.significance.permutation_test(
            product, x, y, strata=[0, 0, 1, 1, 2, 2], n_permutations=4000, random_state=0
        )
    # |X (y - 1/2)| is |+-1 +-1 +-1| / 2 for the eight: 3/2 for two of them.
    assert result.p_values[0] == pytest.approx(0.25, abs=0.03)


def problem_rates(name, tests, data_sets, seed=5):
    options = variants(name)
    result, _ = rates(tests, PROBLEMS[name], data_sets, variants=options, seed=seed)
    return result, *options


def of_correlations(X, y, seed, rows):
    test = dm.significance.permutation_test
    return test(correlation, X, y, random_state=seed, n_permutations=19, **rows)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("name", ["populations", "samples", "families", "copies"])
def test_correlations_are_taken_at_the_level_with_strata_or_groups(name):
    result, rows, label = problem_rates(name, {"correlation": of_correlations}, 25)
    kind = "markers" if name == "populations" else "features"
    wrong, right = (result["correlation", v][kind] for v in (rows, label))
    assert wrong[0] > (0.5 if name == "populations" else 0.1)
    assert right[0] <= 0.05 + 3.3 * max(right[1], 0.005)
    assert right[0] > 0.01


@pytest.mark.slow
def test_population_markers_are_taken_without_strata_only():
    """The bar: 25 data sets, ten markers each; within .05 by 3.3 standard errors."""
    forest = dm.RandomForestClassifier(10)
    tests = {
        "altmann": refitted("altmann", forest, n_permutations=19),
        "frequency": refitted("frequency_control", forest, n_permutations=19),
        "fdr": refitted("fdr_curve", forest, n_permutations=19),
    }
    result, rows, label = problem_rates("populations", tests, 25)
    assert result["altmann", rows]["markers"][0] > 0.2
    for name in ("altmann", "frequency"):
        rate, error = result[name, label]["markers"]
        assert 0.01 < rate <= 0.05 + 3.3 * max(error, 0.01)
    assert result["fdr", rows]["any"][0] > 0.5
    assert result["fdr", label]["any"][0] <= 0.05 + band(0.05, 25)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["samples", "copies"])
def test_blocks_hold_the_level_of_forests(name):
    forest = dm.RandomForestClassifier(10)
    tests = {
        "altmann": refitted("altmann", forest, n_permutations=19),
        "probe": refitted("multiple_probes", forest, n_permutations=19, add_one=True),
    }
    result, rows, label = problem_rates(name, tests, 30)
    assert result["altmann", rows]["features"][0] > 0.08
    rate, error = result["altmann", label]["features"]
    assert 0.02 < rate <= 0.05 + 3.3 * max(error, 0.01)
    assert result["probe", label]["any"][0] <= 0.05 + band(0.05, 30)
