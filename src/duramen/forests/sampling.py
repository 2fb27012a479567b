"""Numbers of candidates, columns and rows that are drawn, from counts, fractions and words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from duramen.support import checks

_WORDS: dict[str, Callable[[int], int]] = {"sqrt": math.isqrt, "log2": lambda n: int(math.log2(n))}


def resolve_max_features(owner: str, value: Any, n_features: int, offered: int) -> int:
    """Resolve the number K of candidate columns at a node.

    `offered` is the number of columns that a tree may use: p, or the size of its subspace. A float
    is a fraction of it, None all of them.
    """
    if value is None:
        return offered
    if isinstance(value, str) and value in _WORDS:
        return max(1, _WORDS[value](offered))
    if checks.is_integer(value) and 1 <= value <= offered:
        return int(value)
    if not checks.is_integer(value) and checks.is_real(value) and 0 < value <= 1:
        return max(1, int(float(value) * offered))
    allowed = f"'sqrt', 'log2', None (all), an int in 1..{offered} or a float in (0, 1]"
    hint = f"X has {n_features} features"
    if offered < n_features:
        hint += f", and n_subspace_features leaves {offered} of them to a tree"
    raise checks.refuse(owner, "max_features", allowed, value, hint)


def resolve_subspace(owner: str, value: Any, n_features: int) -> int:
    """Resolve the number of columns drawn for each tree; 0 when it is all of them."""
    if value is None:
        return 0
    allowed = f"an int in 1..{n_features}, the features of X, or a float in (0, 1]"
    drawn = _count(owner, "n_subspace_features", value, n_features, allowed, math.floor)
    return 0 if drawn == n_features else drawn


def resolve_max_samples(owner: str, value: Any, n_rows: int, bootstrap: bool) -> int:
    """Resolve the number of rows drawn for each tree; 0 when it is as many as there are."""
    if value is None:
        return 0
    most = checks.MOST if bootstrap else n_rows
    allowed = f"None, an int in 1..{most} or a float in (0, 1]"
    hint = "" if bootstrap else "bootstrap=False draws rows without replacement"
    drawn = _count(owner, "max_samples", value, n_rows, allowed, round, most=most, hint=hint)
    return 0 if drawn == n_rows else drawn


def _count(
    owner: str,
    name: str,
    value: Any,
    total: int,
    allowed: str,
    rounded: Any,
    *,
    most: int | None = None,
    hint: str = "",
) -> int:
    """Return a count in 1..most, given as such or as a fraction of the total."""
    if checks.is_integer(value) and 1 <= value <= (total if most is None else most):
        return int(value)
    if not checks.is_integer(value) and checks.is_real(value) and 0 < value <= 1:
        return max(1, int(rounded(float(value) * total)))
    raise checks.refuse(owner, name, allowed, value, hint)
