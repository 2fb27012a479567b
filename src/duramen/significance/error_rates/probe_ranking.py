"""A random probe ranked along with the features (Stoppiglia et al. 2003)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from duramen.data import ClassTarget, EncodedTable, NumberTarget, Target, encode
from duramen.data.encoded import refuse_unordered
from duramen.data.target import target_array
from duramen.jobs.replicates import ExecutionParameters
from duramen.results.significance import ErrorRates
from duramen.significance.measured import MeasureLike
from duramen.significance.probed import probe_rates, probed, with_settled_candidates
from duramen.significance.refits import Refits
from duramen.significance.significance_test import SignificanceTest
from duramen.support import checks
from duramen.support.arrays import FloatArray
from duramen.support.provenance import fingerprint, versions
from duramen.support.text import quoted

MEANING = "{what} that {probes}, ranked along with the features, would come before this one."

# A column, or the target, of which no more than this fraction of the squared length is left after
# projections lies in the span of those that were ranked.
_NOTHING_LEFT = 1e-20


def probe_ranking(
    X: Any, y: Any, *, alpha: float = 0.05, n_probes: int = 1, centered: bool = True
) -> ErrorRates:
    r"""Rank features by orthogonal forward selection, with the distribution of a random probe.

    At step k the column with the largest cos^2 with the target is ranked, and the target and all
    other columns are projected on the space orthogonal to it. A probe, a vector drawn from a
    spherical distribution, would have had a larger cos^2 with probability

    .. math:: p_k = P\bigl(B \ge \cos^2_k\bigr), \quad
       B \sim \mathrm{Beta}\Bigl(\tfrac12, \tfrac{\nu - 1}{2}\Bigr), \quad \nu = n - k + 1,

    (one less where columns and target are centered), and would have been ranked before the k-th
    feature with probability (Stoppiglia et al. 2003)

    .. math:: P_k = P_{k-1} + (1 - P_{k-1}) \, p_k, \quad P_0 = 0.

    Ranking stops at the first feature whose P_k is above `alpha`.

    Parameters
    ----------
    X : table of shape (n, p)
        Numbers, ordered categories (numbered in their order) or two labels; none missing.
    y : array-like of shape (n,)
        Numbers, or two labels.
    alpha : float
        Probability in [0, 1] at which to stop; 1 ranks all features.
    n_probes : int
        Number m of independent probes, any of which may come first: the probability is
        1 - (1 - P_k)^m.
    centered : bool
        Whether to take the means away first, as a model with an intercept does.

    Returns
    -------
    ErrorRates
        In the order of the ranking, ``selected(alpha)`` being the features before the stop.
        ``scores`` are the probabilities that no probe has come yet; `details` hold "cos2" and
        "p_probe", p_k for a single probe. Features that were not reached follow in the order of
        the columns, with rate 1, score and cos2 0.

    Raises
    ------
    ValueError
        If an argument is not as described, the target is constant, or a column holds missing
        values or more than two labels without order.

    Notes
    -----
    p_k is exact for any X and y, since only the probe is random. P_k joins the steps as if they
    were independent: it is exact at the first, and an upper bound after that, as a probe that was
    not ahead before is less likely to be now. With 200 rows and two strong features, it was .235 at
    the third feature and .437 at the fourth, where real probes came before these in .26 and .285 of
    1500 runs.

    It is no probability that a selected feature is irrelevant. The feature that is ranked is the
    best of many, the probe is one: if none of p features is relevant, the first of them beats a
    rate of alpha with probability about 1 - (1 - alpha)^p. With ``n_probes=p`` the best feature
    meets the best of as many probes, and that probability is alpha (for independent normal columns;
    less for correlated ones).

    The ranking sees linear influence only; of two equal columns, one is ranked. The cost is O(n p)
    a step, at most n steps.

    References
    ----------
    H. Stoppiglia, G. Dreyfus, R. Dubois, Y. Oussar (2003). Ranking a random feature for variable
    and feature selection. Journal of Machine Learning Research 3.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> dm.significance.probe_ranking(data.X, data.y, alpha=0.05).selected(0.05)
    ('x0', 'x1', 'x3')
    """
    name = "probe_ranking"
    checks.check_real(name, "alpha", alpha, 0.0, 1.0)
    m = checks.check_integer(name, "n_probes", n_probes, 1)
    checks.check_flag(name, "centered", centered)
    table = encode(X)
    target = _target(y, table.n_rows, centered, name)
    steps, exhausted = _forward(_columns(table, centered, name), target, alpha, m, centered)
    ranked = np.array([step.column for step in steps], dtype=np.int64)
    rest = np.setdiff1d(np.arange(table.n_columns), ranked)
    rates = np.array([step.rate for step in steps])
    absent = np.zeros(len(rest))
    return ErrorRates(
        names=tuple(table.names[j] for j in np.concatenate([ranked, rest])),
        scores=np.concatenate([1.0 - rates, absent]),
        rates=np.concatenate([rates, absent + 1.0]),
        method=name,
        meaning=_meaning("Upper bound of the probability", m),
        n_known=table.n_columns if exhausted else len(steps),
        details={
            "cos2": np.concatenate([[step.cos2 for step in steps], absent]),
            "p_probe": np.concatenate([[step.p_probe for step in steps], absent + 1.0]),
        },
        metadata={
            "method": name,
            "alpha": float(alpha),
            "n_probes": m,
            "centered": bool(centered),
            "n_rows": table.n_rows,
            "data": fingerprint(table.fingerprint(), target),
            "versions": versions(),
        },
    )


def forest_probe_ranking(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measure: MeasureLike = "auto",
    n_probes: int | None = None,
    n_permutations: int = 10,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ErrorRates:
    r"""Rank probes along with the features in forests, and say how many come before a feature.

    In each of B runs R columns are drawn, their rows are permuted, each by a permutation of its
    own, and these probes join the p features while a forest grows. With s_bj the importance of
    feature j in run b and z_br that of probe r,

    .. math:: rate_j = \frac{\#\{(b, r) : z_{br} \ge s_{bj}\}}{B R},

    so that ``selected(alpha)`` are the features above the (1 - alpha)-quantile of the probes: the
    probe of Stoppiglia et al. (2003) with its distribution estimated from copies, where no formula
    gives it.

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
    n_probes : int, optional
        Number R of probes in a forest, by default p. Up to p, no column is copied twice.
    n_permutations : int
        Number B of runs, with a forest each.
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
    ErrorRates
        By increasing rate, then by decreasing mean importance. ``scores`` are the fractions of the
        probes that a feature comes before; `details` hold "importance", the mean over the runs.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.

    Notes
    -----
    A rate is the probability that *one* probe comes before the feature. Of p irrelevant features,
    about alpha p are selected; for a bound on the probability that any is, see
    `multiple_probes`. As probes copy all columns, those of many values have rates that are too
    small, and those of few too large, if the measure favors many values. A rate below 1 / (B R)
    needs more probes.

    K is resolved for p columns and drawn from p + R: relevant features are offered less often, and
    forests need more trees. The cost is B forests of p + R columns. `one_probe` is this with R = 1
    and B = 100.

    References
    ----------
    H. Stoppiglia, G. Dreyfus, R. Dubois, Y. Oussar (2003). Ranking a random feature for variable
    and feature selection. Journal of Machine Learning Research 3.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.forest_probe_ranking(forest, data.X, data.y, random_state=0)
    >>> result.selected(0.05)
    ('x0',)
    """
    name = "forest_probe_ranking"
    runs = checks.check_integer(name, "n_permutations", n_permutations, 1)
    if n_probes is not None:
        checks.check_integer(name, "n_probes", n_probes, 1)
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.checked(
        name, estimator, X, y, measure, execution, groups=groups, takes_strata=False
    )
    refits = with_settled_candidates(refits, runs)
    m = len(refits.subject.names) if n_probes is None else int(n_probes)
    identity = refits.subject.identity(name, n_probes=m)
    features, probes = probed(refits, runs, m, identity)
    metadata = refits.metadata(identity, n_permutations=runs)
    return probe_rates(refits, features, probes, _meaning("Probability", 1), metadata)


def probe_tail(cos2: float, freedom: int) -> float:
    """Return the probability that a probe has a cos^2 of at least this with a fixed vector.

    It is the upper tail of Beta(1/2, (nu - 1)/2), with `freedom` nu >= 2 the dimension of the space
    that both lie in.
    """
    from scipy.stats import beta

    return float(beta.sf(min(max(cos2, 0.0), 1.0), 0.5, (freedom - 1) / 2))


@dataclass(frozen=True)
class _Step:
    column: int
    cos2: float
    p_probe: float
    rate: float


def _forward(
    columns: FloatArray, y: FloatArray, alpha: float, n_probes: int, centered: bool
) -> tuple[list[_Step], bool]:
    """Rank columns until the rate is alpha; tell whether nothing was left to rank before."""
    lengths = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(lengths > 0, lengths, 1.0)
    whole = float(y @ y)
    steps: list[_Step] = []
    none_yet = 0.0  # logarithm of the probability that a probe has not come
    for freedom in range(len(y) - centered, 1, -1):
        left = np.einsum("ij,ij->j", columns, columns)
        there = left > _NOTHING_LEFT
        if not there.any() or float(y @ y) <= _NOTHING_LEFT * whole:
            break
        cos2 = np.zeros(len(left))
        cos2[there] = (y @ columns[:, there]) ** 2 / (left[there] * (y @ y))
        best = int(np.argmax(cos2))
        p_probe = probe_tail(float(cos2[best]), freedom)
        none_yet += math.log1p(-p_probe) if p_probe < 1 else -math.inf
        reached = max(0.0, -math.expm1(n_probes * none_yet))
        steps.append(_Step(best, min(float(cos2[best]), 1.0), p_probe, reached))
        if reached > alpha:
            return steps, False
        axis = columns[:, best] / np.sqrt(left[best])
        y = y - axis * (axis @ y)
        columns = columns - np.outer(axis, axis @ columns)
        columns[:, best] = 0.0
    return steps, True


def _target(y: Any, n_rows: int, centered: bool, function: str) -> FloatArray:
    """Return numbers, or 0 and 1 for two labels, scaled; shape (n,)."""
    values = target_array(y, n_rows=n_rows, function=function)
    if values.dtype.kind in "iuf":
        target: Target = NumberTarget.encode(values, function=function)
    else:
        target = ClassTarget.encode(values, function=function)
        if target.n_classes != 2:
            raise ValueError(
                f"{function}: y must be numbers or two labels, got {target.n_classes} labels. "
                "Hint: rank features for one label against the others, or use "
                "forest_probe_ranking."
            )
    scaled = _scaled(target.values.astype(np.float64), centered)
    if not scaled.any():
        raise ValueError(f"{function}: y is constant, so that no feature is associated with it.")
    return scaled


def _columns(table: EncodedTable, centered: bool, function: str) -> FloatArray:
    """Return the columns as numbers, scaled; shape (n, p)."""
    hint = "give one column of 0 and 1 for each label, or use forest_probe_ranking."
    without = f"and cannot be ranked as one column of numbers. Hint: {hint}"
    refuse_unordered(table, function, without)
    columns = np.empty((table.n_rows, table.n_columns), order="F")
    for j, name in enumerate(table.names):
        values, kind = table.values(j), table.kinds[j]
        if table.missing[j]:
            raise ValueError(
                f"{function}: column {quoted(name)} has missing values. Hint: fill them in "
                "first, or leave it out."
            )
        numbers = values if kind == "numeric" else np.arange(len(values))
        columns[:, j] = _scaled(numbers.astype(np.float64)[table.codes(j)], centered)
    return columns


def _scaled(numbers: FloatArray, centered: bool) -> FloatArray:
    """Return numbers divided by their size, with mean 0 if asked for; constants are then 0."""
    low, high = float(numbers.min()), float(numbers.max())
    if centered and low == high:
        return np.zeros(len(numbers))
    if centered:  # digits of far-off numbers are kept
        numbers = numbers - (low / 2 + high / 2)
    size = float(np.abs(numbers).max())
    scaled: FloatArray = numbers / (size or 1.0)
    return scaled - scaled.mean() if centered else scaled


def _meaning(what: str, n_probes: int) -> str:
    which = "a random probe" if n_probes == 1 else f"one of {n_probes} random probes"
    return MEANING.format(what=what, probes=which)


_SOURCE = (
    "H. Stoppiglia, G. Dreyfus, R. Dubois, Y. Oussar (2003). Ranking a random feature for variable "
    "and feature selection. Journal of Machine Learning Research 3."
)

PROBE_RANKING = SignificanceTest(
    "probe_ranking",
    probe_ranking,
    "linear forward selection",
    "Linear forward selection ranks features by their correlation with what the features before "
    "leave of the target, and not by the forest. A rate is an upper bound of the probability that "
    "a random probe would have been ranked before the feature. It bounds no error rate: the best "
    "of p irrelevant features has a rate up to {level} far more often, unless there are p probes.",
    reference=_SOURCE,
    repeats="",
    suits=lambda measure: False,
    of_rows=True,
    rate="probe rate",
    controls=False,
)

FOREST_PROBE_RANKING = SignificanceTest(
    "forest_probe_ranking",
    forest_probe_ranking,
    "random probes",
    "A rate is the probability that one random probe, a permuted column, is ranked before the "
    "feature. It bounds no error rate: of p irrelevant features, about {level} p have a rate up to "
    "{level}. Probes of columns of many values are ranked higher where the measure favors these, "
    "as MDI does.",
    reference=_SOURCE,
    forests=lambda rounds, p: rounds,
    rate="probe rate",
    controls=False,
)
