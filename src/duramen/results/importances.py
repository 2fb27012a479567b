"""Results of importance measures: a number for each feature, also under permuted labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from duramen.results.result import ANY, POSITIVE, FeatureResult, Result, ranks
from duramen.results.summary import Column, Summary, counted, features
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, native_frame
from duramen.support.text import fixed


@dataclass(frozen=True, eq=False, repr=False)
class Importances(FeatureResult[float]):
    """Importances of p features, with their unit and, where known, their parts and spread.

    ``len(result)`` is p, ``result[name]`` and ``result[j]`` are the value of one feature, and
    iterating gives ``(name, value)`` pairs in the order of the columns.

    Parameters
    ----------
    names : tuple of str
        Names of the p features, in the order of the table's columns, all different.
    values : ndarray of float64, shape (p,)
        Importance of each feature, in `unit`. Values can be negative for measures that are
        corrected or computed from held-out rows.
    measure : str
        Name of the measure, such as ``"mdi"``.
    unit : str
        Unit of the values: ``"bits"``, ``"gini"``, ``"variance"`` or ``"1"`` (a pure number).
    by_degree : ndarray of float64, shape (p, D), optional
        Part of each value that the feature contributes after k other splits above it
        (interaction degree k = 0 .. D-1). Rows sum to `values`.
    standard_error : ndarray of float64, shape (p,), optional
        Standard error of each value over the trees.
    by_class : ndarray of float64, shape (p, C), optional
        The same importance on the rows of each class alone, in `unit`.
    classes : tuple of str
        Names of the C classes of `by_class`; empty without it.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data: whatever `json` can hold.

    Raises
    ------
    TypeError
        If a name is not a string.
    ValueError
        If shapes disagree, names or classes repeat, a value is not finite or a standard error is
        negative.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.Importances(("a", "b", "c"), [0.1, 0.3, 0.2], "mdi", "bits")
    >>> result.top(2).names, result["b"], result[0]
    (('b', 'c'), 0.3, 0.1)
    """

    names: tuple[str, ...]
    values: FloatArray
    measure: str
    unit: str
    by_degree: FloatArray | None = None
    standard_error: FloatArray | None = None
    by_class: FloatArray | None = None
    classes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    _NAMES: ClassVar = {"names": "p", "classes": "C"}
    _ARRAYS: ClassVar = {
        "values": ("p", ANY),
        "standard_error": ("p", POSITIVE),
        "by_degree": ("pD", ANY),
        "by_class": ("pC", ANY),
    }

    # --- ranking ---------------------------------------------------------------------------

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by decreasing value; ties keep column order."""
        return np.argsort(-self.values, kind="stable")

    def normalized(self) -> Importances:
        """Return a copy whose values sum to 1, in unit ``"1"``.

        Raises
        ------
        ValueError
            If the values do not have a positive sum, as when no feature was used.
        """
        total = float(self.values.sum())
        if not total > 0:
            raise ValueError(
                f"Importances.normalized: the values sum to {total:g}; only a positive sum can "
                "be scaled to 1. Hint: compare the values in their own unit instead."
            )
        return replace(
            self,
            unit="1",
            values=self.values / total,
            by_degree=None if self.by_degree is None else self.by_degree / total,
            standard_error=None if self.standard_error is None else self.standard_error / total,
            by_class=None if self.by_class is None else self.by_class / total,
        )

    # --- in and out ------------------------------------------------------------------------

    def table(self) -> list[Column]:
        """Return the columns after the names.

        They are ``importance``, ``standard_error`` (if known), ``degree_0``, ``degree_1`` ... (if
        known) and ``class_A``, ``class_B`` ... by the names of the classes (if known).
        """
        values, error = self.values, self.standard_error
        ends = None if error is None else (values - error, values + error)
        title = self.unit if self.unit != "1" else "importance"
        columns = [
            Column(title, digits=4, bars=values, whiskers=ends, name="importance", numbers=values)
        ]
        if error is not None:
            columns.append(Column("std. error", digits=2, name="standard_error", numbers=error))
        if self.by_degree is not None:
            columns += [
                Column(name=f"degree_{k}", numbers=part) for k, part in enumerate(self.by_degree.T)
            ]
        if self.by_class is not None:
            parts = zip(self.classes, self.by_class.T, strict=True)
            columns += [Column(name=f"class_{label}", numbers=part) for label, part in parts]
        return columns

    def _heading(self) -> tuple[str, ...]:
        unit = "a pure number" if self.unit == "1" else f"in {self.unit}"
        return (f"Importances: {self.measure} of {counted(len(self), 'feature')}, {unit}",)


NULL = (
    "The target is independent of all features together: its values could be permuted among the "
    "rows in any order."
)


@dataclass(frozen=True, eq=False, repr=False)
class PermutedImportances(Result):
    """Importances of p features on the data and after each of B permutations of the target.

    The significance tests that compare the two take it in place of an estimator and data, and grow
    no forest: `altmann`, `max_t` and `fdr_curve`.

    Parameters
    ----------
    importances : Importances
        Importances on the data.
    permuted : ndarray of float64, shape (B, p)
        Importances in the forest grown after each permutation, in the order of the permutations.
    restrictions : str
        Sentences on how rows are exchanged, such as within strata; empty where every order of the
        target is allowed.
    marginal : ndarray of float64, shape (B + 1, p), optional
        Marginal rank statistics of the features on the data, in the first row, and after the same
        permutations; `max_t` compares them too.
    joint : ndarray of float64, shape (B + 1, p), optional
        Joint linear statistics likewise; None where the table has too few rows for its columns.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data: whatever `json` can hold.
    notes : tuple of str
        Limits of tests that compare features with each other, such as `max_t`, a sentence each.

    Raises
    ------
    TypeError
        If `importances` are none, or a note is not a string.
    ValueError
        If shapes disagree, there is no permutation, or a number is not finite.

    Examples
    --------
    >>> import duramen as dm
    >>> observed = dm.Importances(("a", "b"), [0.4, 0.1], "mdi", "bits")
    >>> permuted = dm.significance.PermutedImportances(observed, [[0.1, 0.2], [0.2, 0.1]])
    >>> permuted.maxima.tolist(), dm.significance.altmann(permuted).p_values.round(2).tolist()
    ([0.2, 0.2], [0.33, 1.0])
    """

    importances: Importances
    permuted: FloatArray
    restrictions: str = ""
    marginal: FloatArray | None = None
    joint: FloatArray | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    _ARRAYS: ClassVar = {
        "permuted": ("Bp", ANY),
        "marginal": ("Rp", ANY),
        "joint": ("Rp", ANY),
    }

    def __post_init__(self, **_: int) -> None:
        owner, kind, n = type(self).__name__, type(self.importances), len(self.permuted)
        if not isinstance(self.importances, Importances):
            raise TypeError(f"{owner}: importances must be Importances, got {kind.__name__}.")
        if not n:
            raise ValueError(f"{owner}: permuted must have a row for each permutation, got none.")
        super().__post_init__(p=len(self.importances), R=n + 1)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the p features."""
        return self.importances.names

    @property
    def null(self) -> str:
        """Null hypothesis under which the permuted importances are drawn."""
        return NULL + self.restrictions

    @property
    def maxima(self) -> FloatArray:
        """Largest importance of any feature after each permutation, shape (B,)."""
        maxima: FloatArray = self.permuted.max(axis=1, initial=-np.inf)
        return maxima

    def table(self) -> list[Column]:
        """Return name, rank, importance, and mean, deviation and maximum under permutation."""
        values, unit, mean = self.importances.values, self.importances.unit, "null_mean"
        title = "importance" if unit == "1" else unit
        average, largest = self.permuted.mean(axis=0), self.permuted.max(axis=0)
        return [
            Column("feature", self.names, "name", name="name"),
            Column(name="rank", numbers=ranks(self.importances.order())),
            Column(title, digits=4, bars=values, name="importance", numbers=values),
            Column("mean under permutation", digits=4, name=mean, numbers=average),
            Column(name="null_sd", numbers=self.permuted.std(axis=0)),
            Column("largest", digits=4, name="null_max", numbers=largest),
        ]

    def _best(self, n: int) -> NDArray[np.integer]:
        return self.importances.order()

    def _heading(self) -> tuple[str, ...]:
        count = counted(len(self.names), "feature")
        permutations = counted(len(self.permuted), "permutation")
        measure = self.importances.measure
        return (
            f"PermutedImportances: {measure} of {count}, {permutations}",
            f"null: {self.null}",
        )


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

    _ARRAYS: ClassVar = {
        "n_drawn": ("p", ANY, np.int64),
        "source": ("E", ANY, np.int64),
        "target": ("E", ANY, np.int64),
        "weight": ("E", ANY),
        "maxima": ("B", ANY),
    }

    def __post_init__(self, **_: int) -> None:
        p = len(self.importances)
        super().__post_init__(p=p)
        if self.source.size and not (
            min(self.source.min(), self.target.min()) >= 0
            and max(self.source.max(), self.target.max()) < p
        ):
            raise ValueError(
                f"MonteCarloSelection: source and target must be positions in 0..{p - 1}."
            )

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: the columns of the importances, and ``n_drawn``."""
        return {**self.importances.columns(), "n_drawn": self.n_drawn.copy()}

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
        function = "MonteCarloSelection.cutoff"
        checks.check_choice(function, "bound", bound, ("prediction", "mean"))
        checks.check_real(function, "alpha", alpha, 0, 1, ends="()")
        runs = len(self.maxima)
        if runs < 2:
            raise ValueError(
                f"{function}: at least two runs with shuffled classes are needed, there are "
                f"{runs}. Hint: mcfs(..., n_permutations=20)."
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
            Column("to", [names[j] for j in self.target[shown]], "words"),
            Column("weight", fixed(weight, 4), bars=weight),
        ]
        heading = [f"Interdependencies: {counted(len(self.weight), 'edge')}"]
        if len(self.maxima) > 1:
            bounds = f"{self.cutoff():.4g} (prediction), {self.cutoff('mean'):.4g} (mean)"
            heading.append(f"cut-off of importances: {bounds}")
        edges = Summary(tuple(heading), columns)
        return replace(self.importances._summary(rows), then=edges)
