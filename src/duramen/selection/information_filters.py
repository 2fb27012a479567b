"""Filters by plug-in mutual information: mRMR, JMI, CMIM and FCBF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from duramen.results.summary import Column
from duramen.selection.selector import BaseSelector, Data, without_forest
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

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
    """Return the number of the interval of each value, cut at quantiles where there are many."""
    _, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    if len(counts) <= n_bins:
        return places
    # Equal values stay together, in the interval of the first of them.
    first = np.cumsum(counts) - counts
    _, merged = np.unique(first * n_bins // len(codes), return_inverse=True)
    return np.asarray(merged[places])


@dataclass(kw_only=True, eq=False, repr=False)
class InformationFilter(BaseSelector):
    r"""Filter by mutual information: mRMR, JMI, CMIM or FCBF.

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

    Parameters
    ----------
    rule : {"mrmr", "jmi", "cmim", "bounded_cmim", "fcbf"}, default="mrmr"
        Rule that the next feature is taken by.
    n_features : int or None, default=10
        Number of features to select.

        All if there are fewer. For FCBF the largest number, None for no limit.
    n_bins : int, default=5
        Number of intervals, cut at quantiles, of columns and targets of more numbers than that.
    threshold : float, default=0
        Symmetrical uncertainty that features must exceed (fcbf).

    Attributes
    ----------
    selected_ : int64 array
        Selected features, in the order in which they were taken.
    scores_ : float64 array of shape (n_selected,)
        Value of each when it was taken.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Mutual information of each of the p features with the target, in bits; for FCBF the
        symmetrical uncertainty.
    history_ : dict of arrays
        ``"n_selected"`` and ``"score"`` after each step.
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
    seem redundant that are not.

    No maintained package computes these rules as published, so they are computed here.

    References
    ----------
    G. Brown, A. Pocock, M.-J. Zhao, M. Luján (2012). Conditional likelihood maximisation: a
    unifying framework for information theoretic feature selection. Journal of Machine Learning
    Research 13. CMIM: F. Fleuret (2004). Fast binary feature selection with conditional mutual
    information. Journal of Machine Learning Research 5. FCBF: L. Yu, H. Liu (2003), ICML.

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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take features one after the other.

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
        rule = checks.check_choice(owner, "rule", self.rule, (*STEPS, "fcbf"))
        most = checks.check_optional_integer(owner, "n_features", self.n_features, 1)
        if most is None and rule != "fcbf":
            raise checks.refuse(
                owner, "n_features", "an int >= 1; None is allowed for fcbf only", None
            )
        n_bins = checks.check_integer(owner, "n_bins", self.n_bins, 2)
        threshold = checks.check_real(owner, "threshold", self.threshold, 0.0, 1.0)
        data = self._learning_set(X, y)
        columns, target = _codes(data, n_bins)
        most = min(most or len(columns), len(columns))
        if rule == "fcbf":
            relevance = np.array([symmetrical_uncertainty(column, target) for column in columns])
            taken = _predominant(columns, relevance, threshold, most)
            scores = relevance[taken]
        else:
            relevance = np.array([information(column, target) for column in columns])
            taken, scores = _forward(columns, target, relevance, STEPS[rule], most)
        history = {"n_selected": np.arange(1, len(taken) + 1), "score": scores}
        self._adopt(data, taken, history)
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
