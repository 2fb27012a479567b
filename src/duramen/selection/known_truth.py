"""Scores of a selection, and of a ranking, against the features that are known to be relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.support.arrays import BoolArray, FloatArray
from duramen.support.checks import places_of, refuse

_OWNER = "scores"


@dataclass(frozen=True, eq=False, repr=False)
class SelectionScores(Result):
    r"""Agreement of a selection, and of a ranking, with the relevant features.

    With TP relevant and FP irrelevant features selected, out of P relevant and N irrelevant ones.

    Attributes
    ----------
    n_selected, n_relevant, n_features : int
        Numbers of features.
    true_positives : int
        Relevant features that were selected.
    precision : float
        TP / (TP + FP); NaN where nothing was selected.
    recall : float
        TP / P.
    f1 : float
        2 TP / (2 TP + FP + FN), with FN = P - TP.
    fdr : float
        False discovery proportion FP / max(1, TP + FP).
    bcr : float
        Balanced classification rate (TP / P + (N - FP) / N) / 2; NaN where all are relevant.
    average_precision : float
        Mean over the relevant features of the precision of the ranking down to each of them, the
        mean over all orders of features of equal score; NaN without a ranking.
    auprc : float
        Area under the curve of precision against recall by the trapezoid rule, ties likewise; the
        curve begins at recall 0 with the precision of the first feature.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.selection.scores(["a", "b"], ["a", "c"], names=["a", "b", "c", "d"]).f1
    0.5
    """

    n_selected: int
    n_relevant: int
    n_features: int
    true_positives: int
    precision: float
    recall: float
    f1: float
    fdr: float
    bcr: float
    average_precision: float
    auprc: float

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: one row of all scores."""
        return {name: [getattr(self, name)] for name in _COLUMNS}

    def _summary(self, rows: int) -> Summary:
        heading = [
            f"SelectionScores: {self.true_positives} of {self.n_relevant} relevant features among "
            f"{self.n_selected} selected of {self.n_features}",
            f"precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}, "
            f"FDR {self.fdr:.3f}, BCR {self.bcr:.3f}",
        ]
        if not np.isnan(self.auprc):
            heading.append(
                f"average precision {self.average_precision:.3f}, AUPRC {self.auprc:.3f} (random "
                f"order about {self.n_relevant / self.n_features:.3f})"
            )
        return Summary(tuple(heading))


_COLUMNS = ("precision", "recall", "f1", "fdr", "bcr", "average_precision", "auprc")


def scores(
    selected: Any, relevant: Any, *, ranking: ArrayLike | None = None, names: Any = None
) -> SelectionScores:
    """Score a selection, and a ranking, against the features that are known to be relevant.

    Parameters
    ----------
    selected : bool array of shape (p,), or names or indices of features, or fitted selector
        Features that were selected.
    relevant : bool array of shape (p,), or names or indices of features
        Features that are relevant, at least one.
    ranking : array-like of shape (p,), or result with `values`, optional
        Scores of all p features, the larger the better, such as importances.
    names : sequence of str, or int, optional
        Names of the p features, or their number; not needed where a mask or a ranking is given.

    Returns
    -------
    SelectionScores

    Raises
    ------
    ValueError
        If features are not as described, shapes differ, or no feature is relevant.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.selection.scores(
    ...     [True, True, False, False], [True, False, True, False], ranking=[4, 3, 3, 1])
    >>> result.precision, result.average_precision
    (0.5, 0.9166666666666666)
    """
    if hasattr(selected, "get_support"):
        selected = selected.get_support()
    values = None
    if ranking is not None:
        values = np.asarray(getattr(ranking, "values", ranking), dtype=np.float64)
        names = getattr(ranking, "names", names)
        if values.ndim != 1 or np.isnan(values).any():
            raise refuse(_OWNER, "ranking", "numbers of shape (p,)", f"shape {values.shape}")
    if names is None and values is not None:
        names = len(values)
    if isinstance(names, int | np.integer):
        names = [f"x{j}" for j in range(int(names))]
    masks = []
    for parameter, features in (("selected", selected), ("relevant", relevant)):
        array = np.asarray(list(features) if isinstance(features, set | frozenset) else features)
        if names is None and array.dtype == np.bool_:
            names = [f"x{j}" for j in range(array.size)]
        if names is None:
            raise refuse(_OWNER, "names", "the names of all features, or their number", None)
        masks.append(np.zeros(len(names), dtype=np.bool_))
        if array.dtype == np.bool_ and array.shape == masks[-1].shape:
            masks[-1][:] = array
        elif array.size:
            asked = array if array.dtype == np.bool_ else array.tolist()
            masks[-1][places_of(asked, list(names), f"{_OWNER}: {parameter}")] = True
    (mask, truth), p = masks, len(masks[0])
    n_true = int(truth.sum())
    if not n_true:
        raise refuse(_OWNER, "relevant", "one feature or more", "none")
    tp, size = int((mask & truth).sum()), int(mask.sum())
    fp, n_false = size - tp, p - n_true
    average, area = (float("nan"),) * 2 if values is None else areas(values, truth)
    return SelectionScores(
        n_selected=size,
        n_relevant=n_true,
        n_features=p,
        true_positives=tp,
        precision=tp / size if size else float("nan"),
        recall=tp / n_true,
        f1=2 * tp / (size + n_true),
        fdr=fp / max(1, size),
        bcr=(tp / n_true + (n_false - fp) / n_false) / 2 if n_false else float("nan"),
        average_precision=average,
        auprc=area,
    )


def areas(values: FloatArray, truth: BoolArray) -> tuple[float, float]:
    """Return average precision and the trapezoid area, expected over random orders of ties."""
    order = np.argsort(-values, kind="stable")
    _, group, size = np.unique(-values[order], return_inverse=True, return_counts=True)
    true = np.bincount(group, weights=truth[order])
    place = np.arange(1, len(values) + 1.0)
    first = np.concatenate([[0], np.cumsum(size)[:-1]])[group]
    before = np.concatenate([[0], np.cumsum(true)[:-1]])[group]
    # Given that a feature at a place is relevant, the others of its group are in random order.
    others = (true[group] - 1) / np.maximum(size[group] - 1, 1)
    above = before + np.maximum(others, 0.0) * (place - 1 - first)
    chance = true[group] / size[group]
    precision = (above + 1) / place
    previous = np.divide(above, place - 1, out=np.ones_like(place), where=place > 1)
    n_true = float(truth.sum())
    average = float((chance * precision).sum()) / n_true
    area = float((chance * (precision + previous) / 2).sum()) / n_true
    return average, area
