"""Filters, which select features by information, neighbors or correlation.

Filters by plug-in mutual information (mRMR, JMI, CMIM, FCBF and the Markov blanket filter), Relief,
ReliefF and MultiSURF, Markov boundaries of the rows of a table, and representatives of clusters of
correlated features.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Literal, Self

import numpy as np
from joblib import parallel_config
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from duramen.data import EncodedTable, LearningSet, Task, encode
from duramen.data.learning_sets import table_of
from duramen.data.memory import require_memory
from duramen.data.sources import table_like
from duramen.importances import Clusters, representatives
from duramen.results.importances import Importances
from duramen.results.summary import Column
from duramen.selection.selector import BaseSelector, Data, numbers_of, without_forest
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, TableLike
from duramen.support.threads import end_with
from duramen.theory.dependence import markov_boundaries
from duramen.theory.dependence.relevant_features import TooManyBoundaries, smallest_boundary
from duramen.theory.distributions import FiniteDistribution

Codes = NDArray[np.intp]

N_BINS = 5


def entropy(*columns: Codes) -> float:
    """Return the plug-in entropy of columns of codes together, in bits."""
    joint = columns[0]
    for column in columns[1:]:
        joint = joint * (int(column.max()) + 1) + column
    counts = np.unique(joint, return_counts=True)[1] / len(joint)
    return float(-(counts * np.log2(counts)).sum())


def information(left: Codes, right: Codes) -> float:
    """Return the plug-in mutual information of two columns of codes, in bits."""
    return max(0.0, entropy(left) + entropy(right) - entropy(left, right))


def conditional_information(left: Codes, right: Codes, condition: Codes) -> float:
    """Return the plug-in mutual information of two columns given a third one, in bits."""
    both = entropy(left, condition) + entropy(right, condition) - entropy(left, right, condition)
    return max(0.0, both - entropy(condition))


def symmetrical_uncertainty(left: Codes, right: Codes) -> float:
    """Return 2 I(X;Y) / (H(X) + H(Y)); 0 for constants."""
    total = entropy(left) + entropy(right)
    return 2.0 * information(left, right) / total if total > 0 else 0.0


def intervals(codes: NDArray[Any], n_bins: int) -> Codes:
    """Return the interval of each value; many distinct values are cut at quantiles."""
    _, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    if len(counts) <= n_bins:
        return places
    # Equal values stay together, in the interval of the first of them.
    first = np.cumsum(counts) - counts
    _, merged = np.unique(first * n_bins // len(codes), return_inverse=True)
    return np.asarray(merged[places])


@dataclass(kw_only=True, eq=False, repr=False)
class InformationFilter(BaseSelector):
    r"""Filter by mutual information: mRMR, JMI, CMIM, FCBF or the Markov blanket filter.

    Features are taken one after the other. With S those taken before and plug-in informations I of
    the codes of the columns, the next one has the largest

    .. math::
        \text{mRMR: } I(X_j;Y) - \frac{1}{|S|} \sum_{s \in S} I(X_j;X_s), \qquad
        \text{JMI: } \sum_{s \in S} I(X_j, X_s; Y), \qquad
        \text{CMIM: } \min_{s \in S} I(X_j;Y|X_s),

    the first one the largest :math:`I(X_j;Y)`. These are the formulas of Brown et al. (2012), and
    for CMIM that of Fleuret (2004). His algorithm starts from the marginal information, so that a
    feature has at most that: bounded CMIM, the rule of FEAST and praznik, takes the largest
    :math:`\min(I(X_j;Y), \min_{s \in S} I(X_j;Y|X_s))`. CMIM can take a feature that is
    informative only together with one taken before; bounded CMIM gives it a value of 0.

    FCBF takes the features in the order of their symmetrical uncertainty
    :math:`u_{jY} = 2 I(X_j;Y) / (H(X_j) + H(Y))`, down to `threshold`, and leaves one out with
    :math:`u_{js} \ge u_{jY}` for some s taken before.

    The Markov blanket filter of Koller and Sahami (1996) starts from all features and removes, one
    after the other, the feature with the smallest

    .. math::
        \Delta_j = \sum_{m, x} P(M_j = m, X_j = x) \,
        D_{KL}\bigl(P(Y | m, x) \,\|\, P(Y | m)\bigr) = I(X_j;Y|M_j),

    until `n_features` are left; of equal features the last column. The approximate blanket
    :math:`M_j` has the `blanket_size` features s, of those left, with the smallest
    :math:`I(X_j;Y|X_s)`.

    Parameters
    ----------
    rule : {"mrmr", "jmi", "cmim", "bounded_cmim", "fcbf", "mbf"}, default="mrmr"
        Rule that the next feature is taken by; "mbf", the Markov blanket filter, removes features.
    n_features : int or None, default=10
        Number of features to select.

        All if there are fewer. For FCBF the largest number, None for no limit.
    n_bins : int, default=5
        Number of intervals, cut at quantiles, of columns and targets of more numbers than that.
    threshold : float, default=0
        Symmetrical uncertainty that features must exceed (fcbf).
    blanket_size : int, default=2
        Number of features in an approximate Markov blanket (mbf).

    Attributes
    ----------
    selected_ : int64 array
        Selected features, in the order in which they were taken; for mbf by descending score.
    scores_ : float64 array of shape (n_selected,)
        Value of each when it was taken; for mbf at the end.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Mutual information of each of the p features with the target, in bits; for FCBF the
        symmetrical uncertainty.
    history_ : dict of arrays
        ``"n_selected"`` and ``"score"`` after each step; for mbf the score of the feature removed.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    Columns of a store are read one by one; their intervals, n p bytes for up to 256 of them, are
    held in memory. A missing value is a category of its own.

    Plug-in informations of two columns of b intervals are too large by about (b - 1)^2 / (2 n ln 2)
    bits, those with two classes by (b - 1) / (2 n ln 2): with many intervals and few rows, features
    seem redundant that are not. A blanket of k columns of b intervals has b^k cells.

    The Markov blanket filter computes p^2 informations of pairs, 200 features of 200 rows in 3 s.
    It loses features that are informative only together, as in an exclusive or: any irrelevant
    feature is a blanket of each.

    No maintained package computes these rules as published, so they are computed here.

    References
    ----------
    G. Brown, A. Pocock, M.-J. Zhao, M. Luján (2012). Conditional likelihood maximisation: a
    unifying framework for information theoretic feature selection. Journal of Machine Learning
    Research 13. CMIM: F. Fleuret (2004). Fast binary feature selection with conditional mutual
    information. Journal of Machine Learning Research 5. FCBF: L. Yu, H. Liu (2003), ICML. Markov
    blanket filter: D. Koller, M. Sahami (1996). Toward optimal feature selection. ICML; Sutera
    (2019), thesis, section 2.4.5, page 48.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).integers(0, 2, size=(200, 5))
    >>> X[:, 3] = X[:, 0]
    >>> model = dm.InformationFilter("cmim", n_features=2).fit(X, X[:, 0] + 2 * X[:, 1])
    >>> sorted(model.selected_.tolist())
    [0, 1]
    """

    rule: str = field(default="mrmr", kw_only=False)
    n_features: int | None = 10
    n_bins: int = N_BINS
    threshold: float = 0.0
    blanket_size: int = 2

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Take features one after the other, or remove them.

        Parameters
        ----------
        X : table of shape (n, p), LearningSet or ColumnStore
            The rows.
        y : array-like of shape (n,), optional
            Classes or numbers; None with a learning set.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a parameter, X or y is not as described.
        """
        owner = type(self).__name__
        rule = checks.check_choice(owner, "rule", self.rule, (*STEPS, "fcbf", "mbf"))
        most = checks.check_optional_integer(owner, "n_features", self.n_features, 1)
        if most is None and rule != "fcbf":
            raise checks.refuse(
                owner, "n_features", "an int >= 1; None is allowed for fcbf only", None
            )
        n_bins = checks.check_integer(owner, "n_bins", self.n_bins, 2)
        threshold = checks.check_real(owner, "threshold", self.threshold, 0.0, 1.0)
        size = checks.check_integer(owner, "blanket_size", self.blanket_size, 0)
        data = self._learning_set(X, y)
        columns, target = _codes(data, n_bins)
        most = min(most or len(columns), len(columns))
        if rule == "fcbf":
            relevance = np.array([symmetrical_uncertainty(column, target) for column in columns])
            columns_taken = _predominant(columns, relevance, threshold, most)
            scores = relevance[columns_taken]
        else:
            relevance = np.array([information(column, target) for column in columns])
            if rule == "mbf":
                columns_taken, scores, removed = _backward(columns, target, size, most)
            else:
                columns_taken, scores = _forward(columns, target, relevance, STEPS[rule], most)
        history = {"n_selected": np.arange(1, len(columns_taken) + 1), "score": scores}
        if rule == "mbf":
            left = len(columns) - 1 - np.arange(len(removed))
            history = {"n_selected": left, "score": removed}
        self._adopt(data, columns_taken, history)
        self.scores_ = scores
        measure, unit = "mutual_information", "bits"
        if rule == "fcbf":
            measure, unit = "symmetrical_uncertainty", "fraction"
        self.importances_ = without_forest(data, relevance, measure, unit, n_bins=n_bins)
        return self

    def _figures(self) -> dict[str, Any]:
        scores = self._of_selected(self.scores_)
        return {"columns": (Column("score", name="score", numbers=scores),)}


def _codes(data: Data, n_bins: int) -> tuple[list[NDArray[Any]], Codes]:
    """Return the codes of all columns, in as few bytes as hold them, and of the target."""
    table, target = data.table, data.target.values
    columns = []
    for j in range(data.n_columns):
        numeric = table.kinds[j] == "numeric"
        codes = intervals(table.codes(j), n_bins if numeric else len(target))
        columns.append(codes.astype(np.uint8 if codes.max() < 256 else np.uint32))
    return columns, intervals(target, n_bins if data.classes is None else len(target))


Step = tuple[Callable[[Codes, Codes, Codes], float], Callable[..., FloatArray]]
STEPS: dict[str, Step] = {
    "mrmr": (
        lambda j, s, y: -information(j, s),
        lambda relevance, parts: relevance + parts.mean(axis=0),
    ),
    "jmi": (
        lambda j, s, y: information(j * (int(s.max()) + 1) + s, y),
        lambda relevance, parts: parts.sum(axis=0),
    ),
    "cmim": (
        lambda j, s, y: conditional_information(j, y, s),
        lambda relevance, parts: parts.min(axis=0),
    ),
    "bounded_cmim": (
        lambda j, s, y: conditional_information(j, y, s),
        lambda relevance, parts: np.minimum(relevance, parts.min(axis=0)),
    ),
}
"""Rules: of a candidate, a feature taken before and the target; and of all of these together."""


def _forward(
    columns: list[NDArray[Any]], target: Codes, relevance: FloatArray, step: Step, most: int
) -> tuple[IntArray, FloatArray]:
    part, joined = step
    left = np.ones(len(columns), dtype=np.bool_)
    taken: list[int] = []
    scores: list[float] = []
    parts = np.empty((0, len(columns)))
    value = relevance
    while len(taken) < most:
        if taken:
            last = columns[taken[-1]].astype(np.intp)
            row = np.zeros(len(columns))
            for j in np.flatnonzero(left).tolist():
                row[j] = part(columns[j].astype(np.intp), last, target)
            parts = np.vstack([parts, row])
            value = joined(relevance, parts)
        best = int(np.argmax(np.where(left, value, -np.inf)))
        taken.append(best)
        scores.append(float(value[best]))
        left[best] = False
    return np.array(taken, dtype=np.int64), np.array(scores)


def _predominant(
    columns: list[NDArray[Any]], relevance: FloatArray, threshold: float, most: int
) -> IntArray:
    taken: list[int] = []
    for j in np.argsort(-relevance, kind="stable").tolist():
        if relevance[j] <= threshold or len(taken) == most:
            break
        own = columns[j].astype(np.intp)
        others = (columns[s].astype(np.intp) for s in taken)
        if all(symmetrical_uncertainty(own, other) < relevance[j] for other in others):
            taken.append(j)
    return np.array(taken, dtype=np.int64)


def _backward(
    columns: list[NDArray[Any]], target: Codes, size: int, most: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the features left by the Markov blanket filter, their scores, those of the removed."""
    p = len(columns)
    require_memory(
        8 * p * p,
        what=f"informations of the pairs of {p} features",
        function="InformationFilter",
        hint="select with rule='mrmr' before",
    )
    codes = [column.astype(np.intp) for column in columns]
    pairwise = np.full((p, p), np.inf)  # I(X_j;Y|X_s), infinite if s = j or s is removed
    for s, j in permutations(range(p), 2):
        pairwise[j, s] = conditional_information(codes[j], target, codes[s])
    left, removed = np.ones(p, dtype=np.bool_), []
    scores = np.zeros(p)
    blankets: list[Any] = [None] * p
    while True:
        for j in np.flatnonzero(left).tolist():
            blanket = np.argsort(pairwise[j], kind="stable")[: min(size, left.sum() - 1)].tolist()
            if blanket != blankets[j]:
                blankets[j] = blanket
                cells = np.zeros(len(target), dtype=np.intp)
                for s in blanket:
                    joint = cells * (int(codes[s].max()) + 1) + codes[s]
                    cells = np.unique(joint, return_inverse=True)[1]
                scores[j] = conditional_information(codes[j], target, cells)
        if left.sum() <= most:
            break
        # The same information is summed in another order for each column: equal up to rounding.
        least = scores[left].min() + 1e-12
        last = int(np.flatnonzero(left & (scores <= least))[-1])
        removed.append(scores[last])
        left[last] = False
        pairwise[:, last] = np.inf
    order = np.flatnonzero(left)
    order = order[np.argsort(-scores[order], kind="stable")]
    return order, scores[order], np.array(removed)


VARIANTS = {"relief": "", "relieff": "ReliefF", "multisurf": "MultiSURF"}
"""Class of skrebate for each variant; Relief is computed here."""


def _relief(data: LearningSet[EncodedTable]) -> FloatArray:
    """Return the weights of Relief, of shape (p,)."""
    classes = data.target.values
    counts = np.unique(classes, return_counts=True)[1]
    if len(counts) != 2 or counts.min() < 2:
        raise checks.refuse(
            "ReliefF",
            "y",
            "two classes of at least two rows each for variant='relief'",
            f"classes of {', '.join(map(str, counts))} rows",
            "variant='relieff' takes any classes",
        )
    X = numbers_of(data.table)
    if np.isnan(X).any():
        raise checks.refuse(
            "ReliefF",
            "X",
            "a table without missing values for variant='relief'",
            f"{int(np.isnan(X).sum())} missing values",
            "variant='relieff' takes them",
        )
    width = np.ptp(X, axis=0)
    X = (X - X.min(axis=0)) / np.where(width > 0, width, 1.0)
    nominal = np.array([kind == "nominal" for kind in data.table.kinds])
    weights = np.zeros(X.shape[1])
    for i, row in enumerate(X):
        squares = (X - row) ** 2
        squares[:, nominal] = squares[:, nominal] > 0
        distance = squares.sum(axis=1)
        distance[i] = np.inf
        for sign, able in ((-1, classes == classes[i]), (1, classes != classes[i])):
            nearest = able & (distance <= distance[able].min() * (1 + 1e-12))
            weights += sign * squares[nearest].mean(axis=0)
    return weights / len(X)


@dataclass(kw_only=True, eq=False, repr=False)
class ReliefF(BaseSelector):
    r"""Relief, ReliefF or MultiSURF: features that differ between near rows of other classes.

    The weight of a feature is its mean difference between each row and its nearest neighbors of
    other classes, less that of its own class. ReliefF and MultiSURF are computed by the package
    skrebate (extra ``baselines``). The original Relief takes two classes and squares, with
    :math:`h_i` and :math:`m_i` the nearest rows of the same and of the other class,

    .. math:: W_j = \frac{1}{n} \sum_i d_j(x_i, x_{m_i})^2 - d_j(x_i, x_{h_i})^2,

    with :math:`d_j` the difference of numbers in units of their range, and 0 or 1 for categories
    without order. The nearest row has the smallest :math:`\sum_j d_j^2`; of several, the mean.

    Parameters
    ----------
    n_features : int, default=10
        Number of features to select.

        All if there are fewer.
    variant : {"relief", "relieff", "multisurf"}, default="relieff"
        Neighbors: the nearest of each class (relief), a number of each class (relieff), or those
        within a distance of their own (multisurf).
    n_neighbors : int, default=10
        Number of neighbors of each class (relieff).

        At most the rows of the smallest class less 1.
    threshold : float, optional
        Weight that selected features must exceed; none by default.
    n_jobs : int, optional
        Processes of joblib (relieff, multisurf); the result does not depend on it.

    Attributes
    ----------
    selected_ : int64 array
        Features with the largest weights, the largest first.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Weights of all p features.
    history_ : dict of arrays
        Empty.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    All identical features have the same weight, and irrelevant ones have weights around 0. The
    distances of all pairs of rows are computed: n (n - 1) / 2 times p differences.

    Relief takes every row once, as the thesis describes it; Kira and Rendell draw rows. It has no
    rule for missing values and refuses them.

    References
    ----------
    Relief: K. Kira, L. A. Rendell (1992). A practical approach to feature selection. ICML; Sutera
    (2019), thesis, section 2.4.5, page 49. ReliefF: I. Kononenko (1994), ECML; R. J. Urbanowicz et
    al. (2018). Benchmarking relief-based feature selection methods for bioinformatics data mining.
    Journal of Biomedical Informatics 85.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[0, 0], [0, 5], [1, 0], [1, 5]]
    >>> dm.ReliefF(variant="relief", n_features=1).fit(X, [0, 0, 1, 1]).selected_.tolist()
    [0]
    """

    n_features: int = 10
    variant: Literal["relief", "relieff", "multisurf"] = "relieff"
    n_neighbors: int = 10
    threshold: float | None = None
    n_jobs: int | None = None

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Compute the weights, and select the largest.

        Parameters
        ----------
        X : table of shape (n, p), or LearningSet
            The rows; a store is read into memory.
        y : array-like of shape (n,), optional
            Classes or numbers; None with a learning set.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a parameter, X or y is not as described.
        ImportError
            If skrebate is not installed.
        """
        owner = type(self).__name__
        most = checks.check_integer(owner, "n_features", self.n_features, 1)
        variant = checks.check_choice(owner, "variant", self.variant, VARIANTS)
        checks.check_integer(owner, "n_neighbors", self.n_neighbors, 1)
        threshold = self.threshold
        if threshold is not None:
            threshold = checks.check_real(owner, "threshold", threshold, -np.inf)
        n_threads = checks.check_jobs(owner, self.n_jobs)
        task: Task | None = "classification" if variant == "relief" else None
        rows = self._learning_set(X, y, task, n_threads=n_threads)
        data = rows.in_memory()
        weights = _relief(data) if variant == "relief" else self._skrebate(data, n_threads)
        order = np.argsort(-weights, kind="stable")[:most]
        if threshold is not None:
            order = order[weights[order] > threshold]
        self._adopt(rows, order, {})
        self.importances_ = without_forest(data, weights, variant, "difference")
        return self

    def _skrebate(self, data: LearningSet[EncodedTable], n_threads: int) -> FloatArray:
        """Return the weights of ReliefF or MultiSURF."""
        try:
            import skrebate
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__} needs the package skrebate for variant={self.variant!r}. "
                "Hint: pip install 'duramen[baselines]'."
            ) from error
        settings: dict[str, Any] = {"n_jobs": n_threads}
        if self.variant == "relieff":
            smallest = data.n_rows
            if data.target.codes is not None:
                smallest = int(np.bincount(data.target.codes).min())
            settings["n_neighbors"] = min(self.n_neighbors, max(smallest - 1, 1))
        with parallel_config("loky", initializer=end_with, initargs=(os.getpid(),)):
            kind = getattr(skrebate, VARIANTS[self.variant])
            fitted = kind(**settings).fit(numbers_of(data.table), data.target.values)
        return np.asarray(fitted.feature_importances_, dtype=np.float64)

    def _figures(self) -> dict[str, Any]:
        weights = self.importances_.values
        return {"columns": (Column("weight", name="weight", numbers=weights),)}


SELECTIONS = ("smallest", "union")


@dataclass(kw_only=True, eq=False, repr=False)
class MarkovBoundary(BaseSelector):
    r"""Markov boundary of a small categorical table, and FOCUS: the smallest sufficient set.

    The rows are taken as a distribution, a value of a column as a category. A Markov boundary is a
    set M of features with :math:`H(Y|M) = H(Y|V)`, V all features, of which no proper part is one:
    where no two rows agree in all features but not in their class, a set that determines the class.
    FOCUS (Almuallim and Dietterich) finds a smallest one.

    Parameters
    ----------
    select : {"smallest", "union"}, default="smallest"
        Features of a smallest boundary, or of any.

        The first of the smallest boundaries, in the order of the columns, or one of them where
        there are too many boundaries to list.

    Attributes
    ----------
    selected_ : int64 array
        Selected features, in the order of the columns.
    boundaries_ : tuple of int64 arrays
        All Markov boundaries, smaller ones first; or the selected one alone, where there are too
        many to list.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Mutual information of each of the p features with the target, in bits.
    history_ : dict of arrays
        ``"size"``: number of features of each boundary.
    classes_ : array of shape (C,)
        Sorted class labels.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    Nothing is tested: in few rows, irrelevant features determine the class by chance, and a column
    of distinct numbers does alone (the min-features bias). Cut numbers into few intervals before
    (`duramen.theory.discretize`), and give many more rows than there are combinations of values.

    Of identical features one is selected; ``select="union"`` keeps all of them.

    References
    ----------
    H. Almuallim, T. G. Dietterich (1994). Learning boolean concepts in the presence of many
    irrelevant features. Artificial Intelligence 69. Boundaries: `duramen.theory.markov_boundaries`.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.digits7()
    >>> dm.MarkovBoundary().fit(data.X, data.y).selected_.tolist()
    [0, 1, 2, 3, 4]
    """

    select: Literal["smallest", "union"] = "smallest"

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Find all Markov boundaries of the rows.

        Parameters
        ----------
        X : table of shape (n, p), or LearningSet
            The rows; a store is read into memory.
        y : array-like of shape (n,), optional
            Classes; None with a learning set.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a parameter, X or y is not as described; there are too many boundaries to list and
            all are asked for; or no small one is found.
        """
        checks.check_choice(type(self).__name__, "select", self.select, SELECTIONS)
        rows = self._learning_set(X, y, "classification")
        data = rows.in_memory()
        dist = FiniteDistribution.from_table(data)
        place = {name: j for j, name in enumerate(dist.names)}
        listed = True
        try:
            boundaries = markov_boundaries(dist)
        except TooManyBoundaries:
            if self.select == "union":
                raise
            boundaries = [smallest_boundary(dist)]
            listed = False
        indices = [
            np.array([place[name] for name in features], dtype=np.int64) for features in boundaries
        ]
        chosen: IntArray = indices[0]
        if self.select == "union":
            chosen = np.unique(np.concatenate(indices))
        self._adopt(rows, chosen, {"size": np.array([len(features) for features in indices])})
        self.boundaries_, self._listed = tuple(indices), listed
        informations = np.array([dist.mutual_information(name) for name in dist.names])
        self.importances_ = without_forest(data, informations, "mutual_information", "bits")
        return self

    def _figures(self) -> dict[str, Any]:
        count = len(self.boundaries_) if self._listed else None
        return {"results": {"boundaries": count}}


@dataclass(kw_only=True, eq=False, repr=False)
class ClusterRepresentatives(BaseSelector):
    """Selector of a representative of each cluster of correlated features, for pipelines.

    The features are clustered by the size of their correlation, and the medoid of each cluster, its
    member that is most correlated with the others, is kept. The target plays no part.

    Parameters
    ----------
    threshold : float, optional
        Clusters are merged while the mean absolute correlation of their members is at least that;
        in (0, 1]. 0.8 where neither it nor `n_clusters` is given.
    n_clusters : int, optional
        Number of clusters, instead of `threshold`.
    correlation : {"spearman", "pearson"}, default="spearman"
        Of ranks, or of numbers.

    Attributes
    ----------
    selected_ : int64 array
        Medoids, in the order of the first members of their clusters.
    representatives_ : Clusters
        The clusters; `members` has the features that each medoid stands for.
    support_ : bool array of shape (p,)
        Whether each feature is a medoid.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    There is no order of the features, and no `ranking_` or `importances_`: those of the selector
    that comes after it are of the medoids, and `spread` gives them to all members.

    References
    ----------
    L. Toloşi, T. Lengauer (2011). Classification with correlated features: unreliability of
    feature ranking and solutions. Bioinformatics 27(14).

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> X[:, 2] = X[:, 0] + 0.1 * X[:, 1]
    >>> dm.ClusterRepresentatives(threshold=0.9).fit(X).selected_.tolist()
    [0, 1]
    """

    threshold: float | None = None
    n_clusters: int | None = None
    correlation: str = "spearman"

    representatives_: Clusters = field(init=False)

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Cluster the features.

        Parameters
        ----------
        X : table of shape (n, p), or LearningSet
            The rows; a store is read into memory.
        y : ignored
            There for pipelines.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is not as described.
        """
        table = encode(table_like(table_of(X)))
        threshold = self.threshold
        if threshold is None and self.n_clusters is None:
            threshold = 0.8
        clusters = representatives(
            table,
            threshold=threshold,
            n_clusters=self.n_clusters,
            correlation=self.correlation,  # type: ignore[arg-type]
        )
        sizes = np.bincount(clusters.labels, minlength=len(clusters))
        self._adopt(table, clusters.representatives.copy(), {"cluster_size": sizes})
        self.representatives_ = clusters
        return self

    def spread(self, importances: Importances) -> Importances:
        """Return the importances of all p features; members get that of their representative.

        `importances` are of the medoids, in the order of the columns of `transform`, such as those
        of the selector that comes next in a pipeline.

        Raises
        ------
        ValueError
            If their number is not that of the medoids.
        """
        check_is_fitted(self, "support_")
        clusters = self.representatives_
        if len(importances) != len(clusters):
            raise checks.refuse(
                f"{type(self).__name__}.spread",
                "importances",
                f"importances of the {len(clusters)} representatives",
                f"{len(importances)} features",
            )
        place = np.argsort(np.argsort(self.selected_))
        names = tuple(clusters.names[m] for m in clusters.representatives)
        return clusters.spread(importances.take(place, names=names))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
