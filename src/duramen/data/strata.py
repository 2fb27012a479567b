"""Strata of rows: from covariates, and scores and means within them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.encoding import encode
from duramen.data.learning_sets import learning_set_of
from duramen.data.sources import table_like
from duramen.data.survival import risk_intervals
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, of_unit_size
from duramen.support.arrow import pa
from duramen.support.text import quoted

_FEW = 10  # numbers with up to this number of values are categories, given enough rows
_RIDGE = 1.0
_MOST_SQUARED = 10  # largest number of covariates whose squares and products enter the regression
_FUNCTION = "covariate_strata"


def covariate_strata(
    covariates: Any, y: ArrayLike | None, *, rows_per_stratum: int = 10
) -> IntArray:
    """Number strata of rows with similar covariates or a similar expected target.

    As `strata` of a significance test, they change its null hypothesis from "the target is
    independent of the features" to "the target is independent of the features given the
    covariates": an association that both owe to the covariates, such as age or ancestry, is kept
    in the permuted data.

    Categories are kept apart: rows of a stratum have the same value of each. Numbers are cut into
    quantile intervals within these cells, of about `rows_per_stratum` rows. Of several numbers, it
    is the target that they predict that is cut: the log-odds of a logistic regression, or the
    values of a linear one, on all covariates, with the squares and products of up to ten numbers
    and a ridge penalty (a propensity score, Rosenbaum and Rubin 1983; a prognostic score, Hansen
    2008).

    Parameters
    ----------
    covariates : table of shape (n, k) or array-like of shape (n,)
        Anything that `duramen.encode` takes, or a single column. Numbers with at most ten distinct
        values and `rows_per_stratum` rows for each on average are categories.
    y : array-like of shape (n,)
        Class labels or numbers.
    rows_per_stratum : int, default=10
        Rows of a stratum where a covariate is a number, at least 2. With fewer, less of the
        association with the covariate is left within strata, and fewer rows have another to
        exchange targets with.

    Returns
    -------
    int64 array of shape (n,)
        Number of the stratum of each row.

    Raises
    ------
    ValueError
        If lengths disagree, a covariate has a missing number, or a parameter is out of range.

    Notes
    -----
    Within strata of a category, rows are exchangeable exactly if the target is independent of the
    features given the category. Within intervals of a number they are so approximately. Missing
    values of a category are a category.

    References
    ----------
    P. R. Rosenbaum, D. B. Rubin (1983). The central role of the propensity score in observational
    studies for causal effects. Biometrika 70. B. B. Hansen (2008). The prognostic analogue of the
    propensity score. Biometrika 95.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.significance import covariate_strata
    >>> age, y = np.arange(40.0), np.arange(40) % 2
    >>> np.bincount(covariate_strata(age, y)).tolist()
    [10, 10, 10, 10]
    >>> covariate_strata(["a", "b", "a"], [0, 1, 1]).tolist()
    [0, 1, 0]
    """
    checks.check_integer(_FUNCTION, "rows_per_stratum", rows_per_stratum, 2)
    table: Any = covariates if isinstance(covariates, EncodedTable) else table_like(covariates)
    if not hasattr(table, "columns") and np.ndim(table) == 1:
        values = np.asarray(table)
        texts = values.dtype.kind in "USO"
        table = pa.table({"covariate": pa.array(values.tolist())}) if texts else values[:, None]
    table = encode(table)
    target = learning_set_of(table, y, _FUNCTION).target
    numbers, cells = [], np.zeros(table.n_rows, dtype=np.int64)
    for j in range(table.n_columns):
        n_values = len(table.values(j))
        numeric = n_values > _FEW or n_values * rows_per_stratum > table.n_rows
        if table.kinds[j] != "numeric" or not numeric:
            pairs = np.stack([cells, np.asarray(table.codes(j), dtype=np.int64)])
            cells = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
        elif table.missing[j]:
            raise ValueError(
                f"{_FUNCTION}: covariates must have no missing numbers, but "
                f"{quoted(table.names[j])} has. Hint: leave these rows out, or fill them in."
            )
        else:
            numbers.append(j)
    if not numbers:
        return cells

    # What numbers are cut by: one number itself, or the target that they predict.
    if len(numbers) == 1:
        scores = np.asarray(table.codes(numbers[0]), dtype=np.float64)[:, np.newaxis]
    else:
        columns = _design(table)
        if len(numbers) <= _MOST_SQUARED:
            squared = _design(table.take_columns(numbers))
            left, right = np.triu_indices(squared.shape[1])
            products = squared[:, left] * squared[:, right]
            spread = products.std(axis=0)
            products = (products - products.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
            columns = np.column_stack([columns, products])
        if target.codes is not None:
            scores = log_odds(columns, np.asarray(target.codes, dtype=np.int64))
        else:
            response = np.asarray(target.values, dtype=np.float64)
            if target.censored:
                _, times, events = risk_intervals(target.values)
                response = np.asarray(2.0 * times + events)
            columns = columns - columns.mean(axis=0)
            gram = columns.T @ columns + _RIDGE * np.eye(columns.shape[1])
            moments = columns.T @ (response - response.mean())
            scores = (columns @ np.linalg.solve(gram, moments)).reshape(-1, 1)

    # Rows of a cell are cut in two at a quantile of their widest score, and again.
    strata, parts, first = np.zeros(table.n_rows, dtype=np.int64), [], 0
    for cell in range(int(cells.max()) + 1):
        rows = np.flatnonzero(cells == cell)
        parts.append((rows, max(1, len(rows) // rows_per_stratum), first))
        first += parts[-1][1]
    while parts:
        rows, n_strata, first = parts.pop()
        if n_strata == 1 or len(rows) < 2:
            strata[rows] = first
            continue
        widest = int(scores[rows].std(axis=0).argmax())
        order = rows[np.argsort(scores[rows, widest], kind="stable")]
        n_left = (n_strata + 1) // 2
        at = len(rows) * n_left // n_strata
        parts += [(order[:at], n_left, first), (order[at:], n_strata - n_left, first + n_left)]
    return np.unique(strata, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _design(table: EncodedTable) -> FloatArray:
    """Return standardized numeric columns and indicators of the values of other columns."""
    columns = []
    for j in range(table.n_columns):
        codes = np.asarray(table.codes(j))
        if table.kinds[j] != "numeric":
            columns += [(codes == k).astype(np.float64) for k in np.unique(codes)]
            continue
        values = of_unit_size(np.asarray(table.values(j), dtype=np.float64))
        missing = codes >= len(values)
        numbers = np.append(values, 0.0)[codes]
        present = numbers[~missing]
        if present.size and present.std() > 0:
            columns.append(np.where(missing, 0.0, (numbers - present.mean()) / present.std()))
        if missing.any():
            columns.append(missing.astype(np.float64))
    return np.column_stack(columns) if columns else np.zeros((table.n_rows, 1))


def log_odds(columns: FloatArray, labels: NDArray[np.integer]) -> FloatArray:
    """Return log-odds of each label against the first label.

    They are those of a logistic regression with a ridge penalty; shape (n, C - 1).
    """
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: a score that is near enough will do
        model = LogisticRegression(max_iter=200).fit(columns, labels)
    logs = model.predict_log_proba(columns)
    return np.asarray(np.maximum(logs[:, 1:], -30.0) - np.maximum(logs[:, :1], -30.0))


def centered_within(scores: FloatArray, strata: IntArray | None) -> FloatArray:
    """Return scores of shape (n, q) less their mean in each stratum, or in all rows."""
    if not scores.size:
        return scores
    if strata is None:
        return np.asarray(scores - scores.mean(axis=0))
    sums = np.stack([np.bincount(strata, column) for column in scores.T], axis=1)
    return scores - (sums / np.maximum(np.bincount(strata), 1)[:, None])[strata]


def adjusted_means(codes: IntArray, numbers: FloatArray, strata: IntArray) -> FloatArray:
    """Return least-squares means of numbers, of shape (n, q), for each code, adjusted for strata.

    The model is additive in codes and strata: differences between codes are those within strata.
    The mean over the rows is that of the numbers. Of a single stratum they are the plain means of
    the codes that occur.
    """
    indicators = (codes[:, None] == np.arange(int(codes.max()) + 1)).astype(np.float64)
    within = centered_within(indicators, strata)
    effects = np.linalg.pinv(within.T @ within, rcond=1e-9, hermitian=True) @ (within.T @ numbers)
    return np.asarray(effects + (numbers - indicators @ effects).mean(axis=0))
