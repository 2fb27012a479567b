"""Power and false positives of all tests in problems with relevant features: one table.

``python -m benchmarks.power.all_tests --data-sets 20`` draws three problems from the same seeds for
all methods of ``benchmarks.error_rates.calibration``, and prints the mean fraction of relevant
features that are taken at .05, and of the irrelevant ones:

* linear: 500 rows, 120 features, 20 of them with weights uniform on (0, 1), 10 % of labels flipped;
* xor: 300 rows, 30 bits, two of which decide together and say nothing alone;
* madelon: 600 rows, five dimensions of an exclusive or, five mixtures of them, 40 of noise.

Besides, `altmann` with each measure of the catalogue that a test can refit. MDI+ takes
minutes a data set: ``--methods`` runs some methods, named by their beginnings.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.designs import two_classes
from benchmarks.designs.two_classes import Problem
from benchmarks.error_rates import calibration
from benchmarks.error_rates.calibration import LEVEL, RUNS, Method, forest, of_permuted, refitted
from duramen.jobs.replicates import Plan, run_replicates

# All features are tested here.
ALONE = Method("hapfelmeier", refitted("hapfelmeier", measure="mdi", n_permutations=RUNS), "each")
METHODS = [ALONE if m.name == ALONE.name else m for m in calibration.METHODS]
METHODS += [
    Method(name, of_permuted("altmann", forest(), measure=measure.name), "each")
    for measure in dm.importances.catalogue
    if measure.testable and measure.name != "mdi"  # of which there are three rows
    if (name := f"altmann, {measure.name}") not in [method.name for method in METHODS]
]


def linear(seed: int) -> Problem:
    data = dm.datasets.linear_sign(random_state=seed)
    return data.X, data.y, data.details["weights"] > 0


PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "linear": linear,
    "xor": lambda seed: two_classes.xor(np.random.default_rng(seed), 300, 30),
    "madelon": lambda seed: two_classes.madelon(seed, 600, 40),
}


def taken(method: Method, result: Any, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return the features selected at .05, by single p-values or by an error rate."""
    if method.promise != "each":
        return np.isin(names, result.selected(LEVEL))
    return np.isin(names, result.selected(LEVEL, control="none"))


def fractions(
    problem: Callable[[int], Problem], methods: Sequence[Method]
) -> Callable[[int, int], NDArray[np.float64]]:
    """The task of one data set: fractions of relevant and of irrelevant features, by method."""

    def task(_: int, seed: int) -> NDArray[np.float64]:
        data, y, relevant = problem(seed % 2**32)
        X = dm.encode(data)
        row: list[float] = []
        with tempfile.TemporaryDirectory() as folder:
            for method in methods:
                chosen = taken(method, method.run(X, y, seed % 2**32, Path(folder)), X.names)
                row += [float(chosen[relevant].mean()), float(chosen[~relevant].mean())]
        return np.array(row)

    return task


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.power.all_tests", description=__doc__)
    parser.add_argument("--data-sets", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--problems", nargs="*", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="*", help="names, or their beginnings")
    options = parser.parse_args()
    methods = [m for m in METHODS if m.name.startswith(tuple(options.methods or [""]))]
    warnings.simplefilter("ignore")
    results = {
        name: run_replicates(
            fractions(problem, methods),
            options.data_sets,
            2 * len(methods),
            seed=0,
            identity={},
            plan=Plan(options.threads),
            function="power",
        ).mean(axis=0)
        for name, problem in PROBLEMS.items()
        if name in options.problems
    }
    print("| method | " + " | ".join(f"{name}: relevant, irrelevant" for name in results) + " |")
    print("| --- |" + " --- |" * len(results))
    for k, method in enumerate(methods):
        cells = [f"{row[2 * k]:.2f}, {row[2 * k + 1]:.3f}" for row in results.values()]
        print(f"| {method.name} ({method.promise}) | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
