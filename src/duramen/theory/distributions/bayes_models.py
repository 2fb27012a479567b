"""Bayes model of a finite distribution, and its residual error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray
from duramen.support.checks import check_choice
from duramen.theory.distributions.finite_distribution import FiniteDistribution, check_distribution
from duramen.theory.distributions.variables import Variables

_TIE = 1e-12  # probabilities of classes no farther apart, relative to the larger, are equal


@dataclass(frozen=True, eq=False)
class BayesModel:
    """Best prediction of Y for every combination of values of some features.

    Attributes
    ----------
    values : dict of str to ndarray, shape (M,)
        Values of each feature in each combination that occurs, by name.
    predictions : ndarray, shape (M,)
        Class or number that is predicted.
    probabilities : float64 array, shape (M,)
        Probability of each combination.
    losses : float64 array, shape (M,)
        Expected loss given each combination.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.distributions import bayes_model
    >>> model = bayes_model(dm.theory.examples.noisy_copy(0.25), features="X3")
    >>> model.predictions.tolist(), round(model.residual_error, 4)
    ([0, 1], 0.25)
    """

    values: dict[str, NDArray[Any]]
    predictions: NDArray[Any]
    probabilities: FloatArray
    losses: FloatArray

    @property
    def residual_error(self) -> float:
        """Expected loss: no model of these features has a smaller one."""
        return float(self.probabilities @ self.losses)


def bayes_model(
    dist: FiniteDistribution, features: Variables | None = None, *, loss: str = "zero-one"
) -> BayesModel:
    r"""Compute the Bayes model of Y given some features: the predictions of least expected loss.

    .. math:: f_B(x) = \arg\min_{y'} E_{y|x} \{ L(y', y) \}

    (thesis, definition 2.2 and eq. 2.7): the most probable class for the zero-one loss, the first
    of several; the mean of Y for the squared loss. The expected loss of the model is the residual
    error.

    Parameters
    ----------
    dist : FiniteDistribution
        Joint distribution of p features and Y.
    features : variable or list of variables, optional
        Features that the model uses, by name or index; by default all.
    loss : {"zero-one", "squared"}, default="zero-one"
        Loss L; the squared one needs a numeric Y.

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
    check_distribution("bayes_model", dist)
    check_choice("bayes_model", "loss", loss, ("zero-one", "squared"))
    chosen = list(range(dist.n_features)) if features is None else features
    part = dist.partition(chosen)
    place = part.cell * dist.n_classes + dist.target
    mass = np.bincount(place, dist.weights, part.n_cells * dist.n_classes)
    table = mass.reshape(part.n_cells, dist.n_classes)
    table = table / table.sum(axis=1, keepdims=True)
    predictions: NDArray[Any]
    if loss == "zero-one":
        best = np.argmax(table >= (1.0 - _TIE) * table.max(axis=1, keepdims=True), axis=1)
        predictions, losses = dist.classes[best], 1.0 - table[np.arange(len(best)), best]
    else:
        dist.centered_numbers("bayes_model", "variance")  # refuses what is not numeric
        numbers = dist.classes.astype(np.float64)
        predictions = numbers[0] + table @ (numbers - numbers[0])
        losses = (table * (numbers - predictions[:, np.newaxis]) ** 2).sum(axis=1)
    rows = part.first_rows()
    values = {
        dist.names[j]: np.asarray(dist.labels[j])[dist.codes[rows, j]] for j in dist.indices(chosen)
    }
    return BayesModel(values, predictions, part.masses(dist.weights), losses)
