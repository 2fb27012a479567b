"""Tests of features against random probes that are ranked along with them."""

from __future__ import annotations

import math
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import ClassTarget, NumberTarget, Target, encode
from duramen.data.encoded import refuse_unordered
from duramen.data.recoding import with_probes, with_shadows
from duramen.data.target import target_array
from duramen.importances.refit import is_model
from duramen.results.significance import ErrorRates, Significance
from duramen.significance.measured import HUYNH_THU, MeasureLike, Refits, SignificanceTest
from duramen.support import checks
from duramen.support.arrays import FloatArray, RandomState, TableLike
from duramen.support.provenance import fingerprint, versions
from duramen.support.text import quoted


def _probed(
    refits: Refits, runs: int, count: int | None, **choices: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the importances of the p features, (B, p), and of R probes beside them, (B, R).

    Each of `count` probes is a copy of a column with its rows permuted, by a permutation of its
    own; which columns are copied is drawn at random, none twice before all were copied once. None:
    a copy of every column, all permuted alike, so that they keep their correlations. Probes leave
    the number of candidates K a node, and the size of subspaces, as they are: both are resolved for
    the p columns that the user gave, and drawn from all, as `duramen.importances.air` does.
    """
    subject, function = refits.subject, refits.function
    rows, table, p = subject.exchangeability, subject.data.table, subject.data.n_columns
    rows.require(runs, function)
    if not is_model(template := subject.template):
        settings = template.growth_settings(*table.shape)
        resolved = {
            "max_features": settings.max_features,
            "n_subspace_features": settings.column_samples or None,
        }
        own = template.get_params()
        template.set_params(**{name: value for name, value in resolved.items() if name in own})

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        if count is None:
            beside = with_shadows(table, rows.permutation(random), function=function)
        else:
            rounds = [random.permutation(p) for _ in range(-(-count // p))]
            orders = [rows.permutation(random) for _ in range(count)]
            columns = np.concatenate(rounds)[:count]
            beside = with_probes(table, columns, orders, function=function)
        data = subject.data.with_table(beside, key=("probes", count, seed_b))
        return subject.scores(int(random.integers(2**32)), data=data)

    width = p + (p if count is None else count)
    scores = refits.run(task, runs, width, subject.identity(function, **choices))
    return scores[:, :p], scores[:, p:]


def _probe_rates(
    refits: Refits,
    features: FloatArray,
    probes: FloatArray,
    meaning: str,
    metadata: dict[str, Any],
    *,
    add_one: bool = False,
    **details: FloatArray,
) -> ErrorRates:
    """Return the fraction of the probes of all runs that reach each feature, the least first.

    With `add_one` the feature itself counts as one of them. Equal rates are in the order of the
    mean importances.
    """
    reached, importance = np.zeros(features.shape[1], dtype=np.int64), features.mean(axis=0)
    for of_features, of_probes in zip(features, np.sort(probes, axis=1), strict=True):
        reached += len(of_probes) - np.searchsorted(of_probes, of_features, side="left")
    order = np.lexsort((-importance, reached))
    total = probes.size + add_one
    columns = {"importance": importance, **details}
    return ErrorRates(
        names=tuple(refits.subject.data.names[j] for j in order),
        scores=(probes.size - reached[order]) / total,
        rates=(reached[order] + add_one) / total,
        method=refits.function,
        meaning=meaning + refits.subject.exchangeability.clause,
        details={name: column[order] for name, column in columns.items()},
        metadata=metadata,
    )


# --- family-wise error rates from permuted copies of all columns ----------------------------------

BEST_PROBE = (
    "Probability that, among permuted copies of all columns, one would score as high as "
    "this feature does."
)


def multiple_probes(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    add_one: bool = True,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ErrorRates:
    r"""Estimate family-wise error rates from probes ranked along with the features (mProbes).

    In each of R runs the rows of X are permuted, all columns by the same permutation, and these p
    probes join the p features while a forest grows. With s_rj the importance of feature j in run r
    and s_r,p+k that of probe k,

    .. math:: FWER_j = \frac{1 + \#\{r : \max_k s_{r,p+k} \ge s_{rj}\}}{R + 1}

    (after Huynh-Thu et al. 2012).

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
        Number R of runs, with a forest each.
    add_one : bool
        Count the feature itself as a best probe that reaches it. False is the rate of the paper,
        b / R, which may be 0.
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
    ErrorRates
        By increasing rate, then by decreasing mean importance; ``selected(alpha)`` gives the
        features whose rate is at most alpha. ``scores`` are the fractions of the runs in which a
        feature beats all probes; `details` hold "importance", the mean over the runs, and
        "own_probe", the fraction of the runs in which the probe that copies the feature itself
        scores as high: a p-value of that feature alone.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.
    MemoryError
        If the table does not fit twice into memory.

    Notes
    -----
    If no feature is relevant, features and probes can change places as a whole. If forests did not
    vary, P(any rate <= alpha) would be alpha or less, and (alpha R + 1) / (R + 1) without
    `add_one`; with few trees rates are larger. Where some features are relevant, the same holds
    nearly for features that are independent of the target and of these. Those that are correlated
    with relevant ones are associated with the target, while probes are not, and are taken more
    often. "own_probe" is fair to columns of few and of many values alike, whatever the measure; the
    rates are not, since the best probe is most often one of many values. The guide has figures.

    One permutation for all columns keeps their correlations among the probes, so that the best of
    them reaches as far as the best of as many correlated features. K is resolved for p columns and
    drawn from 2p, as for :func:`duramen.importances.air`: forests should have twice the trees.
    Groups exchange all of their rows with groups of as many rows. The cost is R forests of 2p
    columns.

    References
    ----------
    V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine
    learning-based feature importance scores for biomarker discovery. Bioinformatics 28.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.multiple_probes(
    ...     forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.selected(0.05)
    ('x0',)
    """
    name = "multiple_probes"
    runs = checks.check_integer(name, "n_permutations", n_permutations, 1)
    add_one = checks.check_flag(name, "add_one", add_one)
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.of(name, estimator, X, y, measure, execution, strata=strata, groups=groups)
    features, probes = _probed(refits, runs, None)
    own = (np.count_nonzero(probes >= features, axis=0) + add_one) / (runs + add_one)
    return _probe_rates(
        refits,
        features,
        probes.max(axis=1, keepdims=True),
        BEST_PROBE,
        refits.metadata(n_permutations=runs, add_one=add_one),
        add_one=add_one,
        own_probe=own,
    )


MULTIPLE_PROBES = SignificanceTest(
    "multiple_probes",
    multiple_probes,
    "multiple probes",
    "If the target is independent of all features, the probability that any of them has a rate "
    "up to alpha is about alpha, or less. Features that are correlated with relevant ones are "
    "associated with the target, unlike probes, and may be selected with them. The best probe is "
    "most often one with many values, so that features with few values have larger rates.",
    reference=HUYNH_THU,
    forests=lambda rounds, p: rounds,
)


# --- p-values from one random probe ---------------------------------------------------------------

NULL = (
    "The feature is a random probe: it is no more associated with the target than a random "
    "column of the table whose rows were permuted."
)


def one_probe(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    add_one: bool = True,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test features against a random probe that is ranked along with them (1Probe).

    In each of R runs a column is drawn at random, its rows are permuted, and this probe joins the
    p features while a forest grows. With s_rj the importance of feature j in run r and s_r0 that
    of the probe,

    .. math:: p_j = \frac{1 + \#\{r : s_{r0} \ge s_{rj}\}}{R + 1}

    (after Huynh-Thu et al. 2012).

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
        Number R of runs, with a forest each.
    add_one : bool
        Count the feature itself as a probe that reaches it. False is the p-value of the paper,
        b / R, which may be 0; its q-value is then 0 too.
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
    Significance
        ``scores`` are the mean importances over the runs.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.

    Notes
    -----
    Where all columns have one distribution, an irrelevant feature is in each run as good as the
    probe. If forests did not vary, P(p_j <= alpha) would be alpha or less, and (alpha R + 1) / (R +
    1) without `add_one`; with few trees the test is cautious. A probe copies any column: if the
    measure favors columns of many values, as MDI does, their p-values are too small and those of
    columns with few values too large. A feature that is correlated with a relevant one beats the
    probe, which has lost its correlations. The guide has figures.

    K is resolved for the p columns, and drawn from p + 1. Groups exchange all of their rows with
    groups of as many rows. Strata are not possible: within them the probe of a column would keep
    the association that the column has through them, and one column is compared with probes of
    others. The cost is R forests of p + 1 columns.

    References
    ----------
    V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine
    learning-based feature importance scores for biomarker discovery. Bioinformatics 28.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.one_probe(
    ...     forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.selected(0.05, control="none")
    ('x0',)
    """
    name = "one_probe"
    runs = checks.check_integer(name, "n_permutations", n_permutations, 1)
    add_one = checks.check_flag(name, "add_one", add_one)
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.of(name, estimator, X, y, measure, execution, groups=groups, takes_strata=False)
    features, probes = _probed(refits, runs, 1)
    return Significance(
        names=refits.subject.names,
        scores=features.mean(axis=0),
        p_values=(np.count_nonzero(probes >= features, axis=0) + add_one) / (runs + add_one),
        method=name,
        null=NULL + refits.subject.exchangeability.clause,
        metadata=refits.metadata(n_permutations=runs, add_one=add_one),
    )


ONE_PROBE = SignificanceTest(
    "one_probe",
    one_probe,
    "one probe",
    "If all features have one distribution, one that is independent of the target and of the "
    "other features has a p-value up to alpha with probability alpha or less. Features that are "
    "correlated with relevant ones are selected more often. If features differ in their numbers of "
    "values, the p-values of those with many values are too small for measures such as MDI.",
    reference=HUYNH_THU,
    forests=lambda rounds, p: rounds,
)


# --- a random probe ranked along with the features (Stoppiglia et al. 2003) -----------------------

PROBE_FIRST = "{what} that {probes}, ranked along with the features, would come before this one."

# A column, or the target, of which no more than this fraction of the squared length is left after
# projections lies in the span of those that were ranked.
_NOTHING_LEFT = 1e-20


def probe_ranking(
    X: TableLike,
    y: ArrayLike | None,
    *,
    alpha: float = 0.05,
    n_probes: int = 1,
    centered: bool = True,
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
    centered = checks.check_flag(name, "centered", centered)
    table = encode(X)
    hint = "give one column of 0 and 1 for each label, or use forest_probe_ranking."
    refuse_unordered(table, name, f"and cannot be ranked as one column of numbers. Hint: {hint}")

    # The target, and the columns, as scaled numbers.
    values = target_array(y, n_rows=table.n_rows, function=name)
    encoding = NumberTarget if values.dtype.kind in "iuf" else ClassTarget
    target: Target = encoding.encode(values, function=name)
    if encoding is ClassTarget and target.n_classes != 2:
        raise ValueError(
            f"{name}: y must be numbers or two labels, got {target.n_classes} labels. Hint: rank "
            "features for one label against the others, or use forest_probe_ranking."
        )
    rest = _scaled(target.values.astype(np.float64), centered)
    data = fingerprint(table.fingerprint(), rest)
    if not rest.any():
        raise ValueError(f"{name}: y is constant, so that no feature is associated with it.")
    columns = np.empty((table.n_rows, table.n_columns), order="F")
    for j, column in enumerate(table.names):
        if table.missing[j]:
            raise ValueError(
                f"{name}: column {quoted(column)} has missing values. Hint: fill them in first, or "
                "leave it out."
            )
        numbers = table.values(j)
        if table.kinds[j] != "numeric":
            numbers = np.arange(len(numbers))
        columns[:, j] = _scaled(numbers.astype(np.float64)[table.codes(j)], centered)
    lengths = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(lengths > 0, lengths, 1.0)

    # The column with the largest cos^2 at each step, until the rate is alpha or nothing is left.
    ranked, steps = list[int](), list[tuple[float, float, float]]()
    whole, none_yet, n_known = float(rest @ rest), 0.0, table.n_columns
    for freedom in range(len(rest) - centered, 1, -1):
        left = np.einsum("ij,ij->j", columns, columns)
        there = left > _NOTHING_LEFT
        if not there.any() or float(rest @ rest) <= _NOTHING_LEFT * whole:
            break
        cos2 = np.zeros(len(left))
        cos2[there] = (rest @ columns[:, there]) ** 2 / (left[there] * (rest @ rest))
        best = int(np.argmax(cos2))
        p_probe = probe_tail(float(cos2[best]), freedom)
        none_yet += math.log1p(-p_probe) if p_probe < 1 else -math.inf  # a logarithm
        rate = max(0.0, -math.expm1(m * none_yet))
        ranked.append(best)
        steps.append((min(float(cos2[best]), 1.0), p_probe, rate))
        if rate > alpha:
            n_known = len(steps)
            break
        axis = columns[:, best] / np.sqrt(left[best])
        rest = rest - axis * (axis @ rest)
        columns = columns - np.outer(axis, axis @ columns)
        columns[:, best] = 0.0
    others = np.setdiff1d(np.arange(table.n_columns), np.array(ranked, dtype=np.int64))
    after = np.tile([0.0, 1.0, 1.0], (len(others), 1))
    cos2, p_values, rates = np.concatenate([np.reshape(steps, (-1, 3)), after]).T
    return ErrorRates(
        names=tuple(table.names[j] for j in (*ranked, *others)),
        scores=1.0 - rates,
        rates=rates,
        method=name,
        meaning=_meaning("Upper bound of the probability", m),
        n_known=n_known,
        details={"cos2": cos2, "p_probe": p_values},
        metadata={
            "method": name,
            "alpha": float(alpha),
            "n_probes": m,
            "centered": centered,
            "n_rows": table.n_rows,
            "data": data,
            "versions": versions(),
        },
    )


def forest_probe_ranking(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    measure: MeasureLike = "auto",
    n_probes: int | None = None,
    n_permutations: int = 10,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ErrorRates:
    r"""Rank probes along with the features in forests, and count probes before each feature.

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
    checks.check_optional_integer(name, "n_probes", n_probes, 1)
    execution = (random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.of(name, estimator, X, y, measure, execution, groups=groups, takes_strata=False)
    m = len(refits.subject.names) if n_probes is None else int(n_probes)
    features, probes = _probed(refits, runs, m, n_probes=m)
    metadata = refits.metadata(n_probes=m, n_permutations=runs)
    return _probe_rates(refits, features, probes, _meaning("Probability", 1), metadata)


def probe_tail(cos2: float, freedom: int) -> float:
    """Return the probability that a probe has a cos^2 of at least this with a fixed vector.

    It is the upper tail of Beta(1/2, (nu - 1)/2), with `freedom` nu >= 2 the dimension of the space
    that both lie in.
    """
    from scipy.stats import beta

    return float(beta.sf(min(max(cos2, 0.0), 1.0), 0.5, (freedom - 1) / 2))


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
    return PROBE_FIRST.format(what=what, probes=which)


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
