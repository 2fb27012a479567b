"""Tests of tables whose rows are not exchangeable, with and without `strata` and `groups`.

``python -m benchmarks.error_rates.strata --out DIR --data-sets 80`` draws five problems in which no
feature has an effect on the target, and counts how often each test takes features at .05 all the
same:

* populations: two populations that differ in the frequency of the disease and in the allele
  frequencies of some SNPs, the markers; ``strata`` is the population;
* samples: several samples of each person, who is ill or well; ``groups`` is the person;
* families: a quantity and features that are alike in a family of four; ``groups`` is the family;
* copies: rows that come one to four times; ``groups`` is the original;
* covariate: a disease and markers that depend on a number; strata are 2, 5 and 20 intervals of it
  with equal numbers of rows.

A run that was killed goes on from DIR. Exit status 1 where a bar is missed: `altmann` takes more
than .3 of the population markers without strata, and no test takes more than .05 with strata or
groups, by more than 3.3 standard errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.error_rates.rejections import (
    Data,
    Rates,
    Run,
    correlation,
    refitted,
    report,
)

RUNS = 19  # the fewest that a p-value of .05 can come from
N_FEATURES = 40
# Tests that bound or estimate an error rate of all that is taken.
CORRELATION = "permutation_test, correlation"
FAMILIES = ("max_t", "fdr_curve", "conditional_error_rate", "multiple_probes")
N_MARKERS = 10


def populations(random: np.random.Generator, n: int = 200) -> Data:
    """SNPs of two populations; within a population none of them has an effect."""
    population = np.arange(n) % 2
    ill = random.random(n) < np.where(population, 0.75, 0.25)
    frequency = random.uniform(0.1, 0.5, N_FEATURES) + np.zeros((2, 1))
    frequency[1, :N_MARKERS] += 0.35
    X = random.binomial(2, frequency[population])
    return Data(X, ill.astype(int), _markers(), {"strata": population})


def samples(random: np.random.Generator, n_persons: int = 40) -> Data:
    """Two to six samples a person, correlation .7 within persons, and a status of the person."""
    person = np.repeat(np.arange(n_persons), random.integers(2, 7, n_persons))
    ill = random.permutation(np.arange(n_persons) % 2)
    return Data(_alike(person, 0.7, random), ill[person], _all(), {"groups": person})


def families(random: np.random.Generator, n_families: int = 40) -> Data:
    """Four persons a family, features and a quantity with correlation .7 within families."""
    family = np.repeat(np.arange(n_families), 4)
    y = _alike(family, 0.7, random, 1)[:, 0]
    return Data(_alike(family, 0.7, random), y, _all(), {"groups": family})


def copies(random: np.random.Generator, n_rows: int = 60) -> Data:
    """Each of the rows one to four times."""
    original = np.repeat(np.arange(n_rows), random.integers(1, 5, n_rows))
    y = random.permutation(np.arange(n_rows) % 2)
    X = random.normal(size=(n_rows, N_FEATURES))
    return Data(X[original], y[original], _all(), {"groups": original})


INTERVALS = (2, 5, 20)


def covariate(random: np.random.Generator, n: int = 200) -> Data:
    """A disease, and markers with correlation .5, that depend on the same number."""
    age = random.normal(size=n)
    ill = random.random(n) < 1 / (1 + np.exp(-1.5 * age))
    X = random.normal(size=(n, N_FEATURES))
    X[:, :N_MARKERS] = 0.5 * age[:, None] + np.sqrt(0.75) * X[:, :N_MARKERS]
    rank = np.argsort(np.argsort(age))
    return Data(X, ill.astype(int), _markers(), {f"{k}": rank * k // n for k in INTERVALS})


def _markers() -> NDArray[Any]:
    return np.where(np.arange(N_FEATURES) < N_MARKERS, "markers", "others")


def _alike(
    group: NDArray[Any], within: float, random: np.random.Generator, p: int = N_FEATURES
) -> NDArray[Any]:
    """Normal columns with a correlation of the rows of a group."""
    shared = random.normal(size=(int(group.max()) + 1, p))[group]
    own = random.normal(size=(len(group), p))
    return np.sqrt(within) * shared + np.sqrt(1 - within) * own


def _all() -> NDArray[Any]:
    return np.full(N_FEATURES, "features")


PROBLEMS: dict[str, Callable[..., Data]] = {
    "populations": populations,
    "samples": samples,
    "families": families,
    "copies": copies,
    "covariate": covariate,
}


def variants(name: str) -> dict[str, dict[str, str]]:
    """Return arguments of the tests in a problem, by the name of the variant."""
    if name == "covariate":
        return {"rows exchanged": {}, **{f"{k} strata": {"strata": f"{k}"} for k in INTERVALS}}
    label = "strata" if name == "populations" else "groups"
    return {"rows exchanged": {}, f"with {label}": {label: label}}


# Markers and other features have different null distributions, of which janitza pools one.
POOLED = {("populations", "janitza, air")}


def tests(trees: int, *, classes: bool) -> dict[str, Run]:
    """All tests that permute rows, and janitza of `holdout_mda` and `air`."""
    kind = dm.RandomForestClassifier if classes else dm.RandomForestRegressor
    forest = kind(trees)
    permuted = {"n_permutations": RUNS}
    probed = {"n_permutations": RUNS, "add_one": True}
    followed = [0, 1, N_FEATURES - 2, N_FEATURES - 1]

    def of_correlations(X: Any, y: Any, seed: int, rows: Any) -> Any:
        test = dm.significance.permutation_test
        return test(correlation, X, y, random_state=seed, **permuted, **rows)

    def janitza(X: Any, y: Any, seed: int, rows: Any) -> Any:
        values = dm.importances.holdout_mda(kind(4 * trees), X, y, random_state=seed, **rows)
        return dm.significance.janitza(values, add_one=False)

    def janitza_of_air(X: Any, y: Any, seed: int, rows: Any) -> Any:
        values = dm.importances.air(kind(4 * trees), X, y, random_state=seed, **rows)
        return dm.significance.janitza(values)

    return {
        "altmann": refitted("altmann", forest, **permuted),
        "hapfelmeier": refitted(
            "hapfelmeier", forest, measure="mdi", features=followed, **permuted
        ),
        "mean_rank_test": refitted("mean_rank_test", forest, n_resamples=3, **permuted),
        "frequency_control": refitted("frequency_control", forest, null="permuted", **permuted),
        CORRELATION: of_correlations,
        "one_probe": refitted("one_probe", forest, **probed),
        "janitza, holdout_mda": janitza,
        "janitza, air": janitza_of_air,
        "max_t": refitted("max_t", forest, **permuted),
        "fdr_curve": refitted("fdr_curve", forest, **permuted),
        "conditional_error_rate": refitted("conditional_error_rate", forest, **permuted),
        "multiple_probes": refitted("multiple_probes", forest, **probed),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=80)
    parser.add_argument("--trees", type=int, default=25)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--tests", nargs="+", metavar="NAME", help="some of the tests")
    chosen = parser.parse_args(arguments)
    some = f"-{'-'.join(chosen.tests)}" if chosen.tests else ""
    missed = []
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name in chosen.problems:
        run = tests(chosen.trees, classes=name != "families")
        if name == "covariate":  # those of permuted targets, which are fast
            run = {test: run[test] for test in ("altmann", CORRELATION, "max_t", "fdr_curve")}
        run = {test: compute for test, compute in run.items() if test in (chosen.tests or run)}
        by_cell = report(
            name,
            run,
            PROBLEMS[name],
            chosen.data_sets,
            variants=variants(name),
            seed=1,
            checkpoint=chosen.out / f"{name}-{chosen.trees}{some}.npz",
            families=FAMILIES,
        )
        missed += bars_missed(name, by_cell)
    for line in missed:
        print(f"missed: {line}")
    return int(bool(missed))


def bars_missed(name: str, by_cell: Rates) -> list[str]:
    """Return the rates above their bar with strata or groups, or below it without."""
    missed = []
    for (test, variant), kinds in by_cell.items():
        watched = [kind for kind in kinds if (kind == "any") == (test in FAMILIES)]
        for kind in watched if variant.startswith("with") else ():
            rate, error = kinds[kind]
            if rate > 0.05 + 3.3 * max(error, 0.01) and (name, test) not in POOLED:
                missed.append(f"{name}, {test} {variant}: {rate:.3f} of {kind}")
    if name == "populations" and ("altmann", "rows exchanged") in by_cell:
        rate, _ = by_cell["altmann", "rows exchanged"]["markers"]
        if rate <= 0.3:
            missed.append(f"{name}, altmann: {rate:.3f} of markers without strata")
    return missed


if __name__ == "__main__":
    sys.exit(main())
