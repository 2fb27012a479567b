"""Coverage of confidence intervals of importances, and their q-values from few replicates.

``python -m benchmarks.accuracy.intervals --out DIR`` draws data sets of a regression and a
classification problem with strong, weak and irrelevant features at four sizes, and prints how often
95 % intervals of MDA and MDI cover the expected importance of forests at that size (the mean over
data sets of their own). Then it draws pure noise, and prints in how many data sets any feature has
q <= .05, by the number of replicates that the p-values come from. The tables are those of
docs/explanation/tests/intervals.md. A run that was killed goes on from its checkpoints in DIR; one
processor takes about ten minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import duramen as dm
from benchmarks.error_rates.rejections import short
from duramen.jobs.replicates import OBSERVED, Plan, replicate_seed, run_replicates
from duramen.significance.resampling import (
    FRACTION,
    Replicated,
    ends,
    scale_of,
    shrinking_size,
    standard_error,
    subsample_size,
    subsamples,
    t_tails,
)
from duramen.support import checks
from duramen.support.arrays import FloatArray

SIZES = (60, 90, 200, 500)
FEATURES = 12
# Columns of a table: additive and interacting strong features, a weak one, irrelevant ones.
ROLES = {"strong": (0,), "interacting": (1, 2), "weak": (3,), "irrelevant": tuple(range(4, 12))}
MEASURES = ("mda", "mdi", "mdi, fraction")
KINDS = ("wilson", "normal", "percentile")
LEVEL = 0.95
FEW = (3, 5, 10, 20, 40)


def least_replicates(n_tests: int, alpha: float = 0.05) -> int:
    r"""Return the number of replicates of a standard error for p-values to be adjusted.

    Adjusting reads p-values as small as level / m. A standard error from B replicates gives the
    tails of a t distribution with B - 1 degrees of freedom if the replicates are normal; with an
    excess kurtosis of 1 its variance is 3/2 times as large, and the tails are nearly those of (B -
    1) / 1.5 degrees. The least B, at least 3, is the one from which on a p-value that is said to be
    level / m is then at most twice that: 10 for 10 tests, 20 for 100, 33 for 1000.

    .. math:: P\big( t_{(B-1)/1.5} \ge t_{B-1;\, 1 - level/m} \big) \le 2 \, level / m.
    """
    from scipy.stats import t

    smallest = alpha / max(1, n_tests)
    count = 3
    while True:
        freedom = count - 1.0
        if t.sf(t.isf(smallest, freedom), freedom / 1.5) <= 2 * smallest:
            return count
        count += 1


def regression(n: int, random: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """A strong additive feature, two that act together, and a weak one."""
    X = random.normal(size=(n, FEATURES))
    signal = X[:, 0] + 1.5 * (X[:, 1] > 0) * (X[:, 2] > 0) + 0.4 * X[:, 3]
    return X, signal + 0.7 * random.normal(size=n)


def classification(n: int, random: np.random.Generator) -> tuple[FloatArray, NDArray[Any]]:
    """Return rows, and whether the signal with logistic noise is above its center."""
    X = random.normal(size=(n, FEATURES))
    signal = X[:, 0] + 1.5 * (X[:, 1] > 0) * (X[:, 2] > 0) + 0.4 * X[:, 3]
    return X, (signal + 0.4 * random.logistic(size=n) > 0.375).astype(int)


def log_normal(n: int, random: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """The exponential of that target, standardized: heavy tails on one side."""
    X, y = regression(n, random)
    return X, np.exp((y - 0.28) / 1.32)


def t_noise(n: int, random: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return rows, and the signal with noise of the t distribution of three degrees of freedom."""
    X = random.normal(size=(n, FEATURES))
    signal = X[:, 0] + 1.5 * (X[:, 1] > 0) * (X[:, 2] > 0) + 0.4 * X[:, 3]
    return X, signal + 0.7 * random.standard_t(3, size=n)


def rare_class(n: int, random: np.random.Generator) -> tuple[FloatArray, NDArray[Any]]:
    """The classes, of which one has about a tenth of the rows, and three at least."""
    while True:
        X = random.normal(size=(n, FEATURES))
        signal = X[:, 0] + 1.5 * (X[:, 1] > 0) * (X[:, 2] > 0) + 0.4 * X[:, 3]
        y = (signal + 0.4 * random.logistic(size=n) > 2.27).astype(int)
        if y.sum() >= 3:
            return X, y


Problem = Callable[[int, np.random.Generator], tuple[FloatArray, NDArray[Any]]]
PROBLEMS: dict[str, tuple[Problem, Any]] = {
    "regression": (regression, dm.RandomForestRegressor),
    "classification": (classification, dm.RandomForestClassifier),
    "log-normal": (log_normal, dm.RandomForestRegressor),
    "t noise": (t_noise, dm.RandomForestRegressor),
    "10 % cases": (rare_class, dm.RandomForestClassifier),
}
CLASSES = ("classification", "10 % cases")


@dataclass(frozen=True)
class Cell:
    """A problem at a size, with the effort that is spent on it."""

    problem: str
    n_rows: int
    n_trees: int = 50
    n_resamples: int = 50

    def draw(self, seed: int) -> tuple[FloatArray, NDArray[Any]]:
        return PROBLEMS[self.problem][0](self.n_rows, np.random.default_rng(seed))

    def forest(self, seed: int = 0) -> Any:
        return PROBLEMS[self.problem][1](self.n_trees, random_state=seed % 2**32, n_jobs=1)


def measured_once(cell: Cell) -> Callable[[int, int], FloatArray]:
    """The task of one data set of the target: MDA and MDI of one forest."""

    def task(_: int, seed: int) -> FloatArray:
        X, y = cell.draw(seed)
        return grown(cell, dm.encode(X), y, seed)[:, 0].ravel()

    return task


def grown(cell: Cell, table: dm.EncodedTable, y: NDArray[Any], seed: int) -> FloatArray:
    """MDA and MDI of one forest with their variances over forests: (measures, 2, FEATURES)."""
    forest = cell.forest(seed).fit(table, y)
    measured = (dm.importances.mda(forest, table, y), dm.importances.mdi(forest))
    rows = [[result.values, np.square(result.standard_error)] for result in measured]
    mdi = measured[1].values
    return np.array([*rows, [mdi / mdi.sum(), np.zeros(FEATURES)]])


def intervals_of(cell: Cell, kinds: Sequence[str] = KINDS) -> Callable[[int, int], FloatArray]:
    """The task of one data set: for each measure SE, p-values, and both ends for each kind.

    They are those of `confidence_intervals`, which would grow the forests once a measure.
    """

    def task(_: int, seed: int) -> FloatArray:
        X, y = cell.draw(seed)
        table, n, seed = dm.encode(X), len(y), checks.draw_seed(seed % 2**32)
        size = subsample_size(None, n, 2, "intervals", shrinking_size(n, FRACTION))
        draw = subsamples(y if cell.problem in CLASSES else None, n, size)
        observed = grown(cell, table, y, replicate_seed(seed, OBSERVED))
        replicates = []
        for b in range(cell.n_resamples):
            random = np.random.default_rng(replicate_seed(seed, b))
            rows = draw(random)
            forest_seed = int(random.integers(2**32))
            replicates.append(grown(cell, table.take_rows(rows), y[rows], forest_seed))
        row = []
        for of_all, of_some in zip(observed, np.swapaxes(replicates, 0, 1), strict=True):
            noise = of_some[:, 1].mean(axis=0)
            replicated = Replicated(of_all[0], of_some[:, 0], of_all[1], noise, n, cell.n_trees)
            error, freedom = standard_error(replicated, scale_of(size, n, True), "subsampling")
            row += [error, t_tails(of_all[0], error, freedom)]
            for kind in kinds:
                low, high, _ = ends(
                    replicated,
                    error,
                    freedom,
                    method="subsampling",
                    kind=kind,
                    confidence_level=LEVEL,
                )
                row += [low, high]
        return np.concatenate(row)

    return task


@dataclass(frozen=True, eq=False)
class Coverage:
    """Results of a cell: arrays of shape (data sets, FEATURES), by measure and kind."""

    expected: dict[str, FloatArray]
    deviation: dict[str, FloatArray]
    covers: dict[tuple[str, str], NDArray[np.bool_]]
    width: dict[tuple[str, str], FloatArray]
    error: dict[str, FloatArray]
    p_values: dict[str, FloatArray]


def coverage(
    cell: Cell,
    data_sets: int,
    truth: int,
    *,
    seed: int = 0,
    plan: Plan | None = None,
    kinds: Sequence[str] = KINDS,
) -> Coverage:
    """Measure how often intervals cover the mean of `truth` other data sets."""
    truths = run_replicates(
        measured_once(cell),
        truth,
        len(MEASURES) * FEATURES,
        seed=seed + 10**6,
        identity={"truth": repr(cell)},
        plan=Plan(),
        function="truth",
    ).reshape(truth, len(MEASURES), FEATURES)
    groups = 2 + 2 * len(kinds)
    actual = run_replicates(
        intervals_of(cell, kinds),
        data_sets,
        len(MEASURES) * groups * FEATURES,
        seed=seed,
        identity={"cell": repr(cell), "kinds": list(kinds)},
        plan=plan or Plan(),
        function="intervals",
        unit="data set",
    ).reshape(data_sets, len(MEASURES), groups, FEATURES)
    expected = dict(zip(MEASURES, truths.mean(axis=0), strict=True))
    result = Coverage(
        expected, dict(zip(MEASURES, truths.std(axis=0, ddof=1), strict=True)), {}, {}, {}, {}
    )
    for i, measure in enumerate(MEASURES):
        result.error[measure], result.p_values[measure] = actual[:, i, 0], actual[:, i, 1]
        for k, kind in enumerate(kinds):
            low, high = actual[:, i, 2 + 2 * k], actual[:, i, 3 + 2 * k]
            result.covers[measure, kind] = (low <= expected[measure]) & (high >= expected[measure])
            result.width[measure, kind] = high - low
    return result


def lines(cell: Cell, estimated: Coverage) -> list[str]:
    """Rows of the table of coverage, one a measure and a role."""
    z, rows = 2 * stats.norm.ppf((1 + LEVEL) / 2), []
    for measure in MEASURES:
        for role, columns in ROLES.items():
            at = list(columns)
            ratio = (estimated.error[measure].mean(axis=0) / estimated.deviation[measure])[
                at
            ].mean()
            cells = [cell.problem, measure, str(cell.n_rows), role, f"{ratio:.2f}"]
            for kind in [k for m, k in estimated.covers if m == measure]:
                fraction = estimated.covers[measure, kind][:, at].mean()
                width = estimated.width[measure, kind].mean(axis=0) / (
                    z * estimated.deviation[measure]
                )
                cells.append(f"{short(fraction)} ({width[at].mean():.2f})")
            rejected = (estimated.p_values[measure][:, at] <= 1 - LEVEL).mean()
            cells.append(short(rejected) if measure == "mda" else "-")
            rows.append(f"| {' | '.join(cells)} |")
    return rows


# --- few replicates ------------------------------------------------------------------------------


def found_in_noise(n_features: int, few: Sequence[int] = FEW) -> Callable[[int, int], FloatArray]:
    """The task of a data set of 90 rows of noise: whether any q <= .05, by number of replicates.

    Twice for each number: with normal tails of v / SE, and with those of the t distribution.
    """

    def task(_: int, seed: int) -> FloatArray:
        random = np.random.default_rng(seed)
        X = dm.encode(random.normal(size=(90, n_features)))
        y = random.permutation(np.arange(90) % 2)
        forest, row = dm.RandomForestClassifier(50, n_jobs=1), []
        with tempfile.TemporaryDirectory() as folder:
            for count in sorted(few, reverse=True):  # the largest grows what the others read
                result = dm.significance.confidence_intervals(
                    forest,
                    X,
                    y,
                    n_resamples=count,
                    random_state=seed % 2**32,
                    checkpoint=Path(folder) / "replicates",
                )
                assert result.p_values is not None
                ratio = result.values / np.where(
                    result.standard_error > 0, result.standard_error, 1
                )
                for tails in (stats.norm.sf(ratio), result.p_values):
                    row.append(float(stats.false_discovery_control(tails).min() <= 0.05))
        return np.array(row)

    return task


def few_replicates(data_sets: int, sizes: Sequence[int], folder: Path) -> list[str]:
    """Rows of the table of q-values from few replicates."""
    counts, rows = sorted(FEW, reverse=True), []
    for n_features in sizes:
        result = run_replicates(
            found_in_noise(n_features),
            data_sets,
            2 * len(counts),
            seed=n_features,
            identity={"noise": n_features},
            plan=Plan(checkpoint=folder / f"noise-{n_features}"),
            function="noise",
            unit="data set",
        ).mean(axis=0)
        pairs = zip(result[::2], result[1::2], strict=True)
        shown = [f"{short(normal)}, {short(t)}" for normal, t in pairs]
        least = least_replicates(n_features)
        rows.append(f"| {n_features} | {' | '.join(reversed(shown))} | {least} |")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.accuracy.intervals", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--truth", type=int, default=800, help="data sets of the target")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--problems", nargs="*", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--noise", type=int, nargs="*", default=[20, 200], help="features")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.out.mkdir(parents=True, exist_ok=True)
    heads = ["problem", "measure", "n", "feature", "SE / true", *KINDS, "p <= .05"]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    missed = 0
    for n_rows in options.sizes:
        for problem in options.problems:
            cell = Cell(problem, n_rows)
            plan = Plan(checkpoint=options.out / f"{problem}-{n_rows}")
            result = coverage(cell, options.data_sets, options.truth, seed=n_rows, plan=plan)
            print("\n".join(lines(cell, result)), flush=True)
            for measure in MEASURES:
                covers = result.covers[measure, "wilson"]
                matter = [name for name in ROLES if name != "irrelevant"]
                missed += sum(covers[:, list(ROLES[name])].mean() < 0.92 for name in matter)
    print(f"\n{missed} of the rates of features that matter are below .92 (wilson)\n")
    if options.noise:
        heads = ["features", *(f"B = {count}" for count in FEW), "least B"]
        print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
        print("\n".join(few_replicates(options.data_sets, options.noise, options.out)))
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
