"""MDI of features less MDI of their shadows, permuted copies of them (AIR, Sandri)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.data.recoding import with_shadows
from duramen.forests.forest import Forest, mean_decreases
from duramen.forests.structure import Nodes, decreases
from duramen.importances.arguments import metadata_of
from duramen.importances.measure import SCATTERS, Measure, Sums, Tally, TreeSums
from duramen.importances.refit import data_for, repeat_seeds, template_of
from duramen.jobs.replicates import Plan
from duramen.jobs.workers import running
from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray, RandomState, TableLike
from duramen.support.checks import check_integer, draw_seed

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest


def shadowed_forest(
    template: BaseForest,
    data: LearningSet[EncodedTable],
    seeds: NDArray[np.uint32],
    function: str,
) -> Forest:
    """Grow a forest on the p columns of a table and their p shadows, which follow them.

    A tree sees as many columns, and a node has as many candidates K, as without shadows: both are
    resolved for p columns, and drawn from 2p. `seeds` are those of the permutation of the rows and
    of the forest. `data_for` has cleared `categorical_features` of the template.
    """
    settled = template.growth_settings(*data.table.shape)
    order = data.exchangeability.permutation(np.random.default_rng(int(seeds[0])))
    from sklearn.base import clone

    estimator: BaseForest = clone(template)
    estimator.max_features = settled.max_features
    estimator.n_subspace_features = settled.column_samples or None
    estimator.oob_score = False
    estimator.random_state = int(seeds[1])
    table = with_shadows(data.table, order, function=function)
    return estimator.fit(data.with_table(table, key=("shadows", seeds.tolist()))).forest_


def _prepared(
    function: str, estimator: Any, X: Any, y: Any, strata: Any, groups: Any, random_state: Any
) -> tuple[BaseForest, LearningSet[EncodedTable], int]:
    """Return the template of the forests, rows that can be permuted, and the seed."""
    template = template_of(estimator, function, survival=False)
    data = data_for(template, X, y, function, allow_one_class=True, strata=strata, groups=groups)
    seed = draw_seed(template.random_state if random_state is None else random_state)
    data.exchangeability.require(1, function)
    return template, data, seed


# --- actual impurity reduction (AIR) --------------------------------------------------------------


def air(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Importances:
    r"""Compute the actual impurity reduction: MDI of each column less MDI of its shadow.

    The rows of X are permuted once, all columns by the same permutation, and the p columns of
    this copy, the shadows, stand beside the p columns of X while a forest grows. With
    :math:`\tilde X_m` the shadow of :math:`X_m`, and the notation of `mdi`,

    .. math:: AIR(X_m) = \frac1T \sum_T \Bigl[ \sum_{t: v(t) = X_m} p(t) \, \Delta i(t)
        - \sum_{t: v(t) = \tilde X_m} p(t) \, \Delta i(t) \Bigr].

    A column of many values finds a good cut by chance more often than one of few, and so does its
    shadow: what both win by chance cancels out. Negative values are as likely as positive ones
    where a column is irrelevant.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only.
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together.
    random_state : int, RandomState, Generator or None
        Where permutation and forest come from; None takes the estimator's own.

    Returns
    -------
    Importances
        ``measure="air"``, in the criterion's unit, not normalized. `standard_error` is that of the
        mean difference over the trees (None for a single tree): the uncertainty by the size of the
        forest, with this permutation. It knows nothing of other permutations (`sandri` does) nor of
        other data.

    Raises
    ------
    TypeError
        If `estimator` is not an estimator of this package.
    ValueError
        If its parameters, `X` or `y` are not as they must be, or `strata` and `groups` leave
        nothing to exchange.
    MemoryError
        If the table does not fit twice into memory.

    Notes
    -----
    *Candidates.* K and the size of subspaces are resolved for p columns and drawn from the 2p, as
    in the authors' implementation. K = "all" thus means p of 2p columns at every node.

    *What is exact.* If y has nothing to do with X, and the rows are a random sample, columns and
    shadows can change places without anybody noticing: every value has mean 0 exactly, for any
    splits, criterion and K. With relevant columns around this holds nearly for those that are
    independent of them. A column that is correlated with a relevant one is not null in this sense
    and gets a positive value.

    *The price.* Half of the candidates are noise, which leaves fewer splits to the relevant
    columns: values are smaller than those of `mdi`. The forest that was grown is not returned, as
    it must not be used for predictions.

    References
    ----------
    S. Nembrini, I. R. König, M. N. Wright (2018). The revival of the Gini importance?
    Bioinformatics 34(21), section 2.2.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.importances.air(forest, data.X, data.y)
    >>> result.top(2).names
    ('x0', 'x1')
    """
    template, data, seed = _prepared("air", estimator, X, y, strata, groups, random_state)
    forest = shadowed_forest(template, data, repeat_seeds(seed, 1)[0], "air")
    p = data.n_columns
    tally = Tally(p)

    def add() -> Sums[None]:
        while (run := (yield forest, 0)) is not None:
            is_own = run.feature < p
            feature = np.where(is_own, run.feature, run.feature - p).astype(np.int32)
            nodes = Nodes(replace(run, feature=feature))
            gain = np.where(is_own, 1.0, -1.0) * nodes.fractions() * decreases(run)
            tally.add(nodes, gain, n_trees=run.n_trees)

    TreeSums(add()).importances()
    values, error, _ = tally.means()
    choices = {"estimator": type(template).__name__, **data.exchangeability.identity()}
    metadata = metadata_of(forest, "air", **choices)
    return Importances(
        names=data.names,
        values=values,
        measure="air",
        unit=forest.settings.unit,
        standard_error=error,
        metadata={**metadata, "seed": seed, "fingerprint": data.fingerprint},
    )


AIR = Measure(
    "air",
    lambda inputs: air(inputs.estimator, inputs.data, random_state=inputs.random_state),
    "AIR",
    "AIR, the actual impurity reduction, is the MDI of the feature minus that of its shadow, "
    "a copy with permuted rows, in a new forest grown on both: what a feature gains by "
    "chance cancels out. It is given in {unit}.",
    SCATTERS,
    reference="S. Nembrini, I. R. König, M. N. Wright (2018). The revival of the Gini importance? "
    "Bioinformatics 34.",
    refits=True,
    permutes=True,
)


# --- the correction of Sandri and Zuccolotto ------------------------------------------------------


def sandri(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    n_repeats: int = 20,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    client: Any = None,
) -> Importances:
    r"""Compute MDI of each column less MDI of its shadow, averaged over permutations.

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
        Stratum of each row; rows are exchanged within strata only.
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together.
    random_state : int, RandomState, Generator or None
        Where permutations and forests come from; None takes the estimator's own.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.

    Returns
    -------
    Importances
        ``measure="sandri"``, in the criterion's unit, not normalized; values can be negative.
        `standard_error` is that of the mean over the repeats (None for a single one): the
        uncertainty by the number of permutations and the size of forests, not by the sample.

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
    repeats = check_integer("sandri", "n_repeats", n_repeats, 1)
    plan = Plan.checked("sandri", None, client=client)
    template, data, seed = _prepared("sandri", estimator, X, y, strata, groups, random_state)
    p = data.n_columns
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

    with running(task, 1, plan.cluster) as run:  # a forest grows on several threads by itself
        repeats_done = list(run(zip(repeat_seeds(seed, repeats), strict=True)))
    gains = np.stack([values for values, _, _ in repeats_done])
    error = gains.std(axis=0, ddof=1) / np.sqrt(repeats) if repeats > 1 else None
    _, metadata, unit = repeats_done[-1]
    return Importances(
        names=data.names,
        values=gains.mean(axis=0),
        measure="sandri",
        unit=unit,
        standard_error=error,
        metadata={**metadata, "seed": seed, "fingerprint": data.fingerprint},
    )


SANDRI = Measure(
    "sandri",
    lambda inputs: sandri(inputs.estimator, inputs.data, random_state=inputs.random_state),
    "Sandri-Zuccolotto",
    "Sandri-Zuccolotto is the MDI of the feature minus that of its shadow, a copy with "
    "permuted rows, averaged over new forests, each with other shadows; in {unit}.",
    SCATTERS,
    reference="M. Sandri, P. Zuccolotto (2008). A bias correction algorithm for the Gini variable "
    "importance measure in classification trees. Journal of Computational and Graphical "
    "Statistics 17.",
    refits=True,
    permutes=True,
    spread="shadows",
)
