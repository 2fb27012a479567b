"""P-values of the effects of a context: it is permuted, the trees stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from duramen.contexts.conditional import conditional_permutations
from duramen.contexts.dependence import Dependence, Hypothesis
from duramen.contexts.effects import Effects, context_effects
from duramen.contexts.nulls import Codes, Null, permuted_contexts
from duramen.contexts.options import Options
from duramen.contexts.subject import Subject
from duramen.contexts.values import Context
from duramen.data.exchangeability import Exchangeability
from duramen.forests.decreases import mean_decreases
from duramen.forests.forest import Forest
from duramen.jobs.replicates import replicate_seed, run_replicates
from duramen.support.arrays import FloatArray, IntArray

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


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """Permutations of a context under its null hypotheses."""

    subject: Subject
    context: Context
    null: Null
    dependence: Dependence
    options: Options
    identity: Mapping[str, Any]  # what the permuted effects depend on


def effect_p_values(observed: Effects, forest: Forest, test: PermutationTest) -> PValues:
    r"""Permute the context as the null hypotheses allow, and count how often an effect is as large.

    :math:`p = (1 + \#\{v_r \ge v\}) / (1 + R)` for the absolute effects and the relevance of the
    context; twice the smaller of the p-values on both sides, at most 1, for the signed and overall
    ones.
    """
    subject, context, null, options = test.subject, test.context, test.null, test.options
    size, n_permutations = _chunk(subject, context), options.count
    own = _Statistics.of(observed)
    # A task is sent without the client of the options.
    hypotheses = test.dependence.hypotheses
    empty, n_threads = options.empty, options.plan.threads_within

    def task(number: int, _: int) -> FloatArray:
        first = 1 + number * size
        count = min(size, n_permutations + 1 - first)
        lot = _Lot(forest, subject, context, null, empty, first, count, n_threads)
        counts = own.zeros()
        for k, hypothesis in enumerate(hypotheses):
            chosen = hypothesis.features
            alone = len(chosen) == 1 and len(hypotheses) > 1
            effects = lot.effects(lot.under(hypothesis, k), int(chosen[0]) if alone else -1)
            counts.add(own, _Statistics.of(effects), chosen)
        relevance = effects if null.one_scheme else lot.effects(lot.permuted(null.relevance))
        counts.relevance += _at_least(relevance.relevance, own.relevance)
        return counts.flat()

    counts = run_replicates(
        task,
        -(-n_permutations // size),
        own.zeros().flat().size,
        seed=subject.seed,
        identity={**test.identity, "permutations": n_permutations},
        plan=replace(options.plan, n_threads=1),  # the threads are inside of a task
        function=options.function,
        unit=f"{size} permutations",
    ).sum(axis=0)
    return _p_values(counts, observed.absolute.shape[1:], n_permutations)


@dataclass(frozen=True, eq=False)
class _Lot:
    """Permutations number `first` and after, which are counted in one call of the kernel."""

    forest: Forest
    subject: Subject
    context: Context
    null: Null
    empty: str
    first: int
    count: int
    n_threads: int

    def under(self, hypothesis: Hypothesis, number: int) -> Codes | None:
        """Draw the contexts under a null hypothesis of a number."""
        if hypothesis.log_weights is None:
            return self.permuted(self.null.effects)
        random = np.random.default_rng([replicate_seed(self.subject.seed, self.first), number])
        weights, codes = hypothesis.log_weights, self.context.codes
        return conditional_permutations(self.null.effects, codes, weights, random, self.count)

    def permuted(self, rows: Exchangeability) -> Codes | None:
        """Draw permutations with equal probabilities; None where the kernel draws them."""
        if not rows.restricted:
            return None
        codes, seed = self.context.codes, self.subject.seed
        return permuted_contexts(rows, codes, seed, self.first, self.count)

    def effects(self, drawn: Codes | None, column: int = -1) -> Effects:
        """Compute the effects of permutations, on all features or on one."""
        return context_effects(
            self.forest,
            self.subject,
            self.context,
            self.empty,
            seed=self.subject.seed,
            first=self.first,
            n_permutations=self.count,
            drawn=drawn,
            column=column,
            n_threads=self.n_threads,
        )


@dataclass(eq=False)
class _Statistics:
    """Statistics of features, one- and two-sided, and of the context itself; or counts of them."""

    upper: FloatArray  # (..., C, p): absolute effects
    either: FloatArray  # (..., C + 1, p): signed effects, and the overall one
    relevance: FloatArray

    @classmethod
    def of(cls, effects: Effects) -> _Statistics:
        either = np.concatenate([effects.signed, effects.overall[:, None]], axis=1)
        return cls(effects.absolute, either, effects.relevance)

    def zeros(self) -> _Counts:
        """Return counts of 0 for each statistic."""
        shape = self.either.shape[1:]
        upper = np.zeros(self.upper.shape[1:])
        return _Counts(upper, np.zeros(shape), np.zeros(shape), np.zeros(1))


@dataclass(eq=False)
class _Counts:
    """Numbers of permutations whose statistics are as large, or as small, as the observed ones."""

    upper: FloatArray
    above: FloatArray
    below: FloatArray
    relevance: FloatArray

    def add(self, observed: _Statistics, permuted: _Statistics, features: IntArray) -> None:
        """Count permutations for some of the features."""
        at = (Ellipsis, features)
        self.upper[at] += _at_least(permuted.upper[at], observed.upper[at])
        self.above[at] += _at_least(permuted.either[at], observed.either[at])
        self.below[at] += _at_least(-permuted.either[at], -observed.either[at])

    def flat(self) -> FloatArray:
        """Return all counts, one after the other."""
        parts = (self.upper, self.above, self.below, self.relevance)
        return np.concatenate([part.ravel() for part in parts])


def _chunk(subject: Subject, context: Context) -> int:
    """Number of permutations that are counted in one call of the kernel."""
    numbers = max(1, 4 * context.count * subject.data.table.n_columns, subject.data.table.n_rows)
    size = min(_CHUNK, _MOST_NUMBERS // numbers)
    return max(_LANES, size - size % _LANES)


def _p_values(counts: FloatArray, shape: tuple[int, ...], n_permutations: int) -> PValues:
    """P-values from the counts of the absolute effects, both sides of others, and the relevance."""
    n_contexts, p = shape
    n_cells, n_two = n_contexts * p, (n_contexts + 1) * p
    own, above, below, relevance = np.split(counts, np.cumsum([n_cells, n_two, n_two]))
    p_two = _two_sided(above, below, n_permutations).reshape(n_contexts + 1, p)
    return PValues(
        absolute=(1 + own.reshape(shape)) / (1 + n_permutations),
        relevance=float((1 + relevance[0]) / (1 + n_permutations)),
        signed=p_two[:-1],
        overall=p_two[-1],
    )


def within_contexts(
    subject: Subject, context: Context, seed: int, *, n_threads: int = 1
) -> FloatArray:
    """Grow a forest in each context, and return its mean decreases of impurity, shape (C, p).

    Rows count by their weights in the context.
    """
    values = np.zeros((context.count, subject.data.table.n_columns))
    for c, parts in enumerate(context.parts.T):
        weights = parts[context.codes]
        forest = subject.forest(replicate_seed(seed, c), weights=weights, n_threads=n_threads)
        values[c] = mean_decreases(forest).values
    return values


def plain_p_values(plain: FloatArray, importances: FloatArray, test: PermutationTest) -> FloatArray:
    """Permute the context, and grow the forests of the contexts anew; two-sided, shape (C, p)."""
    subject, context, null = test.subject, test.context, test.null
    hypotheses, n_permutations = test.dependence.hypotheses, test.options.count

    def task(_: int, seed: int) -> FloatArray:
        sides = np.zeros((2, *plain.shape))
        random = np.random.default_rng(seed)
        for hypothesis in hypotheses:
            if hypothesis.log_weights is None:
                codes = context.codes[null.effects.permutation(random, context.codes)]
            else:
                weights = hypothesis.log_weights
                (codes,) = conditional_permutations(null.effects, context.codes, weights, random, 1)
            within = within_contexts(subject, replace(context, codes=codes), seed)
            change = (importances - within)[None]
            chosen = hypothesis.features
            sides[0][:, chosen] = _at_least(change, plain)[:, chosen]
            sides[1][:, chosen] = _at_least(-change, -plain)[:, chosen]
        return sides.ravel()

    counts = run_replicates(
        task,
        n_permutations,
        2 * plain.size,
        seed=replicate_seed(subject.seed, n_permutations),
        identity={**test.identity, "permutations": n_permutations, "effect": "plain"},
        plan=test.options.plan,
        function=test.options.function,
    ).sum(axis=0)
    above, below = np.split(counts, 2)
    return _two_sided(above, below, n_permutations).reshape(plain.shape)


def _at_least(permuted: FloatArray, observed: FloatArray) -> FloatArray:
    slack = _TIE * (1.0 + np.abs(observed))
    counts: FloatArray = (permuted >= observed - slack).sum(axis=0, dtype=np.float64)
    return counts


def _two_sided(above: FloatArray, below: FloatArray, n_permutations: int) -> FloatArray:
    return np.minimum(1.0, 2 * (1 + np.minimum(above, below)) / (1 + n_permutations))
