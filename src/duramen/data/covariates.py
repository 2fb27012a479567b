"""Strata of rows that covariates make exchangeable."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.data.encoded import EncodedTable
from duramen.data.encoding import encode
from duramen.data.learning_sets import learning_set_of
from duramen.data.scores import cut, design, log_odds
from duramen.data.sources import table_like
from duramen.data.target import Target
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.arrow import pa
from duramen.support.text import quoted

ROWS = 10
"""Rows of a stratum, about, where a covariate is a number."""

_FEW = 10  # numbers of so many values are categories, if these have enough rows
_RIDGE = 1.0
_MOST_SQUARED = 10  # of so many covariates squares and products enter the regression
_FUNCTION = "covariate_strata"


def covariate_strata(covariates: Any, y: Any, *, rows_per_stratum: int = ROWS) -> IntArray:
    """Number strata of rows with about the same covariates, or expected target given these.

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
    table = _encoded(covariates)
    target = learning_set_of(table, y, _FUNCTION).target
    categories, numbers = _kinds(table, rows_per_stratum)
    cells = np.zeros(table.n_rows, dtype=np.int64)
    for j in categories:
        pairs = np.stack([cells, np.asarray(table.codes(j), dtype=np.int64)])
        cells = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
    if not numbers:
        return cells
    score = _score(table, numbers, target)
    strata = np.zeros(table.n_rows, dtype=np.int64)
    first = 0
    for cell in range(int(cells.max()) + 1):
        rows = np.flatnonzero(cells == cell)
        count = max(1, len(rows) // rows_per_stratum)
        cut(score, rows, count, first, strata)
        first += count
    return np.unique(strata, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _encoded(covariates: Any) -> EncodedTable:
    if isinstance(covariates, EncodedTable):
        return covariates
    table = table_like(covariates)
    if not hasattr(table, "columns") and np.ndim(table) == 1:
        values = np.asarray(table)
        if values.dtype.kind in "US" or values.dtype == object:
            return encode(pa.table({"covariate": pa.array(values.tolist())}))
        return encode(values.reshape(-1, 1))
    return encode(table)


def _kinds(table: EncodedTable, rows: int) -> tuple[list[int], list[int]]:
    """Return the covariates that are categories, and those that are numbers."""
    numbers = []
    for j in range(table.n_columns):
        n_values = len(table.values(j))
        if table.kinds[j] == "numeric" and (n_values > _FEW or n_values * rows > table.n_rows):
            if table.missing[j]:
                raise ValueError(
                    f"{_FUNCTION}: covariates must have no missing numbers, but "
                    f"{quoted(table.names[j])} has. Hint: leave these rows out, or fill them in."
                )
            numbers.append(j)
    return [j for j in range(table.n_columns) if j not in numbers], numbers


def _score(table: EncodedTable, numbers: list[int], target: Target) -> FloatArray:
    """Return what numbers are cut by, of shape (n, k): one number itself, or what they predict."""
    if len(numbers) == 1:
        (j,) = numbers
        values = np.asarray(table.values(j), dtype=np.float64)
        ranks: FloatArray = np.arange(len(values), dtype=np.float64)[table.codes(j)]
        return ranks.reshape(-1, 1)
    columns = design(table)
    if len(numbers) <= _MOST_SQUARED:
        own = design(table.take_columns(numbers))
        left, right = np.triu_indices(own.shape[1])
        products = own[:, left] * own[:, right]
        spread = products.std(axis=0)
        products = (products - products.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        columns = np.column_stack([columns, products])
    if target.categorical:
        return log_odds(columns, np.asarray(target.values, dtype=np.int64))
    values = np.asarray(target.values, dtype=np.float64)
    values = values - values.mean()
    columns = columns - columns.mean(axis=0)
    gram = columns.T @ columns + _RIDGE * np.eye(columns.shape[1])
    predicted: FloatArray = columns @ np.linalg.solve(gram, columns.T @ values)
    return predicted.reshape(-1, 1)
