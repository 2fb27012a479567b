"""Propensity strata: rows whose features make a context about equally probable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from duramen.contexts.values import read_context
from duramen.data import encode
from duramen.data.scores import cut, design, log_odds
from duramen.support import checks
from duramen.support.arrays import IntArray

_FUNCTION = "propensity_strata"


def propensity_strata(
    X: Any,
    context: Any,
    *,
    n_strata: int = 5,
    context_bins: int = 3,
    names: Iterable[str] | None = None,
) -> IntArray:
    """Number strata of rows in which the inputs make a context about equally probable.

    The propensity score, the probability of a context given the inputs, is estimated by logistic
    regression with a ridge penalty (scikit-learn's defaults) on the numeric columns, standardized,
    and on indicators of the values of the others. Rows are then cut at quantiles of its log-odds.
    Given the score, the context does not depend on the inputs
    (Rosenbaum and Rubin 1983), so that contexts that are permuted within its strata keep what the
    inputs tell of the context: as `strata` of `context_importances`, they allow for a context that
    shifts the distribution of inputs.

    Parameters
    ----------
    X : table of shape (n, p)
        The inputs: anything that `encode` takes, without the context and the target.
    context : array-like of shape (n,)
        The context of every row, as in `context_importances`.
    n_strata : int, default=5
        Number of strata, at least 2. Five remove about 90 % of the bias of a shift (Rosenbaum and
        Rubin 1984).
    context_bins : int, default=3
        Quantile bins of a numeric context.
    names : iterable of str, optional
        Names of the columns; by default those of the table.

    Returns
    -------
    int64 array of shape (n,)
        Number of the stratum of each row.

    Raises
    ------
    ValueError
        If a parameter is not allowed, lengths disagree, or the context has one value only.

    Notes
    -----
    With C > 2 contexts there are C - 1 log-odds, and rows are cut at quantiles of those that differ
    most, one after another: take more strata, such as 16 for three contexts. The score is as good
    as the regression: shifts of the spread of a numeric column are not seen. With about as many
    columns as rows it separates the contexts, strata hold one context each, and nothing is left to
    permute: give the columns that are shifted (see `ContextImportances.shift_p_values`), not all.

    References
    ----------
    P. R. Rosenbaum, D. B. Rubin (1984). Reducing bias in observational studies using
    subclassification on the propensity score. J. American Statistical Association 79.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.contexts import propensity_strata
    >>> x = np.arange(40.0).reshape(-1, 1)
    >>> context = np.where(np.arange(40) % 3 == 0, "a", "b")
    >>> np.bincount(propensity_strata(x, context, n_strata=4))
    array([10, 10, 10, 10])
    """
    checks.check_integer(_FUNCTION, "n_strata", n_strata, 2)
    table = encode(X, names=names)
    context_variable = read_context(context, table.n_rows, context_bins, _FUNCTION)
    odds = log_odds(design(table), context_variable.codes)
    strata = np.zeros(table.n_rows, dtype=np.int64)
    cut(odds, np.arange(table.n_rows), n_strata, 0, strata)
    return np.unique(strata, return_inverse=True)[1].reshape(-1).astype(np.int64)
