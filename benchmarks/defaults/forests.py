"""Choice of forests and standardization of the default test of `duramen rank`.

``python -m benchmarks.defaults.forests --out DIR`` draws data sets of the five problems below,
grows each forest below on the labels and on 99 permutations of them, and reads from every matrix of
importances (MDI) what step-down max-T confirms at a family-wise error rate of .05 and what the
pooled false discovery rate accepts at .05. A run that was killed goes on from its files in DIR.

Plan, written before the first run
----------------------------------
Problems, 12 data sets each, the same for all settings:

* genes: 72 x 2000 genes drawn from the leukemia set, labels assigned at random, 20 genes shifted
  in one class by 1.5 of their standard deviations (marginal signals);
* weak genes: the same with 1.0 standard deviations;
* kinds: 100 x 400 columns of 2, 4, 20 and all different values in turn, 20 of them (5 of each kind)
  shifted in one class before they are rounded (marginal signals, mixed cardinality);
* madelon: 400 x 100, 5 informative and 5 redundant columns (interactions);
* xor: 200 x 40 bits, two of which decide together (an interaction without marginal effects).

Forests: those of the ranking (random forest, K = sqrt(p), fully grown) with 100, 200 and 500
trees; random forests with K = p/10, 200 trees; Extra-Trees with K = p/10, 200 trees, fully grown
and with at most 3 levels; the latter with 500 trees. Entropy throughout.

Standardization of the 100 rows of a column: none ("raw"); by the mean and standard deviation of
the column in all rows ("z"); by those of the other 99 rows, the standard deviation being no less
than a fraction f of the root mean square of the standard deviations of all columns in all rows
("f = .25", ".5", "1"). Each treats all rows alike, so that they stay exchangeable under the
complete null hypothesis.

Choice: of the settings whose mean proportion of false candidates is at most .05, within two
standard errors, in every problem, the one with the largest mean power of candidates over the five
problems; of settings that are within .03 of it, the one with the forests of the ranking, then the
cheaper one. `duramen rank --demo` must not take more than 12 s on two processors with it.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.designs import two_classes
from benchmarks.designs.two_classes import Problem
from duramen.jobs.replicates import OBSERVED, Plan, replicate_seed, run_replicates
from duramen.significance.measured import Refits, measured
from duramen.significance.permutations import expected_discoveries
from duramen.support.arrays import FloatArray

LEVEL = 0.05
PERMUTATIONS = 99


def genes(random: np.random.Generator, shift: float = 1.5) -> Problem:
    X = dm.datasets.load_leukemia().X
    X = X[:, random.choice(X.shape[1], 2000, replace=False)].copy()
    y = random.permutation(np.arange(len(X)) % 2)
    relevant = np.arange(2000) < 20
    X[:, relevant] += shift * X[:, relevant].std(axis=0) * y[:, np.newaxis]
    return X, y, relevant


def weak_genes(random: np.random.Generator) -> Problem:
    return genes(random, shift=1.0)


def kinds(random: np.random.Generator) -> Problem:
    X, y = random.normal(size=(100, 400)), random.permutation(np.arange(100) % 2)
    relevant = np.arange(400) < 20
    X[:, relevant] += 1.2 * y[:, np.newaxis]
    for first, n_values in enumerate((2, 4, 20)):
        cuts = np.arange(1, n_values) / n_values
        for column in X[:, first::4].T:
            column[:] = np.searchsorted(np.quantile(column, cuts), column)
    return X, y, relevant


PROBLEMS: dict[str, Callable[[np.random.Generator], Problem]] = {
    "genes": genes,
    "weak genes": weak_genes,
    "kinds": kinds,
    "madelon": partial(two_classes.madelon, n=400, n_probes=90),
    "xor": partial(two_classes.xor, n=200, p=40),
}


def forests() -> dict[str, Any]:
    def random_forest(n_trees: int, **options: Any) -> Any:
        return dm.RandomForestClassifier(n_trees, criterion="entropy", **options)

    def extra_trees(n_trees: int, **options: Any) -> Any:
        return dm.ExtraTreesClassifier(n_trees, criterion="entropy", max_features=0.1, **options)

    return {
        "ranking's, 100": random_forest(100),
        "ranking's, 200": random_forest(200),
        "ranking's, 500": random_forest(500),
        "RF p/10, 200": random_forest(200, max_features=0.1),
        "ET p/10, 200": extra_trees(200),
        "ET p/10 depth 3, 200": extra_trees(200, max_depth=3),
        "ET p/10 depth 3, 500": extra_trees(500, max_depth=3),
    }


def by_all_rows(rows: FloatArray) -> FloatArray:
    """Each column by its mean and standard deviation; 0 where it does not vary."""
    centered, sd = rows - rows.mean(axis=0), rows.std(axis=0)
    return np.divide(centered, sd, out=np.zeros_like(rows), where=sd > 0)


def by_other_rows(rows: FloatArray, fraction: float) -> FloatArray:
    """Standardize each row by mean and standard deviation of the others, with a floor."""
    others = len(rows) - 1
    centered = rows - rows.mean(axis=0)
    floor = fraction**2 * rows.var(axis=0).mean()
    mean = -centered / others
    variance = ((centered**2).sum(axis=0) - centered**2) / others - mean**2
    scale = np.sqrt(np.maximum(variance, floor))
    return np.divide(centered - mean, scale, out=np.zeros_like(rows), where=scale > 0)


STANDARDIZED: dict[str, Callable[[FloatArray], FloatArray]] = {
    "raw": lambda rows: rows,
    "z": by_all_rows,
    "f = .25": lambda rows: by_other_rows(rows, 0.25),
    "f = .5": lambda rows: by_other_rows(rows, 0.5),
    "f = 1": lambda rows: by_other_rows(rows, 1.0),
}


def confirmed(rows: FloatArray) -> NDArray[np.bool_]:
    """Return features confirmed by step-down max-T; the first row has the original labels."""
    order = np.argsort(-rows[0], kind="stable")
    largest = np.maximum.accumulate(rows[1:, order[::-1]], axis=1)[:, ::-1]
    p_values = (1 + (largest >= rows[0, order]).sum(axis=0)) / len(rows)
    taken = np.zeros(rows.shape[1], dtype=np.bool_)
    taken[order] = np.maximum.accumulate(p_values) <= LEVEL
    return taken


def candidates(rows: FloatArray) -> NDArray[np.bool_]:
    """Return features accepted by the pooled false discovery rate, with confirmed features."""
    order = np.argsort(-rows[0], kind="stable")
    scores = rows[0, order]
    rates = expected_discoveries(scores, rows[1:]) / np.arange(1, len(scores) + 1)
    taken = np.zeros(rows.shape[1], dtype=np.bool_)
    taken[order] = np.minimum.accumulate(rates[::-1])[::-1] <= LEVEL
    return taken | confirmed(rows)


def task_of(problem: Callable[[np.random.Generator], Problem]) -> Callable[[int, int], FloatArray]:
    """Return a task: power and false proportion of candidates, then of confirmed features."""

    def task(_: int, seed: int) -> FloatArray:
        X, y, relevant = problem(np.random.default_rng(seed))
        table, row = dm.encode(X), list[float]()
        for forest in forests().values():
            start = time.process_time()
            subject = measured(forest, table, y, "mdi", "default_forest")
            observed = subject.scores(replicate_seed(seed, OBSERVED))
            null = Refits(function="default_forest", subject=subject, seed=seed).permuted_scores(
                PERMUTATIONS
            )
            row.append(time.process_time() - start)
            rows = np.vstack([observed, null])
            for standardized in STANDARDIZED.values():
                scores = standardized(rows)
                some, sure = candidates(scores), confirmed(scores)
                false = np.count_nonzero(some & ~relevant) / max(1, np.count_nonzero(some))
                row += [some[relevant].mean(), false]
                row += [sure[relevant].mean(), float((sure & ~relevant).any())]
        return np.array(row)

    return task


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.defaults.forests", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=12)
    parser.add_argument("--problems", nargs="*", choices=PROBLEMS, default=list(PROBLEMS))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    names, width = list(forests()), 1 + 4 * len(STANDARDIZED)
    print("| problem | forests | s | " + " | ".join(STANDARDIZED) + " |")
    print("| --- | --- | --- |" + " --- |" * len(STANDARDIZED))
    power = []
    for name in options.problems:
        result = run_replicates(
            task_of(PROBLEMS[name]),
            options.data_sets,
            width * len(names),
            seed=0,
            identity={"problem": name, "forests": names, "standardized": list(STANDARDIZED)},
            plan=Plan(1, options.out / f"{name.replace(' ', '-')}.npz"),
            function="default_forest",
        ).reshape(-1, len(names), width)
        means = result.mean(axis=0)
        numbers = means[:, 1:].reshape(len(names), len(STANDARDIZED), 4)
        power.append(numbers[:, :, 0])
        for k, forest in enumerate(names):
            cells = ["{:.2f} ({:.3f}), {:.2f} ({:.2f})".format(*cell) for cell in numbers[k]]
            print(f"| {name} | {forest} | {means[k, 0]:.1f} | {' | '.join(cells)} |", flush=True)
    for k, forest in enumerate(names):
        cells = [f"{value:.3f}" for value in np.mean(power, axis=0)[k]]
        print(f"| mean power | {forest} | | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
