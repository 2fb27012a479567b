"""P-values of importances from permuted targets (PIMP; Altmann et al. 2010)."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.jobs.replicates import ExecutionParameters
from duramen.results.fields import warn_of
from duramen.results.significance import Significance
from duramen.significance.measured import MeasureLike
from duramen.significance.p_values.nulls import DISTRIBUTIONS, fitted_tails
from duramen.significance.permuted_labels import permuted_labels, reads_permuted
from duramen.significance.refits import PROMISE
from duramen.significance.sequential import sequential_p_values, until_decided
from duramen.significance.significance_test import SignificanceTest
from duramen.support import checks

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
    stop_after: int | None = None,
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
    stop_after : int, optional
        h: stop the permutations once every feature has reached h values as large as its own
        (Besag and Clifford 1991). A feature that had its h-th at permutation l gets p = h / l,
        the others as above. Valid p-values at less cost; "empirical" only.
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
    feature importance measure. Bioinformatics 26. J. Besag, P. Clifford (1991). Sequential Monte
    Carlo p-values. Biometrika 78.

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
    checks.check_optional_integer(name, "stop_after", stop_after, 1)
    if stop_after is not None and distribution != "empirical":
        raise ValueError(
            f'{name}: stop_after needs distribution="empirical"; an early stop depends on the '
            "permuted importances and changes their distribution."
        )
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    rows = {"strata": strata, "groups": groups}
    permuted = permuted_labels(
        name, estimator, X, y, measure, n_permutations, execution, stop_after=stop_after, **rows
    )
    observed = permuted.importances.values
    null = until_decided(observed, permuted.permuted, stop_after)
    p_values = sequential_p_values(observed, null, len(null), stop_after)
    details = {"null_mean": null.mean(axis=0), "null_sd": null.std(axis=0)}
    notes: tuple[str, ...] = ()
    if distribution != "empirical":
        tails, used = fitted_tails(observed, null, distribution)
        p_values = np.where(used, tails, p_values)
        details["fitted"] = used.astype(np.float64)
        notes = _limits_of_fit(distribution, used, len(null))
        warn_of(name, notes[1:])
    return Significance(
        names=permuted.names,
        scores=observed,
        p_values=p_values,
        method=name,
        null=permuted.null,
        unit=permuted.importances.unit,
        details=details,
        metadata={
            **permuted.metadata,
            "method": name,
            "n_grown": len(null),
            "distribution": distribution,
            "stop_after": stop_after,
        },
        notes=notes,
    )


def _limits_of_fit(
    distribution: str, used: NDArray[np.bool_], n_permutations: int
) -> tuple[str, ...]:
    """Return what is to be known of p-values from fitted distributions."""
    notes = [
        f"the p-values of {np.count_nonzero(used):,} of {used.size:,} features are tail "
        f"probabilities of a {distribution} distribution fitted to {n_permutations:,} values, the "
        "others fractions of the permutations; only the latter are exact, and a fitted tail is an "
        "extrapolation far beyond the permutations"
    ]
    if distribution in _TAKEN and used.any():
        notes.append(
            f"q-values of {distribution} tails are too small: in noise of 100 x 100, some feature "
            f"had one up to .05 in {_TAKEN[distribution]} of 100 data sets. Hint: use "
            "distribution='lognormal', or distribution='empirical' with more permutations"
        )
    return tuple(notes)


ALTMANN = SignificanceTest(
    "altmann",
    altmann,
    "Altmann",
    PROMISE,
    reference="A. Altmann et al. (2010). Permutation importance: a corrected feature importance "
    "measure. Bioinformatics 26.",
    permutes=True,
)
