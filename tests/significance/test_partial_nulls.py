"""Error rates of the default test beside relevant features, by `error_rates.partial_nulls`."""

import csv

import numpy as np
import pandas as pd
import pytest
from benchmarks.defaults.default_test import confirm, default_result
from benchmarks.designs.problem import Problem
from benchmarks.error_rates.partial_nulls import RATES, SETTINGS, replicates
from tests.cli.commands import done
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


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_default_test_is_that_of_the_command(tmp_path, task):
    """Equal p-values from the command, with fewer trees and permutations on both sides."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(60, 4)), columns=list("abcd"))
    y = X["a"] + random.normal(size=60)
    if task == "classification":
        y = pd.Series(np.where(y > 0, "yes", "no"))
    X.assign(y=y).to_parquet(tmp_path / "table.parquet")
    numbers = ("--trees", 40, "--permutations", 19, "--seed", 3)
    done(tmp_path / "out", "rank", tmp_path / "table.parquet", "--target", "y", *numbers)
    problem = Problem(X, y.to_numpy(), np.arange(4) < 1)
    result = default_result(problem, 3, trees=40, permutations=19)
    assert problem.task == task
    with (tmp_path / "out" / "result.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    verdict_of = {row["name"]: (float(row["p_adjusted"]), row["verdict"]) for row in rows}
    verdicts = confirm(problem, 3, trees=40, permutations=19)
    wanted = zip(result.p_adjusted.tolist(), verdicts.tolist(), strict=True)
    assert verdict_of == dict(zip(result.names, wanted, strict=True))
