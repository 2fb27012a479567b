"""Predictions with drawn values: the kernel against predictions of changed tables."""

import numpy as np
import pytest

import duramen as dm
from duramen import _kernel
from duramen.forests.prediction import lent_rows


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_replaced_values_are_predictions_of_the_changed_table(task, n_threads):
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 5)).round(1)
    y = X[:, 0] + X[:, 1] * X[:, 2]
    classes = task == "classification"
    data = dm.learning_set(X, np.digitize(y, [-1, 1]) if classes else y, task=task)
    kind = dm.RandomForestClassifier if classes else dm.RandomForestRegressor
    forest = kind(7, random_state=0).fit(data)
    rows = random.choice(80, 30, replace=False).astype(np.uint32)
    groups = [[0], [1, 2], [2, 4]]
    members = np.concatenate(groups).astype(np.uint32)
    donors = random.integers(0, 80, size=(5, 3, 30)).astype(np.uint32)
    scale = 2.0**40
    sums, changes = _kernel.replaced_values(
        *(forest.forest_.kernel, lent_rows(forest.forest_, data.table), rows),
        *(np.cumsum([0, *map(len, groups)]), members, donors.reshape(15, 30), scale, n_threads),
    )

    def predicted(table):
        return forest.predict_proba(table) if classes else forest.predict(table)[:, None]

    origin = forest.forest_.origin
    own = predicted(X[rows])
    np.testing.assert_allclose(sums / (7 * scale) + origin, own, atol=1e-9)
    place = 0
    for g, group in enumerate(groups):
        total = np.zeros_like(own)
        for draw in range(3):
            changed = X[rows].copy()
            for k, j in enumerate(group):
                changed[:, j] = X[donors[place + k, draw], j]
            total += predicted(changed) - own
        np.testing.assert_allclose(changes[g] / (7 * scale), total, atol=1e-9)
        place += len(group)
