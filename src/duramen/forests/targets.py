"""The target and the row weights of a fit, checked and encoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from duramen.forests.parameters import is_real
from duramen.results.masked import refuse_masked
from duramen.results.text import quoted
from duramen.tables import encode_target

_LARGEST_EXPONENT = 22  # of a weight that stays as it is; the kernel takes larger ones for real


@dataclass(frozen=True, eq=False)
class Target:
    """A target as the kernel takes it.

    Attributes
    ----------
    values : array of shape (n,)
        uint32 class codes, or float64 numbers.
    classes : array of shape (C,) or None
        Sorted class labels; None in regression.
    """

    values: NDArray[np.uint32] | NDArray[np.float64]
    classes: NDArray[Any] | None

    def original(self) -> NDArray[Any]:
        """The labels, or the numbers."""
        return self.values if self.classes is None else self.classes[self.values]


def class_target(owner: str, y: Any, n_rows: int) -> Target:
    """Encode class labels as their ranks; a single class will do."""
    classes, codes = encode_target(
        y, "classification", n_rows=n_rows, allow_one_class=True, function=f"{owner}.fit"
    )
    return Target(codes, classes)


def number_target(owner: str, y: Any, n_rows: int) -> Target:
    """Check numbers to be predicted."""
    return Target(encode_target(y, "regression", n_rows=n_rows, function=f"{owner}.fit"), None)


def row_weights(owner: str, sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Check the weights of the rows.

    Raises
    ------
    ValueError
        When they are not one finite non-negative number a row, or all 0.
    """
    if sample_weight is None:
        return None
    hint = "give one finite number >= 0 for each row"
    sample_weight = refuse_masked(sample_weight, "sample_weight", f"{owner}.fit")
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{owner}.fit: sample_weight must hold numbers ({error}); {hint}"
        ) from error
    if weights.shape != (n_rows,):
        raise ValueError(
            f"{owner}.fit: sample_weight must have shape ({n_rows},), got {weights.shape}; {hint}"
        )
    if not np.isfinite(weights).all():
        row = int(np.argmin(np.isfinite(weights)))
        raise ValueError(
            f"{owner}.fit: sample_weight holds NaN or infinity, first at row {row}; {hint}"
        )
    if (weights < 0).any():
        raise ValueError(f"{owner}.fit: sample_weight holds {weights.min()}; {hint}")
    if not weights.any():
        raise ValueError(
            f"{owner}.fit: sample_weight is zero in every row, so no row is left; {hint}"
        )
    return _of_ordinary_size(weights)


def _of_ordinary_size(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights the largest of which is neither tiny nor huge.

    Only the ratios of weights matter, but squares of tiny or huge ones leave the range of float64,
    and huge ones coarsen the grid on which the kernel sums a target. Weights whose largest is
    beyond 2**-22..2**22 are multiplied by the power of two, which is exact, that takes it to
    0.5..1; others stay as they are.
    """
    exponent = int(np.frexp(weights.max())[1])
    return weights if abs(exponent) <= _LARGEST_EXPONENT else np.ldexp(weights, -exponent)


def combine_class_weight(
    owner: str, class_weight: Any, target: Target, weights: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """Multiply the weights of the rows by those of their classes.

    Parameters
    ----------
    owner : str
        Class of the estimator, for messages.
    class_weight : dict, "balanced", "balanced_subsample" or None
        Weight of each class; "balanced" is n / (C n_c). "balanced_subsample" is left to the
        growth of each tree.
    target : Target
        Encoded class labels.
    weights : array of shape (n,) or None
        Weights of the rows.
    """
    if class_weight is None or class_weight == "balanced_subsample":
        return weights
    if isinstance(class_weight, str) and class_weight != "balanced":
        raise ValueError(
            f"The 'class_weight' parameter of {owner} must be None, 'balanced', "
            f"'balanced_subsample' or a dict of class to weight. Got {class_weight!r}."
        )
    if not isinstance(class_weight, str | dict):
        raise ValueError(
            f"The 'class_weight' parameter of {owner} must be None, 'balanced', "
            f"'balanced_subsample' or a dict of class to weight. Got {type(class_weight).__name__}."
        )
    if isinstance(class_weight, dict):
        _check_class_weights(owner, class_weight)
    of_class = np.asarray(compute_sample_weight(class_weight, target.original()), dtype=np.float64)
    if of_class.any():
        of_class = _of_ordinary_size(of_class)
    combined = of_class if weights is None else of_class * weights
    if not combined.any():
        raise ValueError(
            f"{owner}.fit: every row has weight 0 after class_weight={class_weight!r}; "
            "give some class that occurs a weight above 0"
        )
    return _of_ordinary_size(combined)


def _check_class_weights(owner: str, class_weight: dict[Any, Any]) -> None:
    for label, weight in class_weight.items():
        if not is_real(weight) or not np.isfinite(weight) or weight < 0:
            raise ValueError(
                f"The 'class_weight' parameter of {owner} must hold finite numbers >= 0. "
                f"Got {quoted(weight)} for class {quoted(label)}."
            )
