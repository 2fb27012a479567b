"""Error rates and power of the verdicts of `duramen rank`.

``python -m benchmarks.defaults.verdicts --out DIR`` runs max-T of MDI-oob on 400 data sets of each
of four nulls that no other page uses (with few trees and permutations: its level is to hold for any
number of them), and the default test of `duramen rank` on problems with 20 relevant of 2000
features, on the leukemia set and on noise of its shape. It prints the tables of
docs/explanation/tests/max-t-measured.md; exit status 1 where a bar is missed. A run that was killed
goes on from its files in DIR. One processor takes about ten minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import duramen as dm
from benchmarks.designs.nulls import autoregressive, genotypes
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray

LEVEL = 0.05
TREES = 500  # of the default test
PERMUTATIONS = 99
NULL_TREES = 30
NULL_PERMUTATIONS = 19  # the level that can be attained is .05 exactly, as with 99
PARTS = ("nulls", "problems", "demo")
Null = Callable[[np.random.Generator], tuple[Any, NDArray[Any]]]
Problem = Callable[[np.random.Generator], tuple[FloatArray, NDArray[Any], NDArray[np.bool_]]]


def snps(random: np.random.Generator) -> tuple[FloatArray, NDArray[Any]]:
    """150 SNPs of mixed allele frequency in LD, 3 % missing; classes of 72 and 8 rows."""
    n, p = 80, 150
    X = genotypes(n, p, 0.85, random)
    X[random.random((n, p)) < 0.03] = np.nan
    return X, random.permutation(np.arange(n) < 8)


def kinds(random: np.random.Generator) -> tuple[FloatArray, NDArray[Any]]:
    """40 Cauchy, binary and ordinal columns, each with a copy; classes of 50, 30 and 10 rows."""
    n = 90
    X = random.standard_cauchy((n, 60))
    X[:, 20:40] = X[:, 20:40] > random.normal(size=20)
    X[:, 40:] = np.digitize(X[:, 40:], [-1.5, -0.3, 0.4, 2.0])
    return np.hstack([X, X]), random.permutation(np.repeat([0, 1, 2], [50, 30, 10]))


def heavy(random: np.random.Generator) -> tuple[FloatArray, NDArray[Any]]:
    """300 columns of t distributions with 1.5 degrees of freedom, 30 rows in two classes."""
    return random.standard_t(1.5, (30, 300)), random.permutation(np.arange(30) % 2)


def series(random: np.random.Generator) -> tuple[FloatArray, NDArray[Any]]:
    """80 columns of an AR(1) process with r = .9, 50 rows, and a number as the target."""
    return autoregressive(50, 80, 0.9, random), random.gamma(1.0, size=50)


NULLS: dict[str, Null] = {
    "SNPs in LD, 80 x 150, 8:72, missing values": snps,
    "Cauchy, binary, ordinal, copies, 90 x 120, 50:30:10": kinds,
    "heavy tails, 30 x 300": heavy,
    "regression on AR(1), 50 x 80": series,
}


def genes(random: np.random.Generator) -> tuple[FloatArray, NDArray[Any], NDArray[np.bool_]]:
    """2000 genes of the leukemia set, labels assigned at random, 20 genes shifted by 1.25 sd."""
    X = dm.datasets.load_leukemia().X
    X = X[:, random.choice(X.shape[1], 2000, replace=False)].copy()
    y, relevant = random.permutation(np.arange(72) % 2), np.arange(2000) < 20
    X[:, relevant] += 1.25 * X[:, relevant].std(axis=0) * y[:, np.newaxis]
    return X, y, relevant


def mixed(random: np.random.Generator) -> tuple[FloatArray, NDArray[Any], NDArray[np.bool_]]:
    """2000 columns of 2, 4, 20 and 100 values in turn, 5 of each relevant; 100 rows."""
    X, y = random.normal(size=(100, 2000)), random.permutation(np.arange(100) % 2)
    relevant = np.arange(2000) < 20
    X[:, relevant] += 1.2 * y[:, np.newaxis]
    for first, n_values in enumerate((2, 4, 20)):
        limits = stats.norm.ppf(np.arange(1, n_values) / n_values)
        X[:, first::4] = np.searchsorted(limits, X[:, first::4])
    return X, y, relevant


def linear(random: np.random.Generator) -> tuple[FloatArray, NDArray[Any], NDArray[np.bool_]]:
    """A sum of 20 of 2000 columns in blocks of correlation .5, noise beside it; 100 rows."""
    X = np.sqrt(0.5) * (np.repeat(random.normal(size=(100, 100)), 20, axis=1))
    X += np.sqrt(0.5) * random.normal(size=(100, 2000))
    relevant = np.arange(2000) < 20  # one block: the others are independent of the target
    return X, (X[:, :20].sum(axis=1) + 5 * random.normal(size=100) > 0).astype(int), relevant


PROBLEMS: dict[str, Problem] = {
    "genes, shifted, 72 x 2000": genes,
    "2, 4, 20 and 100 values, shifted, 100 x 2000": mixed,
    "linear, correlated, 100 x 2000": linear,
}


def answer(
    X: Any, y: NDArray[Any], seed: int, trees: int = TREES, permutations: int = PERMUTATIONS
) -> Any:
    """The default test."""
    kind = dm.RandomForestRegressor if y.dtype.kind == "f" else dm.RandomForestClassifier
    options = {} if y.dtype.kind == "f" else {"criterion": "entropy"}
    return dm.significance.max_t(
        kind(trees, **options), X, y, n_permutations=permutations, random_state=seed % 2**32
    )


def under_null(
    null: Null, trees: int, permutations: int = PERMUTATIONS
) -> Callable[[int, int], FloatArray]:
    """Return a task: is any feature confirmed, and is any confirmed or a candidate?"""

    def task(_: int, seed: int) -> FloatArray:
        X, y = null(np.random.default_rng(seed))
        verdicts = answer(X, y, seed, trees, permutations).verdicts(LEVEL)
        return np.array(["confirmed" in verdicts, len({*verdicts} - {"noise"}) > 0], dtype=float)

    return task


def with_relevant(problem: Problem, trees: int = TREES) -> Callable[[int, int], FloatArray]:
    """Fractions of relevant features that are confirmed, and found; of found ones, false ones."""

    def task(_: int, seed: int) -> FloatArray:
        X, y, relevant = problem(np.random.default_rng(seed))
        verdicts = np.array(answer(X, y, seed, trees).verdicts(LEVEL))
        sure, reported = verdicts == "confirmed", verdicts != "noise"
        false = np.count_nonzero(reported & ~relevant) / max(1, np.count_nonzero(reported))
        return np.array(
            [sure[relevant].mean(), reported[relevant].mean(), false, (sure & ~relevant).any()]
        )

    return task


def noise(_: int, seed: int) -> FloatArray:
    """Count confirmed and found features among 7129 columns of normal noise."""
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(72, 7129)), random.permutation(np.arange(72) < 47)
    verdicts = answer(X, y, seed).verdicts(LEVEL)
    return np.array([verdicts.count("confirmed"), len(verdicts) - verdicts.count("noise")], float)


class Bench:
    """Replicates kept in a folder, and bars that are missed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.missed = list[str]()

    def run(
        self, name: str, task: Callable[[int, int], FloatArray], count: int, width: int
    ) -> FloatArray:
        checkpoint = self.folder / f"{''.join(c if c.isalnum() else '-' for c in name)}.npz"
        plan, identity = Plan(1, checkpoint), {"name": name, "trees": [TREES, NULL_TREES]}
        return run_replicates(
            task, count, width, seed=0, identity=identity, plan=plan, function="default_answer"
        )

    def check(self, holds: bool, what: str) -> None:
        if not holds:
            self.missed.append(what)


def nulls(bench: Bench, count: int) -> None:
    low, high = (limit / count for limit in stats.binom.interval(0.99, count, LEVEL))
    print(f"99 % band of {count} data sets: {low:.3f} to {high:.3f}\n")
    print("| null | any confirmed | any confirmed or candidate |")
    print("| --- | --- | --- |")
    for name, null in NULLS.items():
        sure, some = bench.run(
            name, under_null(null, NULL_TREES, NULL_PERMUTATIONS), count, 2
        ).mean(axis=0)
        print(f"| {name} | {sure:.3f} | {some:.3f} |", flush=True)
        bench.check(low <= sure <= high, f"{name}: any confirmed {sure:.3f}")


def problems(bench: Bench, count: int) -> None:
    print(f"\nMeans of {count} data sets; found: confirmed or candidate\n")
    print("| problem | confirmed | found | false among found | any false confirmed |")
    print("| --- | --- | --- | --- | --- |")
    for name, problem in PROBLEMS.items():
        result = bench.run(name, with_relevant(problem), count, 4)
        sure, some, false, any_false = result.mean(axis=0)
        error = result[:, 2].std(ddof=1) / np.sqrt(count)
        print(
            f"| {name} | {sure:.2f} | {some:.2f} | {false:.3f} (s.e. {error:.3f}) | "
            f"{any_false:.2f} |",
            flush=True,
        )
        bench.check(false <= LEVEL + 2 * error, f"{name}: false among found {false:.3f}")


def demo(bench: Bench, count: int) -> None:
    data = dm.datasets.load_leukemia()
    verdicts = answer(data.X, data.y, 0).verdicts(LEVEL)
    sure, likely = verdicts.count("confirmed"), verdicts.count("candidate")
    print(f"\nleukemia: {sure} genes confirmed, {likely} more candidates")
    bench.check(sure > 10, f"leukemia: {sure} confirmed")
    result = bench.run("noise of its shape", noise, count, 2)
    clean, empty = (result == 0).mean(axis=0)
    print(f"noise, 72 x 7129: none confirmed in {clean:.0%}, none found in {empty:.0%} of {count}")
    bench.check(clean >= 1 - LEVEL, f"noise: none confirmed in {clean:.0%}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.defaults.verdicts", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=400, help="of each null")
    parser.add_argument("--problems", type=int, default=8, help="data sets of each problem")
    parser.add_argument("--seeds", type=int, default=20, help="of noise of the shape of leukemia")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(options.out)
    if "nulls" in options.parts:
        nulls(bench, options.data_sets)
    if "problems" in options.parts:
        problems(bench, options.problems)
    if "demo" in options.parts:
        demo(bench, options.seeds)
    for line in bench.missed:
        print(f"missed: {line}")
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
