"""Error rates of the default test beside relevant features, by `error_rates.partial_nulls`."""

import pytest
from benchmarks.error_rates.partial_nulls import RATES, SETTINGS, replicates
from tests.significance.noise import band

from duramen.jobs.replicates import Plan

DATA_SETS, TREES, PERMUTATIONS = 20, 10, 19
SHORT = (
    *("24 classes, Gini", "weights: balancing, Gini"),
    *("survival: copies, r = .95", "exclusive or, Gini"),
)


def column(done, rate):
    return done[:, RATES.index(rate)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*have no out-of-bag estimate")
@pytest.mark.parametrize("name", SHORT)
def test_irrelevant_features_are_confirmed_at_the_level(name):
    """20 data sets by the seed of the setting; rates of at most .05 and 3.3 standard errors."""
    done = replicates(name, SETTINGS[name], TREES, PERMUTATIONS, DATA_SETS, Plan(1))
    assert column(done, "false_confirmed").mean() <= 0.05 + band(0.05, DATA_SETS)
    assert column(done, "fdr").mean() <= 0.05 + band(0.05, DATA_SETS)
    assert column(done, "found").mean() > 0.4
