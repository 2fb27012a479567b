"""Rates of change from time series: known answers and a slow oracle."""

import itertools
import math

import numpy as np
import pytest

import duramen as dm
from duramen.networks import Experiment
from duramen.networks.targets import decay_rates, pairs_of, responses_of

FAST = {"estimator": dm.RandomForestRegressor(25, max_features="sqrt"), "random_state": 0}


def slow_learning_sets(values, time, series, rates):
    """Inputs and responses of the pairs of samples, by loops."""
    inputs, responses = [], []
    for row in range(len(values)):
        if math.isnan(time[row]):
            inputs.append(values[row])
            responses.append(rates * values[row])
    for label in sorted(set(series)):
        rows = [r for r in range(len(values)) if series[r] == label and not math.isnan(time[r])]
        rows.sort(key=lambda r: time[r])
        for a, b in itertools.pairwise(rows):
            change = (values[b] - values[a]) / (time[b] - time[a])
            inputs.append(values[a])
            responses.append(change + rates * values[a])
    return np.array(inputs), np.array(responses)


def shuffled(seed=0):
    rng = np.random.default_rng(seed)
    values = rng.random((14, 4))
    time = np.array([0, 1, 3, 0, 2, 5, 6, np.nan, np.nan, 0, 1, 2, 4, 8.0])
    series = np.array(list("aaabbbbzzccccc"))
    order = rng.permutation(14)
    return values[order], time[order], series[order]


def test_responses_equal_a_slow_oracle():
    values, time, series = shuffled()
    rates = np.array([0.1, 0.5, 0.0, 2.0])
    now, following, elapsed = pairs_of(time, series, 14, "genie3")
    inputs, responses = slow_learning_sets(values, time, series, rates)
    assert np.array_equal(values[now], inputs)
    assert np.allclose(responses_of(values, now, following, elapsed, rates), responses)


def test_decay_rate_of_an_exponential_is_found():
    time = np.arange(0.0, 10.0, 0.5)
    for rate in (0.1, 0.7):
        # The offset c is just below the smallest level: the last level is far above it here.
        values = np.exp(-rate * time)[:, None]
        floor = values.min() - 1e-6
        expected = (math.log(1 - floor) - math.log(1e-6)) / time[-1]
        assert decay_rates(values, time, None, "estimate", "genie3")[0] == pytest.approx(expected)
    both = np.concatenate([np.exp(-0.3 * time), np.full(len(time), 1e-9)])[:, None]
    series = np.repeat(["decay", "flat"], len(time))
    actual = decay_rates(both, np.tile(time, 2), series, "estimate", "genie3")[0]
    assert actual == pytest.approx(0.3, rel=0.01)


def test_network_of_time_series_is_that_of_its_learning_sets():
    values, time, series = shuffled(1)
    rates = np.array([0.2, 0.4, 0.6, 0.8])
    network = dm.genie3(values, experiment=Experiment(time, series, rates), **FAST)
    inputs, responses = slow_learning_sets(values, time, series, rates)
    from duramen.jobs.replicates import replicate_seed

    for j in range(4):
        others = [i for i in range(4) if i != j]
        y = (responses[:, j] - responses[:, j].mean()) / responses[:, j].std()
        seed = replicate_seed(network.metadata["seed"], j) % 2**32
        forest = dm.RandomForestRegressor(25, max_features="sqrt", random_state=seed)
        forest.fit(inputs[:, others], y)
        expected = dm.importances.mdi(forest).values
        assert np.allclose(network.weights[others, j], expected, rtol=1e-9, atol=1e-12)


def test_delayed_regulation_is_found_and_directed():
    """The level of b follows that of a, which follows nothing."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(6):
        a, b = rng.random(), rng.random()
        for _ in range(30):
            values.append([a, b, *rng.random(3)])
            a += 0.6 * (rng.random() - a)
            b += 0.2 * (2 * values[-1][0] - b)
    experiment = Experiment(np.tile(0.2 * np.arange(30), 6), np.repeat(np.arange(6), 30), 1.0)
    forest = dm.RandomForestRegressor(200, max_features="sqrt")
    network = dm.genie3(np.array(values), experiment=experiment, estimator=forest, random_state=0)
    assert network.top(1)[0][:2] == ("x0", "x1")
    assert network.weights[0, 1] > 0.5 > network.weights[1, 0]


def test_knocked_out_samples_drop_the_pairs_that_touch_them():
    values, time, series = shuffled(2)
    which = [None] * 14
    which[3] = ["x1"]
    network, plain = (
        dm.genie3(values, experiment=Experiment(time, series, 0.5, genes), **FAST)
        for genes in (which, None)
    )
    assert not np.array_equal(network.weights[:, 1], plain.weights[:, 1])
    others = [0, 2, 3]
    assert np.array_equal(network.weights[:, others], plain.weights[:, others])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": [0.0, 1.0]}, "time must be one entry per sample"),
        ({"series": ["a"]}, "series must be one entry per sample"),
        ({"time": [0.0] * 14, "series": None}, "two samples at the same time"),
        ({"time": [np.inf] + [np.nan] * 13}, "time must be finite"),
        ({"decay": -1.0}, "decay must be"),
    ],
)
def test_refuses(change, message):
    values, time, series = shuffled()
    experiment = Experiment(**{"time": time, "series": series, **change})
    with pytest.raises(ValueError, match=message):
        dm.genie3(values, experiment=experiment, **FAST)
