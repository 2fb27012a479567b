"""Scores of a network against a gold standard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.results.result import Result
from duramen.support.arrays import BoolArray, FloatArray
from duramen.support.text import quoted

_OWNER = "Network.score"
PAIRS = ("candidates", "listed", "dream5", "directed")


@dataclass(frozen=True, eq=False, repr=False)
class NetworkScores(Result):
    r"""Agreement of ranked links with a gold standard.

    Links of equal weight, and those that have no weight, count as if they came in random order: the
    curves run straight (in counts of true and false links) from one distinct weight to the next.

    Attributes
    ----------
    auroc : float
        Area under the ROC curve: the probability that a true link is ranked before a false one.
    aupr : float
        Area under the precision-recall curve, integrated exactly between the points:
        :math:`\int \mathrm{precision}\, d\,\mathrm{recall}`.
    early_precision : float
        Precision of the P first links, with P the number of true ones.
    n_true, n_pairs : int
        Numbers P of true links and T of all pairs that are scored.
    true_positives, ranked : float64 arrays of shape (m,)
        Points of the curves: expected number of true links among the first ``ranked`` ones.
    """

    auroc: float
    aupr: float
    early_precision: float
    n_true: int
    n_pairs: int
    true_positives: FloatArray
    ranked: FloatArray

    @property
    def random_aupr(self) -> float:
        """Expected `aupr` of a random order, about the fraction of true links."""
        return self.n_true / self.n_pairs

    @property
    def recall(self) -> FloatArray:
        """Fraction of the true links found, at each point."""
        return self.true_positives / self.n_true

    @property
    def precision(self) -> FloatArray:
        """Fraction of true links among the links up to each point; the first point has the next."""
        precision: FloatArray = self.true_positives[1:] / self.ranked[1:]
        return np.concatenate([precision[:1], precision])

    @property
    def false_positive_rate(self) -> FloatArray:
        """Fraction of the false links that come so far, at each point."""
        return (self.ranked - self.true_positives) / (self.n_pairs - self.n_true)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, one row a point of the curves.

        They are ``ranked``, ``true_positives``, ``recall``, ``precision`` and
        ``false_positive_rate``.
        """
        return {
            "ranked": self.ranked.copy(),
            "true_positives": self.true_positives.copy(),
            "recall": self.recall,
            "precision": self.precision,
            "false_positive_rate": self.false_positive_rate,
        }

    def _heading(self) -> tuple[str, ...]:
        return (
            f"NetworkScores: {self.n_true:,} of {self.n_pairs:,} pairs are links",
            f"AUROC {self.auroc:.4f} (random order 0.5)",
            f"AUPR {self.aupr:.4f} (random order {self.random_aupr:.4f})",
            f"early precision {self.early_precision:.4f}",
        )


@dataclass(frozen=True, eq=False, repr=False)
class Orientation(Result):
    """Fraction of the links whose direction the weights recover.

    Attributes
    ----------
    fraction : float
        Fraction of the links of one direction whose weight is above that of the reverse; of equal
        weights one half counts.
    n_links : int
        Number of such links.
    p_value : float
        Of a binomial test of one half, two-sided; links of equal weights are left out.
    """

    fraction: float
    n_links: int
    p_value: float

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, in one row: the attributes."""
        return {name: [value] for name, value in vars(self).items()}

    def _heading(self) -> tuple[str, ...]:
        return (
            f"Orientation: {100 * self.fraction:.1f} % of {self.n_links:,} links have the larger "
            f"weight in their direction (p = {self.p_value:.2g})",
        )


def orientation_of(forward: FloatArray, backward: FloatArray) -> Orientation:
    """Compare the weights of links with the weights of their reverses, both of shape (m,)."""
    from scipy.stats import binomtest

    above, equal = int((forward > backward).sum()), int((forward == backward).sum())
    differ = len(forward) - equal
    p_value = float(binomtest(above, differ).pvalue) if differ else 1.0
    return Orientation((above + 0.5 * equal) / len(forward), len(forward), p_value)


def score_ranking(weights: FloatArray, truth: BoolArray) -> NetworkScores:
    """Score weights of pairs, the heaviest first, against which of the pairs are links.

    Parameters
    ----------
    weights : float64 array of shape (T,)
        Weights; minus infinity for pairs that were not ranked.
    truth : bool array of shape (T,)
        Whether a pair is a link.

    Raises
    ------
    ValueError
        If no pair is a link, or all are.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.results.network_scores import score_ranking
    >>> score_ranking(np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False])).auroc
    0.75
    """
    n_true, n_pairs = int(truth.sum()), len(truth)
    if not 0 < n_true < n_pairs:
        raise ValueError(
            f"{_OWNER}: gold must hold some, but not all, of the {n_pairs} pairs that are scored, "
            f"got {n_true}. Hint: compare the names of the network with those of gold."
        )
    order = np.argsort(-weights, kind="stable")
    sorted_weights = weights[order]
    # After each group of equal weights.
    ends = np.flatnonzero(sorted_weights[1:] != sorted_weights[:-1]) + 1
    ranked = np.concatenate([[0], ends, [n_pairs]]).astype(np.float64)
    counts = np.concatenate([[0], np.cumsum(truth[order])])
    true = counts[ranked.astype(np.int64)].astype(np.float64)
    false = ranked - true
    auroc = np.trapezoid(true, false) / (n_true * (n_pairs - n_true))
    first = float(np.interp(n_true, ranked, true))
    area = _precision_area(true, ranked) / n_true
    return NetworkScores(float(auroc), area, first / n_true, n_true, n_pairs, true, ranked)


def undirected_ceiling(gold: Any, names: tuple[str, ...]) -> NetworkScores:
    """Score the network that has the links of a gold standard without their directions.

    Each pair of variables has weight 1 in both directions if it is linked in one of them, and 0
    otherwise. No undirected network scores higher with ``pairs="directed"`` of
    :meth:`duramen.Network.score`: a link of one direction brings a false one.

    Parameters
    ----------
    gold
        True links, as for :meth:`duramen.Network.score`.
    names : tuple of str
        Names of the p variables.

    Examples
    --------
    >>> import duramen as dm
    >>> round(dm.networks.undirected_ceiling([("a", "b"), ("b", "c")], ("a", "b", "c")).auroc, 3)
    0.75
    """
    links, _ = links_of(gold, names)
    pairs = ~np.eye(len(names), dtype=np.bool_)
    return score_ranking((links | links.T)[pairs].astype(np.float64), links[pairs])


def _precision_area(true: FloatArray, ranked: FloatArray) -> float:
    """Integrate precision over the number of true links.

    From (t, k) to (t + a, k + m) precision is (t + x) / (k + c x) with c = m / a, 0 <= x <= a.
    """
    a, m = np.diff(true), np.diff(ranked)
    some = a > 0
    t, k, a, m = true[:-1][some], ranked[:-1][some], a[some], m[some]
    c = m / a
    grown = np.log1p(m / np.maximum(k, 1.0)) * (t - k / c) / c
    return float((a / c + np.where(k > 0, grown, 0.0)).sum())


def links_of(gold: Any, names: tuple[str, ...]) -> tuple[BoolArray, BoolArray]:
    """Return the links of a gold standard, and the pairs that it lists, as (p, p) masks.

    Parameters
    ----------
    gold : bool array of shape (p, p), data frame, networkx graph, or iterable of tuples
        A matrix from source to target; or a table or tuples of source, target and, optionally, 1
        for links and 0 for pairs that are none.
    names : tuple of str
        Names of the p variables of the network. Links of others are left out.

    Raises
    ------
    ValueError
        If the shape is wrong, or no name of the gold standard is one of the network.
    """
    p = len(names)
    links = np.zeros((p, p), dtype=np.bool_)
    array = np.asarray(gold) if isinstance(gold, np.ndarray) else None
    if array is not None and array.shape == (p, p) and array.dtype.kind in "biuf":
        off = ~np.eye(p, dtype=np.bool_)
        return (array != 0) & off, off
    place = {name: j for j, name in enumerate(names)}
    listed = np.zeros((p, p), dtype=np.bool_)
    n_links = 0
    for source, target, is_link in _triples(gold):
        i, j = place.get(source), place.get(target)
        if i is None or j is None:
            continue
        n_links += 1
        if i != j:
            listed[i, j] = True
            links[i, j] |= is_link
    if not n_links:
        raise ValueError(
            f"{_OWNER}: gold contains no pair of this network, whose variables are "
            f"{', '.join(map(quoted, names[:4]))}, ..."
        )
    return links, listed


def _triples(gold: Any) -> Iterable[tuple[str, str, bool]]:
    if hasattr(gold, "edges") and callable(getattr(gold, "to_directed", None)):
        pairs = list(gold.to_directed().edges())
        return [(str(a), str(b), True) for a, b in pairs]
    if isinstance(gold, Mapping):
        raise ValueError(f"{_OWNER}: gold must be a matrix, table, graph or tuples, got a mapping.")
    if hasattr(gold, "columns"):
        import narwhals.stable.v2 as nw

        gold = nw.from_native(gold, eager_only=True).rows()
    triples = []
    for row in gold:
        if len(row) not in (2, 3):
            raise ValueError(
                f"{_OWNER}: gold must have 2 or 3 columns (source, target, 0 or 1), got {len(row)}."
            )
        triples.append((str(row[0]), str(row[1]), len(row) == 2 or float(row[2]) != 0))
    return triples
