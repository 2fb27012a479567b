"""Limits of p-values and their adjustment: figures for the notes of results.

``python -m benchmarks.error_rates.promises --out DIR`` prints, where no feature says anything,

* how often q-values of fitted distributions take anything (`altmann`, 100 permutations);
* how often those of `janitza` do, with and without counting the value itself;
* the rates of `janitza` at .05 and .01 where classes are unbalanced;
* the rates of `frequency_control` with one candidate by kinds of columns.

A run that was killed goes on from its checkpoints in DIR; one processor takes about five minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.designs.nulls import KINDS, data_set
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray

LEVEL = 0.05
FAMILIES = ("empirical", "normal", "gamma", "lognormal")
Task = Callable[[int, int], FloatArray]


def fitted(null: str, n_permutations: int = 100) -> Task:
    """Return a task: is any q <= .05 by a distribution fitted to the permutations?"""

    def task(_: int, seed: int) -> FloatArray:
        X, y = data_set(null, (100, 100), seed)
        table, forest = dm.encode(X), dm.RandomForestClassifier(50, n_jobs=1)
        with tempfile.TemporaryDirectory() as folder:
            results = [
                dm.significance.altmann(
                    forest,
                    table,
                    y,
                    measure="mdi",
                    n_permutations=n_permutations,
                    distribution=family,
                    random_state=seed % 2**32,
                    checkpoint=Path(folder) / "permutations",
                )
                for family in FAMILIES
            ]
        return np.array([float(result.q_values.min() <= LEVEL) for result in results])

    return task


def held_out_mdi(forest: Any, X: Any, y: NDArray[Any], random_state: int) -> Any:
    """MDI on a half of the rows, of a forest on the other half."""
    order = np.random.default_rng(random_state).permutation(len(y))
    half = len(y) // 2
    grown = forest.set_params(random_state=random_state).fit(X[order[:half]], y[order[:half]])
    return dm.importances.mdi(grown, X[order[half:]], y[order[half:]])


SYMMETRIC: dict[str, Callable[..., Any]] = {
    "holdout_mda": dm.importances.holdout_mda,
    "air": dm.importances.air,
    "mdi, held-out": held_out_mdi,
}


def mirrored(measure: str, shape: tuple[int, int], smaller: float, n_trees: int = 500) -> Task:
    """Fractions of p-values <= .05 and <= .01, and any q <= .05 with `add_one` and without."""

    def task(_: int, seed: int) -> FloatArray:
        random = np.random.default_rng(seed)
        X = random.normal(size=shape)
        y = random.permutation((np.arange(shape[0]) < smaller * shape[0]).astype(int))
        forest = dm.RandomForestClassifier(n_trees, n_jobs=1)
        values = SYMMETRIC[measure](forest, X, y, random_state=seed % 2**32)
        with_one, without = (
            dm.significance.janitza(values, add_one=add_one) for add_one in (True, False)
        )
        fractions = [float((with_one.p_values <= level).mean()) for level in (0.05, 0.01)]
        return np.array(
            [*fractions, *(float(r.q_values.min() <= LEVEL) for r in (with_one, without))]
        )

    return task


def one_candidate(estimator: Any, n_trees: int = 100) -> Task:
    """Fractions of p-values <= .05 of splits with one candidate, by kind of mixed columns."""

    def task(_: int, seed: int) -> FloatArray:
        X, y = data_set("mixed cardinality", (100, 40), seed)
        model = estimator(n_trees, max_features=1)
        return by_kind(dm.significance.frequency_control(model, X, y, random_state=seed).p_values)

    return task


def by_kind(p_values: FloatArray) -> FloatArray:
    return np.array([(p_values[kind::KINDS] <= LEVEL).mean() for kind in range(KINDS)])


def runs(n: int) -> list[tuple[str, Task, int, int]]:
    """Names, tasks, numbers that each gives, and data sets."""
    table: list[tuple[str, Task, int, int]] = []
    for null in ("pure noise", "mixed cardinality"):
        table.append((f"any q, altmann {FAMILIES}, {null}", fitted(null), len(FAMILIES), n))
    for measure in SYMMETRIC:
        words = "p <= .05, p <= .01, any q with and without add_one"
        for shape, smaller in (((100, 1000), 0.5), ((100, 600), 0.5), ((100, 600), 0.1)):
            name = f"janitza of {measure}, {shape[0]} x {shape[1]}, {smaller:g}: {words}"
            table.append((name, mirrored(measure, shape, smaller), 4, n))
    for estimator in (dm.RandomForestClassifier, dm.ExtraTreesClassifier):
        name = f"frequency, K = 1, {estimator.__name__}: by kind"
        table.append((name, one_candidate(estimator), KINDS, n))
    return table


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.error_rates.promises", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.out.mkdir(parents=True, exist_ok=True)
    for number, (name, task, width, count) in enumerate(runs(options.data_sets)):
        result = run_replicates(
            task,
            count,
            width,
            seed=number,
            identity={"run": name},
            plan=Plan(checkpoint=options.out / f"run-{number}"),
            function="promises",
            unit="data set",
        )
        error = result.std(axis=0, ddof=1) / np.sqrt(count)
        rates = " ".join(
            f"{rate:.3f} ({sd:.3f})" for rate, sd in zip(result.mean(axis=0), error, strict=True)
        )
        print(f"| {name} | {rates} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
