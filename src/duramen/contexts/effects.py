"""Effects of a context at the nodes of a forest, and importances within contexts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.contexts.inputs import Context, Growth
from duramen.forests.forest import Forest, mean_decreases
from duramen.forests.settings import CRITERIA
from duramen.forests.structure import parents, trees_of_nodes
from duramen.jobs.replicates import replicate_seed
from duramen.support.arrays import FloatArray


class Effects(NamedTuple):
    """Effects of R assignments of C contexts to the rows on p features."""

    # (R, C, p): As in :class:`duramen.ContextImportances`.
    absolute: FloatArray
    signed: FloatArray
    conditional: FloatArray
    overall: FloatArray  # (R, p): The same
    relevance: FloatArray  # (R,): Importance of the context itself


def context_effects(
    forest: Forest,
    growth: Growth,
    context: Context,
    empty: str,
    *,
    seed: int,
    first: int = 0,
    n_permutations: int = 1,
    drawn: NDArray[np.uint32] | None = None,
    column: int = -1,
    n_threads: int = 1,
) -> Effects:
    """Compute the effects of a context, or of R permutations of it from number `first` on.

    Number 0 leaves all rows their context; each depends on the seed, its number and n alone. The
    context is permuted among all rows, unless `drawn`, of shape (R, n), gives the permutations. The
    rows go down every tree, whatever its bag. With a `column`, only the effects on that feature are
    computed; all else is 0. Threads do 32 permutations at a time.
    """
    codes = context.codes.reshape(1, -1)
    if drawn is not None:
        codes, first, n_permutations = drawn, 0, len(drawn)
    contexts = _kernel.Contexts(
        codes=codes,
        count=context.count,
        empty_is_zero=empty == "zero",
        levels=levels(forest),
        seed=seed,
        first=first,
        n_permutations=n_permutations,
        column=column,
    )
    table, target = growth.data.table.kernel, growth.data.target.kernel
    criterion = list(CRITERIA).index(forest.settings.criterion)
    return Effects(
        *_kernel.context_effects(forest.kernel, table, target, contexts, criterion, n_threads)
    )


def levels(forest: Forest) -> FloatArray:
    r"""Weight of the decrease that the context would bring at every node, of shape (N,).

    In multiway trees the weighted sum is the importance that the context would have among the p
    features and itself: with B the features conditioned on,

    .. math:: Imp(X_c) = \frac{1}{p+1} \sum_{k=0}^{p} \frac{1}{C_p^k} \sum_{|B|=k} G(Y;X_c|B)

    (thesis, eq. 6.8 for p + 1 features), and the cell of a node stands for all sizes k of B after
    that of its parent, up to its own. In binary trees it is the mean over the nodes on the path of
    a row.
    """
    above = parents(forest)
    if forest.settings.splits != "multiway":
        in_bag = forest.rows[forest.offsets[:-1]][trees_of_nodes(forest)]
        n_levels = float((forest.rows / in_bag).sum()) / max(1, forest.n_trees)
        return np.full(forest.n_nodes, 1.0 / n_levels)
    p = forest.n_features
    deepest = p if forest.settings.max_depth is None else min(p, forest.settings.max_depth - 1)
    own = np.where(forest.feature < 0, deepest, forest.degree).astype(np.float64)
    before = np.where(above < 0, -1.0, forest.degree[np.maximum(above, 0)])
    return np.maximum(own - before, 0.0) / (p + 1)


def within_contexts(
    growth: Growth, context: Context, seed: int, *, n_threads: int = 1
) -> FloatArray:
    """Grow a forest in each context, and return its mean decreases of impurity, shape (C, p)."""
    values = np.zeros((context.count, growth.data.table.n_columns))
    for c in range(context.count):
        rows = np.flatnonzero(context.codes == c)
        forest = growth.forest(replicate_seed(seed, c), rows=rows, n_threads=n_threads)
        values[c] = mean_decreases(forest).values
    return values
