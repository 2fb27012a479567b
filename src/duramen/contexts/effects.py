"""Effects of a context at the nodes of a forest, and their p-values.

The context is permuted, and the trees stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.contexts.inputs import Context, Growth
from duramen.contexts.nulls import Null, Nulls
from duramen.forests.forest import Forest, mean_decreases
from duramen.forests.settings import CRITERIA
from duramen.forests.structure import parents
from duramen.jobs.replicates import Plan, replicate_seed, run_replicates
from duramen.support.arrays import FloatArray

# Permutations that are counted in one call, a multiple of the kernel's lanes; fewer where they hold
# more numbers than this. Whatever the number of threads, so that checkpoints do not depend on it.
_CHUNK = 256
_LANES = 32
_MOST_NUMBERS = 1 << 23
# Permuted sums may differ from the observed one by rounding where they are equal.
_TIE = 1e-12


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
    forest was grown on all rows without bootstrap. With a `column`, only the effects on that
    feature are computed; all else is 0. Threads do 32 permutations at a time.
    """
    codes = context.codes.reshape(1, -1)
    if drawn is not None:
        codes, first, n_permutations = drawn, 0, len(drawn)
    contexts = _kernel.Contexts(
        codes=codes,
        weights=np.eye(context.count, dtype=np.uint8),
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
        n_levels = float((forest.rows / forest.n_rows).sum()) / max(1, forest.n_trees)
        return np.full(forest.n_nodes, 1.0 / n_levels)
    p = forest.n_features
    deepest = p if forest.settings.max_depth is None else min(p, forest.settings.max_depth - 1)
    own = np.where(forest.feature < 0, deepest, forest.degree).astype(np.float64)
    before = np.where(above < 0, -1.0, forest.degree[np.maximum(above, 0)])
    return np.maximum(own - before, 0.0) / (p + 1)


# --- p-values ------------------------------------------------------------------------------------


def effect_p_values(
    observed: Effects,
    forest: Forest,
    growth: Growth,
    context: Context,
    nulls: Nulls,
    *,
    empty: str,
    n_permutations: int,
    plan: Plan,
    function: str,
    identity: Mapping[str, Any],
) -> dict[str, Any]:
    r"""Permute the context, and count how often an effect is as large; return all p-values.

    :math:`p = (1 + \#\{v_r \ge v\}) / (1 + R)` for the absolute effects and the relevance of the
    context; twice the smaller of the p-values on both sides, at most 1, for the signed and overall
    ones. They have the names of the fields of :class:`duramen.ContextImportances`.
    """
    n_rows, n_features = growth.data.table.shape
    size = min(_CHUNK, _MOST_NUMBERS // max(1, 4 * context.count * n_features, n_rows))
    size = max(_LANES, size - size % _LANES)
    n_threads = plan.threads_within
    signed = np.concatenate([observed.signed, observed.overall[:, None]], axis=1)

    def task(number: int, _: int) -> FloatArray:
        first = 1 + number * size
        count = min(size, n_permutations + 1 - first)

        def permuted(null: Null, column: int = -1) -> Effects:
            return context_effects(
                forest,
                growth,
                context,
                empty,
                seed=growth.seed,
                first=first,
                n_permutations=count,
                drawn=null.draws(context.codes, growth.seed, first, count),
                column=column,
                n_threads=n_threads,
            )

        absolute = np.zeros(observed.absolute.shape[1:])
        above, below = np.zeros((2, *signed.shape[1:]))
        for null in nulls.effects:
            alone = len(null.features) == 1 and len(nulls.effects) > 1
            effects = permuted(null, int(null.features[0]) if alone else -1)
            at = (Ellipsis, null.features)
            sides = np.concatenate([effects.signed, effects.overall[:, None]], axis=1)
            absolute[at] += _at_least(effects.absolute[at], observed.absolute[at])
            above[at] += _at_least(sides[at], signed[at])
            below[at] += _at_least(-sides[at], -signed[at])
        if nulls.relevance is not nulls.effects[-1]:
            effects = permuted(nulls.relevance)
        relevance = _at_least(effects.relevance, observed.relevance)
        parts = (absolute, above, below, np.atleast_1d(relevance))
        return np.concatenate([part.ravel() for part in parts])

    sizes = np.array([observed.absolute[0].size, signed[0].size, signed[0].size, 1])
    counts = run_replicates(
        task,
        -(-n_permutations // size),
        int(sizes.sum()),
        seed=growth.seed,
        identity={**identity, "permutations": n_permutations},
        plan=replace(plan, n_threads=1),  # the threads are inside of a task
        function=function,
        unit=f"{size} permutations",
    ).sum(axis=0)
    absolute, above, below, relevance = np.split(counts, np.cumsum(sizes)[:-1])
    two_sided = _two_sided(above, below, n_permutations).reshape(signed.shape[1:])
    absolute = absolute.reshape(observed.absolute.shape[1:])
    return {
        "absolute_p_values": (1 + absolute) / (1 + n_permutations),
        "signed_p_values": two_sided[:-1],
        "overall_p_values": two_sided[-1],
        "relevance_p_value": float((1 + relevance[0]) / (1 + n_permutations)),
    }


def plain_p_values(
    plain: FloatArray,
    importances: FloatArray,
    growth: Growth,
    context: Context,
    nulls: Nulls,
    *,
    n_permutations: int,
    plan: Plan,
    function: str,
    identity: Mapping[str, Any],
) -> FloatArray:
    """Permute the context, and grow its forests anew; return two-sided p-values, shape (C, p)."""

    def task(_: int, seed: int) -> FloatArray:
        sides = np.zeros((2, *plain.shape))
        random = np.random.default_rng(seed)
        for null in nulls.effects:
            permuted = replace(context, codes=null.draw(context.codes, random))
            change = (importances - within_contexts(growth, permuted, seed))[None]
            at = (slice(None), null.features)
            sides[0][at] += _at_least(change, plain)[at]
            sides[1][at] += _at_least(-change, -plain)[at]
        return sides.ravel()

    counts = run_replicates(
        task,
        n_permutations,
        2 * plain.size,
        seed=replicate_seed(growth.seed, n_permutations),
        identity={**identity, "permutations": n_permutations, "effect": "plain"},
        plan=plan,
        function=function,
    ).sum(axis=0)
    above, below = np.split(counts, 2)
    return _two_sided(above, below, n_permutations).reshape(plain.shape)


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


def _at_least(permuted: FloatArray, observed: FloatArray) -> FloatArray:
    slack = _TIE * (1.0 + np.abs(observed))
    return np.asarray((permuted >= observed - slack).sum(axis=0, dtype=np.float64))


def _two_sided(above: FloatArray, below: FloatArray, n_permutations: int) -> FloatArray:
    return np.minimum(1.0, 2 * (1 + np.minimum(above, below)) / (1 + n_permutations))
