"""Choice of the measure of the default test of `duramen rank`.

``python -m benchmarks.defaults.measures --out DIR`` draws data sets of the problems below, tests
the measures of the catalogue of the forests of the default test by max-T, and prints what is
confirmed and found, and how often anything false is. A run that was killed goes on from DIR.

Plan, written before the first run
----------------------------------
Problems with many columns are those of `benchmarks.defaults.forests` (genes, weak genes, kinds,
madelon, xor). Problems with few columns, which were added because a new user found a strong feature
of a clinical table called noise:

* clinic: 240 x 5, numbers and categories, 15 % of one column missing; one column acts by itself,
  one in one of two groups only, so that the group acts, too; two are noise;
* weak: 300 x 12 normal columns, three with coefficients of .4 in a logistic regression;
* friedman: 200 x 10 uniform columns, a smooth function of five of them, and noise (regression);
* shadowed: 200 x 8 normal columns, one with a coefficient of 3, one with .5 in a linear model, and
  a noisy copy of the first, which counts as relevant; five are noise (regression).

Forests: 200 trees of the ranking's random forest (its default K), 49 permutations.

Choice: of the measures whose mean fraction of false features among what is found is at most .05
within two standard errors in every problem, and that confirm something false in at most 5 % of all
data sets within two standard errors, the one with the largest mean fraction of relevant features
that are found, over all problems; of measures within .03 of it the cheapest.

What came after
---------------
By that rule MDA was taken, for a few percent of time. Later, irrelevant features that are
correlated with each other turned out to have MDA beside relevant ones, since a permutation makes
rows that do not occur. The four problems ``--problems "6 alike" "50 alike" "10 x 10 alike" "20 x 25
alike"``, with 100 data sets each, measure what that does to the error rate; they are not among the
default ones. All features but the last ones are irrelevant.

Measures that came later, and the default
-----------------------------------------
Written before they were run: mean absolute local MDI, Sobol-MDA and MDI+ are compared
with MDI-oob, the default, by the rule above, on the same data sets. One that is found to be better
by more than .03 becomes the default if it also confirms something false in no more of the four
problems of correlated features than MDI-oob does; one within .03 does not, as MDI-oob takes less
time than any but local MDI, and a default is not changed for time alone. 12 data sets of each
problem; for MDI+, whose one test takes a minute or more, the first 2 of them, and MDI-oob
on these beside them. A measure that refuses a problem finds nothing in
it.

``--measures`` compares some of them, such as ``mdi_oob sobol_mda``; by default all that a test can
refit.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import duramen as dm
from benchmarks.defaults.forests import PROBLEMS as WIDE
from benchmarks.designs.nulls import in_blocks
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray

MEASURES = tuple(measure.name for measure in dm.importances.catalogue if measure.testable)
TREES, PERMUTATIONS, LEVEL = 200, 49, 0.05
Problem = tuple[Any, NDArray[Any], NDArray[np.bool_]]


def clinic(random: np.random.Generator) -> Problem:
    n = 240
    table = pd.DataFrame(
        {
            "age": random.integers(20, 90, n),
            "marker": random.normal(size=n).round(2),
            "treatment": random.choice(["A", "B"], n),
            "stage": random.choice(["I", "II", "III"], n),
            "pulse": random.normal(70, 8, n).round(),
        }
    )
    risk = 0.06 * (table["age"] - 55) + 2.5 * table["marker"] * (table["treatment"] == "A")
    y = np.where(risk + random.logistic(size=n) > 0, "relapse", "remission")
    table.loc[random.random(n) < 0.15, "marker"] = np.nan
    return table, y, np.arange(5) < 3


def weak(random: np.random.Generator) -> Problem:
    X = random.normal(size=(300, 12))
    odds = np.exp(0.4 * X[:, :3].sum(axis=1))
    return X, (random.random(300) < odds / (1 + odds)).astype(np.int64), np.arange(12) < 3


def friedman(random: np.random.Generator, columns: int = 10) -> Problem:
    X = random.random((200, columns))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + 3 * random.normal(size=200)
    return X, y, np.arange(columns) < 5


def shadowed(random: np.random.Generator) -> Problem:
    X = random.normal(size=(200, 8))
    X[:, 2] = X[:, 0] + 0.5 * random.normal(size=200)
    y = 3 * X[:, 0] + 0.5 * X[:, 1] + random.normal(size=200)
    return X, y, np.arange(8) < 3


FEW: dict[str, Callable[[np.random.Generator], Problem]] = {
    "clinic": clinic,
    "weak": weak,
    "friedman": friedman,
    "shadowed": shadowed,
}


def alike(
    rows: int, blocks: Sequence[int], correlation: float, relevant: int, effect: float
) -> Callable[[np.random.Generator], Problem]:
    """Irrelevant normal features, correlated within blocks, and independent relevant ones."""

    def problem(random: np.random.Generator) -> Problem:
        X = random.normal(size=(rows, sum(blocks) + relevant))
        X[:, :-relevant] = in_blocks(X[:, :-relevant], blocks, correlation, random)
        y = effect * X[:, -relevant:].sum(axis=1) + random.normal(size=rows) > 0
        return X, y.astype(np.int64), np.arange(X.shape[1]) >= sum(blocks)

    return problem


ALIKE = {
    "6 alike": alike(300, [6, *[1] * 6], 0.9, 2, 1.0),
    "50 alike": alike(150, [50], 0.9, 3, 1.5),
    "10 x 10 alike": alike(200, [10] * 10, 0.8, 5, 1.0),
    "20 x 25 alike": alike(100, [25] * 20, 0.6, 5, 1.0),
}
BOTH = {**FEW, **WIDE}
PROBLEMS = {**BOTH, **ALIKE}


def task_of(
    problem: Callable[[np.random.Generator], Problem], measures: Sequence[str]
) -> Callable[[int, int], FloatArray]:
    """Seconds, fractions confirmed and found, fraction of false ones, anything false confirmed."""

    def task(_: int, seed: int) -> FloatArray:
        X, y, relevant = problem(np.random.default_rng(seed))
        data, row = dm.learning_set(X, y), list[float]()
        kind = dm.RandomForestClassifier
        if data.task == "regression":
            kind = dm.RandomForestRegressor
        for measure in measures:
            start = time.process_time()
            try:
                test = dm.significance.max_t(
                    kind(TREES),
                    data,
                    measure=measure,
                    n_permutations=PERMUTATIONS,
                    marginal=False,
                    max_stages=1,
                    random_state=seed % 2**32,
                )
            except ValueError:  # of a measure that is not for so many features
                row += [time.process_time() - start, 0.0, 0.0, 0.0, 0.0]
                continue
            verdicts = np.array(test.verdicts(LEVEL))
            sure, reported = verdicts == "confirmed", verdicts != "noise"
            row += [time.process_time() - start, sure[relevant].mean(), reported[relevant].mean()]
            row += [np.count_nonzero(reported & ~relevant) / max(1, np.count_nonzero(reported))]
            row += [float((sure & ~relevant).any())]
        return np.array(row)

    return task


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.defaults.measures", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=12)
    parser.add_argument("--problems", nargs="*", choices=PROBLEMS, default=list(BOTH))
    parser.add_argument("--measures", nargs="+", default=list(MEASURES))
    options = parser.parse_args()
    measures = tuple(options.measures)
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    n = options.data_sets
    print("| problem | measure | s | confirmed | found | false among found | false confirmed |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    results = []
    for name in options.problems:
        numbers = run_replicates(
            task_of(PROBLEMS[name], measures),
            n,
            5 * len(measures),
            seed=0,
            identity={"problem": name, "measures": measures, "trees": TREES},
            plan=Plan(1, options.out / f"{name.replace(' ', '-')}-{n}.npz"),
            function="default_measure",
        ).reshape(n, len(measures), 5)
        results.append(numbers[:, :, 2].mean(axis=0))
        means, errors = numbers.mean(axis=0), numbers.std(axis=0, ddof=1) / np.sqrt(n)
        for k, measure in enumerate(measures):
            m, e = means[k], errors[k]
            cells = [f"{m[0]:.1f}", *(f"{m[j]:.2f} ({e[j]:.2f})" for j in (1, 2))]
            cells += [f"{m[3]:.3f} ({e[3]:.3f})", f"{numbers[:, k, 4].sum():.0f} of {n}"]
            print(f"| {name} | {measure} | {' | '.join(cells)} |", flush=True)
    for k, measure in enumerate(measures):
        print(f"| mean | {measure} | | | {np.mean(results, axis=0)[k]:.3f} | | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
