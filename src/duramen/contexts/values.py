"""Contexts of the rows: categories, numbers in quantile bins, or kernel weights at points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, encode
from duramen.data.categories import coded_variable, objects, variable_name
from duramen.data.scores import cut, design, log_odds
from duramen.data.target import MOST_CLASSES
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.text import quoted
from duramen.theory import discretize

UNNAMED = ("Xc", "context")  # names of a context without one


@dataclass(frozen=True, eq=False)
class Context:
    """A variable that is no input, with a value for every row."""

    name: str  # its name
    labels: tuple[str, ...]  # its C contexts, as text, in their order
    codes: NDArray[np.uint32]  # (n,): Which of L values a row has; each has a row
    cuts: tuple[float, ...] | None = None  # where a numeric context was cut; None where it was not
    # (L, C): Parts of a row of each value in each context; None where each value is a context.
    weights: NDArray[np.uint8] | None = None
    bandwidth: float | None = None  # of kernel weights

    @property
    def count(self) -> int:
        """Number C of contexts."""
        return len(self.labels)

    @property
    def parts(self) -> NDArray[np.uint8]:
        """Parts of a row of each value in each context, of shape (L, C)."""
        return np.eye(self.count, dtype=np.uint8) if self.weights is None else self.weights

    @property
    def scores(self) -> FloatArray:
        """Weights of each value in the contexts but the first, of shape (L, C - 1)."""
        parts = self.parts
        return np.asarray(parts[:, 1:] / float(parts[0].sum()))

    @property
    def nearest(self) -> IntArray:
        """Context of each row, of shape (n,); where it has several, that of its largest weight."""
        return np.asarray(self.parts.argmax(axis=1)[self.codes])

    @property
    def fractions(self) -> FloatArray:
        """Fraction of the rows in each context, of shape (C,)."""
        parts = self.parts
        rows = np.bincount(self.codes, minlength=len(parts))
        return np.asarray(rows @ parts.astype(np.int64) / parts[0].sum() / len(self.codes))


# --- kernel weights -------------------------------------------------------------------------------

UNIT = 64
"""Parts of a row that weights are whole numbers of, so that their sums are exact."""
_MOST_VALUES = 128  # values of a context that are told apart
AUTO = "auto"


def checked_bandwidth(bandwidth: Any, owner: str, name: str) -> float | str:
    """Check a bandwidth: "auto" or a fraction of the rows."""
    if isinstance(bandwidth, str) and bandwidth == AUTO:
        return bandwidth
    if not checks.is_real(bandwidth) or not 0 < bandwidth <= 1:
        raise checks.refuse(owner, name, "'auto' or a number in (0, 1]", bandwidth)
    return float(bandwidth)


@dataclass(frozen=True)
class KernelWeights:
    """Kernel weights of the rows at points of a numeric context, in place of bins.

    Each row counts at the points near it; see the notes of
    :func:`duramen.contexts.context_importances`, whose `context_bins` it may be.

    Parameters
    ----------
    n_points : int, default=3
        Points of the context, at the middles of as many quantile bins.
    bandwidth : float in (0, 1] or "auto", default="auto"
        Bandwidth as a fraction of the rows; "auto" is 1 / n_points, the distance of the points.

    Raises
    ------
    ValueError
        If a parameter is not as described.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).integers(0, 2, (80, 3))
    >>> smooth = dm.contexts.KernelWeights(4)
    >>> result = dm.contexts.context_importances(
    ...     X, X[:, 0], np.arange(80), context_bins=smooth, n_permutations=0, random_state=0)
    >>> len(result.contexts)
    4
    """

    n_points: int = 3
    bandwidth: float | str = AUTO

    def __post_init__(self) -> None:
        checks.check_integer("KernelWeights", "n_points", self.n_points, 2)
        checked_bandwidth(self.bandwidth, "KernelWeights", "bandwidth")


def points_of(
    numbers: FloatArray, kernel: KernelWeights
) -> tuple[FloatArray, NDArray[np.uint32], NDArray[np.uint8], float]:
    r"""Divide the rows among points at the quantiles (g + 1/2) / C of a context.

    Return the C numbers of the points, ascending; which of L values each row has; the parts of a
    row of each value at each point, of shape (L, C); and the bandwidth.

    The weight of a row at quantile u is :math:`K((u - u_g) / h)` over its sum for all points, with
    the triangular kernel :math:`K(t) = \max(0, 1 - |t|)`; a row that is farther than h from all
    points has all its weight at the nearest. More than 128 distinct values are taken together in as
    many quantile bins. Equal quantiles are one point.
    """
    positions, codes = _values(numbers)
    quantiles = (np.arange(kernel.n_points) + 0.5) / kernel.n_points
    values = np.quantile(numbers, quantiles)
    values, point = np.unique(values, return_inverse=True)
    centers = np.bincount(point.reshape(-1), quantiles) / np.bincount(point.reshape(-1))
    bandwidth = kernel.bandwidth
    width = 1 / kernel.n_points if isinstance(bandwidth, str) else float(bandwidth)
    weights = _in_parts(_triangular(positions, centers, width))
    used = weights.any(axis=0)
    return values[used], codes, np.ascontiguousarray(weights[:, used]), width


def _values(numbers: FloatArray) -> tuple[FloatArray, NDArray[np.uint32]]:
    """Return the quantiles of the values that are told apart, and which of them each row has."""
    _, codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    codes = codes.reshape(-1)
    middle = (np.cumsum(counts) - counts / 2) / len(numbers)
    if len(counts) > _MOST_VALUES:
        binned = np.floor(middle * _MOST_VALUES).astype(np.int64)
        binned = np.unique(binned, return_inverse=True)[1].reshape(-1)
        middle = np.bincount(binned, counts * middle) / np.bincount(binned, counts)
        codes = binned[codes]
    return middle, np.ascontiguousarray(codes, dtype=np.uint32)


def _triangular(positions: FloatArray, centers: FloatArray, width: float) -> FloatArray:
    distance = np.abs(positions[:, None] - centers)
    weights = np.maximum(0.0, 1 - distance / width)
    far = ~weights.any(axis=1)
    weights[far, distance[far].argmin(axis=1)] = 1.0
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _in_parts(weights: FloatArray) -> NDArray[np.uint8]:
    """Round weights to parts of a row, those with the largest remainders up."""
    parts = np.floor(weights * UNIT)
    missing = UNIT - parts.sum(axis=1)
    rank = np.argsort(np.argsort(parts - weights * UNIT, axis=1, kind="stable"), axis=1)
    return np.asarray((parts + (rank < missing[:, None])).astype(np.uint8))


# --- from what the user gives ---------------------------------------------------------------------


def read_context(
    context: Any,
    n_rows: int,
    bins: int | KernelWeights,
    function: str,
    name: str | None = None,
) -> Context:
    """Read one context, of one category a row; its name is that of the series, or "Xc".

    Floating-point numbers, and whole ones with more than 20 distinct values, are put into quantile
    bins if they have more distinct values than that; or are divided among points by kernel weights.
    """
    kernel = bins if isinstance(bins, KernelWeights) else None
    n_bins = kernel.n_points if kernel else checks.check_integer(function, "context_bins", bins, 2)
    values, codes = coded_variable(context, "context", n_rows, function)
    chosen = variable_name(context, UNNAMED, ()) if name is None else name
    settled: dict[str, Any] = {}
    if _is_quantity(values, n_bins):
        numbers = values[codes].astype(np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{function}: context must be finite, got an infinite value.")
        if kernel is None:
            binned = discretize(numbers.reshape(-1, 1), n_bins=n_bins, names=["context"])
            values, codes = binned.values(0), binned.codes(0)
            settled["cuts"] = tuple(binned.cuts["context"].tolist())
        else:
            points, codes, weights, bandwidth = points_of(numbers, kernel)
            values = _as_text(points)
            settled |= {"weights": weights, "bandwidth": bandwidth}
    elif kernel is not None:
        raise ValueError(
            f"{function}: kernel weights (context_bandwidth) are for a context of numbers "
            f"(floating-point ones with more than {n_bins} distinct values, or whole ones with "
            f"more than {MOST_CLASSES}), got {chosen} of {len(values)} categories. Hint: leave "
            "them out."
        )
    if len(values) < 2:
        raise ValueError(
            f"{function}: context must have at least two values, got only "
            f"{quoted(values.tolist()[0])} in {chosen}; effects compare the rows of one context "
            "with all rows."
        )
    labels = tuple(str(value) for value in values.tolist())
    return Context(chosen, labels, np.ascontiguousarray(codes, dtype=np.uint32), **settled)


def _as_text(numbers: FloatArray) -> NDArray[Any]:
    text = [f"{number:.4g}" for number in numbers]
    return objects(text if len(set(text)) == len(text) else list(map(repr, numbers.tolist())))


def _is_quantity(values: NDArray[Any], n_bins: int) -> bool:
    if values.dtype.kind == "f":
        return len(values) > n_bins
    return values.dtype.kind in "iu" and len(values) > MOST_CLASSES


def split_off(
    table: EncodedTable, context: Any, bins: int | KernelWeights, function: str
) -> tuple[EncodedTable, Context]:
    """Read the context, and take it out of the table if it is one of its columns."""
    if context is None:
        raise ValueError(
            f"{function}: context must be given: a column of X by name, or one value for each row."
        )
    contexts = contexts_of(context)
    for name in contexts if isinstance(contexts, list) else ():
        if name not in table.names:
            shown = ", ".join(map(quoted, table.names[:8])) + ", ..." * (len(table.names) > 8)
            raise ValueError(
                f"{function}: context {quoted(name)} is not a column of X, whose columns are "
                f"{shown}. Hint: a list of strings names columns; give the values of a context as "
                "an array."
            )
    if len(contexts) != 1:
        raise ValueError(
            f"{function}: context must be a single context, got {len(contexts)}. Hint: call it for "
            "each; with the same random_state all have the same trees."
        )
    (name,) = contexts
    if isinstance(contexts, dict):
        return table, read_context(contexts[name], table.n_rows, bins, function, name)
    if table.n_columns == 1:
        raise ValueError(f"{function}: X must have a column besides the context, got none.")
    j = table.names.index(name)
    values = read_context(table.column_values(j), table.n_rows, bins, function, name)
    return table.take_columns([k for k in range(table.n_columns) if k != j]), values


def contexts_of(context: Any) -> list[str] | dict[str, Any]:
    """Return the names of the columns that hold contexts, or the values of contexts by name."""
    if isinstance(context, str):
        return [context]
    if (
        isinstance(context, list | tuple)
        and context
        and all(isinstance(name, str) for name in context)
    ):
        return list(context)
    if isinstance(context, Mapping):
        return {str(name): values for name, values in context.items()}
    shape = getattr(context, "shape", None)
    if hasattr(context, "columns") and isinstance(shape, tuple) and len(shape) == 2:
        import narwhals as nw

        frame = nw.from_native(context, eager_only=True)
        return {name: frame.get_column(name).to_native() for name in frame.columns}
    return {variable_name(context, UNNAMED, ()): context}


# --- propensity strata ----------------------------------------------------------------------------


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
    checks.check_integer("propensity_strata", "n_strata", n_strata, 2)
    table = encode(X, names=names)
    context_variable = read_context(context, table.n_rows, context_bins, "propensity_strata")
    odds = log_odds(design(table), context_variable.codes)
    strata = np.zeros(table.n_rows, dtype=np.int64)
    cut(odds, np.arange(table.n_rows), n_strata, 0, strata)
    return np.unique(strata, return_inverse=True)[1].reshape(-1).astype(np.int64)
