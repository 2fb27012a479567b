"""Hold-out and cross-validated MDA: forests, or models, fitted to rows, measured on the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import EncodedTable, LearningSet, Target
from duramen.importances.arguments import Sample, matched, metadata_of
from duramen.importances.measure import SCATTERS, Measure, TreeSums
from duramen.importances.models import (
    ModelRows,
    fitted,
    losses_by_permuting,
    predicted,
    score_of_model,
)
from duramen.importances.permutation import SCORES, mean_losses, permutations, repeats_of, score_of
from duramen.importances.refit import data_for, is_model, one_threaded, seeded, template_of
from duramen.jobs.replicates import Plan
from duramen.jobs.workers import running
from duramen.results.importances import Importances
from duramen.results.summary import counted
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState, TableLike
from duramen.support.provenance import versions
from duramen.support.threads import one_openmp_thread

_CROSS_FITTED = 5  # parts of the rows, each predicted by a model that was fitted to the others


def holdout_mda(
    estimator: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    cv: int | None = None,
    scoring: str | None = None,
    n_repeats: int | str = 1,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
) -> Importances:
    r"""Compute the mean decrease of accuracy on rows that no tree of the forest saw.

    The rows are cut at random into `cv` parts of equal size, for classes in the same proportions.
    A forest grown on the others is measured on all the rows of each part, as by :func:`mda` with
    ``rows=None``, and the parts are averaged. With ``cv=2`` this is hold-out importance (Janitza,
    Celik, Boulesteix 2018): values of irrelevant features are then symmetric about 0, which
    out-of-bag values need not be, since all trees of a forest saw almost all rows.

    A model of another package is fitted to the rows outside each part k, and measured on the m
    rows in it,

    .. math:: \frac1m \sum_i \left[L(y_i, \hat f_{-k}(x_{\pi(i) j}, x_{i, \setminus j}))
              - L(y_i, \hat f_{-k}(x_i))\right],

    with :math:`\pi` a random permutation of these rows and L the logarithmic loss of probabilities
    of at least .001, the fraction of errors of models without probabilities, or the squared error.

    Parameters
    ----------
    estimator : estimator of duramen, or any model with fit and predict
        Parameters of the forests, or a model; it is cloned, not changed. A model gets an array of
        numbers, or where columns have names or categories a data frame of pandas, with categories
        as of type category: a Pipeline may encode them.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    cv : int, optional
        Number of parts, from 2 to the number of rows, or of groups for models; by default 2, and 3
        for models, 2 with two groups.
    scoring, n_repeats
        As for :func:`mda`; of a model "neg_log_loss", "accuracy" or "neg_mean_squared_error", and
        a number of permutations.
    groups : array-like of shape (n,), optional
        Label of the group of each row: the rows of a person, a family, a plate or of copies. The
        rows of a group go into one part, so that no forest is measured on rows whose like it was
        grown on; parts then differ in size by as much as groups make them.
    random_state : int, RandomState, Generator or None
        Seed of the parts, the forests and the permutations; None: derived from that of the
        estimator.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.

    Returns
    -------
    Importances
        ``measure="holdout_mda"``; `standard_error` is that of the mean over the trees of all the
        forests, None for a model.

    Raises
    ------
    TypeError
        If `estimator` does not fit and predict.
    ValueError
        If a class has fewer rows, or groups, than there are parts for a forest, a model cannot be
        fitted to the columns, or an argument is not as described.

    References
    ----------
    S. Janitza, E. Celik, A.-L. Boulesteix (2018). A computationally fast variable importance test
    for random forests for high-dimensional data. Advances in Data Analysis and Classification 12.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.importances.holdout_mda(forest, data.X, data.y)
    >>> result.top(2).names
    ('x0', 'x1')
    """
    name = "holdout_mda"
    plan = Plan.checked(name, n_jobs, client=client)
    other = is_model(estimator)
    template = estimator if other else template_of(estimator, name)
    data = data_for(template, X, y, name, groups=groups)
    n_units = data.exchangeability.n_units
    if other and n_units < 2:
        raise ValueError(
            f"{name}: groups must be two or more, as rows of a group are in one part, got {n_units}"
        )
    if cv is None:
        # By max-T of these importances alone, boosting and logistic regression found .54 and .34 of
        # what is relevant by 3 parts, .29 and .28 by 2.
        cv = min(3, n_units) if other else 2
    n_parts = checks.check_integer(name, "cv", cv, 2, most=n_units if other else data.n_rows)
    if random_state is None:
        random_state = getattr(template, "random_state", None)
    seed = checks.draw_seed(random_state)
    seeds = np.random.SeedSequence(seed).generate_state(n_parts + 2, np.uint64)
    rows = data.exchangeability.without_strata()
    part = parts_of(data, n_parts, int(seeds[0]), name, every_class=not other)
    n_threads = plan.threads_within

    def measured(k: int) -> tuple[Importances, dict[str, Any]]:
        model = seeded(template, int(seeds[k + 2]))
        training = data.of_rows(np.flatnonzero(part != k), key=("part", seeds.tolist(), k))
        forest = model.fit(training).forest_
        score = score_of(forest, scoring, name)
        repeats = repeats_of(n_repeats, score, name)
        held_out = data.of_rows(np.flatnonzero(part == k))
        target = matched(forest, held_out.target, name)
        sums = mean_losses(
            name,
            forest,
            Sample(held_out.table, target, out_of_bag=False),
            permutations(int(seeds[1]), repeats),
            score=score,
            n_jobs=n_threads,
        )
        choices = {"cv": n_parts, "scoring": score, "n_repeats": repeats}
        importances = TreeSums(sums).importances()
        return importances, metadata_of(forest, name, **choices, **rows.identity())

    def of_model(k: int) -> tuple[Importances, dict[str, Any]]:
        training, held_out = np.flatnonzero(part != k), np.flatnonzero(part == k)
        random = np.random.default_rng([int(seeds[1]), k])
        with one_openmp_thread():
            model = fitted(seeded(template, int(seeds[k + 2])), columns, data, training, name)
            lost = losses_by_permuting(model, columns, data, held_out, score, repeats, random)
        choices = {"cv": n_parts, "scoring": score, "n_repeats": repeats}
        metadata = {name: choices, "versions": versions(), **rows.identity()}
        return Importances(data.names, lost, name, SCORES[score]), metadata

    if other:
        columns = ModelRows.of(data.table, name)
        score = score_of_model(template, data, scoring, name)
        repeats = checks.check_integer(name, "n_repeats", n_repeats, 1)
        measured = of_model
    with running(measured, 1, plan.cluster) as run:  # a forest grows on several threads by itself
        results = list(run(zip(range(n_parts), strict=True)))
    metadata = {
        **results[-1][1],
        "n_rows": data.n_rows,
        "seed": seed,
        "fingerprint": data.fingerprint,
    }
    parts = [importances for importances, _ in results]
    errors = [part.standard_error for part in parts if part.standard_error is not None]
    error = None
    if len(errors) == len(parts):
        error = np.sqrt(np.sum(np.square(errors), axis=0)) / len(parts)
    return Importances(
        names=parts[0].names,
        values=np.mean([part.values for part in parts], axis=0),
        measure=name,
        unit=parts[0].unit,
        standard_error=error,
        metadata=metadata,
    )


def cross_fitted(
    model: Any, data: LearningSet[EncodedTable], seed: int, function: str
) -> FloatArray:
    """Return predictions of each row by a model that was fitted to the rows of other parts, (n, C).

    There are five parts, or as many as there are rows or groups; rows of a group are in one part.
    """
    n_parts = max(2, min(_CROSS_FITTED, data.exchangeability.n_units))
    part = parts_of(data, n_parts, seed, function, every_class=False)
    columns, template = ModelRows.of(data.table, function), one_threaded(model)
    predictions, place = list[FloatArray](), np.argsort(np.argsort(part, kind="stable"))
    for k in range(int(part.max()) + 1):
        with one_openmp_thread():
            learner, others = seeded(template, seed + k), np.flatnonzero(part != k)
            fitted(learner, columns, data, others, function)
            held_out = columns.take(np.flatnonzero(part == k))
            predictions.append(predicted(learner, held_out, data.classes))
    return np.asarray(np.concatenate(predictions)[place])


def parts_of(
    data: LearningSet[EncodedTable],
    n_parts: int,
    seed: int,
    function: str,
    *,
    every_class: bool = True,
) -> IntArray:
    """Return the part of every row: equal sizes, each class spread evenly, groups not torn.

    With `every_class`, each part must have a row of every class.
    """
    target, groups = data.target, data.exchangeability.groups
    if groups is not None:
        return _parts_of_groups(target, groups, n_parts, seed, function, every_class)
    random = np.random.default_rng(seed)
    n_rows, codes = len(target.values), target.codes
    order = random.permutation(n_rows)
    if codes is not None and target.classes is not None:
        counts = np.bincount(codes, minlength=target.n_classes)
        if every_class and counts.min() < n_parts:
            raise ValueError(
                f"{function}: class {target.classes.tolist()[counts.argmin()]!r} has "
                f"{counted(counts.min(), 'row')}, fewer than the {n_parts} parts, so that it would "
                "be missing from the training rows or the test rows of some forest. Hint: use "
                "fewer parts or leave the class out."
            )
        order = order[np.argsort(codes[order], kind="stable")]
    part = np.empty(n_rows, dtype=np.int64)
    part[order] = np.arange(n_rows) % n_parts
    return part


def _parts_of_groups(
    target: Target, groups: IntArray, n_parts: int, seed: int, function: str, every_class: bool
) -> IntArray:
    """Return the part of every row, the same for the rows of a group.

    Groups come in random order, the larger ones first, and each joins the part that has the
    smallest fraction of the rows of its classes; the last ones join the parts that are empty.
    """
    random = np.random.default_rng(seed)
    codes = 0 * groups if target.codes is None else target.codes
    n_groups, n_classes = int(groups.max()) + 1, target.n_values
    counts = np.zeros((n_groups, n_classes))
    np.add.at(counts, (groups, codes), 1)
    order = random.permutation(n_groups)
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    fractions = counts / counts.sum(axis=0)
    held = np.zeros((n_parts, n_classes))
    part = np.empty(n_groups, dtype=np.int64)
    for k, group in enumerate(order.tolist()):
        fraction, empty = held @ fractions[group], ~held.any(axis=1)
        if not every_class and empty.sum() >= n_groups - k:
            fraction[~empty] = np.inf
        part[group] = np.argmin(fraction)
        held[part[group]] += fractions[group]
    if every_class and (held == 0).any():
        lacking = int(np.argmax((held == 0).any(axis=0)))
        of = "" if target.classes is None else f" of class {target.classes.tolist()[lacking]!r}"
        raise ValueError(
            f"{function}: each of the {n_parts} parts must have a row{of}, but "
            f"{np.count_nonzero(counts[:, lacking])} of the {n_groups} groups have one and could "
            "not be spread over all parts. Hint: use fewer parts or leave the class out."
        )
    return part[groups]


HOLDOUT_MDA = Measure(
    "holdout_mda",
    lambda inputs: holdout_mda(
        inputs.estimator, inputs.data, random_state=inputs.random_state, n_jobs=inputs.n_jobs
    ),
    "hold-out MDA",
    "Hold-out MDA is MDA on rows that the forest, or another model, did not see: the rows are cut "
    "into two parts, or three for another model, and the features are permuted in each part after "
    "a fit to the others; in {unit}.",
    SCATTERS,
    reference="S. Janitza, E. Celik, A.-L. Boulesteix (2018). A computationally fast variable "
    "importance test for random forests for high-dimensional data. Advances in Data Analysis and "
    "Classification 12.",
    refits=True,
    survival=True,
    rows="held-out",
)
