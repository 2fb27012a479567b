"""Number of trees for a reproducible ranking, and to see every feature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from duramen.data import LearningSet
from duramen.forests.forest import Forest
from duramen.importances import Inputs
from duramen.importances.arguments import forest_of
from duramen.importances.samples import training_set
from duramen.results.columns import Column
from duramen.results.importances import Importances
from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.significance.measured import Data, MeasureLike, measure_of
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.theory.subspaces.convergence import all_seen_probability, draws_needed

# A forest is measured in at most so many parts, which are combined to forests of fewer trees.
_PARTS = 64
_LEAST_TREES = 16


@dataclass(frozen=True, eq=False, repr=False)
class TreesNeeded(Result):
    """Number of trees for a ranking that repeats itself, and for every feature to be seen.

    Attributes
    ----------
    n_trees : int
        Trees T of the forest that was asked.
    measure : str
        What ranked its features.
    k : int
        Number of best features that are compared.
    wanted : float
        Fraction of them that two forests are to have in common.
    sizes : int64 array of shape (S,)
        Numbers of trees, up to T/2.
    agreement : float64 array of shape (S,)
        Mean fraction of the k best features that two independent forests of so many trees on the
        same rows have in common.
    expected_agreement : float
        The same for forests of T trees, extrapolated.
    trees_to_rank : float
        Trees from which on `agreement` is as `wanted`; infinity where it is not reached with 4 T.
    extrapolated : bool
        Whether that is more than was measured, T/2.
    n_features, drawn : int
        Numbers p of features and K of candidates at a node.
    splits_per_tree : float
        Mean number of split nodes of a tree.
    risk : float
        Probability with which some feature may stay unseen.
    all_seen : float
        Probability that T trees have had every feature among the candidates of some node; a lower
        bound of it where trees are grown on subspaces.
    trees_to_see : float
        Trees after which it is at least 1 - `risk`; infinity where trees have no splits.
    n_unused : int
        Features that no tree of the forest splits on.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.significance.trees_needed(forest, k=2)
    >>> result.to_frame().columns.tolist()
    ['n_trees', 'agreement']
    """

    n_trees: int
    measure: str
    k: int
    wanted: float
    sizes: IntArray
    agreement: FloatArray
    expected_agreement: float
    trees_to_rank: float
    extrapolated: bool
    n_features: int
    drawn: int
    splits_per_tree: float
    risk: float
    all_seen: float
    trees_to_see: float
    n_unused: int

    def __post_init__(self) -> None:
        for name, kind in (("sizes", np.int64), ("agreement", np.float64)):
            array = np.array(getattr(self, name), dtype=kind)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.sizes.ndim != 1 or self.sizes.shape != self.agreement.shape:
            raise ValueError(
                "TreesNeeded: sizes and agreement must have one shape (S,), got "
                f"{self.sizes.shape} and {self.agreement.shape}."
            )

    @property
    def trees(self) -> float:
        """Trees for both: a stable ranking, and every feature seen."""
        return max(self.trees_to_rank, self.trees_to_see)

    def interval(self) -> tuple[float, float]:
        """Return an approximate 95 % prediction interval of the agreement of two new forests.

        The forests have T/2 trees each, and agree on a whole number of the k features: the ends are
        the quantiles .05 and .95 of the beta-binomial distribution of that number, with the
        agreement measured as precisely as on 8 k features. The agreement of a new pair was inside
        in .97 to 1 of pairs in simulations, depending on the data (see the notes of
        :func:`trees_needed`).
        """
        from scipy.stats import betabinom

        seen, agreed = 8 * self.k, float(self.agreement[-1])
        number = betabinom(self.k, seen * agreed + 0.5, seen * (1 - agreed) + 0.5)
        low, high = number.ppf([0.05, 0.95]) / self.k
        return float(low), float(high)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, the curve: ``n_trees`` and ``agreement``."""
        return {"n_trees": self.sizes.copy(), "agreement": self.agreement.copy()}

    def _summary(self, rows: int) -> Summary:
        trees, used = f"{self.n_trees} trees", self.n_features - self.n_unused
        heading = (
            f"TreesNeeded: {self.measure} of {self.n_features} features, asked of {trees}",
            f"for {self.wanted:.0%} of the {self.k} best features in common with another "
            "forest: " + self._rank(),
            f"to see every feature, with a risk of {self.risk:g}: {_count(self.trees_to_see)}",
            f"{trees} of {self.splits_per_tree:.3g} splits, {self.drawn} candidates each, have "
            f"seen all with probability {self.all_seen:.3g} and split on {used}",
        )
        curve = Column("in common", [f"{a:.2f}" for a in self.agreement], bars=self.agreement)
        return Summary(heading, [Column("trees", list(map(str, self.sizes))), curve])

    def _rank(self) -> str:
        now = f"({self.expected_agreement:.0%} expected of {self.n_trees})"
        if math.isinf(self.trees_to_rank):
            return f"more than {REACH * self.n_trees} trees {now}"
        return f"{_count(self.trees_to_rank)}{', extrapolated' * self.extrapolated} {now}"


def trees_needed(
    forest: Any,
    X: Any = None,
    y: Any = None,
    *,
    measure: MeasureLike = "mdi",
    k: int | None = None,
    agreement: float = 0.9,
    risk: float = 0.05,
    random_state: Any = None,
) -> TreesNeeded:
    r"""Estimate the number of trees for a stable ranking, and to see every feature.

    *To rank.* Two forests of T trees on the same rows differ by their random numbers alone. Their
    agreement is the expected fraction of the k best features that they have in common,

    .. math:: A(T) = \frac1k \sum_j \pi_j(T)^2,

    with :math:`\pi_j` the probability that feature j is among the k best of a forest of T trees. It
    is measured, not modeled: the trees of the grown forest are assigned at random to forests of
    T' trees each, T' up to T/2, which have no tree in common. From 1/8 to 1/2 of the trees,
    log(1 - A) is fitted by a line in log T and continued up to 4 T.

    *To see.* M split nodes with K random candidates of p features each leave a feature unseen
    with probability :math:`(1 - K/p)^M`, and none but for a risk :math:`\delta` from
    :math:`M = \ln(p/\delta) / -\ln(1 - K/p)` on (the coupon collector; Wehenkel 2018; thesis,
    section 4.4.3).

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package, of at least 16 trees; the more trees, the more it can tell.
    X : table of shape (n, p), optional
        The training rows, for measures that need them.
    y : array-like of shape (n,), optional
        Target of `X`.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances.
    k : int, optional
        Number of best features, less than p; by default 10, or half of fewer than 20 features.
    agreement : float
        Wanted fraction of them in common, in (0, 1). Two rankings without anything in common
        would have k/p.
    risk : float
        Probability :math:`\delta`, in (0, 1), that some feature stays unseen.
    random_state : int, RandomState, Generator or None
        Seed of the assignment of trees. None: derived from the seed of the forest.

    Returns
    -------
    TreesNeeded

    Raises
    ------
    TypeError
        If `forest` is no forest of this package.
    ValueError
        If an argument is not as described, or the forest has fewer than 16 trees.

    Notes
    -----
    The curve up to T/2 is unbiased, whatever the distribution of the importances. For k = 10 its
    last point had a standard error of .04 to .08 in simulations. The agreement of a new pair of
    forests was inside the interval of :meth:`TreesNeeded.interval` in .993 to .998 of 600 pairs for
    k = 2, 5 and 10 (5 kinds of problems, 40 data sets each, T = 100; at least .975 of each kind).
    The continuation assumes that what holds from T/8 to T/2 goes on. Where the wanted agreement is
    reached only then, grow as many trees as it says and ask again. Between features that are equal
    given these rows, such as copies of a column, lots decide in each forest: no number of trees
    helps, and the answer is infinity. Features that are equal within a forest, for instance all
    those that no tree uses, share the last places, as if lots were drawn.

    A ranking that all forests on these rows repeat may be another one on other rows: for that see
    `ranking_stability`. Irrelevant features too have an order that many trees repeat. That a
    feature was seen once is far from having been valued fairly. Seen means drawn as one of the K
    candidates; where the growth passes over constant columns, more are drawn than K, and the number
    of trees is on the safe side.

    References
    ----------
    V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine
    learning-based feature importance scores for biomarker discovery. Bioinformatics 28. J. Paul,
    M. Verleysen, P. Dupont (2012). The stability of feature selection and class prediction from
    ensemble tree classifiers. ESANN. M. Wehenkel (2018). PhD thesis, University of Liège. A. Sutera
    (2019). PhD thesis, University of Liège, section 4.4.3.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(200, random_state=0).fit(data.X, data.y)
    >>> result = dm.significance.trees_needed(forest, k=1)
    >>> result.trees
    9.0
    """
    name = "trees_needed"
    grown = forest_of(forest, name, survival=True)
    p = grown.n_features
    k = max(1, min(10, p // 2)) if k is None else k
    k = checks.check_integer(name, "k", k, 1, most=max(1, p - 1))
    _check(grown, X, y, measure, agreement, risk)
    seed = grown.seed if random_state is None else checks.draw_seed(random_state)
    values, size = _values_of_parts(grown, X, y, measure)
    groups, curve = agreement_curve(values, k, np.random.default_rng(seed))
    sizes = groups * size
    line = fitted_line(sizes, curve, grown.n_trees, k)
    needed, extrapolated = trees_for(agreement, sizes, curve, line, grown.n_trees)
    return TreesNeeded(
        n_trees=grown.n_trees,
        measure=measure if isinstance(measure, str) else getattr(measure, "__name__", "measure"),
        k=k,
        wanted=float(agreement),
        sizes=sizes,
        agreement=curve,
        expected_agreement=agreement_on_line(line, grown.n_trees),
        trees_to_rank=needed,
        extrapolated=extrapolated,
        **coverage_of(grown, risk),
    )


def _check(forest: Forest, X: Any, y: Any, measure: MeasureLike, agreement: Any, risk: Any) -> None:
    name = "trees_needed"
    if (X is None) != (y is None) and not isinstance(X, LearningSet):
        raise ValueError(f"{name}: X and y must be given together, got only one of them.")
    if X is None and not callable(measure) and measure_of(measure, name, refits=False).rows:
        raise ValueError(f"{name}: measure={measure!r} needs the training rows, X and y.")
    for what, fraction in (("agreement", agreement), ("risk", risk)):
        checks.check_real(name, what, fraction, 0, 1, ends="()")
    if forest.n_trees < _LEAST_TREES:
        raise ValueError(
            f"{name}: the forest must have {_LEAST_TREES} trees or more to be split into smaller "
            f"ones, got {forest.n_trees}."
        )


def _values_of_parts(
    forest: Forest, X: Any, y: Any, measure: MeasureLike
) -> tuple[FloatArray, int]:
    """Return the importances in parts of the forest, (G, p), and the trees of each part."""
    own = measure if callable(measure) else None
    data = None
    if own:
        if isinstance(X, LearningSet):
            X, y = X.table, X.y
    elif isinstance(X, LearningSet) and X.fingerprint == forest.fingerprint:
        data = X  # as it is: a store stays on disk
    elif X is not None:
        data = training_set(forest, X, y, "trees_needed")
    record = measure_of(measure, "trees_needed", refits=False)
    compute = record.of_parts or record
    size = -(-forest.n_trees // _PARTS)
    count = forest.n_trees // size
    values = np.empty((count, forest.n_features))
    for g in range(count):
        trees = forest.part(g * size, (g + 1) * size)
        result: Any = own(trees, X, y) if own else compute(Inputs(trees, cast("Data", data)))
        values[g] = result.values if isinstance(result, Importances) else result
    return values, size


def coverage_of(forest: Forest, risk: float) -> dict[str, Any]:
    """Return what `TreesNeeded` says about features seen, by the names of its fields."""
    p, K, q = forest.n_features, forest.settings.max_features, forest.settings.column_samples
    splits = np.bincount(
        np.searchsorted(forest.offsets, np.flatnonzero(forest.feature >= 0), side="right") - 1,
        minlength=forest.n_trees,
    )
    mean = float(splits.mean())
    if q == 0:
        needed = draws_needed(p, K, risk) / mean if mean else math.inf
        seen = all_seen_probability(p, K, int(splits.sum()))
    else:
        needed, seen = _on_subspaces(p, K, q, splits, risk)
    return {
        "n_features": p,
        "drawn": K,
        "splits_per_tree": mean,
        "risk": float(risk),
        "all_seen": seen,
        "trees_to_see": needed if math.isinf(needed) else float(math.ceil(needed)),
        "n_unused": p - len(np.unique(forest.feature[forest.feature >= 0])),
    }


def _on_subspaces(p: int, K: int, q: int, splits: IntArray, risk: float) -> tuple[float, float]:
    """Return trees needed, and a lower bound of the probability that all features were seen.

    A tree leaves a feature unseen that is outside its subspace of q features, or inside but among
    the K candidates of none of its m split nodes: 1 - q/p + q/p (1 - K/q)^m. The number of unseen
    features that is expected bounds the probability that there are any.
    """
    logs = np.log(1 - q / p + q / p * (1 - K / q) ** splits)
    if not logs.any():
        return math.inf, 0.0
    return math.log(p / risk) / -float(logs.mean()), max(0.0, 1 - p * math.exp(logs.sum()))


def _count(trees: float) -> str:
    if math.isinf(trees):
        return "no number of trees"
    return f"{trees:.0f} tree{'' if trees == 1 else 's'}"


# --- agreement of forests of few trees on the best features, measured within one of many ----------


# The measured curve is extended from its last part, 1/8 to 1/2 of the trees, to at most 4 times
# all of them.
REACH = 4
_LAST_PART = 1 / 8
# A line that falls less steeply leads nowhere.
_SLOPE = -0.05
# Forests of each size whose best features are compared.
_FORESTS = 64


def agreement_curve(
    values: FloatArray, k: int, random: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return numbers of parts, and the agreement between forests that consist of so many.

    `values` are the importances in G parts of a forest, of shape (G, p). The numbers are 1 .. G //
    2, in steps of about sqrt(2); the agreement is the mean over pairs of forests without a part in
    common of the fraction of their k best that they have in common.
    """
    total = len(values)
    steps = np.rint(total // 2 / math.sqrt(2.0) ** np.arange(2 * total.bit_length()))
    groups: IntArray = np.unique(steps[steps >= 1]).astype(np.int64)
    curve = np.empty(len(groups))
    for i, size in enumerate(groups.tolist()):
        count = total // size
        fractions = []
        for _ in range(1 if size == 1 else -(-_FORESTS // count)):
            drawn = random.permutation(total)[: count * size].reshape(count, size)
            best = chance_among_best(values[drawn].mean(axis=1), k)
            together = (best.sum(axis=0) ** 2).sum() - (best**2).sum()
            fractions.append(together / (count * (count - 1) * k))
        curve[i] = np.mean(fractions)
    return groups, curve


def fitted_line(
    sizes: IntArray, agreement: FloatArray, n_trees: int, k: int
) -> tuple[float, float]:
    """Return intercept and slope of log(1 - A) in log T over the last part of the curve."""
    last = sizes >= _LAST_PART * n_trees
    least = 0.01 / k  # of a disagreement: for k in common in all pairs that were seen
    y = np.log(np.maximum(1.0 - agreement[last], least))
    slope, intercept = np.polyfit(np.log(sizes[last]), y, 1)
    return float(intercept), float(slope)


def agreement_on_line(line: tuple[float, float], size: float) -> float:
    """Return A(T) on the line, at least 0."""
    intercept, slope = line
    return 1.0 - min(1.0, math.exp(intercept + slope * math.log(size)))


def trees_for(
    wanted: float,
    sizes: IntArray,
    agreement: FloatArray,
    line: tuple[float, float],
    n_trees: int,
) -> tuple[float, bool]:
    """Return the trees from which on the agreement is as wanted, and whether by extrapolation.

    Where the curve falls it is taken to be chance, and neighbors are pooled (weighted by how many
    forests of that size the trees make, until it rises); it is linear in log T between its points.
    """
    from scipy.optimize import isotonic_regression

    agreement = isotonic_regression(agreement, weights=1.0 / sizes).x
    short = np.flatnonzero(agreement < wanted)
    if not short.size:
        return float(sizes[0]), False
    i = int(short[-1])
    if i + 1 < len(sizes):
        fraction = (wanted - agreement[i]) / (agreement[i + 1] - agreement[i])
        return float(math.ceil(sizes[i] * (sizes[i + 1] / sizes[i]) ** fraction)), False
    intercept, slope = line
    if slope > _SLOPE:
        return math.inf, True
    exponent = (math.log(1.0 - wanted) - intercept) / slope
    if exponent > math.log(REACH * n_trees):
        return math.inf, True
    return float(max(math.ceil(math.exp(exponent)), int(sizes[-1]) + 1)), True


def chance_among_best(values: FloatArray, k: int) -> FloatArray:
    """Return the probability that each feature is among the k best, if lots decide between ties.

    It is 1 for what is above the k-th largest value and 0 for what is below; features equal to it
    divide the places that are left. The last axis sums to k.
    """
    place = values.shape[-1] - k
    last = np.partition(values, place, axis=-1)[..., place, np.newaxis]
    above, level = values > last, values == last
    left = k - above.sum(axis=-1, keepdims=True)
    chance: FloatArray = above + level * (left / level.sum(axis=-1, keepdims=True))
    return chance
