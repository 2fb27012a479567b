"""Importances of features that have no association with the target: expected, and simulated."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

import duramen as dm
from benchmarks.biases.tables import Cell, Table
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray

Classes = NDArray[np.int64]
Groups = Sequence[Sequence[int]]
Task = Callable[[np.random.Generator, int], ArrayLike]

# Measures of the catalogue that take long: pages have fewer data sets of them.
SLOW = ("mcfs", "sobol_mda", "mdi_plus")
QUICK = tuple(m.name for m in dm.importances.catalogue if m.name not in SLOW)
FEWER = 8  # times fewer data sets


# --- expected at a node, exactly ------------------------------------------------------------------


def mean_entropy(probabilities: ArrayLike, n_rows: int, *, bootstrap: bool = False) -> float:
    """Mean plug-in entropy, in bits, of n rows: a mean over the binomial count of each value.

    In a bootstrap sample of the rows a count is binomial given the count in them.
    """
    counts = np.arange(n_rows + 1)
    fraction = counts[1:] / n_rows
    terms = -fraction * np.log2(fraction)
    chances = stats.binom.pmf(counts, n_rows, np.atleast_1d(probabilities)[..., np.newaxis])
    if bootstrap:
        chances = chances @ stats.binom.pmf(counts, n_rows, counts[:, np.newaxis] / n_rows)
    return float((chances[..., 1:] @ terms).sum())


def mean_information(
    values: ArrayLike, classes: ArrayLike, n_rows: int, *, bootstrap: bool = False
) -> float:
    """Mean plug-in information, in bits, of independent variables of these probabilities."""
    joint = np.multiply.outer(np.asarray(values), np.asarray(classes)).ravel()
    parts = (mean_entropy(codes, n_rows, bootstrap=bootstrap) for codes in (values, classes, joint))
    return next(parts) + next(parts) - next(parts)


def mean_diversity(values: ArrayLike, n_rows: int) -> float:
    """Mean number of distinct values among n rows, less 1."""
    return float(np.sum(1 - (1 - np.asarray(values)) ** n_rows)) - 1


def mean_gini(values: ArrayLike, classes: ArrayLike, n_rows: int) -> float:
    """Mean decrease of Gini impurity by a multiway split on an independent feature.

    The Gini impurity of the population times the mean diversity, divided by the rows.
    """
    impurity = 1 - float(np.sum(np.square(classes)))
    return impurity * mean_diversity(values, n_rows) / n_rows


# --- simulated ------------------------------------------------------------------------------------


def simulated(task: Task, data_sets: int, seed: int) -> FloatArray:
    """Return the results of a task for each data set, of shape (data_sets, ...)."""
    shape: list[tuple[int, ...]] = []

    def data_set(_: int, own: int) -> FloatArray:
        result = np.asarray(task(np.random.default_rng(own), own % 2**32), dtype=np.float64)
        shape[:] = [result.shape]
        return result.ravel()

    width = np.asarray(task(np.random.default_rng(0), 0)).size
    plan = Plan(1)
    result = run_replicates(
        data_set, data_sets, width, seed=seed, identity={}, plan=plan, function="biases"
    )
    return result.reshape(data_sets, *shape[0])


def importances(measures: Sequence[str], estimator: Any, data: Any, seed: int) -> FloatArray:
    """Importances of a data set by measures of the catalogue, of shape (measures, p)."""
    inputs = dm.importances.Inputs(estimator, data, seed, 1)
    records = [dm.importances.catalogue[name] for name in measures]
    if not all(result.refits for result in records):
        estimator.fit(data)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "vote_change: p-values shrink")  # they are not used
        results = [result(inputs.unfitted() if result.refits else inputs) for result in records]
    return np.array(
        [result.scores if hasattr(result, "scores") else result.values for result in results]
    )


def of_forest(forest: Any, X: Any, y: Any) -> list[FloatArray]:
    """Importances of the rows that a forest was grown on: MDI, MDI of out-of-bag rows, MDA."""
    measures = dm.importances
    by_measure = (measures.mdi(forest), measures.mdi(forest, X, y, rows="oob"))
    return [result.values for result in (*by_measure, measures.mda(forest, X, y))]


def max_t_of(
    measure: str, data: dm.LearningSet, *, trees: int, permutations: int, seed: int
) -> Any:
    """Max-T of a measure of random forests alone, without rank statistics, in one stage."""
    return dm.significance.max_t(
        dm.RandomForestClassifier(trees),
        data,
        measure=measure,
        n_permutations=permutations,
        marginal=False,
        max_stages=1,
        random_state=seed,
    )


def grouped(values: FloatArray, groups: Groups) -> FloatArray:
    """Means over the features of each group, on the last axis."""
    return np.stack([values[..., list(group)].mean(axis=-1) for group in groups], axis=-1)


def flatness(values: FloatArray, groups: Groups) -> tuple[float, float]:
    """Return the largest deviation of a group mean from the mean of all groups.

    `values` are importances of irrelevant features, of shape (data sets, features). In standard
    deviations of a feature over data sets (root mean square over features), and in standard errors.
    """
    size = float(np.sqrt(np.mean(values.var(axis=0, ddof=1))))
    of_groups = grouped(values, groups)
    apart = of_groups - of_groups.mean(axis=1, keepdims=True)
    deviations, errors = apart.mean(axis=0), stats.sem(apart, axis=0)
    scores = np.divide(deviations, errors, out=np.zeros_like(errors), where=errors > 0)
    return float(np.abs(deviations).max() / (size or 1.0)), float(np.abs(scores).max())


def null_table(
    title: str,
    measures: Sequence[str],
    importances: FloatArray,
    kinds: Sequence[str],
    groups: Groups | None = None,
) -> Table:
    """Mean importance by measure and kind of irrelevant feature, with its flatness.

    `found` has the shape (data sets, measures, features); without groups, a feature is a kind.
    """
    groups = [[j] for j in range(len(kinds))] if groups is None else groups
    rows: list[list[Cell]] = []
    for i, name in enumerate(measures):
        means = grouped(importances[:, i], groups).mean(axis=0)
        label = dm.importances.catalogue[name].title
        rows.append([label, *means.tolist(), *flatness(importances[:, i], groups)])
    heads = ["measure", *kinds, "largest deviation (sd)", "in standard errors"]
    return Table(title, heads, rows, digits=4)


def first_table(
    title: str, measures: Sequence[str], importances: FloatArray, kinds: Sequence[str]
) -> Table:
    """Fraction of data sets in which a feature of each kind is ranked first; ties are divided."""
    best = importances == importances.max(axis=-1, keepdims=True)
    fractions = (best / best.sum(axis=-1, keepdims=True)).mean(axis=0)
    rows = [
        [dm.importances.catalogue[name].title, *fractions[i].tolist()]
        for i, name in enumerate(measures)
    ]
    return Table(title, ["measure", *kinds], rows, digits=2)
