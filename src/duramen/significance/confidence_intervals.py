"""How importances vary with the data: standard errors and intervals (Ishwaran and Lu 2019)."""

from __future__ import annotations

import math
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone

from duramen.forests import parameters
from duramen.importances.arguments import forest_of, target_of
from duramen.importances.mda import score_of, tree_importances
from duramen.importances.permutation import Permutations, permutation_losses
from duramen.importances.samples import Sample
from duramen.results.intervals import Intervals
from duramen.significance.measured import FloatArray, Measure, Measured, measured
from duramen.significance.replicates import OBSERVED, Plan, Task, replicate_seed, run_replicates
from duramen.significance.resampling import (
    Draw,
    bootstraps,
    resampling_task,
    subsample_size,
    subsamples,
)
from duramen.significance.sampling_units import SamplingUnits
from duramen.tables import EncodedTable

METHODS = ("subsampling", "delete-d", "double-bootstrap")
KINDS = ("normal", "percentile")

# Irrelevant features have more than 0 of these, or other than 0.
_WITHOUT_ZERO = ("mdi", "frequency", "minimal_depth", "noising")
# Measures of held-out rows, which copies of a row in the bag would make no longer held out.
_HELD_OUT = ("mdi_oob", "conditional_mda", "noising", "holdout_mda")


def confidence_intervals(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    measure: Measure = "mda",
    method: str = "subsampling",
    n_replicates: int = 100,
    subsample: int | float | None = None,
    level: float = 0.95,
    correction: bool = True,
    kind: str = "normal",
    blocks: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Intervals:
    r"""Standard errors over data and confidence intervals of importances, by resampling the rows.

    With v the importance on all n rows and v*_1 .. v*_B those in forests on B samples of m rows,

    .. math:: SE_{sub}^2 = f^2 \, \frac{1}{B - 1} \sum_b (v^*_b - \bar v^*)^2, \qquad
       SE_{del}^2 = f^2 \, \frac1B \sum_b (v^*_b - v)^2, \qquad f^2 = \frac{m}{n - m}

    (Ishwaran and Lu 2019; the factor is that of Shao and Wu 1989). B + 1 forests are grown.

    Parameters
    ----------
    estimator : estimator of duramen
        The parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p)
        The rows.
    y : array-like of shape (n,)
        Their classes or numbers.
    measure : str or callable
        "mda", "mdi", "mdi_oob", "conditional_mda", "noising", "frequency", "minimal_depth",
        "holdout_mda", "air", "sandri", or ``measure(forest, X, y)`` that takes a fitted estimator
        and the encoded rows that it was grown on, and returns `Importances` or p numbers.
    method : {"subsampling", "delete-d", "double-bootstrap"}
        The first two draw m rows without replacement. "subsampling" takes the spread around the
        mean of the replicates, "delete-d" that around v, so that what smaller samples take from
        the measure adds to it. "double-bootstrap" draws n rows with replacement, and takes the
        standard deviation of v*. Its trees draw from that sample, and a row is out of a bag where
        no copy of it is inside: about .164 n rows, instead of .368 n. With "mda", measures that
        need no rows of their own ("mdi", "frequency", "minimal_depth", "air", "sandri") and own
        functions, which get tables with repeated rows.
    n_replicates : int
        Number B.
    subsample : int or float, optional
        Rows m, or their share of n. By default n/e, and from n = 1000 on n/e sqrt(1000/n). Not for
        the double bootstrap.
    level : float
        Probability with which the interval of a feature is to cover.
    correction : bool
        Whether f^2 is m/(n - m), or m/n as in the paper. Two samples of m out of n rows share rows;
        without the correction for it the standard error of a mean comes out at sqrt(1 - m/n) of
        its value, 0.80 for m = n/e. Not for the double bootstrap.
    kind : {"normal", "percentile"}
        "normal": v -/+ z SE, with z the quantile of the normal distribution. "percentile": from
        quantiles Q of the replicates, v - f Q(v* - mean of v*) at both ends (after Politis and
        Romano 1994, who have v in place of the mean); for the double bootstrap the quantiles of v*
        themselves. It assumes no law, but takes many replicates: at 95 %, 200 or more. Not for
        "delete-d".
    blocks : array-like of shape (n,), optional
        Label of the block of each row, such as the person or family. Whole blocks are drawn, within
        classes where a block has one, and n, m and `subsample` count blocks. With "holdout_mda" the
        rows of a block are also held out together.
    random_state : int, RandomState, Generator or None
        Seed of forests and samples.
    n_jobs : int, optional
        Forests that are grown at a time; the result does not depend on it.
    checkpoint : path, optional
        File in which finished replicates are kept; a run that was killed goes on from it, to the
        same bytes. "subsampling" and "delete-d" share it.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    Intervals
        `p_values` are one-sided, of the hypothesis that the expectation of v is 0 or less: the
        normal tail at v / SE, or, for "percentile", (1 + c) / (B + 1) with c the replicates whose
        f (v* - mean of v*) reaches v, or, of the double bootstrap, that are 0 or less. None for
        "mdi", "frequency", "minimal_depth" and "noising", of which irrelevant features have not 0.

    Raises
    ------
    TypeError
        If `estimator` is none of this package.
    ValueError
        If an argument is not as described, arguments do not go together, or the checkpoint is of
        another run.

    Notes
    -----
    *What is covered* is the expectation of v over learning sets of n rows and forests, not the
    importance that unlimited data would give: forests on more rows find more, so that v has a bias
    against that limit which no spread shows. `replicate_mean` beside `values` says how much the
    measure still changes between m and n rows; "delete-d" adds the square of that difference to
    the variance, and its intervals are wider.

    *When it does not hold.* The variance must fall as 1/n. The part of it that comes from growing
    T trees only does not: f scales it down as if it did. Grow so many trees that their standard
    error (``mda(...).standard_error``) is small beside SE. Importances of irrelevant features
    vary by something that falls faster than 1/sqrt(n): their intervals are too wide, by .3 to .5 on
    a linear problem of 200 rows, and their p-values too large. Those of relevant features covered
    in 91 to 95 % of learning sets there, where 95 % was asked for. An interval holds for one
    feature; over many, use ``result.significance()`` and adjusted p-values. For classes, rows are
    drawn within each class, which takes their frequencies as given.

    References
    ----------
    H. Ishwaran, M. Lu (2019). Standard errors and confidence intervals for variable importance in
    random forest regression, classification, and survival. Statistics in Medicine 38. J. Shao,
    C. F. J. Wu (1989). A general theory for jackknife variance estimation. Annals of Statistics 17.
    D. N. Politis, J. P. Romano (1994). Large sample confidence regions based on subsamples under
    minimal assumptions. Annals of Statistics 22.
    """
    name = "confidence_intervals"
    parameters.check_choice(name, "method", method, METHODS)
    parameters.check_choice(name, "kind", kind, KINDS)
    n = parameters.check_integer(name, "n_replicates", n_replicates, 2)
    parameters.check_flag(name, "correction", correction)
    if not parameters.is_real(level) or not 0 < level < 1:
        raise ValueError(f"{name}: level must be a number in (0, 1), got {level!r}.")
    doubly = method == "double-bootstrap"
    _check_together(measure, method, kind, subsample, correction)
    plan = Plan.checked(name, n_jobs, checkpoint, verbose)
    subject = measured(estimator, X, y, measure, name, blocks=blocks)
    units = SamplingUnits.of(subject)
    n_units, n_classes = units.count, units.n_classes
    size = n_units
    if doubly:
        task = _double_bootstrap(subject, units.rows(bootstraps(units.labels, n_units)))
    else:
        size = subsample_size(subsample, n_units, n_classes, name, units=units.name)
        task = resampling_task(subject, units.rows(subsamples(units.labels, n_units, size)))
    seed = parameters.draw_seed(random_state)
    observed = subject.importances(replicate_seed(seed, OBSERVED))
    replicates = run_replicates(
        task,
        n,
        len(subject.names),
        seed=seed,
        identity=subject.identity("double bootstrap" if doubly else "subsamples", n_rows=size),
        plan=plan,
        function=name,
    )
    scale = 1.0 if doubly else scale_of(size, n_units, correction)
    error = standard_error(observed.values, replicates, scale, method)
    low, high, p_values = _ends(observed.values, error, replicates, scale, method, kind, level)
    return Intervals(
        names=subject.names,
        values=observed.values,
        standard_error=error,
        low=low,
        high=high,
        level=level,
        measure=subject.measure_name,
        unit=observed.unit,
        method=method,
        kind=kind,
        p_values=None if measure in _WITHOUT_ZERO else p_values,
        replicate_mean=replicates.mean(axis=0),
        metadata={
            **subject.identity(name),
            "n_replicates": n,
            "n_rows": subject.table.n_rows,
            "subsample": None if doubly else size,
            "correction": None if doubly else bool(correction),
            "seed": seed,
        },
    )


def _check_together(
    measure: Measure, method: str, kind: str, subsample: Any, correction: bool
) -> None:
    name = "confidence_intervals"
    if method == "delete-d" and kind == "percentile":
        raise ValueError(
            f'{name}: kind="percentile" does not go with method="delete-d", which is a standard '
            "error: quantiles around the value itself shift the interval by its own error. Hint: "
            'method="subsampling".'
        )
    if method != "double-bootstrap":
        return
    if subsample is not None:
        raise ValueError(
            f"{name}: subsample must be None for the double bootstrap, whose samples have as many "
            'rows as there are. Hint: method="subsampling".'
        )
    if not correction:
        raise ValueError(
            f"{name}: correction=False is for samples without replacement; the double bootstrap "
            "has no such factor."
        )
    if isinstance(measure, str) and measure in _HELD_OUT:
        raise ValueError(
            f"{name}: measure={measure!r} takes rows to be held out whose copies may be in the "
            'bag of a double bootstrap. Hint: measure="mda", or method="subsampling".'
        )


def _double_bootstrap(subject: Measured, draw: Draw) -> Task:
    if subject.measure != "mda":
        return resampling_task(subject, draw)

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        rows = draw(random)
        table, y = subject.table.take_rows(rows), subject.y[rows]
        return mda_of_copies(subject, int(random.integers(2**32)), table, y, rows.astype(np.uint32))

    return task


def mda_of_copies(
    subject: Measured, seed: int, table: EncodedTable, y: NDArray[Any], rows: NDArray[np.uint32]
) -> FloatArray:
    """Return the MDA of a forest on rows that are copies, out of bag where no copy is inside.

    Parameters
    ----------
    subject : Measured
        Whose forest is grown.
    seed : int
        Of the forest.
    table, y : EncodedTable of n rows, array of shape (n,)
        The copies.
    rows : uint32 array of shape (n,)
        Which row, in 0..n-1, each is a copy of.
    """
    template = clone(subject.template).set_params(random_state=seed)
    forest = forest_of(template.fit(table, y), "mda")
    target = target_of(forest, y, len(y), "mda")
    sample = Sample(table, target, out_of_bag=True, originals=rows)
    score = score_of(forest, None, "mda")
    losses = permutation_losses(forest, sample, Permutations(forest.seed), score=score)
    return tree_importances(
        "mda", forest, forest.names, losses, score, scaled=False, by_class=False, choices={}
    ).values


def scale_of(size: int, n_rows: int, correction: bool) -> float:
    """Return f, the factor from the spread of subsamples to that of samples of all the rows."""
    return math.sqrt(size / (n_rows - size if correction else n_rows))


def standard_error(
    observed: FloatArray, replicates: FloatArray, scale: float, method: str
) -> FloatArray:
    """Return the standard error of p values from their (B, p) replicates."""
    if method == "delete-d":
        error: FloatArray = scale * np.sqrt(np.mean((replicates - observed) ** 2, axis=0))
    else:
        error = scale * replicates.std(axis=0, ddof=1)
    return error


def _ends(
    observed: FloatArray,
    error: FloatArray,
    replicates: FloatArray,
    scale: float,
    method: str,
    kind: str,
    level: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lower and the upper ends, and the p-values."""
    if kind == "normal":
        reach = stats.norm.ppf((1 + level) / 2) * error
        return observed - reach, observed + reach, normal_tails(observed, error)
    tails = [(1 - level) / 2, (1 + level) / 2]
    if method == "double-bootstrap":
        low, high = np.quantile(replicates, tails, axis=0)
        beyond = replicates <= 0
    else:
        around = scale * (replicates - replicates.mean(axis=0))
        upper, lower = np.quantile(around, tails, axis=0)
        low, high = observed - lower, observed - upper
        beyond = around >= observed
    p_values = np.asarray((1.0 + beyond.sum(axis=0)) / (len(replicates) + 1.0), dtype=np.float64)
    return low, high, p_values


def normal_tails(values: FloatArray, error: FloatArray) -> FloatArray:
    """Return the upper tail of the normal distribution at values / error.

    Without an error, 0 above 0 and 1 elsewhere.
    """
    without = np.where(values > 0, np.inf, -np.inf)
    ratio = np.divide(values, error, out=without, where=error > 0)
    tails: FloatArray = stats.norm.sf(ratio)
    return tails
