"""P-values of the effects of a context: it is permuted, the trees stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.context.effects import Effects, context_effects
from duramen.context.plain import within_contexts
from duramen.context.subject import Subject
from duramen.context.values import Context
from duramen.forests.forest import Forest
from duramen.significance.replicates import Plan, replicate_seed, run_replicates

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
    """P-values of all that a context does; shapes as in `duramen.results.ContextImportances`."""

    absolute: FloatArray
    signed: FloatArray
    overall: FloatArray
    relevance: float


def effect_p_values(
    observed: Effects,
    forest: Forest,
    subject: Subject,
    context: Context,
    empty: str,
    n_permutations: int,
    *,
    identity: Mapping[str, Any],
    plan: Plan,
    function: str,
) -> PValues:
    r"""Permute the context among the rows, and count how often an effect is as large.

    :math:`p = (1 + \#\{v_r \ge v\}) / (1 + R)` for the absolute effects and the relevance of the
    context; twice the smaller of the p-values on both sides, at most 1, for the signed ones.
    """
    n_columns = subject.table.n_columns
    size = min(_CHUNK, _MOST_NUMBERS // max(1, 4 * context.count * n_columns))
    size = max(_LANES, size - size % _LANES)
    upper, two_sided = (statistic[0] for statistic in observed.statistics())

    def task(number: int, _: int) -> FloatArray:
        count = min(size, n_permutations - number * size)
        permuted = context_effects(
            forest,
            subject,
            context,
            empty,
            seed=subject.seed,
            first=1 + number * size,
            n_permutations=count,
            n_threads=plan.n_threads,
        )
        one, two = permuted.statistics()
        return np.concatenate([_at_least(one, upper), *_either(two, two_sided)])

    counts = run_replicates(
        task,
        -(-n_permutations // size),
        len(upper) + 2 * len(two_sided),
        seed=subject.seed,
        identity={**identity, "permutations": n_permutations},
        plan=replace(plan, n_threads=1),  # the threads are inside of a task
        function=function,
        unit=f"{size} permutations",
    ).sum(axis=0)
    own, above, below = np.split(counts, [len(upper), len(upper) + len(two_sided)])
    p_one = (1 + own) / (1 + n_permutations)
    p_two = _two_sided(above, below, n_permutations)
    shape = observed.absolute.shape[1:]
    n_cells = shape[0] * shape[1]
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
    n_permutations: int,
    *,
    identity: Mapping[str, Any],
    plan: Plan,
    function: str,
) -> FloatArray:
    """Permute the context, and grow the forests of the contexts anew; two-sided, shape (C, p)."""

    def task(_: int, seed: int) -> FloatArray:
        codes = np.random.default_rng(seed).permutation(context.codes)
        within = within_contexts(subject, replace(context, codes=codes), seed)
        return np.concatenate(_either((importances - within).reshape(1, -1), plain.ravel()))

    counts = run_replicates(
        task,
        n_permutations,
        2 * plain.size,
        seed=replicate_seed(subject.seed, n_permutations),
        identity={**identity, "permutations": n_permutations, "effect": "plain"},
        plan=plan,
        function=function,
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
