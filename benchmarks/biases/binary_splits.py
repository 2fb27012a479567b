"""A binary split uses a part of a feature, which depends on the choice of cuts.

A multiway split uses a feature up. A binary one leaves the rest of it to further splits, on the
same feature or on others that carry the same information.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import duramen as dm
from benchmarks.biases.chance import of_forest
from benchmarks.biases.tables import Cell, Table
from duramen.theory import FiniteDistribution, population_importances

DATA_SETS = 20
ROWS = 300
NOISE = 5  # irrelevant numeric features of the experiment
TREES = 300
FLIPPED = 0.1  # fraction of the classes

# Split family and choice of the cut, in words.
CUTS: dict[str, dict[str, Any]] = {
    "multiway": {"splits": "multiway"},
    "random cut": {"splits": "ordered"},
    "best cut": {"splits": "ordered", "cut": "best"},
    "random subset": {"splits": "any"},
    "best subset": {"splits": "any", "cut": "best"},
}

Codes = NDArray[np.int64]


def tables(data_sets: int, seed: int) -> Iterator[Table]:
    """Tables of the page."""
    yield threshold()
    yield interval()
    yield digits()
    yield against_its_indicator(data_sets, seed)


# --- theory ---------------------------------------------------------------------------------------


def with_indicator(n_values: int, classes: Codes) -> FiniteDistribution:
    """X of equally frequent values, of which Y is a function, and X2 = Y."""
    X = np.column_stack([np.arange(n_values), classes])
    return FiniteDistribution.from_table(X, classes)


def rows_of(dist: FiniteDistribution, label: Cell) -> list[list[Cell]]:
    """Importances of two features under every family and choice of cuts, with K = 1 and 2."""
    rows: list[list[Cell]] = []
    for name, options in CUTS.items():
        values = [
            population_importances(dist, max_features=K, **options).values[:2].tolist()
            for K in (1, 2)
        ]
        rows.append([label, name, *values[0], *values[1]])
    return rows


HEADS = ["values of X", "split", "K = 1: X", "Y's copy", "K = 2: X", "Y's copy"]


def threshold() -> Table:
    """Y is 1 if X is in its upper half."""
    rows = []
    for n_values in (4, 8):
        classes = (np.arange(n_values) >= n_values // 2).astype(np.int64)
        rows += rows_of(with_indicator(n_values, classes), n_values)
    return Table("Y = 1 in the upper half of the values of X (exact; MDI in bits)", HEADS, rows)


def interval() -> Table:
    """Y is 1 if X is in the middle, which a single cut cannot separate."""
    rows = []
    for n_values in (3, 5):
        classes = (np.arange(n_values) == n_values // 2).astype(np.int64)
        rows += rows_of(with_indicator(n_values, classes), n_values)
    return Table("Y = 1 at the middle value of X (exact; MDI in bits)", HEADS, rows)


def digits() -> Table:
    """Seven segments, the values of the first divided into two each (thesis, Figure 5.5)."""
    dist = dm.theory.examples.digits7(first_in_four=True)
    rows: list[list[Cell]] = []
    for K in (1, 7):
        for name, options in CUTS.items():
            values = population_importances(dist, max_features=K, **options).values
            rows.append([K, name, *values.tolist()])
    return Table(
        "Seven segments, X1 of four values (exact; MDI in bits)",
        ["K", "split", *dist.names],
        rows,
    )


# --- experiment -----------------------------------------------------------------------------------


def problem(random: np.random.Generator) -> tuple[NDArray[np.float64], Codes]:
    """Return a numeric feature, its sign, and noise; the class is the sign, sometimes flipped."""
    X = random.normal(size=(ROWS, 2 + NOISE))
    X[:, 1] = X[:, 0] > 0
    return X, np.where(random.random(ROWS) < FLIPPED, 1 - X[:, 1], X[:, 1]).astype(np.int64)


FORESTS = {
    "random cuts, K = 1": dm.ExtraTreesClassifier(TREES, max_features=1),
    "random cuts, K = p": dm.ExtraTreesClassifier(TREES, max_features=None),
    "best cuts, K = 1": dm.RandomForestClassifier(TREES, max_features=1),
    "best cuts, K = p": dm.RandomForestClassifier(TREES, max_features=None),
}


def against_its_indicator(data_sets: int, seed: int) -> Table:
    """Compare importances of a numeric feature and of its sign, by measure."""
    rows: list[list[Cell]] = []
    for name, forest in FORESTS.items():
        grown = clone(forest).set_params(criterion="entropy", bootstrap=True)
        values = []
        for d in range(data_sets):
            X, y = problem(np.random.default_rng([seed, d]))
            grown.set_params(random_state=d)
            values.append([v[:2] for v in of_forest(grown.fit(X, y), X, y)])
        means = np.mean(values, axis=0)
        rows.append([name, *means.ravel().tolist(), float(means[0, 0] / means[0, 1])])
    measures = ("MDI", "MDI of out-of-bag rows", "MDA")
    heads = [f"{m}: {what}" for m in measures for what in ("number", "sign")]
    return Table(
        f"Forests of {TREES} trees, {ROWS} rows: a number, its sign, {NOISE} irrelevant numbers",
        ["forest", *heads, "ratio of MDI"],
        rows,
    )
