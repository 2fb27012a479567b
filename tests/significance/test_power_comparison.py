"""Methods beside the default test, and its power, in small: benchmarks.power.comparison."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.designs import nulls
from benchmarks.designs import simulated as sim
from benchmarks.designs.problem import Problem
from benchmarks.power import comparison, knockoffs, rank_tests
from benchmarks.power.comparison import PROBLEMS, Result, best, families, fraction, outcomes
from scipy import stats
from tests.significance.noise import band

from duramen.jobs.replicates import Plan, run_replicates

TABLE = {  # power of rank tests and BH that was reported of such problems
    "additive, 8 of 40": 0.46,
    "exclusive or, 2 of 16": 0.0,
    "one dominant, 3 of 20": 0.59,
    "mixed kinds, 5 of 40": 0.79,
    "Friedman, 5 of 20": 0.79,
}


def ran(name, family, data_sets, seed=0):
    task, width = outcomes(PROBLEMS[name], family), 1 + 2 * len(family.levels)
    plan = Plan(1)
    return run_replicates(
        task, data_sets, width, seed=seed, identity={}, plan=plan, function="test"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one dominant, 3 of 20", "exclusive or, 2 of 16"])
def test_default_test_finds_features_and_few_false_ones(name):
    """Ten data sets of seed 0, 25 trees, 19 permutations: FDR at most .05 and 3.3 errors of it."""
    values = ran(name, families(25, 19)["max-t"], 10)
    _, _, _, power, fdr = values.mean(axis=0)
    assert power > 0.1
    assert fdr <= 0.05 + 3.3 * values[:, 4].std() / np.sqrt(10)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_rank_tests_have_the_power_of_the_table(name):
    """40 data sets of seed 0; within .1 of the table, whose own standard errors are unknown."""
    _, power, fdr, holm, _ = ran(name, families(1, 1)["ranks"], 40).mean(axis=0)
    assert power == pytest.approx(TABLE[name], abs=0.1)
    assert holm <= power
    assert fdr <= 0.05 + band(0.05, 40)


@pytest.mark.slow
def test_problems_have_relevant_and_irrelevant_features():
    for name, draw in PROBLEMS.items():
        drawn = draw(np.random.default_rng(1))
        assert np.shape(drawn.X) == (len(drawn.y), len(drawn.relevant)), name
        assert 0 < drawn.relevant.sum() < len(drawn.relevant), name


def test_p_values_are_those_of_the_test_for_the_kinds():
    random = np.random.default_rng(0)
    number, text = random.normal(size=40), random.choice(list("abc"), 40)
    holes = np.where(random.random(40) < 0.2, np.nan, number)
    table = pd.DataFrame({"number": number, "text": text, "holes": holes, "one": 1.0})
    two, three = random.choice(["no", "yes"], 40), random.choice(list("xyz"), 40)
    y = number + random.normal(size=40)
    present = ~np.isnan(holes)

    def parts(values, groups):
        return [values[groups == group] for group in np.unique(groups)]

    def values_of(target):
        return rank_tests.p_values(Problem(table, target, np.ones(4, dtype=bool)))

    def chi_square(target):
        return stats.chi2_contingency(pd.crosstab(text, target)).pvalue

    wanted = {
        "two": (
            stats.mannwhitneyu(*parts(number, two)).pvalue,
            chi_square(two),
            stats.mannwhitneyu(*parts(number[present], two[present])).pvalue,
        ),
        "three": (
            stats.kruskal(*parts(number, three)).pvalue,
            chi_square(three),
            stats.kruskal(*parts(number[present], three[present])).pvalue,
        ),
        "number": (
            stats.spearmanr(number, y).pvalue,
            stats.kruskal(*parts(y, text)).pvalue,
            stats.spearmanr(number[present], y[present]).pvalue,
        ),
    }
    for name, target in (("two", two), ("three", three), ("number", y)):
        np.testing.assert_allclose(values_of(target), [*wanted[name], 1.0], rtol=1e-9, err_msg=name)


def test_martingale_residuals_are_events_minus_expected_ones():
    """Two groups: their sum is observed minus expected events, the numerator of log-rank."""
    y = sim.survival(np.random.default_rng(0), np.zeros(60))
    y["time"] = np.ceil(4 * y["time"])  # with ties
    group = np.arange(60) % 2 == 0
    residuals = rank_tests.martingale_residuals(y)
    observed_minus_expected = 0.0
    for t in np.unique(y["time"][y["event"]]):
        risk, event = y["time"] >= t, (y["time"] == t) & y["event"]
        observed_minus_expected += event[group].sum() - event.sum() * risk[group].sum() / risk.sum()
    assert residuals[group].sum() == pytest.approx(observed_minus_expected)
    assert residuals.sum() == pytest.approx(0.0)


def test_adjustments_are_those_of_their_definitions():
    random = np.random.default_rng(0)
    for _ in range(50):
        p = random.random(12) ** 4
        bh = stats.false_discovery_control(p) <= 0.05
        assert np.array_equal(rank_tests.selected(p, "bh"), bh)
        holm = [all((p >= x).sum() * x <= 0.05 for x in p[p <= own]) for own in p]
        assert rank_tests.selected(p, "holm").tolist() == holm
    assert rank_tests.selected(np.full(3, 0.001), "holm").all()


def test_knockoffs_have_the_second_moments_of_the_columns():
    """Covariances of a knockoff with others are those of its column, with its column less by s."""
    random = np.random.default_rng(0)
    X = nulls.in_blocks(random.normal(size=(20_000, 6)), [3, 3], 0.7, random)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    R = np.corrcoef(X.T)
    s = min(1.0, 2 * np.linalg.eigvalsh(R)[0])
    own = knockoffs.knockoffs(X, random)
    assert np.abs(np.cov(own.T) - R).max() < 0.04
    assert np.abs(X.T @ own / len(X) - (R - s * np.eye(6))).max() < 0.04


def test_knockoff_plus_takes_the_largest_set_within_the_rate():
    random = np.random.default_rng(0)
    for _ in range(50):
        W = np.round(random.normal(size=15) + 1.0, 1)
        sets = [
            t <= W
            for t in np.unique(np.abs(W[W != 0]))
            if (1 + (-t >= W).sum()) <= 0.2 * max(1, (t <= W).sum())
        ]
        wanted = max(sets, key=np.count_nonzero, default=np.zeros(15, dtype=bool))
        assert np.array_equal(knockoffs.selected(W, 0.2), wanted)


def test_columns_of_text_and_missing_values_have_knockoffs():
    drawn = sim.problem(80, sim.factorial([3]), sim.with_missing(sim.nominal(2, 4), 0.2))(
        np.random.default_rng(0)
    )
    W = knockoffs.statistics(drawn, np.random.default_rng(1))
    assert np.argmax(np.abs(W)) == np.flatnonzero(drawn.relevant)[0]
    assert W.shape == (3,)


def result(power, fdr=0.0, level=0.05):
    return Result(power, 0.01, fdr, 0.01, 1.0, level)


def test_best_is_the_most_powerful_valid_method():
    results = {
        "max-T, found": result(0.4),
        "rank tests, BH": result(0.5),
        "knockoff+, .2": result(0.8, 0.2, 0.2),
        "Boruta": result(0.9, 0.2),
    }
    assert best(results) == "knockoff+, .2"
    assert best(results, 0.05) == "rank tests, BH"
    assert fraction(results, "rank tests, BH") == pytest.approx(0.8)
    assert best({"Boruta": result(0.9, 0.2)}) is None
    assert fraction(results, None) == np.inf


def test_run_prints_both_tables(tmp_path, capsys):
    words = ["--problems", "clinical", "--data-sets", "2", "--trees", "3", "--permutations", "19"]
    methods = ["--methods", "max-t", "ranks"]
    comparison.main(["--out", str(tmp_path), *words, *methods])
    printed = capsys.readouterr().out
    assert "| clinical, missing values, 3 of 5 | rank tests, BH |" in printed
    assert "best valid at .05" in printed
    assert len(list(tmp_path.glob("*.npz"))) == 2
