"""Bayes model of a finite distribution, and its residual error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, counted, hidden
from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_choice
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.distributions.variables import Partition, Variables

LOSSES = ("zero-one", "squared", "absolute")

_FUNCTION = "bayes_model"
_TIE = 1e-12  # probabilities of classes no farther apart, relative to the larger, are equal


@dataclass(frozen=True, eq=False, repr=False)
class BayesModel(Result):
    """Best prediction of Y for every combination of values of some features.

    Parameters
    ----------
    loss : str
        ``"zero-one"``, ``"squared"`` or ``"absolute"``.
    values : dict of str to ndarray, shape (M,)
        Values of each feature in each combination that occurs, by name.
    predictions : ndarray, shape (M,)
        Class or number that is predicted.
    probabilities : ndarray of float64, shape (M,)
        Probability of each combination.
    losses : ndarray of float64, shape (M,)
        Expected loss given each combination.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.distributions import bayes_model
    >>> model = bayes_model(dm.theory.examples.noisy_copy(0.25), features="X3")
    >>> model.predictions.tolist(), round(model.residual_error, 4)
    ([0, 1], 0.25)
    """

    loss: str
    values: dict[str, NDArray[Any]]
    predictions: NDArray[Any]
    probabilities: FloatArray
    losses: FloatArray

    @property
    def residual_error(self) -> float:
        """Expected loss: no model of these features has a smaller one."""
        return float(self.probabilities @ self.losses)

    def __len__(self) -> int:
        return len(self.predictions)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, one row a combination of values.

        They are those of the features, ``prediction``, ``probability`` and ``loss``.
        """
        return {
            **self.values,
            "prediction": self.predictions,
            "probability": self.probabilities.copy(),
            "loss": self.losses.copy(),
        }

    def _summary(self, rows: int) -> Summary:
        heading = (
            f"BayesModel of {counted(len(self.values), 'feature')}: residual error "
            f"{self.residual_error:.4g}, {self.loss} loss"
        )
        cells = [
            Column(name, list(map(str, some[:rows].tolist())))
            for name, some in self.columns().items()
        ]
        return Summary((heading,), cells, hidden(len(self), min(rows, len(self))))


def bayes_model(
    dist: FiniteDistribution, features: Variables | None = None, *, loss: str = "zero-one"
) -> BayesModel:
    r"""Compute the Bayes model of Y given some features: the predictions of least expected loss.

    .. math:: f_B(x) = \arg\min_{y'} E_{y|x} \{ L(y', y) \}

    (thesis, eq. 2.7): the most probable class for the zero-one loss, the first of several; the mean
    of Y for the squared loss; its lower median for the absolute loss. The expected loss of the
    model is the residual error.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y; a context can be among `features`.
    features : variable or list of variables, optional
        Features that the model uses, by name or index; by default all.
    loss : {"zero-one", "squared", "absolute"}, default="zero-one"
        Loss L; all but the first need a numeric Y.

    Returns
    -------
    BayesModel
        One prediction for each combination of values that occurs, in the order of the values.

    Raises
    ------
    TypeError
        If `dist` is not a distribution.
    ValueError
        If a feature is not there, the loss is not allowed, or Y is not numeric where it has to be.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.distributions import bayes_model
    >>> xor = dm.theory.examples.xor()
    >>> bayes_model(xor).residual_error, bayes_model(xor, "X1").residual_error
    (0.0, 0.5)
    """
    check_distribution(_FUNCTION, dist)
    check_choice(_FUNCTION, "loss", loss, LOSSES)
    chosen = list(range(dist.n_features)) if features is None else features
    part = dist.partition(chosen)
    predictions, losses = _predictions(dist, part, loss)
    return BayesModel(
        loss=loss,
        values=dist.values_of_rows(chosen, part.first_rows()),
        predictions=predictions,
        probabilities=part.masses(dist.weights),
        losses=losses,
    )


def _predictions(
    dist: FiniteDistribution, part: Partition, loss: str
) -> tuple[NDArray[Any], FloatArray]:
    """Return the best prediction in each cell, and the expected loss there."""
    place = part.cell * dist.n_classes + dist.target
    mass = np.bincount(place, dist.weights, part.n_cells * dist.n_classes)
    table = mass.reshape(part.n_cells, dist.n_classes)
    table = table / table.sum(axis=1, keepdims=True)
    if loss == "zero-one":
        top = table >= (1.0 - _TIE) * table.max(axis=1, keepdims=True)
        best = np.argmax(top, axis=1)
        return dist.classes[best], 1.0 - table[np.arange(len(best)), best]
    dist.centered_numbers(_FUNCTION, "variance")
    numbers = dist.class_numbers
    if loss == "squared":
        best = numbers[0] + table @ (numbers - numbers[0])
        return best, (table * (numbers - best[:, np.newaxis]) ** 2).sum(axis=1)
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(table[:, order], axis=1)
    best = numbers[order][np.argmax(below >= 0.5 - _TIE, axis=1)]
    return best, (table * np.abs(numbers - best[:, np.newaxis])).sum(axis=1)
