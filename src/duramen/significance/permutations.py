"""Importances under permuted labels: the matrix that several tests read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from os import PathLike
from typing import Any, ParamSpec, TypeVar

import numpy as np

from duramen.jobs.replicates import ExecutionParameters, replicate_seed
from duramen.results.importances import PermutedImportances
from duramen.significance.association import JointModel, marginal_statistics
from duramen.significance.measured import Measured, MeasureLike, Refits
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")
JointStatistics = Callable[[IntArray], FloatArray | None]

# Parameters of tests that say how forests are read, not how they are grown.
_OF_READING = ("estimator", "distribution", "balanced", "marginal", "alpha", "feature_groups")


def permuted_importances(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    marginal: bool = True,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> PermutedImportances:
    r"""Compute importances on the data and under permuted labels, for several tests to read.

    One forest is grown on the data and one on each of B permutations of the target. These are the
    forests that :func:`altmann`, :func:`fdr_curve` and the first stage of :func:`max_t` grow with
    the same arguments: each of them takes the result in place of the estimator and the data, and
    gives what it would have given, without a forest of its own. Features above
    ``result.maxima.mean()``, the mean of the largest importances under permuted labels, are those
    that Rodenburg et al. (2008) keep; this threshold controls no error rate.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "auto" as
        in :func:`max_t`: "mdi_oob" if trees leave rows out, and trees of classes by entropy.
    n_permutations : int
        Number B of permutations.
    marginal : bool
        Whether to compute the marginal rank statistics and the joint linear ones under the same
        permutations, which `max_t` compares beside the importances. The result has up to three
        times the size with them.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only (docs/how-to/tests/strata.md).
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together (docs/how-to/tests/strata.md).
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
    PermutedImportances
        `importances` on the data, `permuted` of shape (B, p), `marginal` and `joint`; `save` and
        `load` keep it for later questions.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `strata` and `groups` leave nothing to exchange, or the
        checkpoint is of another run.

    Warns
    -----
    UserWarning
        If `strata` and `groups` allow fewer different arrangements than permutations are asked for.

    Notes
    -----
    The cost is B + 1 forests. The tests share their permutations: their results on the same matrix
    are no independent evidence, and choosing the test with the most discoveries invalidates its
    error rate. A checkpoint of `altmann` or `fdr_curve` with the same arguments serves here, and
    the other way round.

    References
    ----------
    A. Altmann, L. Tolosi, O. Sander, T. Lengauer (2010). Permutation importance: a corrected
    feature importance measure. Bioinformatics 26. P. H. Westfall, S. S. Young (1993).
    Resampling-Based Multiple Testing. Wiley. W. Rodenburg et al. (2008). A framework to identify
    physiological responses in microarray-based gene expression studies. Physiological Genomics 33.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> permuted = dm.significance.permuted_importances(
    ...     forest, data.X, data.y, n_permutations=39, random_state=0)
    >>> dm.significance.altmann(permuted).selected(0.05, control="none")
    ('x0',)
    >>> dm.significance.max_t(permuted).verdicts()[:2]
    ('confirmed', 'confirmed')
    """
    name = "permuted_importances"
    checks.check_flag(name, "marginal", marginal)
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    rows = {"strata": strata, "groups": groups}
    return permuted_labels(
        name, estimator, X, y, measure, n_permutations, execution, marginal=marginal, **rows
    )


def reads_permuted(test: Callable[ParametersT, ResultT]) -> Callable[ParametersT, ResultT]:
    """Let PermutedImportances take the place of the first argument of a test and of the data.

    Arguments that are about growing forests are refused beside it.
    """

    @wraps(test)
    def reading(*args: ParametersT.args, **kwargs: ParametersT.kwargs) -> ResultT:
        given = inspect.signature(test).bind(*args, **kwargs).arguments
        if isinstance(given.get("estimator"), PermutedImportances):
            of_growth = [
                name
                for name, value in given.items()
                if name not in _OF_READING and value is not None
            ]
            if of_growth:
                raise ValueError(
                    f"{test.__name__}: {', '.join(of_growth)} must not be given with "
                    "PermutedImportances, whose forests are grown already. Hint: leave "
                    f"{'it' if len(of_growth) == 1 else 'them'} out."
                )
        return test(*args, **kwargs)

    return reading


def permuted_labels(
    function: str,
    estimator: Any,
    X: Any,
    y: Any,
    measure: MeasureLike,
    n_permutations: int,
    execution: ExecutionParameters,
    *,
    marginal: bool = False,
    **rows: Any,
) -> PermutedImportances:
    """Return the matrix that a test is given in place of an estimator, or compute it.

    `rows` are strata and groups, as for :func:`measured`.
    """
    if isinstance(estimator, PermutedImportances):
        return estimator
    n = checks.check_integer(function, "n_permutations", n_permutations, 1)
    refits = Refits.checked(function, estimator, X, y, measure, execution, **rows)
    importances, null = refits.observed(), refits.permuted_scores(n)
    marginals, joint = None, None
    if marginal:
        marginals, joints = statistics_beside(refits, n)
        joint = joints(np.empty(0, dtype=np.intp))
    return PermutedImportances(
        importances,
        null,
        refits.subject.clause,
        marginals,
        joint,
        metadata=refits.metadata(n_permutations=n),
        notes=pivotality_notes(refits.subject),
    )


def permuted_order(refits: Refits, b: int) -> IntArray:
    """Return the row whose target each row takes in permutation b."""
    random = np.random.default_rng(replicate_seed(refits.seed, b))
    return refits.subject.exchangeability.permutation(random, refits.subject.data.target.values)


def statistics_beside(refits: Refits, n: int) -> tuple[FloatArray, JointStatistics]:
    """Return the marginal and joint statistics on the data and n permutations, (n + 1, p) each.

    The joint ones are a function of the kept features, None where the table has too few rows for
    them. Every look of a stage asks for those of the same features: they are computed once.
    """
    data = refits.subject.data
    restricted, model = data.exchangeability.restricted, JointModel.of(data)
    computed: dict[bytes, FloatArray] = {}

    def order(b: int) -> IntArray:
        return permuted_order(refits, b - 1) if b else np.arange(data.n_rows)

    def joint(kept: IntArray) -> FloatArray | None:
        if model is None:
            return None
        key = kept.tobytes()
        if key not in computed:
            rows = model.statistics(order, n + 1, kept)
            computed[key] = standardized(rows) if restricted else rows
        return computed[key]

    marginals = marginal_statistics(data, order, n + 1)
    # Within strata and groups the statistics have other distributions than those they assume.
    return standardized(marginals) if restricted else marginals, joint


_MANY_CLASSES = 6
_MDA = (
    "by MDA, irrelevant features that are correlated with each other are confirmed more often than "
    "the level says beside relevant features: their MDA is above 0 there, and not under permuted "
    'labels. Hint: measure="auto".'
)
_GINI = (
    "with Gini importances of {classes} classes, irrelevant features are confirmed more often than "
    "the level says beside relevant ones: deep nodes hold few classes, and many under permuted "
    'labels. Hint: measure="auto", or criterion="entropy" in the forest.'
)


def pivotality_notes(subject: Measured) -> tuple[str, ...]:
    """Return which choices break the error rates of tests that compare features by permuted labels.

    These rates hold beside relevant features if the statistics of the others are no smaller under
    permuted labels (subset pivotality).
    """
    classes = subject.data.target.n_classes
    gini = subject.template.get_params().get("criterion") == "gini"
    if subject.identifier in ("mda", "holdout_mda"):
        return (_MDA,)
    if subject.identifier in ("mdi", "mdi_oob") and gini and classes >= _MANY_CLASSES:
        return (_GINI.format(classes=classes),)
    return ()


# --- importances standardized over the data and its permutations ----------------------------------


# Importances that are equal but for rounding are to stay ties.
_DECIMALS = 9
_BLOCK = 1024  # columns at a time: little memory beside the matrix


def mean_variance(rows: FloatArray) -> float:
    """Return c^2 of `standardized`: the mean over the columns of their variances in all rows."""
    total: float = 0.0
    for first in range(0, rows.shape[1], _BLOCK):
        total += float(_centered(rows[:, first : first + _BLOCK]).var(axis=0).sum())
    return float(total / max(1, rows.shape[1]))


def standardized(rows: FloatArray, least: float | None = None) -> FloatArray:
    r"""Standardize each column by the mean and standard deviation of its other rows, (B + 1, p).

    .. math:: z_{bj} = \frac{s_{bj} - m_{-bj}}{\max(d_{-bj}, c)}, \qquad
              c = \sqrt{\tfrac1p \sum_j d_j^2}

    with m_{-bj} and d_{-bj} the mean and the standard deviation of column j in all rows but b, and
    d_j its standard deviation in all rows. Columns that vary more than the root mean square c under
    permutation are scaled down to it; the others are not scaled up, since many of them are hardly
    ever split on and have almost only importances of 0. Rows are treated alike: rows that are
    exchangeable stay so. A column that does not vary is 0. `least` takes the place of c^2, for
    columns that are compared with those of other rows.
    """
    others, least = len(rows) - 1, mean_variance(rows) if least is None else least
    result = np.zeros_like(rows)
    for first in range(0, rows.shape[1], _BLOCK):
        block = slice(first, first + _BLOCK)
        centered = _centered(rows[:, block])
        squares, mean = centered**2, -centered / others
        variance = (squares.sum(axis=0) - squares) / others - mean**2
        scale = np.sqrt(np.maximum(variance, least))
        np.divide(centered - mean, scale, out=result[:, block], where=scale > 0)
    return np.round(result, _DECIMALS, out=result)


def _centered(rows: FloatArray) -> FloatArray:
    """Return rows less their mean; exactly 0 in columns that do not vary."""
    constant = rows.max(axis=0) == rows.min(axis=0)
    return np.where(constant, 0.0, rows - rows.mean(axis=0))
