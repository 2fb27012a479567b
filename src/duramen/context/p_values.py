"""P-values of the effects of a context: it is permuted, the trees stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.context.effects import Effects, context_effects
from duramen.context.nulls import Null, permuted_contexts
from duramen.context.options import Options
from duramen.context.plain import within_contexts
from duramen.context.subject import Subject
from duramen.context.values import Context
from duramen.forests.forest import Forest
from duramen.jobs.replicates import replicate_seed, run_replicates
from duramen.tables.exchangeability import Exchangeability

FloatArray = NDArray[np.float64]

# Permutations that are counted in one call, a multiple of the kernel's lanes; fewer where they hold
# more numbers than this. Whatever the number of threads, so that checkpoints do not depend on it.
_CHUNK = 256
_LANES = 32
_MOST_NUMBERS = 1 << 23
# Permuted sums may differ from the observed one by rounding where they are equal.
_TIE = 1e-12


@dataclass(frozen=True, eq=False)
class PValues:
    """P-values of all that a context does; shapes as in `duramen.ContextImportances`."""

    absolute: FloatArray
    signed: FloatArray
    overall: FloatArray
    relevance: float


def effect_p_values(
    observed: Effects,
    forest: Forest,
    subject: Subject,
    context: Context,
    null: Null,
    options: Options,
    identity: Mapping[str, Any],
) -> PValues:
    r"""Permute the context as the null hypotheses allow, and count how often an effect is as large.

    :math:`p = (1 + \#\{v_r \ge v\}) / (1 + R)` for the absolute effects and the relevance of the
    context; twice the smaller of the p-values on both sides, at most 1, for the signed and overall
    ones.
    """
    size, n_permutations = _chunk(subject, context), options.n_permutations
    n_threads, empty = options.plan.threads_within, options.empty
    upper, two_sided = (statistic[0] for statistic in observed.statistics())

    def task(number: int, _: int) -> FloatArray:
        first = 1 + number * size
        count = min(size, n_permutations + 1 - first)

        def permuted(rows: Exchangeability) -> Effects:
            drawn = None
            if rows.restricted:
                drawn = permuted_contexts(rows, context.codes, subject.seed, first, count)
            return context_effects(
                forest,
                subject,
                context,
                empty,
                seed=subject.seed,
                first=first,
                n_permutations=count,
                drawn=drawn,
                n_threads=n_threads,
            )

        one, two = permuted(null.effects).statistics()
        if not null.one_scheme:
            one[:, -1] = permuted(null.relevance).relevance
        return np.concatenate([_at_least(one, upper), *_either(two, two_sided)])

    counts = run_replicates(
        task,
        -(-n_permutations // size),
        len(upper) + 2 * len(two_sided),
        seed=subject.seed,
        identity={**identity, "permutations": n_permutations},
        plan=replace(options.plan, n_threads=1),  # the threads are inside of a task
        function=options.function,
        unit=f"{size} permutations",
    ).sum(axis=0)
    return _p_values(counts, observed.absolute.shape[1:], n_permutations)


def _chunk(subject: Subject, context: Context) -> int:
    """Number of permutations that are counted in one call of the kernel."""
    numbers = max(1, 4 * context.count * subject.data.table.n_columns, subject.data.table.n_rows)
    size = min(_CHUNK, _MOST_NUMBERS // numbers)
    return max(_LANES, size - size % _LANES)


def _p_values(counts: FloatArray, shape: tuple[int, ...], n_permutations: int) -> PValues:
    """P-values from the counts of the absolute effects, the relevance, and both sides of others."""
    n_cells, n_two = shape[0] * shape[1], shape[0] * shape[1] + shape[1]
    own, above, below = np.split(counts, [n_cells + 1, n_cells + 1 + n_two])
    p_one = (1 + own) / (1 + n_permutations)
    p_two = _two_sided(above, below, n_permutations)
    return PValues(
        absolute=p_one[:n_cells].reshape(shape),
        relevance=float(p_one[n_cells]),
        signed=p_two[:n_cells].reshape(shape),
        overall=p_two[n_cells:],
    )


def plain_p_values(
    plain: FloatArray,
    importances: FloatArray,
    subject: Subject,
    context: Context,
    null: Null,
    options: Options,
    identity: Mapping[str, Any],
) -> FloatArray:
    """Permute the context, and grow the forests of the contexts anew; two-sided, shape (C, p)."""
    n_permutations = options.n_permutations

    def task(_: int, seed: int) -> FloatArray:
        order = null.effects.permutation(np.random.default_rng(seed), context.codes)
        codes = context.codes[order]
        within = within_contexts(subject, replace(context, codes=codes), seed)
        return np.concatenate(_either((importances - within).reshape(1, -1), plain.ravel()))

    counts = run_replicates(
        task,
        n_permutations,
        2 * plain.size,
        seed=replicate_seed(subject.seed, n_permutations),
        identity={**identity, "permutations": n_permutations, "effect": "plain"},
        plan=options.plan,
        function=options.function,
    ).sum(axis=0)
    above, below = np.split(counts, 2)
    return _two_sided(above, below, n_permutations).reshape(plain.shape)


def _at_least(permuted: FloatArray, observed: FloatArray) -> FloatArray:
    slack = _TIE * (1.0 + np.abs(observed))
    counts: FloatArray = (permuted >= observed - slack).sum(axis=0, dtype=np.float64)
    return counts


def _either(permuted: FloatArray, observed: FloatArray) -> tuple[FloatArray, FloatArray]:
    return _at_least(permuted, observed), _at_least(-permuted, -observed)


def _two_sided(above: FloatArray, below: FloatArray, n_permutations: int) -> FloatArray:
    return np.minimum(1.0, 2 * (1 + np.minimum(above, below)) / (1 + n_permutations))
