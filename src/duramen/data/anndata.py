"""AnnData objects as tables: observations are rows, variables columns."""

from __future__ import annotations

from typing import Any


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
