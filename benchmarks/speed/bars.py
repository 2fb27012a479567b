"""The bars that have no peer: multiway trees, import, a cold start, two threads, encoding.

``python -m benchmarks.speed.bars`` prints each measurement with its bar; exit status 1 where one is
missed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import median_seconds
from benchmarks.speed import cases

# What importing duramen needs of others; their time is not its own.
DEPENDENCIES = (
    "numpy, scipy.sparse, scipy.special, sklearn.base, sklearn.utils.validation, joblib, narwhals"
)


@dataclass(frozen=True)
class Bar:
    """A measurement: ``limit`` is a ceiling, or a floor if ``at_least`` is set."""

    name: str
    measure: Callable[[], float]
    limit: float | None
    unit: str = "s"
    at_least: bool = False

    def met(self, value: float) -> bool:
        if self.limit is None:
            return True
        return value >= self.limit if self.at_least else value < self.limit


def multiway() -> float:
    import duramen as dm

    random = np.random.default_rng(0)
    X = random.integers(0, 2, (320, 8)).astype(np.uint8)
    y = (X[:, 0] ^ X[:, 1]) | (random.random(320) < 0.1)
    forest = dm.TotallyRandomizedTreesClassifier(
        n_estimators=10_000, splits="multiway", random_state=0, n_jobs=1
    )
    return median_seconds(lambda: forest.fit(X, y).feature_importances_)


def importing() -> float:
    code = (
        f"import {DEPENDENCIES}; import time; start = time.perf_counter(); import duramen as dm;"
        # Packages are imported when they are first asked for: a walk from table to importances.
        "dm.encode, dm.RandomForestClassifier, dm.importances.mdi;"
        "print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(7)]
    return statistics.median(float(run.stdout) for run in runs)


def cold_start() -> float:
    call = "import sys; from duramen.cli import main; sys.exit(main())"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", call, "rank", "--demo", "--out", f"{folder}/out"]
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        return time.perf_counter() - start


def two_threads() -> float:
    case = cases.Case("2000 x 500", "RF", "sqrt", 400, 0.0)
    cases.fit("duramen", case, 2, seed=0)
    ratios = []
    for seed in range(7):
        taken = {}
        for n_jobs in (1, 2) if seed % 2 else (2, 1):
            start = time.perf_counter()
            cases.fit("duramen", case, case.n_trees, seed, n_jobs)
            taken[n_jobs] = time.perf_counter() - start
        ratios.append(taken[1] / taken[2])
    return statistics.median(ratios)


def encoding(n_rows: int, n_columns: int) -> Callable[[], float]:
    def measure() -> float:
        import duramen as dm

        X: NDArray[np.float64] = np.random.default_rng(0).normal(size=(n_rows, n_columns))
        return median_seconds(lambda: dm.encode(X), rounds=3)

    return measure


def conditional_impact() -> float:
    """CPI of correlated numbers of which eight are direct."""
    import duramen as dm

    random = np.random.default_rng(0)
    X = np.sqrt(0.5) * (random.normal(size=(500, 200)) + random.normal(size=(500, 1)))
    y = X[:, :8].sum(axis=1) + 2.0 * random.normal(size=500)
    forest = dm.RandomForestRegressor(500, max_features=1 / 3)
    start = time.perf_counter()
    dm.significance.conditional(forest, X, y, method="cpi", random_state=0, n_jobs=2)
    return time.perf_counter() - start


def knockoffs() -> float:
    """Knockoffs of the genes of the leukemia set, with all defaults."""
    import duramen as dm

    genes = dm.datasets.load_leukemia()
    start = time.perf_counter()
    dm.significance.knockoffs(None, genes.X, genes.y, random_state=0, n_jobs=2)
    return time.perf_counter() - start


BARS = [
    Bar("10,000 multiway trees on 320 x 8 binary columns, one thread", multiway, 0.5),
    Bar("import duramen, beyond its dependencies", importing, 0.6),
    Bar("duramen rank --demo from a cold start", cold_start, 15.0),
    Bar("two threads against one, 2000 x 500, RF, K=sqrt(p)", two_threads, 1.7, "x", True),
    Bar("CPI of 500 x 200, 500 trees, two threads", conditional_impact, 10.0),
    Bar("knockoffs of 72 x 7129, two threads", knockoffs, 30.0),
    Bar("encode 72 x 7129", encoding(72, 7129), None),
    Bar("encode 1,000,000 x 50", encoding(1_000_000, 50), None),
]


def run(bars: Sequence[Bar]) -> int:
    """Measure, print as a table, and return 1 where a bar is missed."""
    missed = 0
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print("| what | measured | bar | |\n| --- | --- | --- | --- |")
    for bar in bars:
        value = bar.measure()
        missed += not bar.met(value)
        asked = "-" if bar.limit is None else f"{'>=' if bar.at_least else '<'} {bar.limit:g}"
        verdict = "-" if bar.limit is None else "pass" if bar.met(value) else "FAIL"
        print(f"| {bar.name} | {value:.3g} {bar.unit} | {asked} | {verdict} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(run(BARS))
