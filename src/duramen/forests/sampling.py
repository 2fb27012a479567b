"""Numbers of candidates, columns and rows that are drawn, from counts, fractions and words."""

from __future__ import annotations

import math
from typing import Any

from duramen import checks


def resolve_max_features(owner: str, value: Any, n_features: int, offered: int) -> int:
    """Number K of candidates at a node.

    Parameters
    ----------
    owner : str
        Class of the estimator, for messages.
    value : {"sqrt", "log2"}, int, float or None
        The parameter: int K; float the share of ``offered``; None all of them.
    n_features : int
        Columns p of the table.
    offered : int
        Columns that a tree may use: p, or the size of its subspace.
    """
    allowed = f"'sqrt', 'log2', None, an int in 1..{offered} or a float in (0, 1]"
    if value is None:
        return offered
    if isinstance(value, str):
        if value == "sqrt":
            return max(1, math.isqrt(offered))
        if value == "log2":
            return max(1, int(math.log2(offered)))
        raise checks.refuse(owner, "max_features", allowed, value)
    if checks.is_integer(value):
        if value > n_features:
            raise ValueError(
                f"{owner}: max_features={value} but X has {n_features} features; "
                f"give at most {n_features}, a share such as 0.5, or None for all"
            )
        if value > offered:
            raise ValueError(
                f"{owner}: max_features={value} but a tree sees {offered} of the {n_features} "
                "features (n_subspace_features); give at most that many, or None for all"
            )
        if value < 1:
            raise checks.refuse(owner, "max_features", allowed, value)
        return int(value)
    if checks.is_real(value) and 0 < value <= 1:
        return max(1, int(float(value) * offered))
    raise checks.refuse(owner, "max_features", allowed, value)


def resolve_subspace(owner: str, value: Any, n_features: int) -> int:
    """Columns drawn for each tree; 0 when it is all of them."""
    if value is None:
        return 0
    drawn = 0
    if checks.is_integer(value):
        if value > n_features:
            raise ValueError(
                f"{owner}: n_subspace_features={value} but X has {n_features} features; "
                f"give at most {n_features}, or a share such as 0.5"
            )
        drawn = int(value)
    elif checks.is_real(value) and 0 < value <= 1:
        drawn = max(1, int(float(value) * n_features))
    if drawn < 1:
        raise checks.refuse(
            owner, "n_subspace_features", f"an int in 1..{n_features} or a float in (0, 1]", value
        )
    return 0 if drawn == n_features else drawn


def resolve_max_samples(owner: str, value: Any, n_rows: int, bootstrap: bool) -> int:
    """Rows drawn for each tree; 0 when it is as many as there are."""
    if value is None:
        return 0
    most = checks.MOST if bootstrap else n_rows
    drawn = 0
    if checks.is_integer(value):
        if value > most:
            drawn_how = (
                f"a tree can hold no more than {checks.MOST} rows; give at most {checks.MOST}"
                if bootstrap
                else f"rows are drawn without replacement; give at most {n_rows}, or bootstrap=True"
            )
            raise ValueError(
                f"{owner}: max_samples={value} but X has {n_rows} rows, and {drawn_how}"
            )
        drawn = int(value)
    elif checks.is_real(value) and 0 < value <= 1:
        drawn = max(1, round(float(value) * n_rows))
    if drawn < 1:
        raise checks.refuse(owner, "max_samples", "None, an int >= 1 or a float in (0, 1]", value)
    return 0 if drawn == n_rows else drawn
