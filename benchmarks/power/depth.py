"""Power of max-T of MDI by the depth of the trees, where a table has few columns.

``python -m benchmarks.power.depth --out DIR`` draws 100 data sets of 300 rows and 12 normal
columns, three of which have weak effects (logistic regression with coefficients of .4), tests MDI
of random forests of 200 trees with 99 permutations, and prints the table of
docs/explanation/tests/max-t-measured.md: means and standard errors over data sets. The same data
sets serve all depths. A run that was killed goes on from DIR.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray

LEVEL = 0.05
ROWS, COLUMNS, RELEVANT, COEFFICIENT = 300, 12, 3, 0.4
TREES, PERMUTATIONS = 200, 99
DEPTHS = {"fully grown": None, "at most 5 levels": 5, "at most 3 levels": 3}


def problem(random: np.random.Generator) -> tuple[FloatArray, NDArray[np.int64]]:
    """Columns, of which the first three change the odds of a class, and the class."""
    X = random.normal(size=(ROWS, COLUMNS))
    odds = np.exp(COEFFICIENT * X[:, :RELEVANT].sum(axis=1))
    return X, (random.random(ROWS) < odds / (1 + odds)).astype(np.int64)


def task(_: int, seed: int) -> FloatArray:
    """Fractions confirmed and found, and whether anything else is found, by depth."""
    X, y = problem(np.random.default_rng(seed))
    relevant, row = np.arange(COLUMNS) < RELEVANT, list[float]()
    for depth in DEPTHS.values():
        forest = dm.RandomForestClassifier(TREES, criterion="entropy", max_depth=depth)
        test = dm.significance.max_t(
            forest,
            X,
            y,
            measure="mdi",
            n_permutations=PERMUTATIONS,
            marginal=False,
            max_stages=1,
            random_state=seed % 2**32,
        )
        verdicts = np.array(test.verdicts(LEVEL))
        sure, reported = verdicts == "confirmed", verdicts != "noise"
        row += [sure[relevant].mean(), reported[relevant].mean(), float((sure & ~relevant).any())]
    return np.array(row)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.power.depth", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=100)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    checkpoint = options.out / f"depth-{options.data_sets}.npz"
    identity = {"depths": list(DEPTHS), "trees": TREES, "coefficient": COEFFICIENT}
    result = run_replicates(
        task,
        options.data_sets,
        3 * len(DEPTHS),
        seed=0,
        identity=identity,
        plan=Plan(1, checkpoint),
        function="depth",
    ).reshape(options.data_sets, len(DEPTHS), 3)
    means, errors = result.mean(axis=0), result.std(axis=0, ddof=1) / np.sqrt(options.data_sets)
    print("| trees | confirmed | found | data sets with anything false confirmed |")
    print("| --- | --- | --- | --- |")
    for name, mean, error in zip(DEPTHS, means, errors, strict=True):
        cells = [f"{mean[k]:.2f} ({error[k]:.2f})" for k in range(2)]
        wrong = f"{round(mean[2] * options.data_sets)} of {options.data_sets}"
        print(f"| {name} | {' | '.join(cells)} | {wrong} |")
    gain = result[:, 2, 1] - result[:, 0, 1]
    error = gain.std(ddof=1) / np.sqrt(options.data_sets)
    print(f"\nfound with at most 3 levels less fully grown: {gain.mean():.2f} (s.e. {error:.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
