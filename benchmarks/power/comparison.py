"""Power of the default test beside rank tests, knockoffs and Boruta, on the same data sets.

``python -m benchmarks.power.comparison --out DIR`` draws data sets of the problems below, in which
some features are relevant and the others are independent of the target and of these, and runs

* the default test of `duramen rank` with 100 trees and 99 permutations (``--trees`` and
  ``--permutations``): features that are confirmed, and found (confirmed or candidates);
* F tests of each feature in a linear model of all, after Benjamini and Hochberg at .05;
* marginal rank tests by the kinds of column and target (Mann-Whitney, Kruskal-Wallis, Spearman,
  chi-square), after Benjamini and Hochberg, and after Holm, at .05;
* knockoff+ at q = .2 and .1, with the lasso and second-order Gaussian knockoffs;
* Boruta, with its defaults;
* the default test of boosting, and of a linear model, in place of forests.

It prints for each problem the mean fraction of the relevant features that a method takes (power),
the mean fraction of irrelevant ones among those (FDR), both with standard errors, and processor
seconds of a data set. A method is valid on a problem if its mean FDR is at most its nominal level
(.05 for all but knockoff+), within two standard errors. The last table has the best valid method
beside the default test, of all and of those whose level is .05, and the power of what the default
test finds as a fraction of it. Exit status 1 where the latter fraction is below .85, or the default
test is not valid. A run that was killed goes on from its files in DIR, of which each holds one
method on one problem.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import duramen as dm
from benchmarks.defaults import forests, measures, verdicts
from benchmarks.defaults.default_test import LEVEL, MODELS, confirm
from benchmarks.designs import simulated as sim
from benchmarks.designs.problem import Bool, Problem
from benchmarks.designs.simulated import Draw, problem
from benchmarks.power import knockoffs, least_squares, rank_tests
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray

TREES, PERMUTATIONS, DATA_SETS = 100, 99, 30
BAR = 0.85
Generator = np.random.Generator


# --- problems -------------------------------------------------------------------------------------


def of(draw: Callable[[Generator], tuple[Any, NDArray[Any], Bool]]) -> Draw:
    """A problem of another benchmark."""
    return lambda random: Problem(*draw(random))


def product(random: Generator, n: int) -> tuple[FloatArray, NDArray[Any]]:
    """The sign of a product of two normal features, which are independent of it alone."""
    X = random.normal(size=(n, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "same", "different")


def u_shaped(random: Generator, n: int) -> tuple[FloatArray, NDArray[Any]]:
    """A class that is more frequent at both ends of three features."""
    X = random.normal(size=(n, 3))
    return X, sim.classes(random, 1.2 * (X**2 - 1).sum(axis=1))


def class_means(random: Generator, n: int) -> tuple[FloatArray, NDArray[Any]]:
    """Eight classes with means of their own in four features."""
    label = random.integers(0, 8, n)
    X = random.normal(size=(n, 4)) + 0.7 * random.normal(size=(8, 4))[label]
    return X, np.array([f"class {c}" for c in label])


def subgroup(random: Generator, n: int) -> tuple[Any, NDArray[Any]]:
    """Two markers with an effect in one arm of a trial only, and a third in all rows."""
    X = pd.DataFrame(random.normal(size=(n, 3)), columns=["m1", "m2", "m3"])
    X["arm"] = random.choice(["treated", "placebo"], n)
    treated = X["arm"] == "treated"
    predictor = 1.5 * (X["m1"] - X["m2"]) * treated + 0.8 * X["m3"]
    return X, sim.classes(random, predictor.to_numpy())


def thresholds(random: Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """A number that steps up where each of four features is in its highest fifth."""
    X = random.normal(size=(n, 4))
    return X, (X > 0.84).sum(axis=1) + random.normal(size=n)


def equal(
    p: int,
    r2: float,
    response: sim.Response = sim.numbers,
    columns: sim.Columns | None = None,
) -> sim.Signal:
    """Effects of one size and random signs, which explain r2 of the variance beside noise of 1."""
    drawn = sim.normal(p) if columns is None else columns
    size = np.sqrt(r2 / (1 - r2) / p)

    def signal(random: Generator, n: int) -> tuple[Any, NDArray[Any]]:
        X = drawn(random, n)
        predictor = size * (X @ random.choice([-1.0, 1.0], p))
        return X, response(random, predictor)

    return signal


def halves(random: Generator, predictor: FloatArray) -> NDArray[Any]:
    """Two classes of equal size."""
    y = sim.numbers(random, predictor)
    return np.where(y > np.median(y), "high", "low")


def student(random: Generator, predictor: FloatArray) -> FloatArray:
    """Numbers with errors of a t distribution with three degrees of freedom and variance 1."""
    return predictor + random.standard_t(3, len(predictor)) / np.sqrt(3)


def exponential(p: int) -> sim.Columns:
    return lambda random, n: random.exponential(size=(n, p)) - 1.0


def categories(random: Generator, n: int) -> tuple[Any, FloatArray]:
    """Eight columns of three categories, of which one has another mean of the target."""
    X = sim.nominal(8, 3)(random, n)
    return X, 0.8 * (X == "l0").to_numpy().sum(axis=1) + random.normal(size=n)


def with_holes(draw: Draw) -> Draw:
    """Return a problem with a tenth of the values missing."""

    def drawn(random: Generator) -> Problem:
        whole = draw(random)
        table = pd.DataFrame(whole.X)
        return Problem(table.mask(random.random(table.shape) < 0.1), whole.y, whole.relevant)

    return drawn


# The generators of the first five are plausible ones for the figures that were reported of such
# problems: rank tests have a power of about .46, 0, .59, .79 and .79 on them.
PROBLEMS: dict[str, Draw] = {
    "additive, 8 of 40": problem(200, sim.linear(np.linspace(0.2, 1.0, 8)), sim.normal(32)),
    "exclusive or, 2 of 16": problem(200, product, sim.normal(14)),
    "one dominant, 3 of 20": problem(150, sim.linear([5.0, 1.0, 1.0], sim.numbers), sim.normal(17)),
    "mixed kinds, 5 of 40": problem(120, sim.shifted(5, 0.8, sim.mixed(5)), sim.mixed(35)),
    "Friedman, 5 of 20": of(partial(measures.friedman, columns=20)),
    "genes, 20 of 2000": of(verdicts.genes),
    "SNPs, 5 of 205": problem(
        300, sim.linear([0.8] * 5, columns=sim.alleles(5)), sim.genotypes(200)
    ),
    "clinical, missing values, 3 of 5": of(measures.clinic),
    "Madelon, 10 of 100": of(forests.PROBLEMS["madelon"]),
    "parity of 3 bits, 3 of 12": problem(300, sim.parity(3, 0.1), sim.bits(9)),
    "U-shaped, 3 of 20": problem(200, u_shaped, sim.normal(17)),
    "8 classes, 4 of 20": problem(240, class_means, sim.normal(16)),
    "survival, 4 of 20": problem(
        200, sim.linear([0.5] * 4, partial(sim.survival, scale=1.0)), sim.normal(16)
    ),
    "log-normal target, 4 of 20": problem(
        150, sim.linear([0.4] * 4, sim.lognormal), sim.normal(16)
    ),
    "correlated relevant groups, 12 of 40": problem(
        150,
        sim.linear([0.15] * 12, columns=sim.alike([4] * 3, 0.8)),
        sim.alike([4] * 7, 0.8),
    ),
    "counts, 4 of 20": problem(
        200, sim.linear([0.12] * 4, sim.zero_inflated, sim.counts(4, 0.2)), sim.counts(16, 0.2)
    ),
    "subgroup, 4 of 20": problem(300, subgroup, sim.normal(16)),
    "thresholds, 4 of 40": problem(200, thresholds, sim.normal(36)),
    # Many effects of one size, and what a joint model sees beyond single features.
    "equal, 20 of 60": problem(300, equal(20, 0.5), sim.normal(40)),
    "equal, 8 of 40, 150 rows": problem(150, equal(8, 0.35), sim.normal(32)),
    "equal, 8 of 40, 90 rows": problem(90, equal(8, 0.5), sim.normal(32)),
    "equal, 20 of 60, classes": problem(300, equal(20, 0.6, halves), sim.normal(40)),
    "equal, 20 of 60, t errors": problem(300, equal(20, 0.5, student), sim.normal(40)),
    "equal, 10 of 100, AR(.6)": problem(
        250, equal(10, 0.5, columns=sim.autoregressive(10, 0.6)), sim.autoregressive(90, 0.6)
    ),
    "equal, 15 of 45, skewed": problem(
        250, equal(15, 0.5, columns=exponential(15)), exponential(30)
    ),
    "equal, 12 of 40, 5 grades": problem(300, equal(12, 0.5, sim.grade_names), sim.normal(28)),
    "equal, 12 of 40, survival": problem(
        300, equal(12, 0.5, partial(sim.survival, scale=1.0)), sim.normal(28)
    ),
    "equal, 8 of 24, categories": problem(250, categories, sim.nominal(16, 3)),
    "equal, 12 of 40, missing values": with_holes(problem(250, equal(12, 0.5), sim.normal(28))),
    "weak beside strong, 10 of 40": problem(
        200, sim.linear([3.0, 1.5, *[0.3] * 8], sim.numbers), sim.normal(30)
    ),
    "equal, 15 of 50, bits": problem(
        250, equal(15, 0.8, columns=lambda random, n: sim.bits(15)(random, n) - 0.5), sim.bits(35)
    ),
    "opposite effects in a block, 6 of 40": problem(
        200, sim.linear([0.6, -0.6] * 3, sim.numbers, sim.alike([6], 0.7)), sim.normal(34)
    ),
}


# --- methods --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """Methods that come from one computation, and the level of each."""

    levels: Mapping[str, float]
    run: Callable[[Problem, int], list[Bool]]
    settings: tuple[int, ...] = ()
    """Numbers that its results depend on beside the problem."""
    survival: bool = True
    """Whether its methods take survival times."""


def default_test(trees: int, permutations: int) -> Family:
    def run(drawn: Problem, seed: int) -> list[Bool]:
        answers = confirm(drawn, seed, trees=trees, permutations=permutations)
        return [answers == "confirmed", answers != "noise"]

    levels = {"max-T, confirmed": LEVEL, "max-T, found": LEVEL}
    return Family(levels, run, (trees, permutations))


def of_model(model: str, permutations: int) -> Family:
    """The default test of a model in place of forests, by all statistics."""

    def run(drawn: Problem, seed: int) -> list[Bool]:
        answers = confirm(drawn, seed, model=model, permutations=permutations)
        return [answers == "confirmed", answers != "noise"]

    levels = {f"max-T of {model}, confirmed": LEVEL, f"max-T of {model}, found": LEVEL}
    return Family(levels, run, (permutations,), survival=False)


def of_ranks(drawn: Problem, seed: int) -> list[Bool]:
    p = rank_tests.p_values(drawn)
    return [rank_tests.selected(p, method) for method in ("bh", "holm")]


def of_least_squares(drawn: Problem, seed: int) -> list[Bool]:
    return [rank_tests.selected(least_squares.p_values(drawn), "bh")]


def of_knockoffs(drawn: Problem, seed: int) -> list[Bool]:
    W = knockoffs.statistics(drawn, np.random.default_rng(seed))
    return [knockoffs.selected(W, q) for q in (0.2, 0.1)]


def boruta(drawn: Problem, seed: int) -> list[Bool]:
    model = dm.Boruta(random_state=seed % 2**32, n_jobs=1)
    return [model.fit(drawn.learning_set()).support_]


def families(trees: int, permutations: int) -> dict[str, Family]:
    return {
        "max-t": default_test(trees, permutations),
        "ranks": Family({"rank tests, BH": LEVEL, "rank tests, Holm": LEVEL}, of_ranks),
        "least-squares": Family({"least squares, BH": LEVEL}, of_least_squares),
        "knockoffs": Family({"knockoff+, .2": 0.2, "knockoff+, .1": 0.1}, of_knockoffs),
        "boruta": Family({"Boruta": LEVEL}, boruta, survival=False),
        **{model: of_model(model, permutations) for model in MODELS},
    }


OWN = "max-T, found"


# --- results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """Power and FDR of a method on a problem, with their standard errors, and its cost."""

    power: float
    power_error: float
    fdr: float
    fdr_error: float
    seconds: float
    level: float

    @property
    def valid(self) -> bool:
        return self.fdr <= self.level + 2 * self.fdr_error


def outcomes(draw: Draw, family: Family) -> Callable[[int, int], FloatArray]:
    """The task of one data set: processor seconds, then power and FDR of each method."""

    def task(_: int, seed: int) -> FloatArray:
        drawn = draw(np.random.default_rng(seed))
        start = time.process_time()
        masks = family.run(drawn, seed)
        values = [time.process_time() - start]
        for mask in masks:
            false = np.count_nonzero(mask & ~drawn.relevant)
            values += [mask[drawn.relevant].mean(), false / max(1, np.count_nonzero(mask))]
        return np.array(values)

    return task


def compared(
    name: str, methods: Mapping[str, Family], data_sets: int, folder: Path
) -> dict[str, Result]:
    """Results of all methods on a problem, from the folder as far as they are there."""
    results = {}
    survival = PROBLEMS[name](np.random.default_rng(0)).task == "survival"
    for key, family in methods.items():
        if survival and not family.survival:
            continue
        parts = (name, key, *map(str, family.settings))
        file = "-".join("".join(c if c.isalnum() else "-" for c in part) for part in parts)
        values = run_replicates(
            outcomes(PROBLEMS[name], family),
            data_sets,
            1 + 2 * len(family.levels),
            seed=0,
            identity={"problem": name, "method": key, "settings": family.settings},
            plan=Plan(1, folder / f"{file}.npz"),
            function="power_comparison",
            unit="data set",
        )
        means, errors = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        for k, (method, level) in enumerate(family.levels.items()):
            i, j = 1 + 2 * k, 2 + 2 * k
            results[method] = Result(means[i], errors[i], means[j], errors[j], means[0], level)
    return results


def best(results: Mapping[str, Result], level: float = 1.0) -> str | None:
    """Return the most powerful valid other method with a level up to `level`."""
    others = {
        method: result.power
        for method, result in results.items()
        if not method.startswith("max-T") and result.valid and result.level <= level
    }
    return max(others, key=others.__getitem__) if others else None


def fraction(results: Mapping[str, Result], method: str | None) -> float:
    """Return the power of the default test relative to another method."""
    power = results[method].power if method is not None else 0.0
    return results[OWN].power / power if power > 0 else np.inf


def print_powers(by_problem: Mapping[str, Mapping[str, Result]]) -> None:
    print("| problem | method | power | FDR | valid | processor s |")
    print("| --- |" + " --- |" * 5)
    for name, results in by_problem.items():
        for method, r in results.items():
            cells = [f"{r.power:.2f} ({r.power_error:.2f})", f"{r.fdr:.3f} ({r.fdr_error:.3f})"]
            cells += ["yes" if r.valid else "**no**", f"{r.seconds:.2f}"]
            print(f"| {name} | {method} | {' | '.join(cells)} |")


def print_fractions(by_problem: Mapping[str, Mapping[str, Result]]) -> list[str]:
    """Print the default test beside the best valid methods, and return the missed bars."""
    missed = []
    print(f"\n| problem | {OWN} | best valid | fraction | best valid at .05 | fraction |")
    print("| --- |" + " --- |" * 5)
    for name, results in by_problem.items():
        own = results[OWN]
        cells = [f"{own.power:.2f}{'' if own.valid else ', not valid'}"]
        for level in (1.0, LEVEL):
            method = best(results, level)
            shown = "none" if method is None else f"{method}: {results[method].power:.2f}"
            cells += [shown, f"{fraction(results, method):.2f}"]
        print(f"| {name} | {' | '.join(cells)} |")
        at_level = fraction(results, best(results, LEVEL))
        if at_level < BAR or not own.valid:
            missed.append(f"{name}: {at_level:.2f} of the best valid method, FDR {own.fdr:.3f}")
    return missed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.power.comparison", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--problems", nargs="*", metavar="NAME", help="names, or their beginnings")
    parser.add_argument("--methods", nargs="*", metavar="NAME", choices=families(1, 1))
    parser.add_argument("--data-sets", type=int, default=DATA_SETS, help="of each problem")
    parser.add_argument("--trees", type=int, default=TREES, help="of the default test")
    parser.add_argument("--permutations", type=int, default=PERMUTATIONS)
    options = parser.parse_args(arguments)
    names = [n for n in PROBLEMS if not options.problems or n.startswith(tuple(options.problems))]
    if not names:
        parser.error(f"--problems: none begins with {options.problems}; they are {list(PROBLEMS)}")
    methods = families(options.trees, options.permutations)
    methods = {key: f for key, f in methods.items() if key in (options.methods or methods)}
    warnings.simplefilter("ignore")
    options.out.mkdir(parents=True, exist_ok=True)
    results = {}
    for name in names:
        results[name] = compared(name, methods, options.data_sets, options.out)
        print(f"{name}: done", file=sys.stderr, flush=True)
    print_powers(results)
    if "max-t" not in methods:
        return 0
    missed = print_fractions(results)
    for line in missed:
        print(f"missed: {line}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
