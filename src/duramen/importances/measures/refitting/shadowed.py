"""Forests grown on a table and its shadow features: gains of columns beyond their shadows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.data.recoding import with_shadows
from duramen.forests.forest import Forest
from duramen.forests.structure import decreases
from duramen.importances.passes.nodes import Nodes, Tally, blocks

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest


def shadowed_forest(
    template: BaseForest,
    data: LearningSet[EncodedTable],
    seeds: NDArray[np.uint32],
    function: str,
) -> Forest:
    """Grow a forest on the 2p columns of a table and of its shadows, column p + j that of column j.

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


def differences(forest: Forest) -> Tally:
    """Tally the decreases of impurity of p columns, less those of their shadows.

    A tree counts with the sum over the nodes t that split on column j of p(t) times their decrease,
    minus the same sum for column p + j.
    """
    p = forest.n_features // 2
    tally = Tally(p)
    for run in blocks(forest):
        feature = np.where(run.feature < p, run.feature, run.feature - p)
        nodes = Nodes(replace(run, feature=feature.astype(np.int32)))
        sign = np.where(run.feature < p, 1.0, -1.0)
        total = run.weight[run.offsets[:-1]][nodes.tree]
        fraction = run.weight / np.where(total > 0, total, 1.0)
        tally.add(nodes, sign * fraction * decreases(run), n_trees=run.n_trees)
    return tally
