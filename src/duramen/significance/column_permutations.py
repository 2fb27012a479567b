"""P-values by permuting one column at a time and refitting (Hapfelmeier and Ulm 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from duramen.data.recoding import with_permuted
from duramen.jobs.replicates import ExecutionParameters, Steps, replicate_seed
from duramen.results.significance import Significance
from duramen.significance.measured import MeasureLike, Refits
from duramen.significance.null_distributions import sequential_p_values
from duramen.significance.significance_test import SignificanceTest
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

NULL = (
    "The feature is independent of the target and the other features, taken together: its values "
    "could be permuted among the rows in any order."
)


def hapfelmeier(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    measure: MeasureLike = "mda",
    n_permutations: int = 100,
    features: Sequence[str | int] | None = None,
    stop_after: int | None = None,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test features by permuting one at a time and growing the forest anew.

    .. math:: p_j = \frac{1 + \#\{l : v_{jl} \ge v_j\}}{L + 1}

    with v_j the importance of feature j, and v_jl the same in a forest grown after the l-th of L
    permutations of its column alone (Hapfelmeier and Ulm 2013). The other
    features keep what they say about the target, unlike under :func:`altmann`, so that a feature is
    compared with a useless one among the same rivals.

    P(p_j <= a) <= a for a feature that is independent of the target *and of the other features*. A
    feature that is irrelevant but correlated with a relevant one is none of these: its
    p-value may be small. ``selected(control="fwer")`` is Holm's form of the authors' Bonferroni
    correction (p_j < a / p), ``control="none"`` their uncorrected test; the smallest p-value being
    1 / (L + 1), p features at level a need L >= p / a - 1 permutations for either of "fwer" and
    "fdr" to find a single one.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. By
        default MDA, as published; it needs forests with out-of-bag rows, others take "mdi".
    n_permutations : int
        Number L of permutations of each feature.
    features : sequence of str or int, optional
        Names or indices of the features to test, chosen before looking at the data; all by default.
    stop_after : int, optional
        h: leave a feature alone after its h-th value as large as its own; when that is the l-th,
        p = h / l (Besag and Clifford 1991). Valid p-values, and most irrelevant features cost some
        2 h forests instead of L.
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
        Of the tested features, in the order of `features`. ``scores`` are the importances;
        `details` hold "draws", the permutations that the p-value rests on.

    Raises
    ------
    TypeError
        If `estimator` is none of this package, or a feature neither name nor index.
    ValueError
        If a feature does not exist or comes twice, an argument is not as described, or the
        checkpoint is of another run.

    Notes
    -----
    Groups exchange all of their rows with groups of as many rows. P-values of a feature depend
    neither on which others are tested, nor on `stop_after` as long as it does not stop them.

    The cost is p L forests: the most expensive test of this package. `estimate_cost` tells it
    beforehand; `features` and `stop_after` lower it.

    References
    ----------
    A. Hapfelmeier, K. Ulm (2013). A new variable selection approach using random forests.
    Computational Statistics & Data Analysis 60. J. Besag, P. Clifford (1991). Sequential Monte
    Carlo p-values. Biometrika 78.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.hapfelmeier(
    ...     forest, data.X, data.y, features=[0, 5], n_permutations=19, random_state=0)
    >>> result.selected(0.05, control="none")
    ('x0',)
    """
    name = "hapfelmeier"
    n = checks.check_integer(name, "n_permutations", n_permutations, 1)
    checks.check_optional_integer(name, "stop_after", stop_after, 1)
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    refits = Refits.checked(name, estimator, X, y, measure, execution, strata=strata, groups=groups)
    subject, seed = refits.subject, refits.seed
    subject.exchangeability.require(n, name)
    every = range(len(subject.names)) if features is None else features
    columns = checks.places_of(every, subject.names, f"{name}: features")
    importances = refits.observed()
    observed = importances.values[columns]
    names = tuple(subject.names[j] for j in columns)
    choices: dict[str, Any] = {
        "features": list(names),
        "n_permutations": n,
        "stop_after": stop_after,
    }

    def task(_: int, __: int, column: int, draw: int) -> FloatArray:
        """Return the importance of a column after a permutation of its rows, shape (1,)."""
        random = np.random.default_rng(replicate_seed(replicate_seed(seed, column), draw))
        order = subject.exchangeability.permutation(random)
        table = with_permuted(subject.data.table, [column], order)
        data = subject.data.with_table(table, key=(seed, column, draw))
        return subject.scores(int(random.integers(2**32)), data=data)[[column]]

    waves = _waves(columns, observed, n, stop_after)
    values, places = refits.follow(task, len(columns) * n, 1, waves, **choices)
    p_values, draws = np.empty((2, len(columns)))
    for i in range(len(columns)):
        null = values[places == i]
        p_values[i] = sequential_p_values(observed[[i]], null, n, stop_after)[0]
        reached = np.cumsum(null[:, 0] >= observed[i])
        draws[i] = len(null) if stop_after is None else 1 + (reached[:-1] < stop_after).sum()
    return Significance(
        names=names,
        scores=observed,
        p_values=p_values,
        method=name,
        null=NULL + subject.exchangeability.clause,
        unit=importances.unit,
        details={"draws": draws},
        metadata=refits.metadata(**choices, n_grown=len(values)),
    )


def _waves(
    columns: list[int], observed: FloatArray, n_draws: int, stop_after: int | None
) -> Steps[IntArray]:
    """Yield column and number of the draw of permutations of the features, by what the last gave.

    Without early stopping they come all at once. With it they come in waves: in each, a feature
    that has g of h values as large as its own after l draws gets h - g more, which it needs in any
    case, or l / 4 if that is more. So few waves are enough to keep all threads busy, and at most a
    fifth of the draws of a feature come after it was decided. They are not used. The outcome is the
    place of the feature of each draw among the columns.
    """
    places = list[IntArray]()
    draws, reached = np.zeros((2, len(columns)), dtype=np.int64)
    while True:
        wave = n_draws - draws
        if stop_after is not None:
            missing = stop_after - reached
            wanted = np.minimum(np.maximum(missing, draws // 4), wave)
            wave = np.where(missing > 0, wanted, 0)
        if not wave.any():
            return np.concatenate(places)
        place = np.repeat(np.arange(len(wave)), wave)
        within = np.arange(len(place)) - np.repeat(np.cumsum(wave) - wave, wave)
        numbers = (draws[place] + within).tolist()
        values = yield [(columns[i], draw) for i, draw in zip(place, numbers, strict=True)]
        reached += np.bincount(place[values[:, 0] >= observed[place]], minlength=len(wave))
        draws += wave
        places.append(place)


HAPFELMEIER = SignificanceTest(
    "hapfelmeier",
    hapfelmeier,
    "Hapfelmeier",
    "A feature that is independent of the target and of the other features has a p-value up to "
    "alpha with probability at most alpha. A feature that is correlated with a relevant one is "
    "not independent, and may have a small p-value although it adds nothing.",
    reference="A. Hapfelmeier, K. Ulm (2013). A new variable selection approach using random "
    "forests. Computational Statistics & Data Analysis 60.",
    forests=lambda rounds, p: rounds * p,
    stops_early=True,
)
