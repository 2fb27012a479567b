"""Each row alone against the whole table, for forests of any settings in any container."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from tests.faults.batches import READ, REFUSED
from tests.faults.problems import draw_estimator, draw_weights, unrefused
from tests.faults.routing import REASONS
from tests.forests.test_rows_alone import CONTAINERS, mixed, same_alone


@unrefused
def attempt(number: int, folder: Path) -> str:
    """Grow a forest of classes, and predict rows it was grown on and new ones, one at a time."""
    random = np.random.default_rng(number)
    n_rows = int(random.choice([5, 15, 30]))
    make, row = list(CONTAINERS.values())[number % len(CONTAINERS)]
    y = [int(label) for label in random.integers(0, 3, n_rows)]
    estimator = draw_estimator(random, len(set(y)), y).set_params(oob_score=False)
    frame = mixed(n_rows, seed=number)
    other = mixed(5, seed=number + 1)
    other.loc[3, "color"] = other.loc[4, "size"] = "rare"  # never seen
    try:
        estimator.fit(make(frame), y, sample_weight=draw_weights(random, n_rows))
    except ValueError as error:
        if any(reason in str(error) for reason in REASONS):
            return REFUSED
        raise
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X (does not have valid|has) feature names")
        same_alone(estimator, make(frame), row)
        same_alone(estimator, make(other), row)
    return READ
