"""Result of Monte Carlo feature selection: importances, a graph, and a cut-off."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from duramen.results.columns import Column, counted, features
from duramen.results.fields import frozen
from duramen.results.importances import Importances
from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, native_frame
from duramen.support.text import fixed

_BOUNDS = ("prediction", "mean")


@dataclass(frozen=True, eq=False, repr=False)
class MonteCarloSelection(Result):
    """Relative importances of p features, their interdependencies, and a cut-off by chance.

    The importances are an `Importances` of their own: pass ``result.importances`` where one is
    asked for.

    Parameters
    ----------
    importances : Importances
        Relative importance of each feature.
    n_drawn : ndarray of int64, shape (p,)
        Number of random subsets that each feature was in; where it is 0, the importance is 0 for
        want of any evidence.
    accuracy : float
        Mean over all trees of their balanced accuracy on the rows that they were not grown from.
    source, target : ndarrays of int64, shape (E,)
        Edges of the interdependency graph, as positions among the features: trees split on the
        target below a split on the source. The strongest comes first.
    weight : ndarray of float64, shape (E,)
        Strength of each edge.
    maxima : ndarray of float64, shape (B,)
        Greatest importance of any feature in each of B runs with shuffled classes.

    Raises
    ------
    ValueError
        If shapes disagree or a number is not finite.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> result = dm.importances.mcfs(data.X, data.y, n_subsets=50, random_state=0)
    >>> len(result.n_drawn), result.edges().columns.tolist()
    (6, ['source', 'target', 'weight'])
    """

    importances: Importances
    n_drawn: IntArray
    accuracy: float
    source: IntArray
    target: IntArray
    weight: FloatArray
    maxima: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        p, n_edges = len(self.importances), np.size(self.weight)
        for name, length in (
            ("n_drawn", p),
            ("source", n_edges),
            ("target", n_edges),
            ("weight", n_edges),
            ("maxima", -1),
        ):
            kind = np.float64 if name in ("weight", "maxima") else np.int64
            given = getattr(self, name)
            array = frozen("MonteCarloSelection", name, given, (length,), dtype=kind)
            object.__setattr__(self, name, array)
        if self.source.size and not (
            min(self.source.min(), self.target.min()) >= 0
            and max(self.source.max(), self.target.max()) < p
        ):
            raise ValueError(
                f"MonteCarloSelection: source and target must be positions in 0..{p - 1}."
            )

    # --- the graph -------------------------------------------------------------------------

    def edges(self, k: int | None = None) -> Any:
        """Return a data frame of the edges of the interdependency graph, the strongest first.

        Parameters
        ----------
        k : int or None
            How many; None for all.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            ``source``, ``target`` and ``weight``, one row an edge.

        Raises
        ------
        ValueError
            If `k` is negative.
        """
        checks.check_optional_integer("MonteCarloSelection.edges", "k", k, 0)
        names = self.importances.names
        return native_frame(
            {
                "source": [names[j] for j in self.source[:k]],
                "target": [names[j] for j in self.target[:k]],
                "weight": self.weight[:k].copy(),
            }
        )

    # --- the cut-off -----------------------------------------------------------------------

    def cutoff(self, bound: str = "prediction", *, alpha: float = 0.05) -> float:
        r"""Return the importance that is not reached under the null hypothesis.

        With M_1 .. M_B the greatest importances of B runs with shuffled classes, of mean
        :math:`\bar M` and standard deviation d (ddof 1), and t the (1 - alpha) quantile of
        Student's distribution with B - 1 degrees of freedom:

        * ``"prediction"``: :math:`\bar M + t\,d\sqrt{1 + 1/B}`; the greatest importance of one
          more such run is above it with probability alpha, if the maxima are about normal;
        * ``"mean"``: :math:`\bar M + t\,d/\sqrt B`; the *mean* of such maxima is above it with
          probability alpha. A single run is above it nearly every other time.

        Parameters
        ----------
        bound : {"prediction", "mean"}
            What is bounded. The authors' program takes the mean, with the quantile for alpha / 2.
        alpha : float
            Level, in (0, 1).

        Raises
        ------
        ValueError
            If there are fewer than two shuffled runs, or a parameter is out of its range.
        """
        if bound not in _BOUNDS:
            allowed = " or ".join(map(repr, _BOUNDS))
            raise ValueError(f"MonteCarloSelection.cutoff: bound must be {allowed}, got {bound!r}.")
        if not 0 < alpha < 1:
            raise ValueError(
                f"MonteCarloSelection.cutoff: alpha must lie in (0, 1), got {alpha!r}."
            )
        runs = len(self.maxima)
        if runs < 2:
            raise ValueError(
                f"MonteCarloSelection.cutoff: at least two runs with shuffled classes are needed, "
                f"there are {runs}. Hint: mcfs(..., n_permutations=20)."
            )
        from scipy.special import stdtrit

        quantile = float(stdtrit(runs - 1, 1 - alpha))
        spread = math.sqrt(1 + 1 / runs) if bound == "prediction" else math.sqrt(1 / runs)
        return float(self.maxima.mean() + quantile * spread * self.maxima.std(ddof=1))

    def selected(self, bound: str = "prediction", *, alpha: float = 0.05) -> Importances:
        """Return the features whose importance is above `cutoff`, the best first."""
        above = self.importances.values > self.cutoff(bound, alpha=alpha)
        return self.importances.top(int(np.count_nonzero(above)))

    def _summary(self, rows: int) -> Summary:
        names, shown = self.importances.names, slice(max(1, rows // 2))
        weight = self.weight[shown]
        columns = [
            *features((names[j] for j in self.source[shown]), title="from"),
            Column("to", [names[j] for j in self.target[shown]], kind="words"),
            Column("weight", fixed(weight, 4), bars=weight),
        ]
        then = None
        if len(self.maxima) > 1:
            then = Summary(
                (
                    f"Cut-off of importances from {len(self.maxima)} shuffled runs:",
                    f"{self.cutoff():.4g} (prediction), {self.cutoff('mean'):.4g} (mean)",
                )
            )
        edges = Summary((f"Interdependencies: {counted(len(self.weight), 'edge')}",), columns)
        return replace(self.importances._summary(rows), then=replace(edges, then=then))
