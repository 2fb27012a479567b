"""Error rates and power of the verdicts of the default test, on a small scale.

The nulls and a problem of benchmarks.defaults.verdicts, with forests of few trees: the levels are
to hold for any number of trees. In full: docs/explanation/tests/max-t-measured.md.
"""

import numpy as np
import pytest
from benchmarks.defaults.verdicts import NULLS, answer, genes, under_null, with_relevant
from tests.significance.noise import band

from duramen.jobs.replicates import Plan, run_replicates

DATA_SETS = 30

pytestmark = pytest.mark.slow


def means(task, count, width):
    options = {"seed": 1, "identity": {}, "plan": Plan(1), "function": "test"}
    return run_replicates(task, count, width, **options).mean(axis=0)


@pytest.mark.parametrize("name", NULLS)
def test_anything_is_confirmed_at_the_level(name):
    """19 permutations and 5 trees; the rate is at most .05 and 3.3 standard errors."""
    confirmed, _ = means(under_null(NULLS[name], 5, 19), DATA_SETS, 2)
    assert confirmed <= 0.05 + band(0.05, DATA_SETS)


def test_shifted_genes_are_found_and_few_false_ones():
    confirmed, result, false, _ = means(with_relevant(genes, 60), 2, 4)
    assert confirmed > 0.25
    assert result > 0.4
    assert false <= 0.05 + 0.08  # of about 15 in each of two data sets, one or two


def test_a_copy_of_the_target_is_confirmed_in_every_null():
    for null in NULLS.values():
        X, y = null(np.random.default_rng(0))
        copied = np.column_stack([X, np.unique(y, return_inverse=True)[1]])
        assert answer(copied, y, 0, 40, 39).verdicts()[-1] == "confirmed"
