"""Sampling with replacement makes irrelevant features look associated with the target.

A row that is drawn twice counts twice in every table of counts, so that a bootstrap sample of N
rows has more information by chance than N rows have, and the more so the more values a feature has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import duramen as dm
from benchmarks.biases import chance
from benchmarks.biases.tables import Table
from duramen.support.arrays import FloatArray
from duramen.theory.samples import degrees_of_freedom, information_p_value

DATA_SETS = 200
ROWS = 120
VALUES = (2, 4, 10, 20)  # of the irrelevant features
LEVEL = 0.05
SUBSAMPLE = 1 - np.exp(-1)  # fraction of distinct rows in a large bootstrap sample
DRAWS = 20  # of the rows of a data set, for tests at the root
TREES = 100
FLIPPED = 0.35  # rows whose class is not that of the relevant feature
SAMPLINGS = {
    "all rows": {"bootstrap": False},
    "63 % without replacement": {"bootstrap": False, "max_samples": SUBSAMPLE},
    "bootstrap": {"bootstrap": True},
}
TREES_GROWN: dict[str, tuple[Any, dict[str, Any]]] = {
    "random forest, grown in full": (dm.RandomForestClassifier, {}),
    f"totally randomized, `stop_alpha={LEVEL}`": (
        dm.TotallyRandomizedTreesClassifier,
        {"stop_alpha": LEVEL},
    ),
}
Codes = NDArray[np.int64]


def tables(data_sets: int, seed: int) -> Iterator[Table]:
    yield information_by_chance()
    yield levels_in_theory()
    yield levels_at_the_root(data_sets, seed)
    yield importances_by_sampling(data_sets, seed)


# --- theory ---------------------------------------------------------------------------------------


def mean_information(n_values: int, sampling: str, n_rows: int = ROWS) -> float:
    """Return the mean plug-in information, in bits, of independent uniform variables."""
    drawn = round(SUBSAMPLE * n_rows) if sampling == "63 % without replacement" else n_rows
    uniform = np.full(n_values, 1 / n_values)
    return chance.mean_information(uniform, [0.5, 0.5], drawn, bootstrap=sampling == "bootstrap")


def information_by_chance() -> Table:
    rows = []
    for c in VALUES:
        results = [mean_information(c, sampling) for sampling in SAMPLINGS]
        limit = dm.theory.samples.expected_information(ROWS, c, 2)
        rows.append([c, limit, *results, results[1] / results[0], results[2] / results[0]])
    return Table(
        f"Mean information, in bits, of an irrelevant feature at the root: two classes, {ROWS} "
        "rows (exact)",
        ["values", "(c - 1)/(2 N ln 2)", *SAMPLINGS, "second / first", "third / first"],
        rows,
    )


def rejected(n_values: int, inflation: float, level: float = LEVEL) -> float:
    """Probability that a chi-square variable times `inflation` is above its quantile."""
    freedom = degrees_of_freedom(n_values, 2)
    return float(stats.chi2.sf(stats.chi2.isf(level, freedom) / inflation, freedom))


def levels_in_theory() -> Table:
    """Compute levels of a test at .05 in a bootstrap sample, with statistics as of 2 N rows."""
    rows = [[c, LEVEL, rejected(c, 2.0), rejected(c, 2 * SUBSAMPLE)] for c in VALUES]
    return Table(
        f"Type I error rate of the chi-square test of a node at {LEVEL} in large samples (theory)",
        ["values", "without replacement", "bootstrap, copies count", "bootstrap, distinct rows"],
        rows,
    )


# --- experiments ----------------------------------------------------------------------------------


def irrelevant(random: np.random.Generator) -> Codes:
    """Independent features of 2, 4, 10 and 20 values."""
    return random.integers(0, VALUES, (ROWS, len(VALUES)))


def root_information(x: Codes, y: Codes, n_values: int) -> float:
    """Plug-in information, in bits, of a feature on two classes."""
    counts = np.bincount(2 * x + y, minlength=2 * n_values).reshape(n_values, 2) / len(y)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0)
    some = counts > 0
    return float(np.sum(counts[some] * np.log2(counts[some] / expected[some])))


def levels_at_the_root(data_sets: int, seed: int) -> Table:
    """Fractions of root nodes at which an irrelevant feature is significant."""
    tests = [f"test, {s}" for s in SAMPLINGS] + ["test, bootstrap as N / 2 rows"]
    result = np.zeros((data_sets, len(VALUES), len(tests) + len(SAMPLINGS)))
    for d in range(data_sets):
        random = np.random.default_rng([seed, d])
        X, y = irrelevant(random), random.integers(0, 2, ROWS)
        for f, c in enumerate(VALUES):
            tested = [significant(X[:, f], y, c, sampling, random) for sampling in SAMPLINGS]
            result[d, f, : len(tests)] = [level for each in tested for level in each]
            for s, settings in enumerate(SAMPLINGS.values()):
                forest = dm.TotallyRandomizedTreesClassifier(
                    DRAWS, max_depth=1, stop_alpha=LEVEL, random_state=d, **settings
                ).fit(X[:, [f]], y)
                result[d, f, len(tests) + s] = np.mean(np.diff(forest.forest_.offsets) > 1)
    return Table(
        f"Fraction of root nodes at which an irrelevant feature is significant at {LEVEL}",
        ["values", *tests, *(f"`stop_alpha`, {s}" for s in SAMPLINGS)],
        [[c, *result[:, f].mean(axis=0).tolist()] for f, c in enumerate(VALUES)],
    )


def significant(
    x: Codes, y: Codes, n_values: int, sampling: str, random: np.random.Generator
) -> list[float]:
    """Fraction of draws of the rows in which the node test of a feature is significant.

    For bootstrap samples there are two: with all copies counted, and for N / 2 rows.
    """
    size = round(SUBSAMPLE * ROWS) if sampling == "63 % without replacement" else ROWS
    chosen = [random.choice(ROWS, size, replace=sampling == "bootstrap") for _ in range(DRAWS)]
    bits = [root_information(x[rows], y[rows], n_values) for rows in chosen]
    counted = [size, size / 2] if sampling == "bootstrap" else [size]
    return [
        float(np.mean(np.asarray(information_p_value(bits, n, n_values, 2)) <= LEVEL))
        for n in counted
    ]


def problem(random: np.random.Generator) -> tuple[Codes, Codes]:
    """Return a relevant feature of two values, and irrelevant features of 2, 4, 10 and 20."""
    cause = random.integers(0, 2, ROWS)
    y = np.where(random.random(ROWS) < FLIPPED, 1 - cause, cause)
    return np.column_stack([cause, irrelevant(random)]), y


def importances_by_sampling(data_sets: int, seed: int) -> Table:
    """Compare mean importances, and count features of 20 values ahead of the relevant feature."""
    rows = []
    for trees in TREES_GROWN:
        for sampling in SAMPLINGS:
            samples: dict[str, list[FloatArray]] = {}
            for d in range(data_sets):
                X, y = problem(np.random.default_rng([seed, d]))
                for name, values in measured(X, y, trees, sampling, d).items():
                    samples.setdefault(name, []).append(values)
            for name, each in samples.items():
                values = np.array(each)
                ahead = float(np.mean(values[:, -1] > values[:, 0]))
                rows.append([trees, sampling, name, *values.mean(axis=0).tolist(), ahead])
    columns = ["relevant, 2 values", *(f"irrelevant, {c}" for c in VALUES), "20 values ahead"]
    return Table(
        f"Mean importance in forests of {TREES} trees, {ROWS} rows",
        ["trees", "rows of a tree", "measure", *columns],
        rows,
    )


def measured(X: Codes, y: Codes, trees: str, sampling: str, seed: int) -> dict[str, FloatArray]:
    """Importances by the measures that a forest with these rows in its trees has."""
    kind, settings = TREES_GROWN[trees]
    forest = kind(
        TREES, criterion="entropy", random_state=seed, **settings, **SAMPLINGS[sampling]
    ).fit(X, y)
    if sampling == "all rows":
        return {"MDI": dm.importances.mdi(forest).values}
    names = ("MDI", "MDI of out-of-bag rows", "MDA")
    return dict(zip(names, chance.of_forest(forest, X, y), strict=True))
