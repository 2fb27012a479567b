"""Agreement of selections and rankings: of resampled rows, and of forests of few trees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data import LearningSet
from duramen.importances import Inputs
from duramen.importances.arguments import forest_of, training_set
from duramen.jobs.replicates import replicate_seed
from duramen.results.importances import Importances
from duramen.results.result import (
    ANY,
    PROBABILITY,
    FeatureResult,
    Result,
    checked_names,
    ranks,
)
from duramen.results.summary import Column, Summary, features, hidden
from duramen.significance.measured import Data, MeasureLike, Refits, measure_of
from duramen.significance.resampling import (
    SamplingUnits,
    resampling_task,
    subsample_size,
    subsamples,
)
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState, TableLike

# Selections below which intervals covered less often in simulations
# (docs/explanation/tests/stability.md), also those of a stability above `_STABLE`.
_FEW, _STABLE, _FEW_STABLE = 10, 0.75, 20


@dataclass(frozen=True, eq=False, repr=False)
class Stability(FeatureResult[float]):
    """Agreement of selections of features, corrected for chance.

    1 where all selections are the same, 0 on average where each is drawn at random. NaN where it
    is not defined: the selections hold nothing, or every feature, so that chance would do as well.

    Attributes
    ----------
    names : tuple of str
        Names of the p features.
    frequency : float64 array of shape (p,)
        Fraction of the selections that hold a feature.
    n_selections : int
        Number M of selections.
    kuncheva : float
        Mean over pairs of selections of Kuncheva's index; NaN also where their sizes differ.
    nogueira : float
        Stability after Nogueira et al.; the same where sizes are equal.
    variance : float
        Variance of `nogueira` by the estimate of Nogueira et al.
    low, high : float
        Interval for the stability that infinitely many selections would have; NaN for two
        selections, and where a single one decides whether the stability is defined.
    confidence_level : float
        Probability with which it is to cover.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data, where they are known.
    notes : tuple of str
        What limits the interval, a sentence each.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.significance.stability([[1, 1, 0], [1, 0, 1], [1, 1, 0]])
    >>> result.mean_size, result.order().tolist()
    (2.0, [0, 1, 2])
    """

    names: tuple[str, ...]
    frequency: FloatArray
    n_selections: int
    kuncheva: float
    nogueira: float
    variance: float
    low: float
    high: float
    confidence_level: float
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    _ARRAYS: ClassVar = {"frequency": ("p", PROBABILITY)}

    @property
    def mean_size(self) -> float:
        """Mean number of features of a selection."""
        return float(np.rint(self.frequency * self.n_selections).sum() / self.n_selections)

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by decreasing frequency; ties keep column order."""
        return np.argsort(-self.frequency, kind="stable")

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name; rank 1 is the feature selected most often."""
        return {
            "name": list(self.names),
            "rank": ranks(self.order()),
            "frequency": self.frequency.copy(),
        }

    def _summary(self, rows: int) -> Summary:
        words = f"{self.nogueira:.3f}"
        if math.isnan(self.nogueira):
            words = "not defined"
        elif math.isnan(self.low):
            words += " (no interval)"
        else:
            words += f" ({self.confidence_level:.0%} interval {self.low:.3f} to {self.high:.3f})"
        heading = (
            f"Stability of {self.n_selections} selections of {self.mean_size:.4g} of "
            f"{len(self)} features on average: {words}"
        )
        best = self.order()[:rows]
        best = best[self.frequency[best] > 0]
        frequency = self.frequency[best]
        selected = Column("selected", [f"{fraction:.2f}" for fraction in frequency], bars=frequency)
        below = hidden(int(np.count_nonzero(self.frequency)), len(best))
        columns = [*features(self.names, best), selected]
        return Summary((heading,), columns, below, self.notes)


def stability(
    selections: ArrayLike, *, names: Sequence[str] | None = None, confidence_level: float = 0.95
) -> Stability:
    r"""Measure the agreement of selections of features, corrected for chance.

    With r features common to two selections of k out of p, Kuncheva's index is

    .. math:: \frac{r p - k^2}{k (p - k)},

    and `kuncheva` its mean over all pairs (Kuncheva 2007). For M selections of any sizes, with
    :math:`\hat p_f` the fraction that holds feature f and :math:`\bar k` the mean size,

    .. math:: \hat\Phi = 1 - \frac{\frac1p \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
        {\frac{\bar k}{p} \left(1 - \frac{\bar k}{p}\right)}, \qquad
        v = \frac4{M^2} \sum_{i=1}^M (\hat\Phi_i - \bar\Phi)^2

    (Nogueira et al. 2018, with the :math:`\hat\Phi_i` of their section 4). Their interval,
    :math:`\hat\Phi \mp z \sqrt v`, covers too rarely for few selections. The one here has the
    variance of the jackknife and the quantile of the t distribution with M - 1 degrees of freedom,

    .. math:: \hat\Phi \mp t_{M-1} \sqrt{\frac{M-1}{M} \sum_{i=1}^M
        (\hat\Phi_{(i)} - \bar\Phi_{(\cdot)})^2},

    with :math:`\hat\Phi_{(i)}` the stability of the selections but the i-th, cut at 0 and 1,
    between which the stability of infinitely many selections lies.

    Parameters
    ----------
    selections : array-like of shape (M, p), M >= 2
        One row a selection, one column a feature: True or 1 where it was selected.
    names : sequence of str, optional
        Names of the features, by default x0, x1, ...
    confidence_level : float
        Probability with which the interval is to cover.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If `selections` is no such table, there are fewer than two, or `confidence_level` is not in
        (0, 1).

    Notes
    -----
    The interval holds for many selections that are independent given what they were drawn from:
    resamples of one learning set, read as draws from it. It says how well the stability under this
    resampling is known, not how stable the selection would be on other learning sets; resamples
    share rows and agree more than independent samples do. Where all selections agree the interval
    has no width. The result carries a note where it covers less often than its level in
    simulations.

    References
    ----------
    L. I. Kuncheva (2007). A stability index for feature selection. Artificial Intelligence and
    Applications. S. Nogueira, K. Sechidis, G. Brown (2018). On the stability of feature selection
    algorithms. Journal of Machine Learning Research 18(174).

    Examples
    --------
    >>> from duramen.significance.agreement import stability
    >>> result = stability([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]])
    >>> round(result.nogueira, 6), round(result.variance, 6)
    (0.333333, 0.032922)
    """
    name = "stability"
    checks.check_real(name, "confidence_level", confidence_level, 0, 1, ends="()")
    matrix = np.asarray(selections)
    numeric = matrix.ndim == 2 and matrix.dtype.kind in "biuf"
    if not numeric or not np.isin(matrix, (0, 1)).all() or len(matrix) < 2 or not matrix.size:
        raise ValueError(
            f"{name}: selections must be a table of 0 and 1 with one row per selection, two or "
            f"more, and one column per feature, got shape {matrix.shape} and type {matrix.dtype}. "
            "Hint: [[name in chosen for name in names] for chosen in selections]."
        )
    selected = matrix.astype(np.bool_)
    m, p = selected.shape
    labels = checked_names(name, "names", [f"x{j}" for j in range(p)] if names is None else names)
    if len(labels) != p:
        raise ValueError(f"{name}: names must be {p}, one per column, got {len(labels)}.")
    fraction, sizes, times = selected.mean(axis=0), selected.sum(axis=1), selected.sum(axis=0)
    kuncheva = phi = variance = low = high = math.nan
    k = int(sizes[0])
    if k not in (0, p) and (sizes == k).all():
        common = float((times * (times - 1)).sum()) / (m * (m - 1))
        kuncheva = float((common * p - k**2) / (k * (p - k)))
    mean = float(fraction.mean())
    by_chance = mean * (1 - mean)
    if by_chance > 0:
        phi = 1 - m / (m - 1) * float((fraction * (1 - fraction)).mean()) / by_chance
        size = sizes / p
        each = (
            (selected * fraction).mean(axis=1)
            - size * mean
            + phi / 2 * (2 * mean * size - size - mean + 1)
        ) / by_chance
        variance = 4 / m**2 * float(((each - each.mean()) ** 2).sum())

    # The interval, from the stability without each selection.
    others = (times - selected) / max(m - 1, 1)
    of_others = others.mean(axis=1) * (1 - others.mean(axis=1))
    notes: tuple[str, ...] = ()
    if math.isnan(phi):
        pass
    elif m < 3 or of_others.min() <= 0:
        notes = ("the interval needs three selections that hold some of the features, but not all",)
    else:
        from scipy.special import stdtrit

        without = 1 - (m - 1) / (m - 2) * (others * (1 - others)).mean(axis=1) / of_others
        reach = float(stdtrit(m - 1, (1 + confidence_level) / 2))
        reach *= math.sqrt((m - 1) * float(without.var()))
        low, high = min(phi, max(0.0, phi - reach)), min(1.0, phi + reach)
        if low == high:
            notes = (f"the interval has no width: all {m} selections are equally stable",)
        elif m < _FEW or (phi > _STABLE and m < _FEW_STABLE):
            notes = (
                f"{m} selections are few: in simulations, 95 % intervals covered the stability "
                "with a probability of .16 to 1 with 5 selections and .62 to 1 with 10, least "
                f"where nearly all selections agree. Hint: {_FEW_STABLE} selections or more",
            )
    return Stability(
        names=labels,
        frequency=fraction,
        n_selections=m,
        kuncheva=kuncheva,
        nogueira=phi,
        variance=variance,
        low=low,
        high=high,
        confidence_level=float(confidence_level),
        notes=notes,
    )


def ranking_stability(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    k: int,
    measure: MeasureLike = "mdi",
    n_resamples: int = 50,
    subsample: int | float = 0.5,
    confidence_level: float = 0.95,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Stability:
    """Measure the agreement of the k best features between forests on random parts of the rows.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    k : int
        Number of best features, less than p; lots decide between equal ones. A checkpoint serves
        any k.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances.
    n_resamples : int
        Number M of parts, and of forests.
    subsample : int or float
        Rows of a part, drawn without replacement, within classes if there are any; or their
        fraction. Two halves have half of their rows in common on average, parts of 90 % have 90 %:
        the larger the parts, the more stable a ranking looks.
    confidence_level : float
        Probability with which the interval of the stability is to cover.
    groups : array-like of shape (n,), optional
        Label of the group of each row, such as the person or family. Parts are of whole groups,
        and `subsample` counts groups.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that keeps finished work: an interrupted run resumes from it, to the same bytes.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    Stability
        Of the k best features in the M forests, with the fraction of forests that have each feature
        among their k best. A fraction is no probability of being relevant.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.

    See Also
    --------
    stability : The indices, for any selections.
    trees_needed : Whether forests on the same rows agree; too few trees make rankings unstable on
        any rows.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.ranking_stability(
    ...     forest, data.X, data.y, k=2, n_resamples=10, random_state=0)
    >>> float(result.frequency[0])
    0.9
    """
    name = "ranking_stability"
    n = checks.check_integer(name, "n_resamples", n_resamples, 2)
    checks.check_real(name, "confidence_level", confidence_level, 0, 1, ends="()")
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.of(name, estimator, X, y, measure, execution, groups=groups, takes_strata=False)
    subject = refits.subject
    p = len(subject.names)
    if not checks.is_integer(k) or not 1 <= k < p:
        raise ValueError(f"{name}: k must be an int in 1..{p - 1}, less than p, got {k!r}.")
    units = SamplingUnits.of(subject.data)
    size = subsample_size(subsample, units.count, units.n_classes, name, units=units.name)
    task = resampling_task(subject, units.rows(subsamples(units.labels, units.count, size)))
    scores = refits.run(task, n, p, subject.identity("subsamples", n_rows=size))
    lots = [np.random.default_rng([replicate_seed(refits.seed, b), k]) for b in range(n)]
    best = np.stack([drawn_best(row, k, lot) for row, lot in zip(scores, lots, strict=True)])
    metadata = refits.metadata(k=int(k), n_resamples=n, subsample=size)
    agreed = stability(best, names=subject.names, confidence_level=confidence_level)
    return replace(agreed, metadata=metadata)


def drawn_best(values: FloatArray, k: int, random: np.random.Generator) -> NDArray[np.bool_]:
    """Mark the k best features, with random choice between ties; of shape (p,)."""
    lots = random.random(len(values))
    best = np.zeros(len(values), dtype=np.bool_)
    best[np.lexsort((lots, -values))[:k]] = True
    return best


# --- number of trees for a ranking that repeats itself --------------------------------------------

# Largest number of parts of a forest, which are combined to forests of fewer trees.
_PARTS = 64
_LEAST_TREES = 16
# The measured curve is extended from its last part, 1/8 to 1/2 of the trees, to at most 4 times
# all of them.
REACH = 4
_LAST_PART = 1 / 8
# A line that falls less steeply leads nowhere.
_SLOPE = -0.05
# Forests of each size whose best features are compared.
_FORESTS = 64


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
        Trees from which on `agreement` is as `wanted`, extrapolated beyond T/2; infinity where it
        is not reached with 4 T.
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
    n_features: int
    drawn: int
    splits_per_tree: float
    risk: float
    all_seen: float
    trees_to_see: float
    n_unused: int

    _ARRAYS: ClassVar = {"sizes": ("S", ANY, np.int64), "agreement": ("S", ANY)}

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
        needed = [
            "no number of trees" if math.isinf(trees) else f"{trees:.0f} trees"
            for trees in (self.trees_to_rank, self.trees_to_see)
        ]
        heading = (
            f"TreesNeeded: {self.measure} of {self.n_features} features, asked of {self.n_trees} "
            "trees",
            f"for {self.wanted:.0%} of the {self.k} best features in common with another forest: "
            f"{needed[0]} ({self.expected_agreement:.0%} expected of {self.n_trees})",
            f"to see every feature, with a risk of {self.risk:g}: {needed[1]}",
        )
        curve = Column("in common", [f"{a:.2f}" for a in self.agreement], bars=self.agreement)
        return Summary(heading, [Column("trees", list(map(str, self.sizes))), curve])


def trees_needed(
    forest: Any,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "mdi",
    k: int | None = None,
    agreement: float = 0.9,
    risk: float = 0.05,
    random_state: RandomState = None,
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
        A forest of this package or of scikit-learn, of at least 16 trees; the more trees, the more
        it can tell.
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
        If `forest` is no such forest.
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
    grown = forest_of(forest, name, X, survival=True)
    p, T = grown.n_features, grown.n_trees
    k = max(1, min(10, p // 2)) if k is None else k
    k = checks.check_integer(name, "k", k, 1, most=max(1, p - 1))
    data = X if isinstance(X, LearningSet) else None
    if (X is None) != (y is None) and data is None:
        raise ValueError(f"{name}: X and y must be given together, got only one of them.")
    record = measure_of(measure, name, refits=False)
    if X is None and not callable(measure) and record.rows:
        raise ValueError(f"{name}: measure={measure!r} needs the training rows, X and y.")
    for what, fraction in (("agreement", agreement), ("risk", risk)):
        checks.check_real(name, what, fraction, 0, 1, ends="()")
    if T < _LEAST_TREES:
        raise ValueError(
            f"{name}: the forest must have {_LEAST_TREES} trees or more to be split into smaller "
            f"ones, got {T}."
        )
    seed = grown.seed if random_state is None else checks.draw_seed(random_state)

    # Importances in parts of the forest, and the agreement of forests that consist of some parts.
    table: tuple[Any, Any] = (X, y)
    if callable(measure):
        table = table if data is None else (data.table, data.y)
    elif X is not None and (data is None or data.fingerprint != grown.fingerprint):
        data = training_set(grown, X, y, name)  # a store stays on disk otherwise
    of_part, size = record.of_parts or record, -(-T // _PARTS)
    values = np.empty((T // size, p))
    for g in range(len(values)):
        part = grown.part(g * size, (g + 1) * size)
        importances: Any = (
            measure(part, *table)
            if callable(measure)
            else of_part(Inputs(part, cast("Data", data)))
        )
        values[g] = importances.values if isinstance(importances, Importances) else importances
    groups, curve = agreement_curve(values, k, np.random.default_rng(seed))
    sizes = groups * size
    needed, expected_agreement = trees_for(agreement, sizes, curve, T, k)

    # Splits until every feature was a candidate of one.
    K, q = grown.settings.max_features, grown.settings.column_samples
    on_feature = np.flatnonzero(grown.feature >= 0)
    tree = np.searchsorted(grown.offsets, on_feature, side="right") - 1
    splits = np.bincount(tree, minlength=T)
    mean, seen, to_see = float(splits.mean()), 0.0, math.inf
    if q == 0:
        from duramen.theory.subspaces.convergence import all_seen_probability, draws_needed

        to_see = draws_needed(p, K, risk) / mean if mean else math.inf
        seen = all_seen_probability(p, K, int(splits.sum()))
    else:
        # A tree leaves a feature unseen that is outside its subspace of q features, or inside but
        # among the K candidates of none of its split nodes. The number of unseen features that is
        # expected bounds the probability that there are any.
        logs = np.log(1 - q / p + q / p * (1 - K / q) ** splits)
        if logs.any():
            to_see = math.log(p / risk) / -float(logs.mean())
            seen = max(0.0, 1 - p * math.exp(logs.sum()))
    return TreesNeeded(
        n_trees=T,
        measure=measure if isinstance(measure, str) else getattr(measure, "__name__", "measure"),
        k=k,
        wanted=float(agreement),
        sizes=sizes,
        agreement=curve,
        expected_agreement=expected_agreement,
        trees_to_rank=needed,
        n_features=p,
        drawn=K,
        splits_per_tree=mean,
        risk=float(risk),
        all_seen=seen,
        trees_to_see=to_see if math.isinf(to_see) else float(math.ceil(to_see)),
        n_unused=p - len(np.unique(grown.feature[on_feature])),
    )


def agreement_curve(
    values: FloatArray, k: int, random: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return numbers of parts, and the agreement between forests of each number of parts.

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


def trees_for(
    wanted: float, sizes: IntArray, agreement: FloatArray, n_trees: int, k: int
) -> tuple[float, float]:
    """Return the number of trees with the wanted agreement, and the agreement of `n_trees`.

    Where the curve falls it is taken to be chance, and neighbors are pooled (weighted by how many
    forests of that size the trees make, until it rises); it is linear in log T between its points.
    Beyond them it follows a line of log(1 - A) in log T, fitted to its last part.
    """
    from scipy.optimize import isotonic_regression

    last = sizes >= _LAST_PART * n_trees
    least = 0.01 / k  # of a disagreement: for k in common in all pairs that were seen
    y = np.log(np.maximum(1.0 - agreement[last], least))
    slope, intercept = (float(number) for number in np.polyfit(np.log(sizes[last]), y, 1))
    on_line = 1.0 - min(1.0, math.exp(intercept + slope * math.log(n_trees)))
    agreement = isotonic_regression(agreement, weights=1.0 / sizes).x
    short = np.flatnonzero(agreement < wanted)
    if not short.size:
        return float(sizes[0]), on_line
    i = int(short[-1])
    if i + 1 < len(sizes):
        fraction = (wanted - agreement[i]) / (agreement[i + 1] - agreement[i])
        return float(math.ceil(sizes[i] * (sizes[i + 1] / sizes[i]) ** fraction)), on_line
    exponent = math.inf if slope > _SLOPE else (math.log(1.0 - wanted) - intercept) / slope
    if exponent > math.log(REACH * n_trees):
        return math.inf, on_line
    return float(max(math.ceil(math.exp(exponent)), int(sizes[-1]) + 1)), on_line


def chance_among_best(values: FloatArray, k: int) -> FloatArray:
    """Return the probability that each feature is among the k best, if lots decide between ties.

    It is 1 for what is above the k-th largest value and 0 for what is below; features equal to it
    divide the places that are left. The last axis sums to k.
    """
    place = values.shape[-1] - k
    last = np.partition(values, place, axis=-1)[..., place, np.newaxis]
    above, level = values > last, values == last
    left = k - above.sum(axis=-1, keepdims=True)
    return np.asarray(above + level * (left / level.sum(axis=-1, keepdims=True)))
