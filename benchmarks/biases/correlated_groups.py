"""Features with common information divide its importance, so that each seems unimportant.

A group of correlated features has about the importance of the information that they share, so that
the larger group has the smaller importance a feature (thesis 4.4.5.2; Tolosi and Lengauer 2011). A
feature that is only correlated with a relevant one has importance as well (Strobl et al. 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import duramen as dm
from benchmarks.biases.chance import (
    FEWER,
    QUICK,
    SLOW,
    Classes,
    Task,
    grouped,
    importances,
    max_t_of,
    simulated,
)
from benchmarks.biases.tables import Cell, Table
from duramen.support.arrays import FloatArray
from duramen.theory import population_importances, population_mda, specify
from duramen.theory.distributions.specification import copy, function, uniform

DATA_SETS = 60
ROWS, TREES = 300, 100
SIZES = (1, 2, 5, 10, 20)  # of the relevant groups
NOISE = 12  # irrelevant features: one group of half of them, the others independent
CORRELATION = 0.9  # within a group
MERGED = 0.7  # correlation at which clusters are merged
SAME, FLIPPED = 0.9, 0.95  # probability of a member having the bit, and the target the sum
COPIES = (0, 1, 2, 4, 9)
TESTED = ("mda", "mdi_oob")  # by max-T
LEVEL, PERMUTATIONS = 0.05, 19


def tables(data_sets: int, seed: int) -> Iterator[Table]:
    yield of_copies()
    yield of_members()
    yield of_bystander()
    yield of_normal_blocks()
    fewer = max(2, data_sets // FEWER)
    yield by_size(simulated(of_groups, data_sets, seed))
    yield by_size(simulated(slower_of_groups, fewer, seed), SLOW)
    yield of_irrelevant(data_sets, seed)
    yield of_irrelevant(fewer, seed, SLOW)


# --- theory ---------------------------------------------------------------------------------------


def of_copies() -> Table:
    """Exact importances of a feature with copies, beside another as informative."""
    rows = []
    for extra in COPIES:
        copies = {f"C{i}": copy("X1") for i in range(extra)}
        dist = specify(
            {
                **{"X1": uniform(2), **copies, "X2": uniform(2)},
                "Y": function(lambda a, b: 2 * a + b, "X1", "X2"),
            }
        )
        mdi, mda = population_importances(dist), population_mda(dist)
        conditional = population_mda(dist, given="associated")
        values = [mdi["X1"], mdi["X2"], mda["X1"], mda["X2"], conditional["X1"], conditional["X2"]]
        rows.append([extra + 1, *values, (extra + 1) * mdi["X1"]])
    heads = [
        *("identical features", "MDI of each", "MDI of X2", "MDA of each", "MDA of X2"),
        *("conditional MDA of each", "conditional MDA of X2", "MDI of the group"),
    ]
    return Table("Y is the pair of X1 and X2; K = 1, infinitely many trees (exact)", heads, rows)


def of_members(sizes: tuple[int, ...] = (1, 2, 3, 4, 5)) -> Table:
    """Exact importances of noisy copies of a hidden bit, beside one of another hidden bit."""
    rows = []
    for size in sizes:
        members = {f"A{i}": copy("Z1", SAME) for i in range(size)}
        dist = specify(
            {
                **{"Z1": uniform(2), "Z2": uniform(2), **members, "B": copy("Z2", SAME)},
                "Y": function(lambda a, b: 2 * a + b, "Z1", "Z2"),
            },
            hidden=["Z1", "Z2"],
        )
        mdi, mda = population_importances(dist), population_mda(dist)
        conditional = population_mda(dist, given="associated")
        values = [mdi["A0"], size * mdi["A0"], mdi["B"], mda["A0"], mda["B"], conditional["A0"]]
        rows.append([size, *values])
    heads = [
        *("members", "MDI of each", "MDI of the group", "MDI of B", "MDA of each", "MDA of B"),
        "conditional MDA of each",
    ]
    return Table(
        "Members have a hidden bit with probability .9, B another one; Y is both bits; K = 1 "
        "(exact)",
        heads,
        rows,
    )


def of_bystander() -> Table:
    """Exact importances of a feature that is correlated with the cause alone."""
    rows = []
    for same in (0.5, 0.7, 0.9, 1.0):
        dist = specify(
            {"cause": uniform(2), "bystander": copy("cause", same), "Y": copy("cause", FLIPPED)}
        )
        row: list[Cell] = [f"{same:g}"]
        for K in (1, 2):
            mdi = population_importances(dist, max_features=K)
            row += [mdi["cause"], mdi["bystander"]]
        mda, conditional = population_mda(dist), population_mda(dist, given="associated")
        rows.append(
            [*row, mda["cause"], mda["bystander"], conditional["cause"], conditional["bystander"]]
        )
    parts = ("MDI, K = 1", "MDI, K = 2", "MDA, K = 1", "conditional MDA")
    heads = ["same value", *(f"{part}: {who}" for part in parts for who in ("cause", "bystander"))]
    return Table(
        "A bystander has the value of the cause with this probability, and no effect (exact)",
        heads,
        rows,
    )


def of_normal_blocks(sizes: tuple[int, ...] = SIZES) -> Table:
    """MDA of a block of normal features by the formula of Gregorutti et al. (2017).

    Each feature has the covariance tau with Y and the correlation c with the others of its block:
    the coefficients of a linear model are tau / (1 - c + q c), and MDA is twice their square.
    """
    rows = []
    for size in sizes:
        rows.append([size, *(2 * (0.5 / (1 - c + size * c)) ** 2 for c in (0.0, 0.3, 0.6, 0.9))])
    return Table(
        "MDA of each of q normal features, covariance .5 with Y, by their correlation (exact)",
        ["q", "c = 0", "c = .3", "c = .6", "c = .9"],
        rows,
        digits=4,
    )


# --- experiment -----------------------------------------------------------------------------------


def block(random: np.random.Generator, size: int) -> tuple[FloatArray, FloatArray]:
    """A hidden normal variable, and features that are correlated by CORRELATION through it."""
    hidden = random.normal(size=(ROWS, 1))
    own = random.normal(size=(ROWS, size))
    return hidden[:, 0], np.sqrt(CORRELATION) * hidden + np.sqrt(1 - CORRELATION) * own


def relevant_groups() -> list[range]:
    ends = np.cumsum(SIZES).tolist()
    return [range(end - size, end) for end, size in zip(ends, SIZES, strict=True)]


def all_groups() -> list[range]:
    """Relevant groups, and the irrelevant features."""
    return [*relevant_groups(), range(sum(SIZES), sum(SIZES) + NOISE)]


def sample_of_groups(random: np.random.Generator) -> tuple[FloatArray, Classes]:
    """Rows of the relevant groups and of irrelevant features, and their classes."""
    hidden, features = zip(*(block(random, size) for size in SIZES), strict=True)
    noise = random.normal(size=(ROWS, NOISE))
    X = np.column_stack([*features, noise])
    return X, (np.sum(hidden, axis=0) + random.normal(size=ROWS) > 0).astype(np.int64)


def slower_of_groups(random: np.random.Generator, seed: int) -> FloatArray:
    """Means by group of the measures that take long."""
    data = dm.learning_set(*sample_of_groups(random))
    forest = dm.RandomForestClassifier(TREES, random_state=seed)
    return grouped(importances(SLOW, forest, data, seed), all_groups())


def of_groups(
    random: np.random.Generator, seed: int, measures: Sequence[str] = QUICK, tested: bool = True
) -> FloatArray:
    """Means of importances by group and measure, group MDA, and fractions that the test takes."""
    X, y = sample_of_groups(random)
    data, groups = dm.learning_set(X, y), all_groups()
    forest = dm.RandomForestClassifier(TREES, random_state=seed)
    values = grouped(importances(measures, forest, data, seed), groups)
    together = dm.importances.mda(
        forest.fit(data),
        data,
        feature_groups={str(i): list(group) for i, group in enumerate(groups)},
    ).values
    stand_for = of_representatives(X, y, seed)
    taken = [grouped(confirmed(data, "mda", seed), groups)] if tested else []
    return np.vstack([values, together, grouped(stand_for, groups), *taken])


def of_representatives(X: FloatArray, y: Classes, seed: int) -> FloatArray:
    """Return the MDA of a forest on representatives of clusters, assigned to all members."""
    chosen = dm.importances.representatives(X, threshold=MERGED)
    forest = dm.RandomForestClassifier(TREES, random_state=seed)
    on = dm.learning_set(chosen.transform(X), y)
    return chosen.spread(dm.importances.mda(forest.fit(on), on)).values


def by_size(importances: FloatArray, measures: Sequence[str] = QUICK) -> Table:
    means = importances.mean(axis=0)
    sizes = np.array([*SIZES, NOISE])
    rows: list[list[Cell]] = []
    for name, row in zip(measures, means, strict=False):
        title = dm.importances.catalogue[name].title
        rows.append([f"{title} of each feature", *row.tolist()])
        if name == "mdi":
            rows.append([f"{title} of the group", *(sizes * row).tolist()])
    others = ("MDA of the group, permuted together", "MDA of its representative")
    others = (*others, "confirmed by max-T of MDA")
    for title, row in zip(others, means[len(measures) :], strict=False):
        rows.append([title, *row.tolist()])
    heads = ["measure", *(f"group of {size}" for size in SIZES), f"{NOISE} irrelevant"]
    return Table(
        f"Groups of equal effect, correlation {CORRELATION:g} within; {ROWS} rows, {TREES} trees, "
        f"{len(importances)} data sets",
        heads,
        rows,
        digits=4,
    )


def of_irrelevant(data_sets: int, seed: int, measures: Sequence[str] = QUICK) -> Table:
    """Mean importance of irrelevant features in a group and of independent ones, beside others."""
    titles = [dm.importances.catalogue[name].title for name in measures]
    tested = TESTED if measures is QUICK else ()
    titles += [f"confirmed by max-T of {dm.importances.catalogue[m].title}" for m in tested]
    rows: list[list[Cell]] = []
    for relevant in (0, 2):
        result = simulated(irrelevant_task(relevant, measures, tested), data_sets, seed)
        inside, outside = grouped(result, [range(NOISE // 2), range(NOISE // 2, NOISE)]).T
        for title, first, other in zip(titles, inside, outside, strict=True):
            apart = first - other
            error = float(apart.std(ddof=1) / np.sqrt(len(apart)))
            means = [float(part.mean()) for part in (first, other, apart)]
            rows.append([relevant, title, *means, error])
    return Table(
        f"Irrelevant features: {NOISE // 2} correlated by {CORRELATION:g}, and as many independent "
        f"ones; {data_sets} data sets",
        ["relevant", "measure", "correlated", "independent", "difference", "standard error"],
        rows,
        digits=4,
    )


def irrelevant_task(n_relevant: int, measures: Sequence[str], tested: Sequence[str]) -> Task:
    """Return a task: importances of correlated and independent irrelevant features, selections."""

    def task(random: np.random.Generator, seed: int) -> FloatArray:
        _, correlated = block(random, NOISE // 2)
        independent = random.normal(size=(ROWS, NOISE // 2))
        relevant = random.normal(size=(ROWS, n_relevant))
        y = (relevant.sum(axis=1) + random.normal(size=ROWS) > 0).astype(np.int64)
        data = dm.learning_set(np.column_stack([correlated, independent, relevant]), y)
        forest = dm.RandomForestClassifier(TREES, random_state=seed)
        values = importances(measures, forest, data, seed)
        taken = [confirmed(data, measure, seed) for measure in tested]
        return np.vstack([values, *taken])[:, :NOISE]

    return task


def confirmed(data: dm.LearningSet, measure: str, seed: int) -> FloatArray:
    """Features that max-T of a measure confirms."""
    test = max_t_of(measure, data, trees=TREES, permutations=PERMUTATIONS, seed=seed)
    return np.asarray(test.p_adjusted <= LEVEL, dtype=np.float64)
