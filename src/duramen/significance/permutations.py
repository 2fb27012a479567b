"""Importances under permuted labels: the matrix that several tests read."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.importances.refit import is_model
from duramen.jobs.replicates import replicate_seed
from duramen.results.importances import PermutedImportances
from duramen.significance.association import joint_statistics, marginal_statistics
from duramen.significance.measured import Measured, MeasureLike, Refits
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState, TableLike

JointStatistics = Callable[[IntArray], FloatArray | None]


def permuted_importances(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    marginal: bool = True,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
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
    estimator : estimator of duramen, or any model with fit and predict
        Parameters of the forests, or a model that is refitted in their place; it is cloned, not
        changed.
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
        Stratum of each row; rows are exchanged within strata only.
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together.
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
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    rows = {"strata": strata, "groups": groups}
    return permuted_labels(
        name, estimator, X, y, measure, n_permutations, execution, marginal=marginal, **rows
    )


def permuted_labels(
    function: str,
    estimator: Any,
    X: Any,
    y: Any,
    measure: MeasureLike,
    n_permutations: int,
    execution: tuple[Any, ...],
    *,
    marginal: bool = False,
    **rows: Any,
) -> PermutedImportances:
    """Return the matrix that a test is given in place of an estimator, or compute it.

    `execution` and `rows` are as for :meth:`Refits.of`.
    """
    if isinstance(estimator, PermutedImportances):
        of_growth = {"X": X, "y": y, "measure": measure, "n_permutations": n_permutations}
        check_grown(function, execution, **of_growth, **rows)
        return estimator
    n = checks.check_integer(function, "n_permutations", n_permutations, 1)
    refits = Refits.of(function, estimator, X, y, measure, execution, **rows)
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


# Arguments about growing forests that have another default than None.
_DEFAULTS = {
    "measure": ("auto",),
    "n_permutations": (99, 100),
    "max_stages": (3,),
    "verbose": (0,),
}


def check_grown(function: str, execution: tuple[Any, ...], **arguments: Any) -> None:
    """Refuse arguments about growing forests beside PermutedImportances."""
    names = ("random_state", "n_jobs", "client", "checkpoint", "verbose")
    of_growth = {**arguments, **dict(zip(names, execution, strict=True))}
    refused = [
        name
        for name, value in of_growth.items()
        if value is not None and value not in _DEFAULTS.get(name, ())
    ]
    if refused:
        raise ValueError(
            f"{function}: {', '.join(refused)} must not be given with PermutedImportances, whose "
            "forests are grown already. Hint: leave them out."
        )


def statistics_beside(refits: Refits, n: int) -> tuple[FloatArray, JointStatistics]:
    """Return the marginal and joint statistics on the data and n permutations, (n + 1, p) each.

    The joint ones are a function of the kept features, None where the table has too few rows for
    them. Every look of a stage asks for those of the same features: they are computed once.
    """
    data = refits.subject.data

    def order(b: int) -> IntArray:
        if b == 0:
            return np.arange(data.n_rows)
        random = np.random.default_rng(replicate_seed(refits.seed, b - 1))
        return data.exchangeability.permutation(random, data.target.values)

    # Within strata and groups the statistics have other distributions than those they assume.
    restricted, joints = data.exchangeability.restricted, joint_statistics(data, order, n + 1)
    computed: dict[bytes, FloatArray] = {}

    def joint(kept: IntArray) -> FloatArray | None:
        if joints is None:
            return None
        key = kept.tobytes()
        if key not in computed:
            rows = joints(kept)
            computed[key] = standardized(rows) if restricted else rows
        return computed[key]

    marginals = marginal_statistics(data, order, n + 1)
    return standardized(marginals) if restricted else marginals, joint


_MANY_CLASSES = 6
_MDA = (
    "by MDA, irrelevant features that are correlated with each other are confirmed more often than "
    "the level allows if other features are relevant: their MDA is then above 0, but not under "
    'permuted labels. Hint: measure="auto".'
)
_GINI = (
    "with Gini importances of {classes} classes, irrelevant features are confirmed more often than "
    "the level allows if others are relevant: deep nodes hold few classes, and many under permuted "
    'labels. Hint: measure="auto", or criterion="entropy" in the forest.'
)


def pivotality_notes(subject: Measured) -> tuple[str, ...]:
    """Return notes on choices that break the error rates of tests with permuted labels.

    These rates hold beside relevant features if the statistics of the others are no smaller under
    permuted labels (subset pivotality).
    """
    if is_model(subject.template):
        return ()
    classes = subject.data.target.n_classes
    gini = subject.template.get_params().get("criterion") == "gini"
    if subject.identifier in ("mda", "holdout_mda"):
        return (_MDA,)
    if subject.identifier in ("mdi", "mdi_oob") and gini and classes >= _MANY_CLASSES:
        return (_GINI.format(classes=classes),)
    return ()


# --- statistics over the data and its permutations ------------------------------------------------


def permutation_p_values(observed: FloatArray, null: FloatArray) -> FloatArray:
    """Return (1 + values at least as large) / (B + 1) of scores, (p,), from B rows, (B, p)."""
    return np.asarray((1.0 + (null >= observed).sum(axis=0)) / (len(null) + 1.0))


def expected_discoveries(scores: FloatArray, null: FloatArray) -> FloatArray:
    """Return the mean number of values in a row of `null` that reach each score."""
    total = np.zeros(len(scores))
    for values in null:
        total += len(values) - np.searchsorted(np.sort(values), scores, side="left")
    return total / len(null)


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
