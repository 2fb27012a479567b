"""The correction of Sandri and Zuccolotto: MDI less that of shadows, over many permutations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests.decreases import mean_decreases
from duramen.importances.arguments import metadata_of
from duramen.importances.measure import SCATTERS, Measure, Words
from duramen.importances.measures.refitting.shadowed import shadowed_forest
from duramen.importances.refit import data_for, repeat_seeds, template_of
from duramen.jobs.replicates import Plan
from duramen.jobs.workers import Threads
from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_integer, draw_seed


def sandri(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    n_repeats: int = 20,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    client: Any = None,
) -> Importances:
    r"""Compute MDI of each column less that of its shadow, averaged over permutations.

    Each of S repeats permutes the rows of X, all columns by the same permutation, to shadows
    :math:`Z = (Z_1, \dots, Z_p)`, grows a forest on the 2p columns of X and Z, and compares:

    .. math:: VI^*(X_m) = \frac1S \sum_{s=1}^{S} \bigl[ VI_s(X_m) - VI_s(Z_m) \bigr],

    with VI the mean decrease of impurity of `mdi`. After Sandri and Zuccolotto (2008).

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    n_repeats : int
        Number S of permutations, with a forest each. The first of them is that of `air` with the
        same `random_state`.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only (docs/how-to/tests/strata.md).
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together (docs/how-to/tests/strata.md).
    random_state : int, RandomState, Generator or None
        Where permutations and forests come from; None takes the estimator's own.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.

    Returns
    -------
    Importances
        ``measure="sandri"``, in the criterion's unit, not normalized; values can be negative.
        `standard_error` is that of the mean over the repeats (None for a single one): how far
        more permutations and larger forests could be, not how far other data could be.

    Raises
    ------
    TypeError
        If `estimator` is not an estimator of this package.
    ValueError
        If `n_repeats`, the parameters of the estimator, `X` or `y` are not as they must be, or
        `strata` and `groups` leave nothing to exchange.
    MemoryError
        If the table does not fit twice into memory.

    Notes
    -----
    K and the size of subspaces are resolved for p columns and drawn from 2p, as for `air`, which
    is this with S = 1: one larger forest costs as much as many small ones, but has the luck of a
    single permutation in it.

    References
    ----------
    M. Sandri, P. Zuccolotto (2008). A bias correction algorithm for the Gini variable importance
    measure in classification trees. Journal of Computational and Graphical Statistics 17(3).

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.importances.sandri(forest, data.X, data.y, n_repeats=5)
    >>> result.top(2).names
    ('x0', 'x1')
    """
    template = template_of(estimator, "sandri", survival=False)
    repeats = check_integer("sandri", "n_repeats", n_repeats, 1)
    plan = Plan.checked("sandri", None, client=client)
    data = data_for(template, X, y, "sandri", allow_one_class=True, strata=strata, groups=groups)
    seed = draw_seed(template.random_state if random_state is None else random_state)
    p = data.n_columns
    data.exchangeability.require(1, "sandri")
    choices = {
        "estimator": type(template).__name__,
        "n_repeats": repeats,
        **data.exchangeability.identity(),
    }

    def task(seeds: NDArray[np.uint32]) -> tuple[FloatArray, dict[str, Any], str]:
        forest = shadowed_forest(template, data, seeds, "sandri")
        values = mean_decreases(forest).values
        metadata = metadata_of(forest, "sandri", **choices)
        return values[:p] - values[p:], metadata, forest.settings.unit

    workers = plan.cluster or Threads(1)  # a forest grows on several threads by itself
    with workers.running(task) as run:
        repeats_done = list(run(zip(repeat_seeds(seed, repeats), strict=True)))
    gains = np.stack([values for values, _, _ in repeats_done])
    error = gains.std(axis=0, ddof=1) / np.sqrt(repeats) if repeats > 1 else None
    _, metadata, unit = repeats_done[-1]
    metadata["seed"] = seed
    metadata["fingerprint"] = data.fingerprint
    return Importances(
        names=data.names,
        values=gains.mean(axis=0),
        measure="sandri",
        unit=unit,
        standard_error=error,
        metadata=metadata,
    )


SANDRI = Measure(
    "sandri",
    lambda inputs: sandri(inputs.estimator, inputs.data, random_state=inputs.random_state),
    Words(
        "Sandri-Zuccolotto",
        "Sandri-Zuccolotto is the MDI of the feature minus that of its shadow, a copy with "
        "permuted rows, averaged over new forests, each with other shadows; in {unit}.",
        SCATTERS,
    ),
    reference="M. Sandri, P. Zuccolotto (2008). A bias correction algorithm for the Gini variable "
    "importance measure in classification trees. Journal of Computational and Graphical "
    "Statistics 17.",
    refits=True,
    permutes=True,
    spread="shadows",
)
