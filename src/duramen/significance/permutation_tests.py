"""Tests of importances against those under permuted labels, one feature at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, encode
from duramen.data.exchangeability import Exchangeability
from duramen.data.sources import names_of
from duramen.jobs.replicates import OBSERVED, ExecutionParameters, replicate_seed, run_replicates
from duramen.results.importances import Importances, PermutedImportances
from duramen.results.result import warn_of
from duramen.results.significance import ErrorRates, Significance
from duramen.significance.measured import PROMISE, MeasureLike, qualified
from duramen.significance.null_distributions import (
    DISTRIBUTIONS,
    expected_discoveries,
    fitted_tails,
    least_from,
    sequential_p_values,
)
from duramen.significance.permutations import permuted_labels, reads_permuted
from duramen.significance.significance_test import HUYNH_THU, SignificanceTest
from duramen.support import checks
from duramen.support.arrays import FloatArray, refuse_masked
from duramen.support.provenance import fingerprint, versions

# Data sets of noise of 100 x 100, of 100, in which q-values of a fitted distribution take something
# (docs/explanation/tests/calibration.md).
_TAKEN = {"normal": "64 to 70", "gamma": "21 to 25"}


@reads_permuted
def altmann(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    distribution: str = "empirical",
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test importances by permuting the target and growing the forest anew (PIMP).

    .. math:: p_j = \frac{1 + \#\{s : v_{sj} \ge v_j\}}{S + 1}

    with v_j the importance of feature j and v_sj the same after the s-th of S permutations of the
    target (Altmann et al. 2010). The null hypothesis is complete: the target is independent of all
    features together. Where some features are relevant, those that are correlated with them depend
    on the target too, and are found like any associated feature. Features that are independent of
    the target and of the relevant ones tend to have larger p-values than under the null hypothesis,
    since relevant features take splits that they would get by chance.

    Parameters
    ----------
    estimator : estimator of duramen, or PermutedImportances
        Parameters of the forests; it is cloned, not changed. Or the result of
        `permuted_importances`, in place of the data and of all other arguments that are about
        growing forests.
    X : table of shape (n, p), or LearningSet
        The rows; None with PermutedImportances.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set, and with PermutedImportances.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "auto" as
        in :func:`max_t`: "mdi_oob" if trees leave rows out, and trees of classes by entropy.
    n_permutations : int
        Number S of permutations.
    distribution : {"empirical", "normal", "lognormal", "gamma"}
        "empirical": the fraction above. Else the upper tail at v_j of that distribution, fitted to
        the S values of feature j by maximum likelihood; where these do not vary, or a
        Kolmogorov-Smirnov test rejects the fit at .05, the empirical p-value stands.
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
    Significance
        ``scores`` are the importances; `details` hold "null_mean" and "null_sd" of the values
        under permutation, and for fitted distributions "fitted", 1 where the distribution was used.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, `strata` and `groups` leave nothing to exchange, or the
        checkpoint is of another run.

    Warns
    -----
    UserWarning
        If `strata` and `groups` allow fewer different arrangements than permutations are asked for,
        or a normal or gamma distribution was used: q-values from these are too small.

    Notes
    -----
    A function as `measure` is called with a fitted estimator and the encoded rows that it was grown
    on, and returns `Importances` or p numbers. Names are those of the testable measures in
    :data:`duramen.importances.catalogue`.

    Within strata, such as populations or batches, the null hypothesis is that the target is
    independent of the features given the stratum. Groups, such as persons or families, of one
    target value each exchange these values; others exchange all of their rows, in order, with
    groups of as many rows. With "holdout_mda" the rows of a group are also held out together.

    References
    ----------
    A. Altmann, L. Tolosi, O. Sander, T. Lengauer (2010). Permutation importance: a corrected
    feature importance measure. Bioinformatics 26.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.altmann(forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.selected(0.05, control="none")
    ('x0',)
    """
    name = "altmann"
    checks.check_choice(name, "distribution", distribution, ("empirical", *DISTRIBUTIONS))
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    permuted = permuted_labels(
        name, estimator, X, y, measure, n_permutations, execution, strata=strata, groups=groups
    )
    observed, null = permuted.importances.values, permuted.permuted
    n, p_values = len(null), sequential_p_values(observed, null, len(null))
    details = {"null_mean": null.mean(axis=0), "null_sd": null.std(axis=0)}
    notes = list[str]()
    if distribution != "empirical":
        tails, used = fitted_tails(observed, null, distribution)
        p_values = np.where(used, tails, p_values)
        details["fitted"] = used.astype(np.float64)
        notes.append(
            f"the p-values of {np.count_nonzero(used):,} of {used.size:,} features are tail "
            f"probabilities of a {distribution} distribution fitted to {n:,} values, the others "
            "fractions of the permutations; only the latter are exact, and a fitted tail is an "
            "extrapolation far beyond the permutations"
        )
        if distribution in _TAKEN and used.any():
            notes.append(
                f"q-values of {distribution} tails are too small: in noise of 100 x 100, some "
                f"feature had one up to .05 in {_TAKEN[distribution]} of 100 data sets. Hint: use "
                "distribution='lognormal', or distribution='empirical' with more permutations"
            )
        warn_of(name, notes[1:])
    return Significance(
        names=permuted.names,
        scores=observed,
        p_values=p_values,
        method=name,
        null=permuted.null,
        unit=permuted.importances.unit,
        details=details,
        metadata={**permuted.metadata, "method": name, "distribution": distribution},
        notes=tuple(notes),
    )


ALTMANN = SignificanceTest(
    "altmann",
    altmann,
    "Altmann",
    PROMISE,
    reference="A. Altmann et al. (2010). Permutation importance: a corrected feature importance "
    "measure. Bioinformatics 26.",
    permutes=True,
)


# --- false discovery rate along a ranking (Huynh-Thu et al. 2012) ---------------------------------

FALSE_DISCOVERIES = (
    "Expected number of features that would score as high as this one if none were relevant, as "
    "a fraction of the number that do."
)


@reads_permuted
def fdr_curve(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ErrorRates:
    r"""Estimate the false discovery rate of the first i features of a ranking, for each i.

    .. math:: eFDR_i = \min\Bigl(1,\; \frac1B \sum_{b=1}^{B} \frac{\#\{k : s^b_k \ge s_i\}}{i}
              \Bigr)

    with :math:`s_1 \ge \dots \ge s_p` the importances in order, and s^b those after the b-th of B
    permutations of the target. The number of features that score s_i or more by chance alone, on
    average, is set against the i that do. The curve goes up and down; the rate of the first i
    features is its least value from i on, and taking the features whose rate is at most alpha is
    taking as many as the curve allows.

    It is an estimate of an expected fraction, not a bound with a proof. What it counts as false is
    a feature that is independent of the target; one that is correlated with a relevant feature is
    not, and is taken without being counted. All p features are counted as if none were relevant,
    and with permuted targets features that are independent of the target and of the relevant ones
    score higher than beside these: where some are relevant, the fraction of such false ones is
    mostly below alpha. Where none are, it is alpha or, with fewer than 100 permutations, a little
    more. Scores of all features are pooled: of columns that have different chances (few and many
    values) those with the better ones fill the selection. And the rate is a mean over many data
    sets: a single one may have many false ones while others have none, the more so the more
    features depend on each other. :func:`altmann` tests each feature against itself, and
    the q-values of :func:`max_t` are the same rates of standardized importances.

    Parameters
    ----------
    estimator : estimator of duramen, or PermutedImportances
        Parameters of the forests; it is cloned, not changed. Or the result of
        `permuted_importances`, in place of the data and of all other arguments that are about
        growing forests.
    X : table of shape (n, p), or LearningSet
        The rows; None with PermutedImportances.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set, and with PermutedImportances.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "auto" as
        in :func:`max_t`: "mdi_oob" if trees leave rows out, and trees of classes by entropy.
    n_permutations : int
        Number B of permutations.
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
    ErrorRates
        In the order of the ranking. `details` hold "estimate", eFDR_i before it was made monotone.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.

    Notes
    -----
    The cost is B + 1 forests. They and the permutations are those of :func:`altmann` with the same
    arguments, whose checkpoints serve here too.

    References
    ----------
    V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation of machine
    learning-based feature importance scores for biomarker discovery. Bioinformatics 28.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.fdr_curve(
    ...     forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.selected(0.05)
    ('x0',)
    """
    name = "fdr_curve"
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    permuted = permuted_labels(
        name, estimator, X, y, measure, n_permutations, execution, strata=strata, groups=groups
    )
    observed = permuted.importances
    order = np.argsort(-observed.values, kind="stable")
    scores, places = observed.values[order], np.arange(1, len(order) + 1)
    estimate = np.minimum(expected_discoveries(scores, permuted.permuted) / places, 1.0)
    return ErrorRates(
        names=tuple(observed.names[j] for j in order),
        scores=scores,
        rates=least_from(estimate),
        method=name,
        meaning=FALSE_DISCOVERIES + permuted.restrictions,
        unit=observed.unit,
        details={"estimate": estimate},
        metadata={**permuted.metadata, "method": name},
    )


FDR_CURVE = SignificanceTest(
    "fdr_curve",
    fdr_curve,
    "FDR curve",
    "The rate is an estimate of the fraction of features that are independent of the target among "
    "all up to this one, and no upper bound: one data set may have many false features while "
    "others have none. Features that are correlated with relevant ones are not counted as false.",
    reference=HUYNH_THU,
    permutes=True,
)


# --- any importance that a user can compute -------------------------------------------------------

Importance = Callable[[Any, NDArray[Any], int], Any]

NULL = "The target is independent of X: its values could be permuted among the rows in any order."


def permutation_test(
    importance: Importance,
    X: Any,
    y: Any,
    *,
    n_permutations: int = 100,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test any importance by computing it again with the target permuted.

    .. math:: p_j = \frac{1 + \#\{s : v_{sj} \ge v_j\}}{S + 1}

    with v_j what `importance` gives for feature j, and v_sj what it gives after the s-th of S
    permutations of the target: :func:`altmann` for functions instead of forests. If rows are
    exchangeable, P(p_j <= a) <= a under the complete null hypothesis that the target is independent
    of X, whatever the function does with X and y. A feature that is correlated with a relevant one
    depends on the target, and is found where the function sees it.

    Parameters
    ----------
    importance : callable
        ``importance(X, y, seed)`` returns p numbers, the larger the more important, or
        `Importances`. `X` is passed as it was given; `y` is an array; `seed`, in 0..2**32-1, is
        what all randomness of the function shall come from. With `n_jobs` it is called from
        several threads at a time, and must not change anything they share.
    X : any
        What `importance` takes. Features have the names of `Importances`, else of the columns of X
        if it has names, else ``x0``, ``x1``, ...
    y : array-like of shape (n,) or (n, k)
        Target; its rows are permuted.
    n_permutations : int
        Number S of permutations.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only (docs/how-to/tests/strata.md).
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together (docs/how-to/tests/strata.md).
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it. They gain time where `importance` spends it
        outside of Python, as forests do.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File in which finished permutations are kept; a run that was killed goes on from it, to the
        same bytes. It knows the run by the data, the seed, versions of packages and the *name* of
        the function (module and qualified name): after a change to what the function does, remove
        the file.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    Significance
        ``scores`` are what `importance` gives for the data as they are; `details` hold "null_mean"
        and "null_sd" of its values under permutation.

    Raises
    ------
    TypeError
        If `importance` cannot be called, or a checkpoint is wanted for data that cannot be
        recognized again.
    ValueError
        If `importance` does not return p finite numbers each time, an argument is not as
        described, or the checkpoint is of another run.

    Notes
    -----
    The cost is S + 1 calls of `importance`.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> def importance(X, y, seed):
    ...     return np.abs(np.corrcoef(X.T, y)[-1, :-1])
    >>> result = dm.significance.permutation_test(importance, data.X, data.y, random_state=0)
    >>> result.selected(0.1)
    ('x0', 'x1')
    """
    name = "permutation_test"
    n = checks.check_integer(name, "n_permutations", n_permutations, 1)
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    plan = execution.plan(name)
    target = np.asarray(refuse_masked(y, "y", name))
    if target.ndim == 0 or not len(target):
        raise ValueError(f"{name}: y must have at least one row, got shape {target.shape}.")
    rows = Exchangeability.checked(len(target), strata, groups, function=name)
    if not callable(importance):
        raise checks.refuse(name, "importance", "a function importance(X, y, seed)", importance)
    rows.require(n, name, target)
    try:
        of_table = fingerprint(X) if isinstance(X, np.ndarray) else _encoded(X).fingerprint()
        labels = target if target.dtype.kind in "biufc" else target.astype(str)
        known: str | None = fingerprint(of_table, labels)
    except (TypeError, ValueError) as error:
        if checkpoint is not None:
            raise TypeError(
                f"{name}: X, of type {type(X).__name__}, cannot be recognized by its values, which "
                f"a checkpoint needs ({error}). Hint: give an array or a data frame, or no "
                "checkpoint."
            ) from None
        known = None
    identity: dict[str, Any] = {
        "method": name,
        "importance": qualified(importance),
        "data": known,
        "versions": versions(),
        **rows.identity(),
    }
    seed = execution.seed()

    def values_of(y: NDArray[Any], seed: int, p: int | None = None) -> tuple[Any, FloatArray]:
        """Return the result of the function and its numbers, p if that is known."""
        result = importance(X, y, seed)
        values = np.asarray(result.values if isinstance(result, Importances) else result)
        numbers = values.ndim == 1 and values.dtype.kind in "biuf"
        if not numbers or len(values) != (p or len(values) or 1) or not np.isfinite(values).all():
            raise ValueError(
                f"{name}: importance must return {p or 'p'} finite numbers each time, or "
                f"Importances, got {type(result).__name__} of shape {values.shape} and type "
                f"{values.dtype}, or NaN or infinity among them."
            )
        return result, values.astype(np.float64)

    first, observed = values_of(target.copy(), replicate_seed(seed, OBSERVED) % 2**32)
    if not isinstance(first, Importances):
        names = X.names if isinstance(X, EncodedTable) else names_of(X) or ()
        if len(names) != len(observed):
            names = [f"x{j}" for j in range(len(observed))]
        first = Importances(tuple(map(str, names)), observed, identity["importance"], "1")

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        order = rows.permutation(random, target)
        return values_of(target[order], int(random.integers(2**32)), len(observed))[1]

    null = run_replicates(
        task, n, len(observed), seed=seed, identity=identity, plan=plan, function=name
    )
    result = altmann(PermutedImportances(first, null))
    metadata = {**identity, "n_permutations": n, "seed": seed}
    return replace(result, method=name, null=NULL + rows.clause, metadata=metadata)


def _encoded(X: Any) -> EncodedTable:
    return X if isinstance(X, EncodedTable) else encode(X)
