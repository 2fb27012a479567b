"""Propensity strata: rows whose features make a context about equally probable."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import checks
from duramen.context.values import read_context
from duramen.results.magnitude import of_unit_size
from duramen.tables import EncodedTable, encode

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_FUNCTION = "propensity_strata"


def propensity_strata(
    X: Any,
    context: Any,
    *,
    n_strata: int = 5,
    n_context_bins: int = 3,
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
    n_context_bins : int, default=3
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
    >>> from duramen.context import propensity_strata
    >>> x = np.arange(40.0).reshape(-1, 1)
    >>> context = np.where(np.arange(40) % 3 == 0, "a", "b")
    >>> np.bincount(propensity_strata(x, context, n_strata=4))
    array([10, 10, 10, 10])
    """
    checks.check_integer(_FUNCTION, "n_strata", n_strata, 2)
    table = encode(X, names=names)
    one = read_context(context, table.n_rows, n_context_bins, _FUNCTION)
    odds = _log_odds(_design(table), one.codes)
    found = np.zeros(table.n_rows, dtype=np.int64)
    _cut(odds, np.arange(table.n_rows), n_strata, 0, found)
    return np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _design(table: EncodedTable) -> FloatArray:
    """Return numeric columns standardized, and an indicator of each value of the others."""
    columns = []
    for j in range(table.n_columns):
        codes, values = np.asarray(table.codes(j)), table.values(j)
        if table.kinds[j] != "numeric":
            columns += [(codes == k).astype(np.float64) for k in np.unique(codes)]
            continue
        missing = codes >= len(values)
        numbers = np.append(of_unit_size(np.asarray(values, dtype=np.float64)), 0.0)[codes]
        known = numbers[~missing]
        if known.size and known.std() > 0:
            columns.append(np.where(missing, 0.0, (numbers - known.mean()) / known.std()))
        if missing.any():
            columns.append(missing.astype(np.float64))
    return np.column_stack(columns) if columns else np.zeros((table.n_rows, 1))


def _log_odds(design: FloatArray, context: NDArray[np.uint32]) -> FloatArray:
    """Return log-probabilities of all contexts but the first less that of the first."""
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: a score that is near enough will do
        model = LogisticRegression(max_iter=200).fit(design, context)
    logs = model.predict_log_proba(design)
    odds: FloatArray = np.maximum(logs[:, 1:], -30.0) - np.maximum(logs[:, :1], -30.0)
    return odds


def _cut(odds: FloatArray, rows: IntArray, n_strata: int, first: int, found: IntArray) -> None:
    """Number strata from `first` on among some rows: cut them in two at a quantile, and again."""
    if n_strata == 1 or len(rows) < 2:
        found[rows] = first
        return
    widest = int(odds[rows].std(axis=0).argmax())
    left = (n_strata + 1) // 2
    order = rows[np.argsort(odds[rows, widest], kind="stable")]
    at = len(rows) * left // n_strata
    _cut(odds, order[:at], left, first, found)
    _cut(odds, order[at:], n_strata - left, first + left, found)
