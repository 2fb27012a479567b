"""Properties of X before it is encoded: shape, names, and columns that are categorical."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.support import checks
from duramen.support.arrays import array_of, unmasked


def table_like(X: Any) -> Any:
    """Return X, or a list of rows as an array that keeps numbers and strings apart."""
    X = unmasked(X)
    if hasattr(X, "shape") or isinstance(X, str | bytes | dict | set) or X is None:
        return X
    if hasattr(X, "collect") or hasattr(X, "columns"):
        return X
    return array_of(X)


def shape_of(X: Any) -> tuple[int, int] | None:
    """Return the shape of X, or None where it is no table, which the encoder refuses."""
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or not all(shape):
        return None
    return int(shape[0]), int(shape[1])


def names_of(X: Any) -> list[Any] | None:
    """Return the names of the columns of a data frame; None for anything else."""
    names = getattr(getattr(X, "schema", None), "names", None) or getattr(X, "columns", None)
    return None if names is None or callable(names) else list(names)


def categorical_kinds(
    owner: str, categorical_features: Any, names: Any, n_features: int
) -> dict[int, str] | None:
    """Return the kinds of the columns that ``categorical_features`` makes categorical, by index.

    None and "from_dtype" leave the kinds to the types of the columns (None is returned); a mask of
    p truth values, indices or names make those columns nominal, in addition.
    """
    if categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "from_dtype"
    ):
        return None
    where = f"{owner}: categorical_features"
    allowed = "None, 'from_dtype', or a list of column names, of indices, or of p truth values"
    if isinstance(categorical_features, str | bytes | dict) or not hasattr(
        categorical_features, "__len__"
    ):
        raise checks.refuse(owner, "categorical_features", allowed, categorical_features)
    entries = list(categorical_features)
    if all(isinstance(entry, bool | np.bool_) for entry in entries):
        if len(entries) not in (0, n_features):
            raise ValueError(
                f"{where} must have one truth value for each of the {n_features} "
                f"columns as a mask, got {len(entries)}."
            )
        return {j: "nominal" for j, chosen in enumerate(entries) if chosen}
    if all(isinstance(entry, str) for entry in entries):
        return dict.fromkeys(_positions(where, entries, names), "nominal")
    if all(checks.is_integer(entry) for entry in entries):
        outside = [int(entry) for entry in entries if not 0 <= entry < n_features]
        if outside:
            raise ValueError(f"{where} must be indices in 0..{n_features - 1}, got {outside[:5]}.")
        return {int(entry): "nominal" for entry in entries}
    raise checks.refuse(owner, "categorical_features", allowed, categorical_features)


def _positions(where: str, chosen: list[str], names: Any) -> list[int]:
    if names is None:
        raise ValueError(f"{where} must be indices or a mask, got names; X has no column names.")
    position = {name: j for j, name in enumerate(names)}
    unknown = [name for name in chosen if name not in position]
    if unknown:
        raise ValueError(
            f"{where} must be columns of X, got {unknown[:5]}. Hint: X has {list(names)[:10]}."
        )
    return [position[name] for name in chosen]


def is_anndata(X: Any) -> bool:
    """Tell whether an object is an AnnData, which need not be installed."""
    return type(X).__module__.partition(".")[0] == "anndata" and hasattr(X, "var_names")


def matrix_of(X: Any, function: str) -> tuple[Any, list[str]]:
    """Return the matrix ``X`` of an AnnData and the names of its variables.

    Raises
    ------
    ValueError
        If it has no matrix.
    """
    matrix = X.to_memory().X if getattr(X, "isbacked", False) else X.X
    if matrix is None:
        raise ValueError(
            f"{function}: the AnnData has no matrix X. Hint: give a layer, X=adata.layers[NAME]."
        )
    return matrix, [str(name) for name in X.var_names]
