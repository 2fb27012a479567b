"""Weights of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from duramen.data.target import Target
from duramen.data.weights import of_ordinary_size
from duramen.support import checks


def combine_class_weight(
    owner: str, class_weight: Any, target: Target, weights: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """Multiply the weights of the rows by those of their classes.

    "balanced" weighs class c by n / (C n_c); "balanced_subsample" is left to the growth of each
    tree.
    """
    if class_weight is None or class_weight == "balanced_subsample":
        return weights
    if isinstance(class_weight, dict):
        _check_class_weights(owner, class_weight)
    elif not isinstance(class_weight, str) or class_weight != "balanced":
        allowed = "None, 'balanced', 'balanced_subsample' or a dict of class to weight"
        raise checks.refuse(owner, "class_weight", allowed, class_weight)
    of_class = np.asarray(compute_sample_weight(class_weight, target.labels), dtype=np.float64)
    if of_class.any():
        of_class = of_ordinary_size(of_class)
    combined = of_class if weights is None else of_class * weights
    if not combined.any():
        raise ValueError(
            f"{owner}.fit: every row has weight 0 after class_weight={class_weight!r}; give at "
            "least one class of y a weight above 0"
        )
    return of_ordinary_size(combined)


def _check_class_weights(owner: str, class_weight: dict[Any, Any]) -> None:
    for label, weight in class_weight.items():
        if not checks.is_real(weight) or not np.isfinite(weight) or weight < 0:
            raise ValueError(
                f"{owner}: class_weight must hold finite numbers >= 0, got {weight!r} for class "
                f"{label!r}."
            )
