"""Rates of the tests of significance where no feature says anything, in small.

Three nulls and three shapes, 40 data sets each, forests of ten shallow trees and 19 permutations,
the fewest that a p-value of .05 can come from. What costs little is tried in every cell; the others
in one or a few, so chosen that each meets what is hardest for it. The same in full, and what comes
of it, is in docs/explanation/tests/calibration.md.

No rate that is looked at is above the bound that holds for all of them with probability .999, by
Bonferroni, .250 for 40 data sets; where p-values are exact and columns independent, some are that
small. That is wide, so fractions of p-values over all features, which vary less, are looked at too.
"""

import warnings

import numpy as np
import pytest
from benchmarks.designs.nulls import KINDS, NULLS, SHAPES
from benchmarks.error_rates.calibration import (
    LEVEL,
    RUNS,
    WIDTH,
    Method,
    forward,
    intervals,
    janitza,
    of_permuted,
    outcomes,
    refitted,
    single_candidate,
    vote_change,
)
from scipy import stats

import duramen as dm
from duramen.jobs.replicates import Plan, run_replicates

DATA_SETS = 40
OUTSIDE = 1e-3  # probability that any rate lies outside, if all promises hold

SMALL = dm.RandomForestClassifier(10, max_depth=5)
TINY = dm.RandomForestClassifier(5, max_depth=3)
TREES = 60

PURE, CORRELATED, MIXED = NULLS
WIDE, LONG, WIDEST = SHAPES


def correlation(codes, y, seed):
    """Return the difference of mean ranks between the classes for each column."""
    return np.abs((y - y.mean()) @ codes)


def read_twice(run):
    """Have methods that differ in what they read of a result compute it once for a data set."""
    latest = [(None, None)]

    def reading(X, y, seed, folder):
        table, result = latest[0]
        if table is not X:
            result = run(X, y, seed, folder)
            latest[0] = (X, result)
        return result

    return reading


def own_function(X, y, seed, folder):
    codes = np.stack([X.codes(j) for j in range(X.n_columns)], axis=1).astype(float)
    return dm.significance.permutation_test(
        correlation, codes, y, n_permutations=RUNS, random_state=seed
    )


# --- what is tried where -------------------------------------------------------------------------

alone = refitted("hapfelmeier", SMALL, measure="mdi", n_permutations=RUNS, features=[3])
ALONE = Method("hapfelmeier", alone, "each")
highest = refitted("conditional_error_rate", SMALL, n_permutations=RUNS)
HIGHEST = Method("conditional_error_rate", highest, "any")
EMPIRICAL = Method("altmann, empirical", of_permuted("altmann", SMALL), "each")
GAMMA = Method("altmann, gamma", of_permuted("altmann", SMALL, distribution="gamma"), "each")
CURVE = Method("fdr_curve", of_permuted("fdr_curve", SMALL), "fdr")
MDA = Method("altmann, mda", of_permuted("altmann", SMALL, measure="mda"), "each")
OWN = Method("permutation_test", own_function, "each")
by_frequency = refitted("frequency_control", SMALL, n_permutations=RUNS)
FREQUENCY = Method("frequency_control, K=sqrt(p)", by_frequency, "each")
mean_rank = refitted("mean_rank_test", TINY, n_resamples=2, n_permutations=RUNS)
MEAN_RANK = Method("mean_rank_test", mean_rank, "each")
ONE_PROBE = Method("one_probe", refitted("one_probe", TINY, n_permutations=RUNS), "each")
PROBES = Method("multiple_probes", refitted("multiple_probes", TINY, n_permutations=RUNS), "any")
FORWARD = Method("probe_ranking", forward, "any")
INTERVALS = Method("confidence_intervals, mda", intervals(TINY, 20), "each")
votes = read_twice(vote_change(TREES))
VOTES = Method("vote_change", votes, "each")
VOTES_Q = Method("vote_change, q", votes, "fdr")
# The p-values of these are for columns of one kind.
air = read_twice(janitza("air", TREES))
AIR = Method("janitza, air", air, "each")
HOLDOUT = Method("janitza, holdout_mda", janitza("holdout_mda", TREES), "each")
SINGLE = Method("frequency_control, K=1", single_candidate(50), "each")
ADJUSTED = Method("janitza, air, q", air, "fdr")

# P(p <= .05) is .05 by exchangeability, less where values of 0 tie.
EXACT = (ALONE, HIGHEST, EMPIRICAL, MDA, OWN, FREQUENCY, MEAN_RANK)
EVERYWHERE = (ALONE, HIGHEST)
PERMUTED = (EMPIRICAL, GAMMA, CURVE)  # of the same forests

CELLS = {
    (PURE, WIDE): (*PERMUTED, AIR, SINGLE),
    (PURE, LONG): (MEAN_RANK, INTERVALS, FORWARD, OWN),
    (PURE, WIDEST): (ONE_PROBE, SINGLE),
    (CORRELATED, WIDE): (*PERMUTED, FORWARD, SINGLE),
    (CORRELATED, LONG): (PROBES, AIR, OWN),
    (CORRELATED, WIDEST): (AIR, HOLDOUT, ADJUSTED, VOTES, VOTES_Q, SINGLE),
    (MIXED, WIDE): (FREQUENCY, VOTES, VOTES_Q),
    (MIXED, LONG): (MDA, OWN),
    (MIXED, WIDEST): PERMUTED,
}
N_RATES = sum(
    KINDS if method.promise == "each" else 1
    for own in CELLS.values()
    for method in (*EVERYWHERE, *own)
)


@pytest.mark.slow
@pytest.mark.parametrize(("null", "shape"), CELLS, ids=lambda part: str(part).replace(" ", "-"))
def test_rates_lie_in_their_bands(null, shape):
    methods = (*EVERYWHERE, *CELLS[null, shape])
    result = many(null, shape, methods, DATA_SETS, seed=list(CELLS).index((null, shape)))
    high = stats.binom.isf(OUTSIDE / N_RATES, DATA_SETS, LEVEL)
    for method, (some, fraction, *followed) in zip(methods, result, strict=True):
        each = method.promise == "each"
        rates = [values.mean() for values in followed if each and not np.isnan(values).any()]
        counts = DATA_SETS * np.array(rates if each else [some.mean()])
        assert counts.max() <= high, f"{method.name}: {counts}"
        # Permuted alone, a correlated column loses its copies, and gets splits that these shared.
        if method in EXACT and (method, null) != (ALONE, CORRELATED):
            # No p-value of 40 data sets is that small in one of eight runs, if columns are copies.
            assert not each or null == CORRELATED or counts.sum() > 0, f"{method.name}: {counts}"
            error = fraction.std(ddof=1) / np.sqrt(DATA_SETS)
            mean = fraction.mean()
            assert not each or mean <= LEVEL + 4 * error, f"{method.name}: {mean}"


def many(null, shape, methods, data_sets, seed):
    """Return the selections of each method, of shape (methods, WIDTH, data sets)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few negative values, and what is known to be skewed
        options = {"seed": seed, "identity": {}, "plan": Plan(), "function": "test"}
        task, width = outcomes(null, shape, methods), WIDTH * len(methods)
        result = run_replicates(task, data_sets, width, **options)
    return np.moveaxis(result.reshape(data_sets, len(methods), WIDTH), 0, -1)
