"""Estimators that a measure fits anew: the template, its encoding of X, the target, the seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from duramen.forests.base import BaseForest, ForestClassifier
from duramen.forests.forest import Forest
from duramen.forests.inputs import categorical_kinds, names_of, shape_of, table_like
from duramen.forests.targets import class_target, number_target
from duramen.tables import EncodedTable, encode, encode_target, learning_set_fingerprint


def template_of(estimator: Any, function: str) -> BaseForest:
    """Return a clone of an estimator of this package, whether it is fitted or not.

    Raises
    ------
    TypeError
        If `estimator` is none.
    """
    if not isinstance(estimator, BaseForest):
        raise TypeError(
            f"{function}: estimator must be a forest estimator of duramen, such as "
            f"RandomForestClassifier(), got {type(estimator).__name__}. It is cloned and fitted "
            "anew, whether it is fitted or not."
        )
    template: BaseForest = clone(estimator)
    return template


def encoded_for(template: BaseForest, X: Any) -> EncodedTable:
    """Return X encoded as the template would, which then needs no categorical_features."""
    if not isinstance(X, EncodedTable):
        X = table_like(X)
        shape = shape_of(X) or encode(X).shape
        owner = type(template).__name__
        kinds = categorical_kinds(owner, template.categorical_features, names_of(X), shape[1])
        X = encode(X, kinds=kinds)
        template.categorical_features = None
    table: EncodedTable = X
    return table


def labels_of(template: BaseForest, y: Any, n_rows: int, function: str) -> NDArray[Any]:
    """Return y as an array of labels, or of numbers, that rows can be taken from."""
    if isinstance(template, ForestClassifier):
        classes, codes = encode_target(y, "classification", n_rows=n_rows, function=function)
        return np.asarray(classes)[codes]
    return encode_target(y, "regression", n_rows=n_rows, function=function)


def fingerprint_of(
    template: BaseForest, forest: Forest, table: EncodedTable, y: Any, function: str
) -> str:
    """Return the fingerprint of the table that the user gave, and the target."""
    encoder = number_target if forest.classes is None else class_target
    target = encoder(function, y, table.n_rows)
    return learning_set_fingerprint(table, target.values, target.classes)


def repeat_seeds(seed: int, n_repeats: int) -> NDArray[np.uint32]:
    """Return, for each repeat, a seed of its permutation and one of its trees: shape (S, 2).

    The first repeats have the same seeds whatever their number.
    """
    state = np.random.SeedSequence(seed).generate_state(2 * n_repeats, np.uint32)
    return state.astype(np.uint32).reshape(n_repeats, 2)
