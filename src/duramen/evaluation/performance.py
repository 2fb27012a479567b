"""Scores of predictions on test rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duramen.catalogue import Catalogue, Entry
from duramen.data import Task
from duramen.support.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Performance(Entry):
    """Record of a score of predictions, the larger the better.

    Attributes
    ----------
    name : str
        Name in Python; the option ``--score`` has hyphens in it.
    title : str
        Name in tables and on axes.
    task : {"classification", "regression"}
        Targets that it is for.
    compute : callable
        Takes the target of the test rows, class codes or numbers of shape (m,), and the
        predictions: of classes an array of shape (m, C), the largest of a row for the predicted
        class; else one of shape (m,). Returns the score, NaN where it is not defined.
    range : tuple of two floats
        Least and largest score there can be, at which intervals end.
    """

    title: str
    task: Task
    compute: Callable[[NDArray[np.generic], FloatArray], float]
    range: tuple[float, float] = (-math.inf, math.inf)


def balanced_accuracy(truth: NDArray[np.generic], predicted: FloatArray) -> float:
    """Return the mean over classes of the fraction of rows whose class is predicted."""
    hit = predicted.argmax(axis=1) == truth
    return float(np.mean([hit[truth == label].mean() for label in np.unique(truth)]))


def auc(truth: NDArray[np.generic], predicted: FloatArray) -> float:
    """Return the area under the ROC curve, the mean of each class against the others."""
    from scipy.stats import rankdata

    areas = []
    columns = range(predicted.shape[1])
    for label in columns[1:] if len(columns) == 2 else columns:
        ranks, inside = rankdata(predicted[:, label]), truth == label
        n_in, n_out = int(inside.sum()), int((~inside).sum())
        if n_in and n_out:
            areas.append((ranks[inside].sum() - n_in * (n_in + 1) / 2) / (n_in * n_out))
    return float(np.mean(areas)) if areas else float("nan")


def r2(truth: NDArray[np.generic], predicted: FloatArray) -> float:
    """Return the coefficient of determination; NaN where all test rows have one target."""
    values = truth.astype(np.float64)
    total = float(((values - values.mean()) ** 2).sum())
    return 1 - float(((values - predicted) ** 2).sum()) / total if total else float("nan")


catalogue: Catalogue[Performance] = Catalogue(
    "score",
    (
        Performance(
            "balanced_accuracy",
            "balanced accuracy",
            "classification",
            balanced_accuracy,
            (0, 1),
        ),
        Performance("auc", "area under the ROC curve", "classification", auc, (0, 1)),
        Performance("r2", "R2", "regression", r2, (-math.inf, 1)),
    ),
)
"""Scores of predictions by name; the first of a task is its default."""
