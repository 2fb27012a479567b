"""Stability of sets of features on common paths: iterative random forests."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from duramen.data import EncodedTable, LearningSet
from duramen.data.learning_sets import learning_set_of
from duramen.importances.measures.mdi import mdi
from duramen.importances.measures.random_intersections import Leaves, checked
from duramen.importances.refit import check_task, seeded, template_of
from duramen.jobs.replicates import OBSERVED, ExecutionParameters, replicate_seed, run_jobs
from duramen.results.feature_sets import FeatureSets
from duramen.significance.resampling import SamplingUnits, bootstraps
from duramen.support import checks
from duramen.support.arrays import Arrays, FloatArray

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

_NAME = "stable_intersections"


def stable_intersections(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    pos_label: Any = None,
    n_iterations: int = 3,
    n_resamples: int = 20,
    n_draws: int = 500,
    depth: int = 5,
    n_children: int = 2,
    min_size: int = 2,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> FeatureSets:
    """Find the sets of features that are common on the paths of forests on resampled rows (iRF).

    A random forest is grown, and then, again and again, one that draws the candidates of a node by
    the mean decreases of impurity of the one before. With the last weights, one forest is grown on
    each of a number of bootstrap samples of the rows; the stability of a set is the fraction of
    them in which :func:`duramen.importances.random_intersections` finds it (Basu et al. 2018).

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    pos_label : label, optional
        Class whose leaves are drawn; by default all leaves.
    n_iterations : int
        Number of forests by which the weights of the features are found.
    n_resamples : int
        Number of bootstrap samples of the rows, within classes if there are any.
    n_draws, depth, n_children, min_size : int
        As for :func:`duramen.importances.random_intersections`.
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
    FeatureSets
        All sets that were found in a resample, the most stable ones first; `prevalence` is that in
        the last forest on all rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.

    Notes
    -----
    Stability is no error rate: two features with strong main effects are on common paths of nearly
    every forest, without an interaction.

    References
    ----------
    S. Basu, K. Kumbier, J. B. Brown, B. Yu (2018). Iterative random forests to discover predictive
    and stable high-order interactions. PNAS 115.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> y = (X[:, 1] > 0) & (X[:, 4] > 0)
    >>> forest = dm.GuidedForestClassifier(30, random_state=0)
    >>> sets = dm.significance.stable_intersections(
    ...     forest, X, y, pos_label=True, n_resamples=5, random_state=0)
    >>> sets.sets[0], float(sets.stability[0])
    (('x1', 'x4'), 1.0)
    """
    from duramen.estimators.guided_forest import importance_weights

    template = template_of(estimator, _NAME, survival=False)
    if not hasattr(template, "feature_weights"):
        raise TypeError(
            f"{_NAME}: estimator must be a GuidedForestClassifier or GuidedForestRegressor, got "
            f"{type(template).__name__}."
        )
    options = checked(_NAME, n_draws=n_draws, depth=depth, n_children=n_children, min_size=min_size)
    iterations = checks.check_integer(_NAME, "n_iterations", n_iterations, 1)
    n = checks.check_integer(_NAME, "n_resamples", n_resamples, 1)
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    plan, seed = execution.plan(_NAME), execution.seed()
    data = learning_set_of(X, y, _NAME)
    check_task(template, data.target, _NAME)
    weights, fitted = np.ones(data.n_columns), template
    for k in range(iterations):
        fitted = _weighted(template, weights, replicate_seed(seed, OBSERVED - k))
        fitted.n_jobs = plan.n_threads
        fitted.fit(data)
        used = weights
        weights = importance_weights(mdi(fitted).values)
    units = SamplingUnits.of(data)
    draw = units.rows(bootstraps(units.labels, units.count))

    def task(_: int, seed_b: int) -> Arrays:
        random = np.random.default_rng(seed_b)
        drawn: LearningSet[EncodedTable] = data.of_rows(draw(random), key=seed_b)
        forest = _weighted(template, used, int(random.integers(2**32))).fit(drawn).forest_
        sets = Leaves(forest, pos_label, _NAME).survivors(random, **options)
        sizes = np.array([len(features) for features in sets], dtype=np.int64)
        joined = [j for features in sets for j in features]
        return {"features": np.array(joined, dtype=np.int64), "sizes": sizes}

    choices = {**options, "n_iterations": iterations, "n_resamples": n, "pos_label": pos_label}
    identity = {
        "method": _NAME,
        "fingerprint": data.fingerprint,
        **data.exchangeability.identity(),
        "forest": fitted.forest_.settings.to_dict(),
        "n_trees": fitted.forest_.n_trees,
        **{what: str(value) for what, value in choices.items()},
    }
    leaves = Leaves(fitted.forest_, pos_label, _NAME)
    jobs = run_jobs(task, n, seed=seed, identity=identity, plan=plan, function=_NAME)
    counts: dict[tuple[int, ...], int] = {}
    for job in jobs:
        ends = np.cumsum(job["sizes"])[:-1]
        for features in np.split(job["features"], ends):
            if len(features):
                key = tuple(features.tolist())
                counts[key] = counts.get(key, 0) + 1
    sets = sorted(counts)
    stability: FloatArray = np.array([counts[key] / n for key in sets], dtype=np.float64)
    return leaves.result(sets, metadata={**identity, "seed": seed}, stability=stability)


def _weighted(template: BaseForest, weights: FloatArray, seed: int) -> Any:
    """Return an estimator with weights of the features, that is not fitted."""
    estimator: Any = seeded(template, seed)
    estimator.feature_weights = weights
    return estimator
