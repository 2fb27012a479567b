"""Error rates of the default test beside relevant features, by `error_rates.partial_nulls`."""

import csv
import math

import numpy as np
import pandas as pd
import pytest
from benchmarks.defaults.default_test import confirm, default_result
from benchmarks.designs.problem import Problem
from benchmarks.error_rates.partial_nulls import RATES, SETTINGS, main, replicates, stages, verdict
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


def test_all_settings_have_relevant_and_irrelevant_features():
    assert len(SETTINGS) >= 34
    for name, setting in SETTINGS.items():
        drawn = setting.draw(np.random.default_rng(1))
        data = drawn.learning_set()
        assert data.table.shape == (len(drawn.y), len(drawn.relevant)), name
        assert 0 < drawn.relevant.sum() < len(drawn.relevant), name
        assert data.target.task == drawn.task, name


def test_columns_are_in_random_order_and_relevance_follows():
    """Copies are those that correlate with each other, and the relevant ones do not."""
    places = set()
    for seed in range(5):
        drawn = SETTINGS["copies, r = 0.99"].draw(np.random.default_rng(seed))
        together = (np.abs(np.corrcoef(drawn.X.to_numpy().T)) > 0.9).sum(axis=0) > 1
        assert together.sum() == 6
        assert not together[drawn.relevant].any()
        places.add(tuple(np.flatnonzero(drawn.relevant)))
    assert len(places) > 1


def settled(n, **rates):
    return np.tile([rates.get(rate, 0.0) for rate in RATES], (n, 1))


def test_further_data_sets_are_drawn_above_a_rate_of_two_percent():
    needed = stages(400, 100)
    assert needed(settled(0)) == 100
    assert needed(settled(100)) == 100
    assert needed(settled(100, fdr=0.03)) == 400
    assert needed(settled(100, false_confirmed=0.03)) == 400
    assert needed(settled(100, false_found=0.5)) == 100
    assert stages(60, 100)(settled(60, fdr=0.03)) == 60
    assert stages(60, 100)(settled(60)) == 60


def test_band_is_that_of_the_binomial_distribution():
    """The largest count that is exceeded with a probability of at most .005."""
    n = 100
    done = settled(n)
    upper, holds = verdict(done)
    terms = [math.comb(n, k) * 0.05**k * 0.95 ** (n - k) for k in range(n + 1)]
    most = next(k for k in range(n + 1) if sum(terms[k + 1 :]) <= 0.005)
    assert upper == most / n
    assert holds
    done[:most, 0] = 1.0
    assert verdict(done)[1]
    done[: most + 1, 0] = 1.0
    assert not verdict(done)[1]


def test_run_goes_on_from_its_files_and_prints_a_table(tmp_path, capsys):
    words = ("--out", str(tmp_path), "--trees", "3", "--permutations", "19", "--settings", "20 x 6")
    assert main([*words, "--data-sets", "2"]) in (0, 1)
    first = {path.name: np.load(path)["values"] for path in tmp_path.glob("*.npz")}
    assert main([*words, "--data-sets", "4"]) in (0, 1)
    assert sorted(first) == ["20-x-6--regression.npz", "20-x-6.npz"]
    for name, values in first.items():
        again = np.load(tmp_path / name)["values"]
        assert again.shape == (4, len(RATES))
        assert np.array_equal(again[:2], values)
    printed = capsys.readouterr().out
    assert "| 20 x 6, regression | 4 |" in printed
