"""A relevant feature is not chosen where another is always a little better.

With K > 1 candidates at a node the best of them splits it. A feature that another one beats
whenever both are drawn splits seldom, or never, and its importance is below its information.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.biases.chance import (
    FEWER,
    QUICK,
    SLOW,
    importances,
    of_forest,
    simulated,
)
from benchmarks.biases.tables import Table
from duramen.support.arrays import FloatArray
from duramen.theory import FiniteDistribution, population_importances, population_mda, specify
from duramen.theory.distributions.specification import copy, uniform
from duramen.theory.samples import information_p_value

DATA_SETS = 60
ROWS = 300
NOISE = 10  # irrelevant features of the experiment
AGREEMENT = 0.9  # of the masked feature with the one that masks it
RIVALS = (0.9, 0.88, 0.86, 0.84)  # agreement of each with the target
TREES = 300
CANDIDATES = (1, 2, 4, 12)
LEVEL = 0.05

Codes = NDArray[np.int64]


def tables(data_sets: int, seed: int) -> Iterator[Table]:
    yield probabilities_at_the_root()
    yield masked_copy()
    yield rivals()
    yield imbalanced_xor()
    yield found_by_candidates(data_sets, seed)
    yield ahead_by_measure(data_sets, seed, QUICK)
    yield ahead_by_measure(max(1, data_sets // FEWER), seed, SLOW)


# --- theory ---------------------------------------------------------------------------------------


def root_probability(rank: int, n_features: int, K: int) -> float:
    """Probability that the feature of this rank, 1 the best, splits a node of K candidates.

    It does if it is drawn and the K - 1 others are worse: C(p - r, K - 1) / C(p, K).
    """
    return comb(n_features - rank, K - 1) / comb(n_features, K)


def probabilities_at_the_root(n_features: int = 10) -> Table:
    ranks = (1, 2, 3, 5, 8)
    rows = [
        [K, *(root_probability(r, n_features, K) for r in ranks)] for K in (1, 2, 3, 5, n_features)
    ]
    return Table(
        f"Probability that a node splits on its r-th best of {n_features} features (exact)",
        ["K", *(f"r = {r}" for r in ranks)],
        rows,
    )


def copied(n_irrelevant: int) -> FiniteDistribution:
    """Y equals X1; X2 agrees with X1 in nine of ten cases; irrelevant fair bits."""
    noise = {f"N{j + 1}": uniform(2) for j in range(n_irrelevant)}
    factors = {"X1": uniform(2), "X2": copy("X1", AGREEMENT), **noise, "Y": copy("X1")}
    return specify(factors)


def masked_copy() -> Table:
    rows = []
    for K, n in ((1, 0), (1, 4), (2, 0), (2, 1), (2, 2), (2, 4), (3, 4), (5, 4), (6, 4)):
        dist = copied(n)
        mdi = population_importances(dist, max_features=K).values
        mda = population_mda(dist, max_features=K).values
        rows.append([K, n, *mdi[:2].tolist(), *mda[:2].tolist()])
    return Table(
        f"Y = X1, and X2 = X1 in {AGREEMENT:.0%} of the cases (exact; MDI in bits)",
        ["K", "irrelevant features", "MDI of X1", "MDI of X2", "MDA of X1", "MDA of X2"],
        rows,
    )


def rivals() -> Table:
    """Features that are informative given all others, some a little more than others."""
    names = [f"X{j + 1}" for j in range(len(RIVALS))]
    copies = {name: copy("Y", a) for name, a in zip(names, RIVALS, strict=True)}
    dist = specify({"Y": uniform(2), **copies})
    rows = []
    for K in range(1, len(names) + 1):
        values = population_importances(dist, max_features=K).values
        rows.append([K, *values.tolist(), float(values[0] / values[-1])])
    text = ", ".join(f"{a:.0%}" for a in RIVALS)
    return Table(
        f"Noisy copies of Y, right in {text} of the cases (exact; MDI in bits)",
        ["K", *names, "X1 / X4"],
        rows,
    )


def imbalanced_xor() -> Table:
    dist = dm.theory.examples.imbalanced_xor(0.4)
    rows = []
    for K in (1, 2):
        mdi = population_importances(dist, max_features=K).values.tolist()
        mda = population_mda(dist, max_features=K).values.tolist()
        rows.append([K, *mdi, *mda])
    return Table(
        "Exclusive or of a fair bit X1 and a bit X2 of probability .4 (exact; MDI in bits)",
        ["K", "MDI of X1", "MDI of X2", "MDA of X1", "MDA of X2"],
        rows,
    )


# --- experiment -----------------------------------------------------------------------------------


def problem(random: np.random.Generator) -> tuple[Codes, Codes]:
    """A cause, a noisy copy of it, and irrelevant bits; a tenth of the classes is flipped."""
    X = random.integers(0, 2, (ROWS, 2 + NOISE))
    X[:, 1] = np.where(random.random(ROWS) < AGREEMENT, X[:, 0], 1 - X[:, 0])
    return X, np.where(random.random(ROWS) < 0.1, 1 - X[:, 0], X[:, 0])


def found_by_candidates(data_sets: int, seed: int) -> Table:
    """Compare the importance of a masked feature with irrelevant features, by K."""
    rows = []
    for K in CANDIDATES:
        mdi, first = [], []
        for d in range(data_sets):
            X, y = problem(np.random.default_rng([seed, d]))
            forest = dm.RandomForestClassifier(
                TREES, criterion="entropy", max_features=K, random_state=d
            ).fit(X, y)
            measures = of_forest(forest, X, y)
            mdi.append([*measures[0][:2], measures[0][2:].mean()])
            first.append([*(float(v[1] > v[2:].max()) for v in measures), marginal(X, y)])
        rows.append([K, *np.mean(mdi, axis=0).tolist(), *np.mean(first, axis=0).tolist()])
    values = ["MDI of the cause", "of its copy", "of an irrelevant feature"]
    ahead = ["MDI", "MDI of out-of-bag rows", "MDA"]
    return Table(
        f"Random forests of {TREES} trees, {ROWS} rows, {2 + NOISE} features: MDI, and how often "
        "the copy is ahead of all irrelevant features by a measure, or significant at "
        f"{LEVEL} by itself",
        ["K", *values, *(f"ahead by {name}" for name in ahead), "significant"],
        rows,
    )


def ahead_by_measure(data_sets: int, seed: int, measures: Sequence[str]) -> Table:
    """Count data sets with the masked feature ahead of all irrelevant ones, by measure and K."""
    columns = []
    for K in CANDIDATES:

        def task(random: np.random.Generator, own: int, K: int = K) -> FloatArray:
            data = dm.learning_set(*problem(random))
            forest = dm.RandomForestClassifier(TREES, max_features=K, random_state=own)
            values = importances(measures, forest, data, own)
            return np.asarray(values[:, 1] > values[:, 2:].max(axis=1), dtype=np.float64)

        columns.append(simulated(task, data_sets, seed).mean(axis=0))
    titles = [dm.importances.catalogue[name].title for name in measures]
    return Table(
        f"How often the copy is ahead of all irrelevant features; {TREES} trees, {data_sets} data "
        "sets",
        ["measure", *(f"K = {K}" for K in CANDIDATES)],
        [[title, *row.tolist()] for title, row in zip(titles, np.array(columns).T, strict=True)],
        digits=2,
    )


def marginal(X: Codes, y: Codes) -> float:
    """1 if the copy is significant in a test of its own, corrected for the number of features."""
    dist = FiniteDistribution.from_table(X[:, [1]], y)
    bits = dist.mutual_information(0)
    p_value = information_p_value(bits, ROWS, 2, 2, n_candidates=X.shape[1])
    return float(np.asarray(p_value) <= LEVEL)
