"""Irrelevant features with many values get more MDI, numeric features the most.

Two things add up. From few rows, information is overestimated in proportion to the number of values
(thesis 4.4.5.5); and the best of many cuts is chosen (thesis 4.4.5.3). Data that were not used to
choose a split, or the same luck for a shadow, take both away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

import duramen as dm
from benchmarks.biases.chance import (
    FEWER,
    QUICK,
    SLOW,
    Task,
    first_table,
    importances,
    mean_gini,
    mean_information,
    null_table,
    simulated,
)
from benchmarks.biases.tables import Table
from duramen.findings.table import diversity
from duramen.support.arrays import FloatArray
from duramen.theory.samples import expected_information

DATA_SETS = 400
ROWS, TREES = 200, 50
VALUES = (2, 4, 10, 20)
KINDS = (*(f"{k} values" for k in VALUES), "numeric")
EXAMPLES = ("mdi", "mda", "air")  # where two kinds are mixed
RANKED = ("mdi", "mdi_oob", "mda", "holdout_mda", "air")  # where one feature is relevant
FLIPPED = 0.35  # rows whose class is not that of the relevant feature
SMALL = 24  # rows of data sets whose trees are all taken


def tables(data_sets: int, seed: int) -> Iterator[Table]:
    yield at_a_node()
    yield best_cut()
    yield whole_trees(data_sets, seed)
    for measures, count in ((QUICK, data_sets), (SLOW, max(1, data_sets // FEWER))):
        result = simulated(null_task(measures), count, seed)
        size = f"{ROWS} rows, {TREES} trees, {count} data sets"
        yield null_table(f"Mean importance of irrelevant features; {size}", measures, result, KINDS)
        yield first_table("Fraction of these where it is first", measures, result, KINDS)
    yield with_relevant(data_sets, seed)
    yield by_ratio(data_sets, seed)


# --- theory ---------------------------------------------------------------------------------------


def at_a_node() -> Table:
    """Mean information and decrease of Gini impurity of a multiway split (exact)."""
    rows = []
    for n in (10, 100):
        for k in (2, 3, 4, 10, 20):
            uniform, coin = np.full(k, 1 / k), [0.5, 0.5]
            about = expected_information(n, k, 2)
            rows.append(
                [n, k, mean_information(uniform, coin, n), about, mean_gini(uniform, coin, n)]
            )
    heads = ["rows", "values", "information (bits)", "(k - 1)/(2 N ln 2)", "Gini decrease"]
    return Table(
        "Mean gain of an irrelevant feature at a node: k equally frequent values, two classes "
        "(exact)",
        heads,
        rows,
        digits=4,
    )


def best_cut(n_rows: int = 10) -> Table:
    """Mean information of cuts of an ordered feature at a node of few rows, over all targets."""
    targets = np.array(list(product((0, 1), repeat=n_rows)))
    rows = []
    for k in (2, 5, n_rows):
        feature = np.arange(n_rows) * k // n_rows
        cuts = np.array([information(feature < cut, targets) for cut in range(1, k)])
        multiway = information(feature, targets)
        names = f"{k} values" if k < n_rows else "numeric"
        rows.append([names, k - 1, multiway.mean(), cuts.mean(), cuts.max(axis=0).mean()])
    heads = ["feature", "cuts", "multiway split", "random cut", "best cut"]
    return Table(f"Mean information in bits at a node of {n_rows} rows (all targets)", heads, rows)


def information(feature: FloatArray, targets: FloatArray) -> FloatArray:
    """Plug-in information of a feature on each of many binary targets, in bits."""
    of_all = np.zeros(len(targets))
    for value in np.unique(feature):
        here = feature == value
        of_all -= here.mean() * binary_entropy(targets[:, here].mean(axis=1))
    return binary_entropy(targets.mean(axis=1)) + of_all


def binary_entropy(fraction: FloatArray) -> FloatArray:
    rest = 1 - fraction
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(fraction > 0, fraction * np.log2(fraction), 0.0)
        return -(terms + np.where(rest > 0, rest * np.log2(rest), 0.0))


def whole_trees(data_sets: int, seed: int) -> Table:
    """Importances of infinitely many totally randomized trees, averaged over data sets."""
    kinds = VALUES[:3]

    def task(random: np.random.Generator, _: int) -> list[FloatArray]:
        X, y = random.integers(0, kinds, (SMALL, len(kinds))), random.integers(0, 2, SMALL)
        sample = dm.theory.FiniteDistribution.from_table(X, y)
        return [
            dm.theory.population_importances(sample).values,
            dm.theory.population_mda(sample).values,
        ]

    result = simulated(task, data_sets, seed)
    names = ("MDI (bits)", "MDA of the training rows")
    rows = [[name, *result[:, i].mean(axis=0).tolist()] for i, name in enumerate(names)]
    heads = ["measure", *(f"{k} values" for k in kinds)]
    title = (
        f"Infinitely many totally randomized trees on {SMALL} rows: importance of irrelevant "
        "features (exact for each data set, then averaged)"
    )
    return Table(title, heads, rows)


# --- experiment -----------------------------------------------------------------------------------


def features(random: np.random.Generator, n_rows: int = ROWS) -> FloatArray:
    """Independent features of each kind."""
    return np.column_stack(
        [random.integers(0, VALUES, (n_rows, len(VALUES))), random.random(n_rows)]
    )


def null_task(measures: Sequence[str]) -> Task:
    """Importances of irrelevant features by each measure."""

    def task(random: np.random.Generator, seed: int) -> FloatArray:
        data = dm.learning_set(features(random), random.integers(0, 2, ROWS))
        forest = dm.RandomForestClassifier(TREES, random_state=seed)
        return importances(measures, forest, data, seed)

    return task


def with_relevant(data_sets: int, seed: int) -> Table:
    """Rank of a relevant feature of two values among irrelevant ones of each kind."""

    def task(random: np.random.Generator, own: int) -> list[list[float]]:
        relevant = random.integers(0, 2, ROWS)
        y = np.where(random.random(ROWS) < FLIPPED, 1 - relevant, relevant)
        X = np.column_stack([relevant, *(features(random) for _ in range(4))])
        forest = dm.RandomForestClassifier(TREES, random_state=own)
        values = importances(RANKED, forest, dm.learning_set(X, y), own)
        ranks = 1 + np.count_nonzero(values[:, 1:] > values[:, :1], axis=1)
        return [(ranks == 1).tolist(), ranks.tolist()]

    result = simulated(task, data_sets, seed).mean(axis=0)
    rows = [
        [dm.importances.catalogue[name].title, *result[:, i].tolist()]
        for i, name in enumerate(RANKED)
    ]
    title = (
        "A relevant feature of two values (its class in 65 % of the rows) among 20 irrelevant ones "
        "of all kinds"
    )
    return Table(title, ["measure", "first", "mean rank"], rows, digits=2)


def by_ratio(data_sets: int, seed: int) -> Table:
    """Mix irrelevant features of two kinds, and count the kind of the first feature."""
    rows = []
    for few, many in ((2, 2), (3, 4), (2, 3), (2, 4), (2, 10), (2, ROWS)):
        result = simulated(of_two_kinds(few, many), max(1, data_sets // 2), seed)
        low, high, first = result.mean(axis=0)
        ratios = [high[-1] / low[-1], high[0] / low[0]]
        names = "numeric" if many == ROWS else f"{many}"
        rows.append([f"{few} and {names}", *ratios, *first[:-1].tolist()])
    titles = [dm.importances.catalogue[name].title for name in EXAMPLES]
    heads = ["values", "ratio of diversity", "ratio of MDI", *(f"first by {t}" for t in titles)]
    return Table(
        "Ten irrelevant features of each of two kinds: ratios of the kinds, and the fraction of "
        "data sets where one of more values is first",
        heads,
        rows,
        digits=2,
    )


def of_two_kinds(few: int, many: int) -> Task:
    """Means of measures and diversity by kind, and whether more values are first."""

    def task(random: np.random.Generator, seed: int) -> list[FloatArray]:
        X = np.column_stack([kind(random, k) for k in (few, many) for _ in range(10)])
        forest = dm.RandomForestClassifier(TREES, random_state=seed)
        values = importances(
            EXAMPLES, forest, dm.learning_set(X, random.integers(0, 2, ROWS)), seed
        )
        diversities = [diversity(np.unique(x, return_counts=True)[1]) for x in X.T]
        low, high = np.vstack([values, diversities]).reshape(-1, 2, 10).transpose(1, 0, 2)
        return [low.mean(axis=1), high.mean(axis=1), high.max(axis=1) > low.max(axis=1)]

    return task


def kind(random: np.random.Generator, n_values: int) -> FloatArray:
    """Draw a feature with `n_values` values; with as many values as rows, all differ."""
    if n_values >= ROWS:
        return random.random(ROWS)
    return random.integers(0, n_values, ROWS).astype(np.float64)
