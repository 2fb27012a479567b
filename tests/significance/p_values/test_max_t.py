"""Step-down max-T and its verdicts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom
from tests.oracles import stages
from tests.oracles import step_down as oracle
from tests.significance.noise import Interrupted, band, correlation, killed_after, noise
from tests.significance.noise import two_relevant as problem

import duramen as dm
from duramen.data.recoding import with_permuted
from duramen.jobs.replicates import OBSERVED, replicate_seed
from duramen.significance import max_t
from duramen.significance.association import joint_statistics, marginal_statistics
from duramen.significance.max_t_test import sequential_levels, step_down
from duramen.significance.measured import Refits, measured
from duramen.significance.permutations import expected_discoveries, standardized
from duramen.support.checks import draw_seed

FOREST = dm.RandomForestClassifier(20)
TINY_NUMBERS = dm.ExtraTreesRegressor(1, max_depth=1)
BY_IMPORTANCE = {"marginal": False, "max_stages": 1}


def pooled_rates(observed, null):
    """The least false discovery rate at which each feature is taken."""
    order = np.argsort(-observed, kind="stable")
    rates = np.empty(len(observed))
    expected = expected_discoveries(observed[order], null)
    estimate = np.minimum(expected / np.arange(1, len(order) + 1), 1.0)
    rates[order] = np.minimum.accumulate(estimate[::-1])[::-1]
    return rates


# --- step-down p-values and rates ----------------------------------------------------------------


@given(seed=st.integers(0, 10**6), p=st.integers(1, 8), draws=st.integers(1, 6))
@settings(max_examples=100)
def test_adjusted_p_values_and_rates_are_those_of_the_definitions(seed, p, draws):
    random = np.random.default_rng(seed)
    observed = random.integers(0, 6, p).astype(float)  # with ties
    null = random.integers(0, 6, (draws, p)).astype(float)
    np.testing.assert_allclose(step_down(observed, null), oracle.step_down(observed, null))
    np.testing.assert_allclose(pooled_rates(observed, null), oracle.pooled_rates(observed, null))


def test_by_hand():
    """Five features, four permutations: maxima of what is left are 5 9 3 4, 5 2 3 4, 4 2 3 1 ..."""
    observed = np.array([8.0, 1.0, 4.0, 4.0, 0.0])
    null = np.array(
        [
            [3.0, 5.0, 0.0, 0.0, 0.0],
            [9.0, 1.0, 2.0, 0.0, 0.0],
            [3.0, 0.0, 2.0, 3.0, 1.0],
            [0.0, 0.0, 4.0, 1.0, 0.0],
        ]
    )
    # Of all five the maxima are 5 9 3 4: one reaches 8. Without the first 5 2 3 4: two reach 4.
    # Of the second and last 5 1 1 0: three reach 1. Of the last 0 0 1 0: all reach 0.
    np.testing.assert_allclose(step_down(observed, null), [0.4, 0.8, 0.6, 0.6, 1.0])
    # Reached under permutation, a mean over four: 1/4 for 8, 3/4 for 4, 11/4 for 1, 5 for 0.
    rates = [1 / 4, 11 / 16, 1 / 4, 1 / 4, 1.0]
    np.testing.assert_allclose(pooled_rates(observed, null), rates)


# --- standardized columns ------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), p=st.integers(1, 6), draws=st.integers(1, 6))
@settings(max_examples=100)
def test_standardized_as_defined_and_rows_are_treated_alike(seed, p, draws):
    random = np.random.default_rng(seed)
    rows = random.choice([0.0, 0.0, 0.1, 1.0, 7.0], (draws + 1, p))
    result = standardized(rows)
    np.testing.assert_allclose(result, oracle.standardized(rows.tolist()), atol=2e-9)
    order = random.permutation(draws + 1)
    np.testing.assert_array_equal(standardized(rows[order]), result[order])


def test_known_answers_of_standardizing():
    rows = np.array([[4.0, 1.0, 1e6], [0.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    # The first column has variance 8/3, the constant one 0: c is their root mean square.
    alone = standardized(rows[:, :2])
    c = np.sqrt(8 / 3 / 2)
    np.testing.assert_allclose(alone[:, 0], [3 / c, -3 / c, 0 / 2], atol=1e-9)
    assert alone[:, 1].tolist() == [0, 0, 0]
    # A column whose other values are all 0 is divided by c.
    sparse = standardized(rows[:, [1, 2]])
    c = 1e6 * np.sqrt(2 / 9 / 2)
    assert sparse[0, 1] == pytest.approx(1e6 / c)


def test_scale_of_a_column_cancels_out():
    rows = np.random.default_rng(0).exponential(size=(20, 3))
    np.testing.assert_array_equal(standardized(4 * rows), standardized(rows))
    wide = standardized(np.tile(rows, 700))  # in several groups of columns
    np.testing.assert_allclose(wide[:, -3:], standardized(rows), atol=1e-8)


# --- the test ------------------------------------------------------------------------------------


def by_the_definition(X, y, n, seed, balanced):
    subject = measured(FOREST, X, y, "mdi", "t")
    observed = subject.scores(replicate_seed(draw_seed(seed), OBSERVED))
    null = Refits(function="t", subject=subject, seed=draw_seed(seed)).permuted_scores(n)
    rows = [observed.tolist(), *null.tolist()]
    if balanced:
        rows = np.round(oracle.standardized(rows), 9).tolist()
    return observed, null, rows


@pytest.mark.parametrize("balanced", [True, False])
def test_result_is_that_of_the_definition(balanced):
    X, y = problem()
    options = {"n_permutations": 29, "random_state": 4, "measure": "mdi", **BY_IMPORTANCE}
    result = max_t(FOREST, X, y, balanced=balanced, **options)
    observed, null, rows = by_the_definition(X, y, 29, 4, balanced)
    np.testing.assert_array_equal(result.scores, observed)
    np.testing.assert_allclose(result.statistics, rows[0], atol=2e-9)
    np.testing.assert_allclose(result.p_adjusted, oracle.step_down(rows[0], rows[1:]))
    np.testing.assert_allclose(result.q_values, oracle.pooled_rates(rows[0], rows))
    reached = (np.array(rows[1:]) >= rows[0]).sum(axis=0)
    np.testing.assert_allclose(result.p_values, (1 + reached) / 30)
    np.testing.assert_allclose(result.details["null_mean"], null.mean(axis=0))
    assert set(result.selected(control="fwer")) == {"x3", "x5"}
    assert [result.verdicts()[j] for j in (3, 5, 10, 11)] == [*["confirmed"] * 2, *["noise"] * 2]


def test_default_measure_is_that_of_out_of_bag_rows_by_entropy():
    X, y = problem()
    options = {"n_permutations": 9, "random_state": 4}
    entropy = {"criterion": "entropy"}
    by_oob = max_t(dm.RandomForestClassifier(20, **entropy), X, y, measure="mdi_oob", **options)
    assert max_t(FOREST, X, y, **options).equals(by_oob)
    assert by_oob.unit == "bits"
    by_mdi = max_t(dm.ExtraTreesClassifier(10, **entropy), X, y, measure="mdi", **options)
    assert max_t(dm.ExtraTreesClassifier(10), X, y, **options).equals(by_mdi)
    part = dm.ExtraTreesClassifier(10, max_samples=0.5)
    assert max_t(part, X, y, **options).metadata["measure"] == "mdi_oob"


# --- stages --------------------------------------------------------------------------------------


def by_the_oracle(subject, n, seed, **options):
    """The test of the oracle, with forests grown here: kept features permuted with the target."""
    seed = draw_seed(seed)
    data = subject.data

    def order(b):
        return subject.exchangeability.permutation(
            np.random.default_rng(replicate_seed(seed, b)), subject.data.target.values
        )

    def grow(rejected, b):
        random = np.random.default_rng(replicate_seed(seed, b))
        taken = subject.exchangeability.permutation(random, subject.data.target.values)
        target = data.target.take(taken)
        table = with_permuted(data.table, np.array(rejected, dtype=int), taken)
        weights = None if data.weights is None else data.weights[taken]
        rows = dm.learning_set(table, target.labels, task=data.task, sample_weight=weights)
        return subject.scores(int(random.integers(2**32)), data=rows).tolist()

    orders = [np.arange(data.n_rows), *map(order, range(n))]
    joint = joint_statistics(data, lambda b: orders[b], n + 1)

    def beside(rejected):
        tables = [marginal_statistics(data, lambda b: orders[b], n + 1)]
        if joint is not None:
            tables.append(joint(np.array(rejected, dtype=int)))
        if data.exchangeability.restricted:
            tables = [np.round(oracle.standardized(table.tolist()), 9) for table in tables]
        return [table.tolist() for table in tables]

    observed = subject.scores(replicate_seed(seed, OBSERVED)).tolist()
    return stages.staged(observed, grow, beside, n, **options)


def dominated(seed=1, n=90, p=7):
    """A numeric target that one column nearly determines, and two others change a little."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, 8 * X[:, 0] + X[:, 1] + 0.8 * X[:, 2] + 0.4 * random.normal(size=n)


def of_kinds(seed=2, n=80):
    """Two classes by a column of three categories and a product; one column is constant."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    X[:, 0], X[:, 5] = random.integers(0, 3, n), 2.0
    signal = 2.5 * (X[:, 0] == 1) + 2 * np.sign(X[:, 1] * X[:, 2]) - 0.8
    return X, np.where(signal + 0.5 * random.logistic(size=n) > 0, "ill", "well")


PROBLEMS = {
    "dominated": (dm.RandomForestRegressor(20), *dominated()),
    "kinds": (dm.RandomForestClassifier(20, criterion="entropy"), *of_kinds()),
    "noise": (dm.RandomForestClassifier(5, criterion="entropy"), *noise(2, n=40, p=6)),
    "two classes": (dm.RandomForestClassifier(20, criterion="entropy"), *problem()),
}


def assert_like(result, expected):
    """Compare a result with that of the oracle."""
    features, steps, n_forests = expected
    assert result.metadata["n_forests"] == n_forests
    columns = ("stage", "importance_statistic", "marginal_statistic", "joint_statistic")
    fields = {
        **{name: result.details[name] for name in columns},
        "statistic": result.statistics,
        "p_value": result.p_values,
        "p_adjusted": result.p_adjusted,
        "q_value": result.q_values,
    }
    for name, values in fields.items():
        wanted = [feature[name] for feature in features]
        np.testing.assert_allclose(values, wanted, rtol=1e-7, err_msg=name)
    return steps


@pytest.mark.parametrize("n, max_stages", [(19, 3), (40, 3), (99, 3), (19, 1)])
@pytest.mark.parametrize("name", PROBLEMS)
def test_stages_are_those_of_the_oracle(name, n, max_stages):
    forest, X, y = PROBLEMS[name]
    options = {"n_permutations": n, "max_stages": max_stages, "random_state": 3}
    result = max_t(forest, X, y, **options)
    subject = measured(forest, X, y, "auto", "t")
    steps = assert_like(result, by_the_oracle(subject, n, 3, max_stages=max_stages))
    if name == "dominated":
        assert (len(steps) > 1) == (max_stages > 1)
        assert steps[-1][0] == ([0, 1, 2] if max_stages > 1 else [])
    if name == "noise" and n >= 40:  # ended early: nothing can be confirmed any more
        assert steps in ([([], 19)], [([], 39)])
        assert set(result.evidence()) == {""}
    if max_stages == 1:
        assert set(result.details["stage"]) == {1}


def test_weights_and_strata_are_those_of_the_oracle():
    X, y = of_kinds()
    weights = np.where(y == "ill", 0.3, 2.0)
    strata = np.arange(80) % 2
    forest = dm.RandomForestClassifier(20, criterion="entropy")
    for rows in ({"sample_weight": weights}, {"strata": strata}):
        data = dm.learning_set(X, y, **rows)
        result = max_t(forest, data, n_permutations=19, random_state=3)
        subject = measured(forest, data, None, "mdi_oob", "t")
        assert_like(result, by_the_oracle(subject, 19, 3))
        assert ("together with the weight of" in result.null) == ("sample_weight" in rows)


def test_one_feature_and_all_features_confirmed():
    random = np.random.default_rng(0)
    x = random.normal(size=(60, 2))
    for X, y in ((x[:, :1], x[:, 0] > 0), (x, x[:, 0] + x[:, 1] > 0)):
        options = {"n_permutations": 19, "random_state": 0}
        result = max_t(dm.RandomForestClassifier(30), X, y, **options)
        assert result.verdicts() == ("confirmed",) * X.shape[1]
        assert set(result.details["stage"]) == {1}
        assert result.metadata["n_forests"] == 20  # nothing is left to be tested


def test_blocks_of_different_sizes_have_one_stage():
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 1 + np.arange(30) % 3)
    of_block = random.normal(size=(30, 4))
    X = of_block[groups] + 0.01 * random.normal(size=(len(groups), 4))
    y = (of_block[:, 0] > 0)[groups]
    options = {"n_permutations": 39, "random_state": 0, "groups": groups}
    result = max_t(dm.RandomForestClassifier(20), X, y, **options)
    assert result.selected(control="fwer")[0] == "x0"
    assert set(result.details["stage"]) == {1}
    assert result.metadata["n_forests"] == 40


def test_resumes_at_every_point_of_every_stage(tmp_path):
    X, y = dominated()
    options = {"n_permutations": 19, "random_state": 0}
    plain = max_t(TINY_NUMBERS, X, y, measure=correlation, **options)
    n_forests = plain.metadata["n_forests"]
    assert n_forests == 1 + 2 * 19
    for calls in (1, 2, 10, 19, 20, 21, 30, 38):
        resumed = {"checkpoint": tmp_path / f"run{calls}", **options}
        with pytest.raises(Interrupted):
            max_t(TINY_NUMBERS, X, y, measure=killed_after(correlation, calls), **resumed)
        rest = killed_after(correlation, n_forests - calls + 1)  # and that of the data again
        assert_same_numbers(max_t(TINY_NUMBERS, X, y, measure=rest, **resumed), plain)


def assert_same_numbers(result, other):
    for name in ("scores", "statistics", "p_values", "p_adjusted", "q_values"):
        np.testing.assert_array_equal(getattr(result, name), getattr(other, name))
    assert result.details.keys() == other.details.keys()
    for name, column in other.details.items():
        np.testing.assert_array_equal(result.details[name], column)


def test_notes_of_choices_that_break_the_rates_beside_relevant_features():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    many, few = np.repeat(np.arange(8), 10), np.repeat(np.arange(4), 20)
    by_gini = dm.RandomForestClassifier(5, criterion="gini")
    by_entropy = dm.RandomForestClassifier(5, criterion="entropy")

    def notes(forest, y, **choices):
        return max_t(forest, X, y, n_permutations=2, random_state=0, **choices).notes

    assert "Gini importances of 8 classes" in notes(by_gini, many, measure="mdi_oob")[0]
    assert "Gini importances of 8 classes" in notes(by_gini, many, measure="mdi")[0]
    assert notes(by_gini, many) == notes(by_entropy, many, measure="mdi") == ()
    assert notes(by_gini, few, measure="mdi_oob") == ()
    assert "correlated with each other" in notes(by_gini, few, measure="mda")[0]


# --- what it promises ----------------------------------------------------------------------------


@pytest.mark.parametrize("balanced", [True, False])
def test_level_where_rows_are_exchangeable(balanced):
    """2000 matrices of skewed, correlated and mostly empty columns of different scales."""
    random, taken = np.random.default_rng(0), []
    for _ in range(2000):
        shared = random.exponential(size=(20, 1))
        rows = random.exponential(size=(20, 10)) ** 2 * 10.0 ** np.arange(-5, 5)
        rows[:, :3] += shared
        rows[:, 5:] *= random.random((20, 5)) < 0.1
        statistics = standardized(rows) if balanced else rows
        taken.append(step_down(statistics[0], statistics[1:]).min() <= 0.05)
    assert abs(np.mean(taken) - 0.05) <= band(0.05, 2000)


# --- groups of features -------------------------------------------------------------------------


def in_groups(seed=0, n=60):
    """A group of ten with one relevant member, a pair without any, eight features in no group."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 20))
    y = 3 * X[:, 0] + random.normal(size=n)
    return X, y, {"ten": list(range(10)), "two": ["x10", "x11"]}


def test_groups_of_one_stage_are_those_of_the_definition():
    X, y, groups = in_groups()
    forest = dm.RandomForestRegressor(20, random_state=0)
    matrix = dm.significance.permuted_importances(forest, X, y, n_permutations=19, random_state=3)
    result = max_t(matrix, feature_groups=groups, marginal=False)
    rows = np.vstack([matrix.importances.values, matrix.permuted])
    sums = [rows[:, :10].sum(axis=1) / np.sqrt(10), rows[:, 10:12].sum(axis=1) / np.sqrt(2)]
    top = standardized(np.column_stack([*sums, rows[:, 12:]]))
    single = standardized(rows)
    p_top, p_single = (step_down(z[0], z[1:]) for z in (top, single))
    members = np.maximum(p_single[:12], np.repeat(p_top[:2], [10, 2]))
    wanted = [*p_top[:2], *members, *p_top[2:]]
    assert result.names == ("ten", "two", *matrix.names)
    assert np.array_equal(result.p_adjusted, wanted)
    assert np.allclose(result.scores[:2], [rows[0, :10].sum(), rows[0, 10:12].sum()])
    assert result.metadata["feature_groups"] == {"ten": 10, "two": 2}


def test_groups_of_one_feature_each_have_the_result_of_features():
    X, y, _ = in_groups()
    forest = dm.RandomForestRegressor(20)
    options = {"n_permutations": 19, "marginal": False, "random_state": 1}
    plain = max_t(forest, X, y, **options)
    grouped = max_t(forest, X, y, feature_groups={name: [name] for name in plain.names}, **options)
    assert grouped.names == plain.names
    assert np.array_equal(grouped.p_adjusted, plain.p_adjusted)
    assert np.array_equal(grouped.q_values, plain.q_values)
    assert np.array_equal(grouped.details["stage"], plain.details["stage"])


def test_members_are_not_confirmed_without_their_group_and_stages_keep_whole_groups():
    X, y, groups = in_groups()
    y = y + 0.8 * X[:, 10] + 0.6 * X[:, 15]
    forest = dm.RandomForestRegressor(20, random_state=0)
    result = max_t(forest, X, y, n_permutations=39, random_state=0, feature_groups=groups)
    p = dict(zip(result.names, result.p_adjusted, strict=True))
    assert all(p[f"x{j}"] >= p["ten" if j < 10 else "two"] for j in range(12))
    stage = dict(zip(result.names, result.details["stage"], strict=True))
    assert stage["ten"] == 1
    assert stage["x15"] > 1  # a feature in no group is tested with the groups


def test_groups_that_overlap_or_are_not_balanced_are_refused():
    X, y, groups = in_groups()
    forest = dm.RandomForestRegressor(5)
    with pytest.raises(ValueError, match="must not overlap"):
        max_t(forest, X, y, feature_groups={**groups, "again": [0, 15]})
    with pytest.raises(ValueError, match="balanced must be True"):
        max_t(forest, X, y, feature_groups=groups, balanced=False)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["case-control", "regression"])
def test_level_where_weights_depend_on_the_target(design):
    """50 data sets of noise; with weights that stay in their rows the rate was .16 to .21.

    Weights that balance the classes are a setting of tests/significance/test_partial_nulls.py.
    """
    random, taken = np.random.default_rng(0), []
    numbers = design == "regression"
    forest = dm.RandomForestRegressor(5) if numbers else dm.RandomForestClassifier(5)
    for seed in range(50):
        X = random.normal(size=(60, 6))
        y = random.normal(size=60) if numbers else (np.arange(60) < (10 if seed % 2 else 20)) * 1
        weights = np.exp(y) if numbers else np.where(y == 1, 0.1, 1.9)
        task = "regression" if numbers else "classification"
        data = dm.learning_set(X, y, sample_weight=weights, task=task)
        result = max_t(forest, data, n_permutations=19, max_stages=1, random_state=seed)
        taken.append(result.p_adjusted.min() <= 0.05)
    assert abs(np.mean(taken) - 0.05) <= band(0.05, 50)


# --- looks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "look"), [(99, 39), (99, None), (499, 199), (80, 39)])
def test_levels_of_two_looks_are_probabilities_under_the_null(n, look):
    """Each count of n has probability 1 / (n + 1); none of j is early as by the hypergeometric."""
    levels = sequential_levels(n, look)
    counts = np.arange(n + 1)
    early = np.zeros(n + 1) if look is None else hypergeom.pmf(0, n, counts, look)
    assert levels[-1] == pytest.approx(1.0)
    for level in np.unique([*levels, 0.05]):
        reached = levels <= level
        below = np.where(reached, 1.0, early * (look is not None and level >= levels[0])).mean()
        assert below <= level + 1e-12
    # Attained: P(p <= p(k)) = p(k) for each k from 1 on.
    attained = [np.where(counts <= k, 1.0, early).mean() for k in range(1, n + 1)]
    np.testing.assert_allclose(levels[1:], attained, rtol=1e-12)


def test_known_levels():
    expected = [0.025, 0.0289, 0.0353, 0.0431]
    np.testing.assert_allclose(sequential_levels(99, 39)[:4], expected, atol=6e-5)
    assert sequential_levels(19, None)[0] == 1 / 20


def test_a_stricter_level_has_a_later_look():
    forest = dm.RandomForestClassifier(2)
    result = max_t(forest, *problem(), n_permutations=450, alpha=0.01, random_state=0)
    assert result.p_adjusted[[3, 5]].tolist() == [1 / 200, 1 / 200]
    assert result.p_adjusted.min() <= 0.005


def test_strong_features_end_a_stage_at_the_look_and_weak_ones_do_not():
    random = np.random.default_rng(3)
    X = random.normal(size=(200, 8))
    y = (X[:, 0] + X[:, 1] + 0.5 * random.logistic(size=200) > 0).astype(int)
    result = max_t(dm.RandomForestClassifier(5), X, y, random_state=0)
    assert result.selected(control="fwer") == ("x1", "x0")
    assert result.p_adjusted[:2].tolist() == [1 / 40, 1 / 40]
    assert result.metadata["n_forests"] in (1 + 39 + 19, 1 + 39 + 39, 1 + 39 + 99)
    one = max_t(dm.RandomForestClassifier(5), X, y, max_stages=1, random_state=0)
    np.testing.assert_array_equal(one.p_adjusted[:2], result.p_adjusted[:2])
