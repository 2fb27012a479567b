"""Importances of features in each context, with their p-values."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.contexts.effects import Effects, context_effects, within_contexts
from duramen.contexts.inputs import Context, Growth, growth_of, split_off, template_for
from duramen.contexts.models import conditional_nulls
from duramen.contexts.nulls import Null, Nulls, equal_nulls
from duramen.data.learning_sets import unweighted_set
from duramen.forests.forest import Forest, mean_decreases
from duramen.importances.arguments import metadata_of
from duramen.jobs.replicates import (
    OBSERVED,
    Plan,
    checkpoint_beside,
    replicate_seed,
    run_replicates,
)
from duramen.results.context_importances import EMPTY, ContextImportances
from duramen.support import checks
from duramen.support.arrays import FloatArray, RandomState, TableLike
from duramen.support.provenance import fingerprint

FUNCTION = "context_importances"
PLAIN = ("none", "importances", "p_values")
"""What is computed of the plain effect: nothing, its values, or p-values as well."""
_TOLERANCE = 0.05  # of the verdicts on samples
_LEVEL = 0.05
_FEWEST, _MOST = 1000, 10_000
# Permutations that are counted in one job, a multiple of the kernel's lanes; fewer where they hold
# more numbers than this. Whatever the number of threads, so that checkpoints do not depend on it.
_CHUNK = 256
_LANES = 32
_MOST_NUMBERS = 1 << 23
_TIE = 1e-12  # permuted sums may differ from the observed one by rounding where they are equal
# Permutations for each effect, so that the least two-sided p-value is .05 / (number of effects).
_PER_EFFECT = 40


def context_importances(
    X: TableLike,
    y: ArrayLike | None = None,
    context: Any = None,
    *,
    estimator: Any = None,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_permutations: int | None = None,
    permute: str = "conditional",
    empty: str = "skip",
    n_bins: int | None = None,
    context_bins: int = 3,
    plain: str = "importances",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> ContextImportances:
    r"""Measure how the importances of features depend on a context.

    One forest of totally randomized trees is grown on all rows, without the context. At each node
    t that splits on a feature :math:`X_m` the decrease of impurity over the rows of the node is
    compared with that over its rows of one context :math:`x_c`:

    .. math::

        Imp^{|x_c|}(X_m) &= \frac{1}{N_T} \sum_T \sum_{t: v(s_t)=X_m} p(t)
            \left| G(Y;X_m|t) - G(Y;X_m|t, X_c=x_c) \right| \\
        Imp_s^{x_c}(X_m) &= \frac{1}{N_T} \sum_T \sum_{t: v(s_t)=X_m} p(t)
            \left( G(Y;X_m|t) - G(Y;X_m|t, X_c=x_c) \right)

    (thesis, eq. 6.10 and 6.12). A feature is context-independent if and only if the first is 0 in
    all contexts for infinitely many trees and rows (theorem 6.2); on samples it never is, and a
    p-value is found by permuting the context among the rows. The trees do not contain the context,
    so that all permutations use the same ones.

    Parameters
    ----------
    X : table of shape (n, p), or LearningSet
        The inputs: anything that `encode` takes, which also names the columns of an array.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    context : array-like of shape (n,), str, or mapping or data frame of one column
        The context of every row: categories, of which each is a context; or numbers, which are put
        into quantile bins (floating-point ones, or more than 20 different whole ones). A string is
        the name of a column of `X`, which is then no input; a mapping or data frame names the
        context. For several contexts, call it for each: with the same `random_state` all have the
        same trees.
    estimator : estimator of duramen, optional
        Parameters of the trees, as a totally randomized trees, Extra-Trees or random forest
        estimator; it is cloned, not changed. Its task is that of `y`. By default
        ``TotallyRandomizedTreesClassifier(1000)``, or the regressor, as `y` holds
        classes (text, truth values, or few different whole numbers) or other numbers.
        ``splits="auto"``, its default, is one child for each value, or ``"ordered"`` where a
        numeric column has more than 10 distinct values. See Notes.
    n_permutations : int, optional
        Permutations of the context; 0 for no p-values. By default 1000, or as many, up to 10,000,
        as a single effect needs for an adjusted p-value of .05: 40 times the number of features
        and contexts. A note of the result says so where there are too few.
    permute : {"conditional", "within_target", "all"}, default="conditional"
        How the context is permuted for the p-values of the effects. "within_target": among the
        rows of the same class of the target (of a numeric target, of the same of n / 8 quantile
        bins). "conditional": among these, with probabilities that keep what other features have to
        do with the context. "all": among all rows. See Notes.
    strata : array-like of shape (n,), optional
        Label of the stratum of each row, such as a population or a batch. Contexts are permuted
        within strata (unless `permute` is "all", within each class in each stratum).
    groups : array-like of shape (n,), optional
        Label of the group of each row, such as a family or a person measured repeatedly. Groups
        exchange their contexts as a whole (unless `permute` is "all", groups whose rows have the
        same classes in the same order, or one class each).
    empty : {"skip", "zero"}, default="skip"
        A node without rows of a context is left out, or counts with a decrease of 0 in it. The
        tables of the thesis use both (see `duramen.theory.population_context_importances`).
    n_bins : int, optional
        Numeric inputs with more distinct values are put into so many quantile bins first.
    context_bins : int, default=3
        Number of quantile bins of a numeric context.
    plain : {"none", "importances", "p_values"}, default="importances"
        Whether to grow a forest on the rows of each context, for `within` and `plain` (eq. 6.9).
        "p_values" tests `plain` too: these forests are grown anew for every permutation, which
        takes by far the most time.
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
    ContextImportances
        Importances on all rows and in each context, effects and their p-values.

    Raises
    ------
    TypeError
        If a column, the target or the context holds what it cannot, or `estimator` is another.
    ValueError
        If a parameter is not allowed, lengths disagree, the context is missing somewhere or has
        one value only, or a checkpoint is of another run.
    MemoryError
        If the forest would not fit in memory.

    Notes
    -----
    *The null hypothesis* of an effect on a feature :math:`X_m` is, with ``permute="conditional"``,
    that given the target and the other features the odds of the contexts are a function of
    :math:`X_m` times a function of all else: the odds ratios of :math:`X_m` and the target are
    the same in all contexts. Others may depend on the context, the context may be associated with
    the target, and the distribution of features may differ between contexts. A logistic
    regression of the context on the target, and on features and pairs of features that are
    associated with the context given the target, with their products with the target but for those
    of :math:`X_m`, gives the probabilities of permutations (Berrett et al. 2020). Its numeric
    terms are normal scores and their squares, so that a dependence of three features or more, or
    one that these do not describe, is not allowed for.

    With ``permute="within_target"`` the null hypothesis is global: the context is independent of
    all features given the target. If it is false for one feature, others are found too often, as
    are features with another spread in each context: no error rate holds. With ``permute="all"``
    the context is independent of the features and the target together; where it shifts the
    classes, effects are found far too often.

    *Relevance.* `relevance_p_value` tests that the context is irrelevant to the target
    (:math:`Imp(X_c) = 0`), by permutations among all rows (within `strata`, and of whole `groups`)
    whatever `permute`: within classes the association of context and target would stay as it is.
    A feature can depend on an irrelevant context that changes its distribution, against theorem
    6.1: no feature does if the context is also independent of the features. A context that is
    independent of the target, and on which no feature depends, is irrelevant.

    *What splits guarantee.* Multiway splits on categories, or on binned numbers, are those of the
    theory: with enough trees the values tend to `duramen.theory.population_context_importances` of
    the sample (with `max_depth`, if no column becomes constant above it: such a column takes no
    level of a tree). Ordered splits condition on intervals: an effect that is not 0 still tells a
    context-dependence, and p-values hold, but there is no closed form, and theorem 6.2 holds only
    in so far as intervals can tell the values apart. Bins lose what happens inside of them.

    *Random forests, and Extra-Trees of several candidates.* The thesis leaves them to future work
    (6.5): no theorem says which effects are 0, and a feature that others mask has small ones. The
    p-values hold, since the trees do not depend on the context. Effects are those of all rows, also
    with ``bootstrap=True``, where `importances` are those of the bags.

    *Repeated work.* A cluster does the permutations; `n_jobs` threads then grow the forest on all
    rows alone. For several contexts the name of each is added to that of the checkpoint.

    *Sample size.* A node holds fewer rows of a context than in all, and plug-in information grows
    as rows get fewer: where nothing depends on the context, `signed` is mostly below 0, while deep
    nodes with a row or two of the context pull it up. Read its sign where the p-value tells that it
    is more than chance.

    References
    ----------
    A. Sutera (2019). Importance measures derived from random forests: characterisation and
    extension. PhD thesis, University of Liège, chapter 6. A. Sutera, G. Louppe, V. A. Huynh-Thu,
    L. Wehenkel, P. Geurts (2016). Context-dependent feature analysis with random forests. UAI 32.
    T. B. Berrett, Y. Wang, R. F. Barber, R. J. Samworth (2020). The conditional permutation test
    for independence while controlling for confounders. J. Royal Statistical Society B 82.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).integers(0, 2, (80, 3))
    >>> context = np.arange(80) % 2
    >>> y = np.where(context, X[:, 0], X[:, 1])
    >>> result = dm.contexts.context_importances(
    ...     X, y, context, n_permutations=99, random_state=0)
    >>> (result.absolute_p_values < 0.05).tolist()
    [[True, True, False], [True, True, False]]
    """
    plan = Plan.checked(FUNCTION, n_jobs, checkpoint, verbose, client)
    check_options(FUNCTION, empty, n_permutations, plain)
    template = template_for(estimator, FUNCTION)
    task = None if estimator is None else template.task
    rows = {"strata": strata, "groups": groups, "n_jobs": plan.n_threads}
    data = unweighted_set(X, y, FUNCTION, task, **rows).in_memory()
    inputs, values = split_off(data.table, context, context_bins, FUNCTION)
    seed = checks.draw_seed(random_state)
    growth = growth_of(data.with_table(inputs), template, seed, FUNCTION, n_bins=n_bins)
    forest = growth.forest(seed, n_threads=plan.n_threads)
    if n_permutations is None:
        n_permutations = default_permutations(values.count * inputs.n_columns)
    return analyze(
        forest,
        growth,
        values,
        permute=permute,
        n_permutations=n_permutations,
        empty=empty,
        plain=plain,
        plan=plan,
    )


def check_options(function: str, empty: str, n_permutations: int | None, plain: str) -> None:
    """Check the options that context analyses have in common."""
    checks.check_choice(function, "empty", empty, EMPTY)
    if n_permutations is not None:
        checks.check_integer(function, "n_permutations", n_permutations, 0)
    checks.check_choice(function, "plain", plain, PLAIN)
    if plain == "p_values" and n_permutations == 0:
        raise ValueError(f"{function}: plain='p_values' needs n_permutations of at least 1, got 0.")


def default_permutations(n_effects: int) -> int:
    """Return the number of permutations for a number of effects."""
    return max(_FEWEST, min(_PER_EFFECT * n_effects, _MOST))


def analyze(
    forest: Forest,
    growth: Growth,
    context: Context,
    *,
    permute: str,
    n_permutations: int,
    empty: str,
    plain: str,
    plan: Plan,
    function: str = FUNCTION,
) -> ContextImportances:
    r"""Analyze one context on the forest that was grown on all rows.

    P-values are :math:`(1 + \#\{v_r \ge v\}) / (1 + R)` for the absolute effects and the relevance
    of the context; for the others twice the smaller one of both sides, at most 1.
    """
    names, n_threads = growth.data.names, plan.threads_within
    observed = context_effects(forest, growth, context, empty, seed=growth.seed)
    importances = mean_decreases(forest).values
    nulls = equal_nulls(growth, permute, function)
    if n_permutations and permute == "conditional":
        nulls = conditional_nulls(growth, context, nulls)
    rows = nulls.relevance.rows
    bins = {} if permute == "all" else {"target_groups": int(nulls.cells.max()) + 1}
    settings = {
        "empty": empty,
        **metadata_of(
            forest,
            "context",
            name=context.name,
            values=list(context.labels),
            cuts=None if context.cuts is None else list(context.cuts),
            rows=fingerprint(context.codes),
            permute=permute,
            **bins,
            **rows.identity(),
            clause=rows.clause,
            modeled=[[names[j] for j in term] for term in nulls.terms],
        ),
    }
    identity = {"function": function, **settings, "permutations": n_permutations}
    described: dict[str, Any] = {}
    if n_permutations:
        # How often the context, permuted, has as large an effect, on the same trees: a number of
        # permutations a job, whatever the number of threads, which are inside of a job.
        size = min(_CHUNK, _MOST_NUMBERS // max(1, 4 * context.count * len(names), rows.n_rows))
        size = max(_LANES, size - size % _LANES)
        signed = np.concatenate([observed.signed, observed.overall[:, None]], axis=1)

        def count_larger(number: int, _: int) -> FloatArray:
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
            count_larger,
            -(-n_permutations // size),
            int(sizes.sum()),
            seed=growth.seed,
            identity=identity,
            plan=replace(plan, n_threads=1),
            function=function,
            unit=f"{size} permutations",
        ).sum(axis=0)
        absolute, above, below, relevance = np.split(counts, np.cumsum(sizes)[:-1])
        two_sided = _two_sided(above, below, n_permutations).reshape(signed.shape[1:])
        absolute = absolute.reshape(observed.absolute.shape[1:])
        described = {
            "absolute_p_values": (1 + absolute) / (1 + n_permutations),
            "signed_p_values": two_sided[:-1],
            "overall_p_values": two_sided[-1],
            "relevance_p_value": float((1 + relevance[0]) / (1 + n_permutations)),
            "notes": _limits(growth, context, nulls, permute, n_permutations),
        }
    if plain != "none":
        seed = replicate_seed(growth.seed, OBSERVED)
        within = within_contexts(growth, context, seed, n_threads=n_threads)
        effect = importances - within
        described |= {"within": within, "plain": effect}
    if plain == "p_values":
        if plan.checkpoint is not None:
            plan = replace(plan, checkpoint=checkpoint_beside(Path(plan.checkpoint), "plain"))

        def count_both_sides(_: int, seed: int) -> FloatArray:
            """Permute the context, and grow its forests anew."""
            sides, random = np.zeros((2, *effect.shape)), np.random.default_rng(seed)
            for null in nulls.effects:
                permuted = replace(context, codes=null.draw(context.codes, random))
                change = (importances - within_contexts(growth, permuted, seed))[None]
                at = (slice(None), null.features)
                sides[0][at] += _at_least(change, effect)[at]
                sides[1][at] += _at_least(-change, -effect)[at]
            return sides.ravel()

        counts = run_replicates(
            count_both_sides,
            n_permutations,
            2 * effect.size,
            seed=replicate_seed(growth.seed, n_permutations),
            identity={**identity, "effect": "plain"},
            plan=plan,
            function=function,
        ).sum(axis=0)
        above, below = np.split(counts, 2)
        p_values = _two_sided(above, below, n_permutations)
        described["plain_p_values"] = p_values.reshape(effect.shape)
    return ContextImportances(
        names=names,
        contexts=context.labels,
        fractions=context.fractions,
        importances=importances,
        absolute=observed.absolute[0],
        signed=observed.signed[0],
        conditional=observed.conditional[0],
        overall=observed.overall[0],
        relevance=max(0.0, float(observed.relevance[0])),
        context_name=context.name,
        unit=forest.settings.unit,
        empty=empty,
        tolerance=_TOLERANCE,
        permute=permute,
        n_permutations=n_permutations,
        metadata=settings,
        **described,
    )


def _at_least(permuted: FloatArray, observed: FloatArray) -> FloatArray:
    """Count the permutations with a value of at least the observed one, but for rounding."""
    slack = _TIE * (1.0 + np.abs(observed))
    return np.asarray((permuted >= observed - slack).sum(axis=0, dtype=np.float64))


def _two_sided(above: FloatArray, below: FloatArray, n_permutations: int) -> FloatArray:
    return np.minimum(1.0, 2 * (1 + np.minimum(above, below)) / (1 + n_permutations))


def _limits(
    growth: Growth, context: Context, nulls: Nulls, permute: str, n_permutations: int
) -> tuple[str, ...]:
    """Return notes on global null hypotheses and on p-values that cannot be small."""
    name, names = context.name, growth.data.names
    notes = []
    if permute != "conditional":
        given = "given the target" if permute == "within_target" else "and the target together"
        notes.append(
            f"The p-values are those of one global null hypothesis: {name} is independent of all "
            f"features {given}. If it is false, such as for a feature whose distribution differs "
            "between contexts, other features are found too often, and no error rate holds. "
            "Conditional permutations test each feature by itself."
        )
    number = nulls.effects[0].rows.count(context.codes)
    if number <= n_permutations:
        notes.append(
            f"only {number:,.0f} arrangements of {name} are possible under this scheme of "
            f"permutations, so that no p-value of an effect is below about {1 / number:.2g}."
        )
    n_effects, least = context.count * len(names), 1 / (n_permutations + 1)
    if n_effects * least > _LEVEL:
        notes.append(
            f"With {n_permutations:,} permutations no p-value is below {least:.2g}, too large for "
            f"a single effect among {n_effects:,} to be significant at {_LEVEL:g} after a "
            f"correction for all of them; with {round(n_effects / _LEVEL):,} it can be."
        )
    if nulls.n_left_out:
        terms = len(nulls.terms)
        notes.append(
            f"{terms + nulls.n_left_out} features or pairs of features are associated with {name} "
            f"given the target; there are enough rows to allow for {terms} of them, those with "
            "the smallest p-values. Features that do not depend on it may be found too often."
        )
    return tuple(notes)
