"""Resampled rows, and standard errors and confidence intervals of importances from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.importances import Inputs
from duramen.importances.refit import seeded
from duramen.jobs.replicates import Task
from duramen.results.importances import Importances
from duramen.results.significance import Intervals
from duramen.significance.measured import Data, Measured, MeasureLike, Refits, measure_of
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState, TableLike

Draw = Callable[[np.random.Generator], IntArray]

# Up to so many rows a subsample is a fixed fraction of them; of more, that times sqrt(1000/n).
_MANY_ROWS = 1000


def shrinking_size(n_rows: int, fraction: float) -> int:
    """Return a fraction of n rows, and from n = 1000 on the fraction times sqrt(1000/n)."""
    return max(2, round(n_rows * fraction * min(1.0, math.sqrt(_MANY_ROWS / n_rows))))


def subsample_size(
    subsample: Any,
    n_rows: int,
    n_classes: int,
    function: str,
    default: int | None = None,
    units: str = "rows",
) -> int:
    """Return the rows m of a subsample that is asked for as a number or a fraction of n rows.

    None stands for `default`, or, without one, n/e, from n = 1000 on n/e sqrt(1000/n). Of each
    class a row is drawn at least; there are 0 in regression. `units` names what is drawn.
    """
    least = max(2, n_classes)
    if default is None:
        default = max(least, shrinking_size(n_rows, 1 / math.e))
    asked, size = default if subsample is None else subsample, 0
    if checks.is_integer(asked):
        size = int(asked)
    elif checks.is_real(asked) and 0 < asked < 1:
        size = round(float(asked) * n_rows)
    if not least <= size < n_rows:
        raise ValueError(
            f"{function}: subsample must leave some of the {n_rows} {units} out and keep {least} "
            f"at least: an int in {least}..{n_rows - 1} or a fraction, got {asked!r}."
        )
    return size


def subsamples(labels: NDArray[Any] | None, n_rows: int, size: int) -> Draw:
    """Return a function that draws `size` different rows, in ascending order.

    Classes, if given, are drawn from in proportion, with one row of each at least.
    """
    members = [np.arange(n_rows)] if labels is None else rows_by_class(labels)
    sizes = np.array([len(rows) for rows in members])
    quota = size * sizes / sizes.sum()
    counts = np.maximum(np.floor(quota), 1).astype(np.int64)
    while (missing := size - int(counts.sum())) != 0:
        step = 1 if missing > 0 else -1
        room = counts < sizes if step > 0 else counts > 1
        counts[np.argmax(np.where(room, step * (quota - counts), -np.inf))] += step

    def draw(random: np.random.Generator) -> IntArray:
        pairs = zip(members, counts.tolist(), strict=True)
        return np.sort(np.concatenate([random.permutation(rows)[:count] for rows, count in pairs]))

    return draw


def bootstraps(labels: NDArray[Any] | None, n_rows: int) -> Draw:
    """Return a function that draws bootstrap samples of rows, within classes if given."""
    members = [np.arange(n_rows)] if labels is None else rows_by_class(labels)

    def draw(random: np.random.Generator) -> IntArray:
        drawn = [rows[random.integers(len(rows), size=len(rows))] for rows in members]
        return np.sort(np.concatenate(drawn))

    return draw


def resampling_task(subject: Measured, draw: Draw, *, noise: bool = False) -> Task:
    """Return the task of a replicate: draw rows, grow a forest on them, measure it there.

    With `noise` the p values are followed by their `tree_variance`.
    """

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        drawn = subject.of_rows(draw(random), key=seed_b)
        drawn_importances = drawn.importances(int(random.integers(2**32)))
        if not noise:
            return drawn_importances.values
        return np.concatenate([drawn_importances.values, tree_variance(subject, drawn_importances)])

    return task


def tree_variance(subject: Measured, importances: Importances) -> FloatArray:
    """Return the variance of importances over forests on fixed rows, from the spread of trees.

    Zeros where the standard error of a measure is not known to be that over trees.
    """
    error = importances.standard_error
    if error is None or subject.measure.spread != "trees":
        return np.zeros(len(importances))
    return np.square(error)


def rows_by_class(labels: NDArray[Any]) -> list[IntArray]:
    """Return the rows of every class, ascending."""
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    grouped: IntArray = np.argsort(codes, kind="stable")
    return np.split(grouped, np.cumsum(sizes)[:-1])


# --- units that resampling draws: single rows, or whole groups of rows ----------------------------


@dataclass(frozen=True, eq=False)
class SamplingUnits:
    """Rows of a table, or its groups where it has some."""

    count: int  # number N of units
    # (N,): Class of each unit, for draws within classes; groups with rows of several classes
    # are one class more. None in regression.
    labels: NDArray[Any] | None
    members: list[IntArray] | None = None  # rows of each group; None where each row is a unit

    @classmethod
    def of(cls, data: Data) -> SamplingUnits:
        """Return the units of a learning set."""
        groups = data.exchangeability.groups
        labels = data.target.codes
        if groups is None:
            return cls(data.n_rows, labels)
        members = rows_by_class(groups)
        if labels is None:
            return cls(len(members), None, members)
        several = data.target.n_classes
        of_groups = np.array(
            [c[0] if (c[0] == c).all() else several for c in (labels[rows] for rows in members)]
        )
        return cls(len(members), of_groups, members)

    @property
    def name(self) -> str:
        """Name of the units, in the plural."""
        return "rows" if self.members is None else "groups"

    @property
    def n_classes(self) -> int:
        """Number of classes of the units; 0 in regression."""
        return 0 if self.labels is None else len(np.unique(self.labels))

    def rows(self, draw: Draw) -> Draw:
        """Return a function that draws the rows of the units that `draw` draws, ascending."""
        members = self.members
        if members is None:
            return draw

        def drawn(random: np.random.Generator) -> IntArray:
            return np.sort(np.concatenate([members[unit] for unit in draw(random)]))

        return drawn


# --- confidence intervals -------------------------------------------------------------------------

METHODS = ("subsampling", "delete-d", "double-bootstrap")
KINDS = ("wilson", "normal", "percentile")

# Of the rows, in a subsample; smaller ones tell too small standard errors of strong features.
FRACTION = 0.75

# Of a target.
_UNCERTAIN = 0.3  # relative standard error of the variance of a target
_OF_ONE_ROW = 0.5  # fraction of the sum of squares of a target


def confidence_intervals(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike | Importances = "mda",
    method: str = "subsampling",
    n_resamples: int = 100,
    subsample: int | float | None = None,
    confidence_level: float = 0.95,
    correction: bool = True,
    kind: str = "wilson",
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Intervals:
    r"""Estimate confidence intervals of importances, and standard errors over data, by resampling.

    With v the importance on all n rows, v*_1 .. v*_B those in forests on B samples of m rows, W and
    W*_b the squared standard errors of these values over trees (0 where the measure has none),

    .. math:: SE^2 = D + W, \qquad D = f^2 (S^2 - \bar W^*), \qquad f^2 = \frac{m}{n - m}

    with S^2 the variance of v* for "subsampling", and the mean of (v* - v)^2 less W for "delete-d"
    (Ishwaran and Lu 2019; the factor is that of Shao and Wu 1989). B + 1 forests are grown.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    measure : str, callable or Importances
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. Or v
        itself: the importances by such a measure of a forest with these parameters that was grown
        on all rows before; by default one is grown.
    method : {"subsampling", "delete-d", "double-bootstrap"}
        The first two draw m rows without replacement. "subsampling" takes the spread around the
        mean of the replicates, "delete-d" that around v, so that what smaller samples take from
        the measure adds to it. "double-bootstrap" draws n rows with replacement, and takes the
        standard deviation of v*. Its trees draw from that sample, and a row is out of a bag where
        no copy of it is inside: about .164 n rows, instead of .368 n. With "mda", measures that
        need no rows of their own, such as "mdi" or "air", and own functions, which get tables with
        repeated rows.
    n_resamples : int
        Number B.
    subsample : int or float, optional
        Rows m, or their fraction of n. By default 3/4 n, and from n = 1000 on 3/4 n sqrt(1000/n).
        Not for the double bootstrap.
    confidence_level : float
        Probability with which the interval of a feature is to cover.
    correction : bool
        False is the estimate of the paper: f^2 is m/n and nothing is subtracted for trees. Two
        samples of m out of n rows share rows; without the correction for it the standard error of
        a mean comes out at sqrt(1 - m/n) of its value, 0.50 for m = 3/4 n. Not for the double
        bootstrap.
    kind : {"wilson", "normal", "percentile"}
        "normal": v -/+ t SE, with t the quantile of the t distribution with nu degrees of freedom.
        "wilson": the same lower end, and the upper end mu at which
        (mu - v)^2 = (t SE)^2 (1 + (mu - v) / max(\|v\|, t SE)): the variance of an importance grows
        with its expectation, which is taken to be proportional, as Wilson (1927) does for the
        variance of a proportion. "percentile": from quantiles Q of the replicates,
        v - SE Q((v* - mean of v*) / S) at both ends (after Politis and Romano 1994, who have v in
        place of the mean); for the double bootstrap the quantiles of v* themselves. It assumes no
        distribution, but takes many replicates: at 95 %, 200 or more. Not for "delete-d".
    groups : array-like of shape (n,), optional
        Label of the group of each row, such as the person or family. Whole groups are drawn, within
        classes where a group has one, and n, m and `subsample` count groups. With "holdout_mda" the
        rows of a group are also held out together.
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
    Intervals
        `p_values` are one-sided, of the hypothesis that the expectation of v is 0 or less: the tail
        of the t distribution at v / SE, or, for "percentile", (1 + c) / (B + 1) with c the
        replicates whose scaled difference from the mean reaches v, or, of the double bootstrap,
        that are 0 or less. None for measures of which irrelevant features have not 0 on
        average, such as "mdi" or "frequency". `degrees_of_freedom` are nu. `notes` say where
        coverage was measured to be less than `confidence_level`, or was not measured.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, arguments do not go together, the checkpoint is of
        another run, or one row has more than half of the sum of squares of a numeric target, on
        which importances in its unit depend.

    Notes
    -----
    *What is covered* is the expectation of v over learning sets of n rows and forests, not the
    importance that unlimited data would give: forests on more rows find more, so that v has a bias
    against that limit. `replicate_mean` beside `values` says how much the measure still changes
    between m and n rows; "delete-d" adds the square of that difference to the variance, and its
    intervals are wider.

    *Degrees of freedom* are those of Satterthwaite (1946) for D + W: D is known from B replicates
    of n rows, W from T trees,

    .. math:: \nu = SE^4 \Big/ \Big[ \frac{(f^2 S^2)^2}{B - 1} + \frac{D^2}{n - 1}
       + \frac{W^2}{T - 1} \Big].

    *The size of a subsample.* From half of the rows or fewer, the standard error of strong features
    comes out too small. From large subsamples it does not, at the price that f^2 multiplies the
    noise of finite forests, which is therefore subtracted. Measures without a standard error over
    trees ("sandri", own functions) keep that noise, f^2 times: grow many trees.

    *Limits.* Importances of irrelevant features vary by something that falls faster than 1/sqrt(n):
    their intervals are too wide and their p-values too large. The guide has the coverage that was
    measured for 60 to 500 rows. An interval holds for one feature; over many, use
    ``result.significance()``, which refuses to adjust p-values from too few replicates. For
    classes, rows are drawn within each class, which takes their frequencies as given. "subsampling"
    and "delete-d" share checkpoints.

    References
    ----------
    H. Ishwaran, M. Lu (2019). Standard errors and confidence intervals for variable importance in
    random forest regression, classification, and survival. Statistics in Medicine 38. J. Shao,
    C. F. J. Wu (1989). A general theory for jackknife variance estimation. Annals of Statistics 17.
    D. N. Politis, J. P. Romano (1994). Large sample confidence regions based on subsamples under
    minimal assumptions. Annals of Statistics 22. E. B. Wilson (1927). Probable inference, the law
    of succession, and statistical inference. JASA 22. F. E. Satterthwaite (1946). An approximate
    distribution of estimates of variance components. Biometrics Bulletin 2.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> forest = dm.RandomForestRegressor(50)
    >>> result = dm.significance.confidence_intervals(
    ...     forest, X, X[:, 0], n_resamples=30, random_state=0)
    >>> result.above()
    ('x0',)
    """
    name = "confidence_intervals"
    n = checks.check_integer(name, "n_resamples", n_resamples, 2)
    observed = measure if isinstance(measure, Importances) else None
    measure = measure.measure if isinstance(measure, Importances) else measure
    checks.check_real(name, "confidence_level", confidence_level, 0, 1, ends="()")
    checks.check_choice(name, "method", method, METHODS)
    checks.check_choice(name, "kind", kind, KINDS)
    checks.check_flag(name, "correction", correction)
    bootstrap, record = method == "double-bootstrap", measure_of(measure, name)
    shifted = method == "delete-d" and kind == "percentile"
    if shifted or (bootstrap and (subsample is not None or not correction)):
        raise ValueError(
            f'{name}: method={method!r} cannot be combined with these arguments: "delete-d" gives '
            'no quantiles for kind="percentile", and the samples of "double-bootstrap" have as '
            "many rows as there are, so that subsample and correction must have their defaults. "
            'Hint: method="subsampling".'
        )
    if bootstrap and record.rows in ("out-of-bag", "held-out") and record.of_copies is None:
        raise ValueError(
            f"{name}: measure={record.name!r} treats rows as held out although their copies may "
            'be in the bag in a double bootstrap. Hint: measure="mda", or method="subsampling".'
        )
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.of(name, estimator, X, y, measure, execution, groups=groups, takes_strata=False)
    subject, p = refits.subject, len(refits.subject.names)
    units = SamplingUnits.of(subject.data)
    size = None
    if not bootstrap:
        default = max(units.n_classes, shrinking_size(units.count, FRACTION))
        size = subsample_size(subsample, units.count, units.n_classes, name, default, units.name)
    if observed is None:
        observed = refits.observed()
    elif observed.names != subject.names:
        expected = f"a measure, or importances of the {p} columns of X"
        came = f"those of {len(observed)} other features"
        raise checks.refuse(name, "measure", expected, came)
    uncertainty = variance_error(subject.data, observed.unit, name)

    # Importances in forests on resampled rows, with the noise of their trees if it is separated.
    values, noise, mean_noise = observed.values, np.zeros(p), np.zeros(p)
    if size is None:
        draw = units.rows(bootstraps(units.labels, units.count))
        task = resampling_task(subject, draw)
        if subject.measure.of_copies is not None:

            def task(_: int, seed_b: int) -> FloatArray:
                random = np.random.default_rng(seed_b)
                rows = draw(random)
                copies = subject.of_rows(rows, key=seed_b)
                return importances_of_copies(copies, int(random.integers(2**32)), rows)

        identity = subject.identity("double bootstrap", n_rows=units.count)
        replicates = refits.run(task, n, p, identity)
    else:
        draw = units.rows(subsamples(units.labels, units.count, size))
        task = resampling_task(subject, draw, noise=True)
        both = refits.run(task, n, 2 * p, subject.identity("subsamples", n_rows=size))
        replicates = both[:, :p]
        if correction:
            noise, mean_noise = tree_variance(subject, observed), both[:, p:].mean(axis=0)
    n_trees = observed.metadata.get("n_trees")
    replicated = Replicated(values, replicates, noise, mean_noise, units.count, n_trees)
    notes, small = list[str](), size is not None and size < units.count / 2
    other_kind = kind != "wilson" and method == "subsampling"
    if size is None or not correction or other_kind or units.count < (200 if small else 60):
        notes.append(
            "coverage was measured with correction=True, kind='wilson', 60 rows and more, and "
            "subsamples of 3/4 of the rows; other intervals may cover less often than their level, "
            "above all for strong features"
        )
    if uncertainty > _UNCERTAIN:
        notes.append(
            "the target has heavy tails, so that its variance, and with it all importances, have a "
            f"relative standard error of {min(uncertainty, 1):.2f} or more, which intervals "
            "underestimate: 95 % intervals covered the MDI of relevant features in .62 to .74 of "
            "data sets of 60 rows with a log-normal target, their MDA in .81 to .97. Hint: "
            "a transformed target, or a measure that divides importances by their sum"
        )
    factor = 1.0 if size is None else scale_of(size, units.count, correction)
    error, freedom = standard_error(replicated, factor, method)
    low, high, p_values = ends(
        replicated, error, freedom, method=method, kind=kind, confidence_level=confidence_level
    )
    return Intervals(
        names=subject.names,
        values=values,
        standard_error=error,
        low=low,
        high=high,
        confidence_level=confidence_level,
        measure=subject.measure.name,
        unit=observed.unit,
        method=method,
        kind=kind,
        p_values=p_values if subject.measure.zero_if_irrelevant else None,
        replicate_mean=replicates.mean(axis=0),
        degrees_of_freedom=freedom,
        metadata=refits.metadata(
            n_resamples=n,
            n_rows=subject.data.n_rows,
            subsample=size,
            correction=None if size is None else bool(correction),
            trees_separated=bool(noise.any()),
        ),
        notes=tuple(notes),
    )


def importances_of_copies(copies: Measured, seed: int, rows: NDArray[np.integer]) -> FloatArray:
    """Return the importances of a forest on n copied rows; `rows` are the original rows."""
    forest = seeded(copies.template, seed).fit(copies.data)
    assert copies.measure.of_copies is not None
    originals = np.unique(rows, return_inverse=True)[1].astype(np.uint32)  # of drawn groups: fewer
    return copies.measure.of_copies(Inputs(forest, copies.data), originals).values


# --- conditions under which intervals cover less often than their level ---------------------------


def variance_error(data: LearningSet[EncodedTable], unit: str, function: str) -> float:
    """Return the relative standard error of the variance of the target.

    It is 0 where importances do not grow with that variance. It is the larger one of those that
    follow from the kurtosis and from the skewness. The kurtosis of a sample is far below that of a
    distribution with heavy tails: of a log-normal one (standard deviation 1) it gives .23 to .71
    for 60 rows, and .15 to .45 for 500, where .48 is true. The L-skewness is nearly unbiased, and
    stands for the log-normal distribution that has it (Hosking and Wallis 1997).

    Raises
    ------
    ValueError
        If more than half of its sum of squares is in one row.
    """
    if data.target.criterion != "variance" or unit == "1":
        return 0.0
    numbers = np.asarray(data.target.values, dtype=np.float64)
    squares = np.square(numbers - numbers.mean())
    total, largest = float(squares.sum()), float(squares.max())
    if total <= 0:
        return 0.0
    if largest > _OF_ONE_ROW * total:
        raise ValueError(
            f"{function}: the importances of this target have no useful interval: one row has "
            f"{largest / total:.0%} of the sum of squares of the target, more than "
            f"{_OF_ONE_ROW:.0%}, and importances are in proportion to that sum. Hint: a "
            "transformed target, such as its logarithm or ranks."
        )
    kurtosis = len(numbers) * float(np.square(squares).sum()) / total**2
    kurtosis = max(kurtosis, log_normal_kurtosis(numbers))
    return math.sqrt(max(0.0, kurtosis - 1.0) / len(numbers))


# Shape of the log-normal distribution as a rational function of the L-skewness (Hosking, Wallis).
_NUMERATOR = (2.0466534, -3.6544371, 1.8396733, -0.20360244)
_DENOMINATOR = (1.0, -2.0182173, 1.2420401, -0.21741801)
_LARGEST_SKEWNESS = 0.9  # the approximation ends at .94


def log_normal_kurtosis(numbers: FloatArray) -> float:
    """Return the fourth standardized moment of the log-normal distribution with their L-skewness.

    The skewness is that of unbiased L-moments, 0 of fewer than three numbers.
    """
    n, t = len(numbers), 0.0
    if n >= 3:
        place, ordered = np.arange(n), np.sort(numbers - numbers.mean())
        b1 = float(np.mean(place * ordered)) / (n - 1)
        b2 = float(np.mean(place * (place - 1.0) * ordered)) / ((n - 1) * (n - 2))
        t = min(abs((6 * b2 - 6 * b1) / (2 * b1)), _LARGEST_SKEWNESS)
    powers = t ** np.arange(0, 8, 2)
    w = math.exp((t * float(powers @ _NUMERATOR) / float(powers @ _DENOMINATOR)) ** 2)
    return w**4 + 2 * w**3 + 3 * w**2 - 3


# --- standard errors over data, and intervals, from replicates ------------------------------------


@dataclass(frozen=True, eq=False)
class Replicated:
    """Importances on all rows and in B replicates, with the noise of their finite forests."""

    values: FloatArray  # (p,): v, on all n rows
    replicates: FloatArray  # (B, p): v*_b
    # (p,): W, the variance of v over forests on the same rows; 0 where it is unknown.
    tree_variance: FloatArray
    # (p,): The mean over the replicates of the same variance of v*_b.
    replicate_tree_variance: FloatArray
    n_rows: int  # n
    n_trees: int | None = None  # trees of a forest, if known


def scale_of(size: int, n_rows: int, correction: bool) -> float:
    """Return f, the ratio of the spread of full samples to the spread of subsamples."""
    return math.sqrt(size / (n_rows - size if correction else n_rows))


def standard_error(
    replicated: Replicated, scale: float, method: str
) -> tuple[FloatArray, FloatArray]:
    r"""Return standard errors over data and forests, and their degrees of freedom; shapes (p,).

    With :math:`S^2` the variance of the replicates (for "delete-d" their mean squared difference
    from v), :math:`\bar W^*` and W the variances over forests, and f the scale,

    .. math:: SE^2 = D + W, \qquad D = \max(0, f^2 (S^2 - \bar W^*))

    (for "delete-d" :math:`f^2 (S^2 - \bar W^* - W)`, as v is one of the two that differ). The
    degrees of freedom are those of Satterthwaite (1946) for that sum,

    .. math:: \nu = SE^4 \Big/ \Big[ \frac{(f^2 S^2)^2}{B - 1} + \frac{D^2}{n - 1}
       + \frac{W^2}{T - 1} \Big],

    at least 1: few replicates, few rows or few trees each make the standard error itself uncertain.
    """
    count, noise = len(replicated.replicates), replicated.replicate_tree_variance
    if method == "delete-d":
        square = np.mean((replicated.replicates - replicated.values) ** 2, axis=0)
        noise = noise + replicated.tree_variance
    else:
        square = replicated.replicates.var(axis=0, ddof=1)
    seen = scale**2 * square
    data = np.maximum(seen - scale**2 * noise, 0.0)
    variance = data + replicated.tree_variance
    spread = seen**2 / (count - 1) + data**2 / max(1, replicated.n_rows - 1)
    if replicated.n_trees is not None and replicated.n_trees > 1:
        spread = spread + replicated.tree_variance**2 / (replicated.n_trees - 1)
    freedom: FloatArray = np.ones_like(spread)
    np.divide(variance**2, spread, out=freedom, where=spread > 0)
    return np.sqrt(variance), np.maximum(freedom, 1.0)


def ends(
    replicated: Replicated,
    error: FloatArray,
    freedom: FloatArray,
    *,
    method: str,
    kind: str,
    confidence_level: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lower and the upper ends of the intervals, and one-sided p-values."""
    from scipy import stats

    values, replicates = replicated.values, replicated.replicates
    tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    if kind != "percentile":
        reach = stats.t.ppf(tails[1], freedom) * error
        above = reach if kind == "normal" else wilson_reach(values, reach)
        return values - reach, values + above, t_tails(values, error, freedom)
    if method == "double-bootstrap":
        low, high = np.quantile(replicates, tails, axis=0)
        beyond = replicates <= 0
    else:
        centered = replicates - replicates.mean(axis=0)
        spread = replicates.std(axis=0, ddof=1)
        around = centered * np.divide(error, spread, out=np.zeros_like(error), where=spread > 0)
        upper, lower = np.quantile(around, tails, axis=0)
        low, high = values - lower, values - upper
        beyond = around >= values
    return low, high, (1.0 + beyond.sum(axis=0)) / (len(replicates) + 1.0)


def wilson_reach(values: FloatArray, reach: FloatArray) -> FloatArray:
    r"""Return the upper reach of an interval around v whose variance grows with the mean.

    The upper end :math:`\mu` solves :math:`(\mu - v)^2 = h^2 (1 + (\mu - v) / c)` with h the reach
    for a constant variance and :math:`c = \max(|v|, h)`:

    .. math:: \mu - v = h (a + \sqrt{1 + a^2}), \qquad a = \frac{h}{2 c}.
    """
    around = np.maximum(np.abs(values), reach)
    a = np.divide(reach, 2 * around, out=np.zeros_like(reach), where=around > 0)
    return np.asarray(reach * (a + np.sqrt(1 + a * a)))


def t_tails(values: FloatArray, error: FloatArray, freedom: FloatArray) -> FloatArray:
    """Return the upper tail of the t distribution at values / error.

    Without an error, 0 above 0 and 1 elsewhere.
    """
    from scipy import stats

    without = np.where(values > 0, np.inf, -np.inf)
    return np.asarray(stats.t.sf(np.divide(values, error, out=without, where=error > 0), freedom))
