"""Forests against the exact theory on small tables, where splits of equal gain are common.

``python -m benchmarks.accuracy.ties --out DIR`` draws 2,000 tables of 8 to 14 rows and four
columns, each with a criterion, a number K of candidates, a kind of trees and a kind of weights. It
grows 4,000 trees without bootstrap on each, and compares their mean decrease of impurity with
`duramen.theory.population_importances`: z is the difference, in standard errors over the trees, of
the feature whose importance varies most from tree to tree. Of 2,000 values of z one beyond 4 is
expected in one run of eight, so such tables are compared again, with ten times the trees of another
seed: where ties are not drawn uniformly, z grows with the number of trees. Prints a table with a
row for each criterion and K, and writes z table by table to DIR/ties.csv. One thread, two minutes.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from duramen.theory import FiniteDistribution
from duramen.theory.population.recursion import Nodes

N_FEATURES = 4
LARGEST = 4.0
CRITERIA = ("entropy", "gini", "variance")
CANDIDATES = (1, 2, N_FEATURES)
# Estimator, family of splits and how a candidate's split is chosen.
TREES = {
    "random forest": ("RandomForest", "ordered", "best"),
    "Extra-Trees": ("ExtraTrees", "ordered", "random"),
    "multiway": ("ExtraTrees", "multiway", "random"),
    "one-vs-rest": ("RandomForest", "one-vs-rest", "best"),
    "any": ("RandomForest", "any", "best"),
}
WEIGHTS = ("none", "whole", "real", "classes")
_ROUNDING = 1e-9  # a difference of so little is none


@dataclass(frozen=True)
class Case:
    """A table, and the trees that are grown on it.

    Parameters
    ----------
    X, y : ndarray
        The table and its target.
    weights : ndarray or None
        Weights of the rows; None for none.
    criterion, trees, weighting : str
        Of `CRITERIA`, `TREES` and `WEIGHTS`.
    K : int
        Number of candidates at a node.
    """

    X: NDArray[np.int64]
    y: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    criterion: str
    trees: str
    weighting: str
    K: int


def drawn_case(seed: int) -> Case:
    """Return the case of a seed, in rotation over criteria, K, trees and weights."""
    choices = list(product(CRITERIA, CANDIDATES, TREES, WEIGHTS))
    criterion, K, trees, weighting = choices[seed % len(choices)]
    random = np.random.default_rng(seed)
    n = int(random.integers(8, 15))
    X = random.integers(0, random.integers(2, 4, N_FEATURES), (n, N_FEATURES))
    y = random.integers(0, int(random.integers(2, 4)), n)
    weights = None
    if weighting == "whole":
        weights = random.integers(1, 4, n).astype(np.float64)
    elif weighting == "real":
        weights = 0.1 * random.integers(1, 4, n)
    elif weighting == "classes":
        weights = np.array([0.3, 1.1, 0.7])[y]
    return Case(X, y, weights, criterion, trees, weighting, K)


def compared(case: Case, n_trees: int, seed: int) -> tuple[float, bool]:
    """Return z, and whether two features tie at the root."""
    _, splits, cut = TREES[case.trees]
    dist = FiniteDistribution.from_table(case.X, case.y, weights=case.weights)
    exact = dm.theory.population_importances(
        dist, max_features=case.K, criterion=case.criterion, splits=splits, cut=cut
    ).values
    grown = dm.importances.mdi(fitted(case, n_trees, seed))
    off, error = grown.values - exact, np.asarray(grown.standard_error)
    j = int(np.argmax(error))
    scale = max(1.0, float(np.abs(exact).max()))
    z = 0.0 if np.all(np.abs(off) < _ROUNDING * scale) else float(off[j] / error[j])
    return z, ties_at_root(dist, case.criterion, splits)


def fitted(case: Case, n_trees: int, seed: int) -> Any:
    """Return the forest of a case."""
    name, splits, _ = TREES[case.trees]
    regression = case.criterion == "variance"
    settings: dict[str, Any] = {
        "criterion": "squared_error" if regression else case.criterion,
        "max_features": case.K,
        "splits": splits,
        "bootstrap": False,
        "random_state": seed,
    }
    estimator = getattr(dm, name + ("Regressor" if regression else "Classifier"))
    table = dm.encode(case.X, kinds="nominal" if splits == "any" else "ordinal")
    return estimator(n_trees, **settings).fit(table, case.y, sample_weight=case.weights)


def ties_at_root(dist: FiniteDistribution, criterion: str, family: str) -> bool:
    """Tell whether the best splits of two features tie at the root with a positive gain."""
    nodes = Nodes("ties", dist, criterion, family)
    result = nodes.splits(nodes.root)
    best = np.zeros(dist.n_features)
    np.maximum.at(best, result.feature, result.decrease)
    ordered = np.sort(best)
    return bool(np.any((np.diff(ordered) < 1e-12) & (ordered[1:] > 1e-12)))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.accuracy.ties", description=__doc__)
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--trees", type=int, default=4000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first table")
    parser.add_argument("--out", type=Path, default=Path("ties"))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    options.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for seed in range(options.first, options.first + options.tables):
        case = drawn_case(seed)
        z, tie = compared(case, options.trees, seed)
        again = z
        if abs(z) >= LARGEST:
            again, _ = compared(case, 10 * options.trees, seed + 2**31)
        rows.append((seed, case.criterion, case.K, case.trees, case.weighting, int(tie), z, again))
    with (options.out / "ties.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["seed", "criterion", "K", "trees", "weights", "tie", "z", "again"])
        writer.writerows(rows)
    return 0 if table_of(rows) < LARGEST else 1


def table_of(rows: list[tuple[Any, ...]]) -> float:
    """Print a row for each criterion and K, and return the largest z of repeated comparisons."""
    print(
        "| criterion | K | tables | ties at the root | mean z squared | largest z "
        "| largest, compared again |"
    )
    print("| --- |" + " --- |" * 6)
    cells = [(criterion, K) for criterion in CRITERIA for K in CANDIDATES]
    for criterion, K in [*cells, ("all", "")]:
        part = [row for row in rows if criterion == "all" or row[1:3] == (criterion, K)]
        if not part:
            continue
        z, again = np.abs([row[-2:] for row in part]).T
        ties = sum(row[5] for row in part)
        square = f"{np.mean(z[z > 0] ** 2):.2f}" if z.any() else ""
        print(
            f"| {criterion} | {K} | {len(part)} | {ties} | {square} | {z.max():.2f} "
            f"| {again.max():.2f} |"
        )
    return float(np.max(np.abs([row[-1] for row in rows])))


if __name__ == "__main__":
    sys.exit(main())
