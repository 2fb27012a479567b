"""Stability of selected features under resampling of the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.jobs.replicates import ExecutionParameters, replicate_seed
from duramen.results.columns import Column, features, hidden
from duramen.results.fields import PROBABILITY, checked_names, ranks
from duramen.results.result import FeatureResult
from duramen.results.summary import Summary
from duramen.significance.measured import MeasureLike
from duramen.significance.refits import Refits
from duramen.significance.resampling import (
    SamplingUnits,
    resampling_task,
    subsample_size,
    subsamples,
)
from duramen.support import checks
from duramen.support.arrays import FloatArray

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

    _NUMBERS: ClassVar = {"frequency": PROBABILITY}

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
        heading = (
            f"Stability of {self.n_selections} selections of {self.mean_size:.4g} of "
            f"{len(self)} features on average: {self._said()}"
        )
        best = self.order()[:rows]
        best = best[self.frequency[best] > 0]
        frequency = self.frequency[best]
        selected = Column("selected", [f"{fraction:.2f}" for fraction in frequency], bars=frequency)
        below = hidden(int(np.count_nonzero(self.frequency)), len(best))
        columns = [*features(self.names, best), selected]
        return Summary((heading,), columns, below, self.notes)

    def _said(self) -> str:
        if math.isnan(self.nogueira):
            return "not defined"
        if math.isnan(self.low):
            return f"{self.nogueira:.3f} (no interval)"
        interval = f"{self.confidence_level:.0%} interval {self.low:.3f} to {self.high:.3f}"
        return f"{self.nogueira:.3f} ({interval})"


def stability(
    selections: ArrayLike, *, names: Sequence[str] | None = None, confidence_level: float = 0.95
) -> Stability:
    r"""Measure how far selections of features agree, corrected for chance.

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
    share rows and agree more than independent samples do. Where all
    selections agree the interval has no width. The result carries a note where it covers less often
    than its level in simulations (docs/explanation/tests/stability.md).

    References
    ----------
    L. I. Kuncheva (2007). A stability index for feature selection. Artificial Intelligence and
    Applications. S. Nogueira, K. Sechidis, G. Brown (2018). On the stability of feature selection
    algorithms. Journal of Machine Learning Research 18(174).

    Examples
    --------
    >>> from duramen.significance.reproducibility.stability import stability
    >>> result = stability([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]])
    >>> round(result.nogueira, 6), round(result.variance, 6)
    (0.333333, 0.032922)
    """
    chosen = _checked_selections(selections)
    checks.check_real("stability", "confidence_level", confidence_level, 0, 1, ends="()")
    p = chosen.shape[1]
    feature_names = [f"x{j}" for j in range(p)] if names is None else names
    labels = checked_names("stability", "names", feature_names)
    if len(labels) != p:
        raise ValueError(f"stability: names must be {p}, one per column, got {len(labels)}.")
    return _stability(chosen, labels, confidence_level, {})


def ranking_stability(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    k: int,
    measure: MeasureLike = "mdi",
    n_resamples: int = 50,
    subsample: int | float = 0.5,
    confidence_level: float = 0.95,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Stability:
    """Measure how far the k best features agree between forests on random parts of the rows.

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
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.checked(
        name, estimator, X, y, measure, execution, groups=groups, takes_strata=False
    )
    subject = refits.subject
    p = len(subject.names)
    if not checks.is_integer(k) or not 1 <= k < p:
        raise ValueError(f"{name}: k must be an int in 1..{p - 1}, less than p, got {k!r}.")
    units = SamplingUnits.of(subject.data)
    size = subsample_size(subsample, units.count, units.n_classes, name, units=units.name)
    task = resampling_task(subject, units.rows(subsamples(units.labels, units.count, size)))
    scores = refits.run(task, n, p, subject.identity("subsamples", n_rows=size))
    lots = [np.random.default_rng([replicate_seed(refits.seed, b), k]) for b in range(n)]
    chosen = np.stack([drawn_best(row, k, lot) for row, lot in zip(scores, lots, strict=True)])
    metadata = refits.metadata(k=int(k), n_resamples=n, subsample=size)
    return _stability(chosen, subject.names, confidence_level, metadata)


def _checked_selections(selections: ArrayLike) -> NDArray[np.bool_]:
    matrix = np.asarray(selections)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf" or not np.isin(matrix, (0, 1)).all():
        raise ValueError(
            "stability: selections must be a table of 0 and 1 with one row per selection and one "
            f"column per feature, got shape {matrix.shape} and type {matrix.dtype}. Hint: [[name "
            "in chosen for name in names] for chosen in selections]."
        )
    if len(matrix) < 2 or not matrix.shape[1]:
        raise ValueError(
            "stability: selections must be two or more, of one feature or more, got shape "
            f"{matrix.shape}."
        )
    return matrix.astype(np.bool_)


def _stability(
    chosen: NDArray[np.bool_],
    names: tuple[str, ...],
    confidence_level: float,
    metadata: Mapping[str, Any],
) -> Stability:
    frequency = chosen.mean(axis=0)
    phi, variance = nogueira_index(chosen)
    low, high = jackknife_interval(chosen, phi, confidence_level)
    return Stability(
        names=names,
        frequency=frequency,
        n_selections=len(chosen),
        kuncheva=kuncheva_index(chosen),
        nogueira=phi,
        variance=variance,
        low=low,
        high=high,
        confidence_level=float(confidence_level),
        metadata=metadata,
        notes=_limits(len(chosen), phi, low, high),
    )


def _limits(count: int, phi: float, low: float, high: float) -> tuple[str, ...]:
    """Return what is known of intervals that cover less often than they promise."""
    if math.isnan(phi):
        return ()
    if math.isnan(low):
        return ("the interval needs three selections that hold some of the features, but not all",)
    if low == high:
        return (
            f"all {count} selections are as stable without any one of them, so that the interval "
            "has no width; that of infinitely many selections may differ",
        )
    if count < _FEW or (phi > _STABLE and count < _FEW_STABLE):
        return (
            f"{count} selections are few: in simulations, 95 % intervals covered the stability "
            "with a probability of .16 to 1 with 5 selections and .62 to 1 with 10, least where "
            f"nearly all selections agree. Hint: {_FEW_STABLE} selections or more",
        )
    return ()


def jackknife_interval(
    chosen: NDArray[np.bool_], phi: float, confidence_level: float
) -> tuple[float, float]:
    """Return an interval for the stability of the rows; NaN where one cannot be left out."""
    m = len(chosen)
    if m < 3 or math.isnan(phi):
        return math.nan, math.nan
    fraction = (chosen.sum(axis=0) - chosen) / (m - 1)
    by_chance = fraction.mean(axis=1) * (1 - fraction.mean(axis=1))
    if by_chance.min() <= 0:
        return math.nan, math.nan
    without = 1 - (m - 1) / (m - 2) * (fraction * (1 - fraction)).mean(axis=1) / by_chance
    from scipy import stats

    variance = (m - 1) * float(without.var())
    reach = float(stats.t.ppf((1 + confidence_level) / 2, m - 1)) * math.sqrt(variance)
    return min(phi, max(0.0, phi - reach)), min(1.0, phi + reach)


def kuncheva_index(chosen: NDArray[np.bool_]) -> float:
    """Return the mean of Kuncheva's index over pairs of the rows; NaN where it is not defined."""
    m, p = chosen.shape
    sizes = chosen.sum(axis=1)
    k = int(sizes[0])
    if k in (0, p) or (sizes != k).any():
        return math.nan
    times = chosen.sum(axis=0)
    common = float((times * (times - 1)).sum()) / (m * (m - 1))
    return float((common * p - k**2) / (k * (p - k)))


def nogueira_index(chosen: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the stability of the rows after Nogueira et al., and its variance; NaN likewise."""
    m, p = chosen.shape
    fraction = chosen.mean(axis=0)
    size, mean = chosen.sum(axis=1) / p, float(fraction.mean())
    by_chance = mean * (1 - mean)
    if by_chance <= 0:
        return math.nan, math.nan
    phi = 1 - m / (m - 1) * float((fraction * (1 - fraction)).mean()) / by_chance
    each = (
        (chosen * fraction).mean(axis=1)
        - size * mean
        + phi / 2 * (2 * mean * size - size - mean + 1)
    ) / by_chance
    return phi, 4 / m**2 * float(((each - each.mean()) ** 2).sum())


def drawn_best(values: FloatArray, k: int, random: np.random.Generator) -> NDArray[np.bool_]:
    """Return which features are the k best, lots being drawn between ties; of shape (p,)."""
    lots = random.random(len(values))
    chosen = np.zeros(len(values), dtype=np.bool_)
    chosen[np.lexsort((lots, -values))[:k]] = True
    return chosen
