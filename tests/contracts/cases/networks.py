"""Networks and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts.inputs import jobs, mixed, uniform
from tests.contracts.registry import case

import duramen as dm

SMALL = {"estimator": dm.RandomForestRegressor(6, max_features="sqrt"), "random_state": 2}


def _expression() -> np.ndarray:
    return uniform(24, 5, seed=6)


@case("genie3/random forest")
@case("genie3/p-values", n_permutations=3)
@case("genie3/mixed", expression=mixed(), targets=["count", "flag"])
@case(
    "genie3/last level",
    expression=np.floor(2 * uniform(40, 3, seed=8)).astype(int).astype(str),
    measure="last_level",
    estimator=dm.TotallyRandomizedTreesClassifier(6),
)
def _network(expression: Any = None, **options: Any) -> Any:
    network = dm.genie3(
        _expression() if expression is None else expression, n_jobs=jobs(), **{**SMALL, **options}
    )
    return (network.weights, network.p_values, network.names, network.sources, network.targets)


def _calcium() -> np.ndarray:
    """Fluorescence of six neurons, with bursts."""
    rises = (uniform(400, 6, seed=11) < 0.04) * 0.2
    rises[60::90] += 0.15
    level, frames = np.zeros(6), []
    for rise in rises:
        level = 0.95 * level + rise
        frames.append(level)
    return np.array(frames) + 0.01 * uniform(400, 6, seed=12)


def _rounded(values: Any) -> Any:
    # Products and decompositions of matrices differ in their last digits between processors.
    return np.round(values, 7)


@case("connectome/averaged")
@case("connectome/transfer entropy", method="transfer_entropy", quiet_below=1.0)
@case("connectome/genie3", method="genie3", n_estimators=4, random_state=1)
def _connectome(**options: Any) -> Any:
    result = dm.connectome(_calcium(), n_jobs=jobs(), **options).network
    return (result.names, _rounded(result.weights), result.directed)


@case("connectome/directions")
def _directions() -> Any:
    dc = dm.networks.connectome
    x = _calcium()
    rises = dc.hard_threshold(dc.difference(x), 0.1)
    counts = dc.precedence(rises, low=0.01, high=0.1)
    combined = dc.directed(dc.correlation(rises), counts)
    states = (rises.toarray() > 0).astype(int)
    entropy = dc.transfer_entropy(states, order=1, same_frame=False)
    general = dc.generalized_transfer_entropy(x, threshold=1.0, edges=[-1, 0, 0.1, 1])
    return (counts, _rounded(combined), _rounded(entropy), _rounded(general))
