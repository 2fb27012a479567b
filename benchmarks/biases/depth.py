"""Deep nodes weigh as much as the root, and hold few rows.

Shallow trees miss features that matter only together with others; trees grown in full give every
degree of conditioning the same weight, also those at which a sample has chance to offer alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, log

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

import duramen as dm
from benchmarks.biases.chance import of_forest
from benchmarks.biases.tables import Table
from duramen.support.arrays import FloatArray
from duramen.theory import FiniteDistribution, population_importances, specify
from duramen.theory.distributions.specification import bernoulli, function, uniform

DATA_SETS = 60
ROWS = 200
BITS = 8  # features of the samples whose importances are computed exactly
FLIPPED = 0.25
FEATURES = 20
TREES = 300
DEPTHS = (1, 2, 3, 5, None)
Codes = NDArray[np.int64]


def tables(data_sets: int, seed: int) -> Iterator[Table]:
    yield weights()
    yield seen_by_depth()
    yield noise_by_degree(data_sets, seed)
    yield found_by_depth(data_sets, seed)


# --- theory ---------------------------------------------------------------------------------------


def set_weight(n_features: int, degree: int) -> float:
    """Weight 1 / (C(p, k) (p - k)) of the information given one set of k other features."""
    return 1 / (comb(n_features, degree) * (n_features - degree))


def weights(n_features: int = 10) -> Table:
    rows = []
    for k in range(n_features):
        n_sets, weight = comb(n_features - 1, k), set_weight(n_features, k)
        rows.append([k, n_sets, weight, n_sets * weight])
    return Table(
        f"Conditioning sets of a feature in totally randomized trees of {n_features} features",
        ["size k", "sets", "weight of one", "weight of all"],
        rows,
        digits=5,
    )


def mixed_degrees() -> FiniteDistribution:
    """X1 has an effect of its own, X2 and X3 have one together, X4 to X6 too; X7 has none."""

    def target(a: int, b: int, c: int, d: int, e: int, f: int) -> int:
        return 4 * a + 2 * (b ^ c) + (d ^ e ^ f)

    causes = [f"X{j + 1}" for j in range(6)]
    bits = {name: uniform(2) for name in [*causes, "X7"]}
    return specify({**bits, "Y": function(target, *causes)})


def seen_by_depth() -> Table:
    dist = mixed_degrees()
    rows = []
    for depth in (1, 2, 3, 5, 7):
        values = population_importances(dist, max_depth=depth).values
        rows.append([depth, *(float(values[j]) for j in (0, 1, 3, 6)), float(values.sum())])
    return Table(
        "Y is X1, X2 xor X3, and X4 xor X5 xor X6; X7 is irrelevant (exact MDI, in bits)",
        ["depth", "X1", "X2, X3", "X4, X5, X6", "X7", "sum"],
        rows,
    )


def chance_by_degree(n_features: int, degree: int, n_rows: int) -> float:
    """MDI at a degree of an irrelevant bit, by the large-sample mean of information by chance."""
    cells = float(2**degree)
    return cells / (2 * n_rows * log(2)) / n_features


def in_sample(dist: FiniteDistribution, seed: list[int]) -> FloatArray:
    """Exact importances by degree of infinitely many trees on rows drawn from a distribution."""
    sample = dist.sample(ROWS, np.random.default_rng(seed))
    drawn = FiniteDistribution.from_table(sample.X, sample.y)
    return np.asarray(population_importances(drawn).by_degree)


def noise_by_degree(data_sets: int, seed: int) -> Table:
    """Exact importances on samples of a distribution with one relevant bit, by degree."""
    causes = {f"X{j + 1}": uniform(2) for j in range(BITS)}
    noise = {"N": bernoulli(FLIPPED)}
    dist = specify({**causes, **noise, "Y": function(lambda a, n: a ^ n, "X1", "N")}, hidden=["N"])
    limit = np.asarray(population_importances(dist).by_degree)
    result = np.mean([in_sample(dist, [seed, d]) for d in range(data_sets)], axis=0)
    others, rows = result[1:].mean(axis=0), []
    for k in range(BITS):
        ratio = float(result[0, : k + 1].sum() / others[: k + 1].sum())
        chance = chance_by_degree(BITS, k, ROWS)
        rows.append([k, *(float(v[k]) for v in (limit[0], result[0], others)), chance, ratio])
    return Table(
        f"One relevant bit of {BITS}: exact MDI of infinitely many trees, in bits, mean over "
        f"samples of {ROWS} rows",
        [
            "degree k",
            "relevant, infinitely many rows",
            "relevant",
            "irrelevant",
            "irrelevant, 2^k / (2 N ln 2) / p",
            "relevant / irrelevant at depth k + 1",
        ],
        rows,
        digits=4,
    )


# --- experiment -----------------------------------------------------------------------------------


def additive(random: np.random.Generator) -> tuple[FloatArray, Codes, int]:
    """Five of the features change the odds of a class."""
    X = random.normal(size=(ROWS, FEATURES))
    odds = np.exp(0.4 * X[:, :5].sum(axis=1))
    return X, (random.random(ROWS) < odds / (1 + odds)).astype(np.int64), 5


def mixed(random: np.random.Generator) -> tuple[FloatArray, Codes, int]:
    """Draw five bits that change the odds of a class, and features with distinct values."""
    X = random.normal(size=(ROWS, FEATURES))
    X[:, :5] = random.integers(0, 2, (ROWS, 5))
    odds = np.exp(1.2 * (X[:, :5] - 0.5).sum(axis=1))
    return X, (random.random(ROWS) < odds / (1 + odds)).astype(np.int64), 5


def interaction(random: np.random.Generator) -> tuple[FloatArray, Codes, int]:
    """Two bits, of which a class is the exclusive or in nine of ten rows."""
    X = random.integers(0, 2, (ROWS, FEATURES))
    y = X[:, 0] ^ X[:, 1] ^ (random.random(ROWS) < 0.1)
    return X.astype(np.float64), y, 2


PROBLEMS = {
    "additive": additive,
    "additive, relevant bits": mixed,
    "exclusive or": interaction,
}


def separated(values: FloatArray, n_relevant: int) -> float:
    """Fraction of pairs of a relevant and an irrelevant feature that are in order, ties half."""
    ranks = rankdata(values)
    n_others = len(values) - n_relevant
    excess = ranks[:n_relevant].sum() - n_relevant * (n_relevant + 1) / 2
    return float(excess / (n_relevant * n_others))


def found_by_depth(data_sets: int, seed: int) -> Table:
    """Importance of noise, and how well measures separate it, by the depth of the trees."""
    rows = []
    for name, problem in PROBLEMS.items():
        for depth in DEPTHS:
            results = []
            for d in range(data_sets):
                X, y, r = problem(np.random.default_rng([seed, d]))
                forest = dm.RandomForestClassifier(
                    TREES, criterion="entropy", max_depth=depth, random_state=d
                ).fit(X, y)
                measures = of_forest(forest, X, y)
                noise = float(measures[0][r:].sum() / measures[0].sum())
                results.append([noise, *(separated(values, r) for values in measures)])
            grown = "full" if depth is None else depth
            rows.append([name, grown, *np.mean(results, axis=0).tolist()])
    return Table(
        f"Random forests of {TREES} trees, {ROWS} rows, {FEATURES} features: fraction of all MDI "
        "that irrelevant features have, and area under the ROC curve",
        ["problem", "depth", "noise", "MDI", "MDI of out-of-bag rows", "MDA"],
        rows,
    )
