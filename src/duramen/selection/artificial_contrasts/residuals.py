"""Residuals of forests, and the regression forests that explain them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import Target
from duramen.estimators.catalogue import FORESTS
from duramen.forests.prediction import estimate_out_of_bag
from duramen.importances.refit import seeded
from duramen.significance.measured import Measured
from duramen.support.arrays import FloatArray
from duramen.support.checks import refuse


def unexplained(subject: Measured, columns: NDArray[np.int64], seed: int) -> FloatArray:
    """Return what a forest of some features does not explain, out of the bag.

    Numbers have the differences from their predictions, shape (n, 1). Classes have the residuals
    of the log-odds, the indicator of a class less its probability, shape (n, C); for two classes,
    whose residuals are opposite, those of the second, shape (n, 1). Rows in the bag of every tree
    count as predicted by the mean.
    """
    data = subject.data
    within = data.with_table(data.table.take_columns(columns), key=("columns", columns.tolist()))
    forest = seeded(subject.template, seed).fit(within).forest_
    means = estimate_out_of_bag(forest, within.table, data.target).means()
    values: FloatArray
    if data.target.codes is None:
        values = data.target.values[:, np.newaxis].astype(np.float64)
    else:
        values = np.eye(data.target.n_classes)[data.target.codes]
    found: FloatArray = values - np.where(np.isnan(means), values.mean(axis=0), means)
    return found[:, 1:] if found.shape[1] == 2 else found


def regression_of(subject: Measured, owner: str) -> Measured:
    """Return the same measure of regression forests of the same kind.

    Raises
    ------
    ValueError
        If there is no regression forest of the kind.
    """
    template = subject.template
    if template.task == "regression":
        return subject
    kind = next((one.regressor for one in FORESTS if one.classifier is type(template)), None)
    if kind is None:
        raise refuse(
            *(owner, "estimator", "a forest that has a regressor, for the residuals"),
            type(template).__name__,
        )
    known: dict[str, Any] = template.get_params()
    left_out = {"criterion", "class_weight", "oob_score"}
    taken = {name: known[name] for name in kind().get_params() if name in known.keys() - left_out}
    return replace(subject, template=kind(**taken))


def with_numbers(subject: Measured, values: FloatArray, key: object) -> Measured:
    """Return the measure with numbers in place of its target."""
    target = Target(np.ascontiguousarray(values, dtype=np.float64))
    return replace(subject, data=subject.data.with_target(target, key=("residuals", key)))
