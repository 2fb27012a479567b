"""Tests of SNPs of a structured population, with and without its covariates.

``python -m benchmarks.error_rates.populations --out DIR --data-sets 80`` draws SNPs by the model of
Balding and Nichols (1995), of which none has an effect on the disease within a population, and
counts how often tests take SNPs at .05 all the same:

* three populations (F_ST = .1), of which .2, .5 and .8 are ill; the covariate is the population;
* ancestry: admixed people, whose risk depends on the fraction of their ancestry; the covariate is
  that fraction;
* components: three populations that are not known; the covariates are two principal components of
  other SNPs.

A last SNP has an effect within populations, in a half of the data sets, for the power. Variants:

* nothing: rows are exchanged freely;
* feature: the covariate is one of the features, and rows are exchanged freely;
* always: the same, in forests where each feature is a candidate at each node (K = p), so that the
  covariate always is;
* residuals: targets are drawn anew from their probability given the covariate, by a logistic
  regression (permuted residuals have no class);
* 20 rows, 10 rows: `covariate_strata` with that many rows in a stratum; for populations, which
  are categories, they are the same;
* 10 rows, feature, and 10 rows, always: strata of 10 rows, and the covariate is a feature.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from duramen.data.strata import log_odds
from duramen.significance.max_t_test import step_down
from duramen.significance.permutations import standardized
from duramen.support.arrays import FloatArray

N, P, RUNS, LEVEL = 240, 60, 19, 0.05
FST = 0.1
RATES = (0.2, 0.5, 0.8)
EFFECT = 1.8  # of a copy of the allele of the last SNP, on the log-odds
OUTCOMES = ("single", "any", "power")


@dataclass(frozen=True)
class Data:
    """SNPs, their table with the covariates, the disease and the covariates."""

    snps: FloatArray
    ill: NDArray[np.int64]
    covariates: FloatArray  # (n, k)
    effect: bool  # whether the last SNP has one


def frequencies(random: np.random.Generator, p: int, k: int) -> FloatArray:
    """Allele frequencies of k populations by Balding and Nichols; shape (k, p)."""
    ancestral = random.uniform(0.1, 0.9, p)
    f = (1 - FST) / FST
    return random.beta(ancestral * f, (1 - ancestral) * f, size=(k, p))


def drawn(
    random: np.random.Generator, risk: FloatArray, snps: FloatArray, effect: bool
) -> NDArray[np.int64]:
    odds = np.log(risk / (1 - risk))
    if effect:
        odds = odds + EFFECT * (snps[:, -1] - snps[:, -1].mean())
    return (random.random(len(risk)) < 1 / (1 + np.exp(-odds))).astype(np.int64)


def populations(random: np.random.Generator, effect: bool) -> Data:
    group = random.integers(0, 3, N)
    snps = random.binomial(2, frequencies(random, P, 3)[group]).astype(np.float64)
    ill = drawn(random, np.array(RATES)[group], snps, effect)
    return Data(snps, ill, group[:, None].astype(np.float64), effect)


def ancestry(random: np.random.Generator, effect: bool) -> Data:
    fraction = random.beta(0.8, 0.8, N)
    both = frequencies(random, P, 2)
    own = fraction[:, None] * both[0] + (1 - fraction)[:, None] * both[1]
    snps = random.binomial(2, own).astype(np.float64)
    return Data(snps, drawn(random, 0.2 + 0.6 * fraction, snps, effect), fraction[:, None], effect)


def components(random: np.random.Generator, effect: bool) -> Data:
    group = random.integers(0, 3, N)
    everything = frequencies(random, P + 500, 3)
    others = random.binomial(2, everything[group, P:]).astype(np.float64)
    others -= others.mean(axis=0)
    left, sizes, _ = np.linalg.svd(others, full_matrices=False)
    snps = random.binomial(2, everything[group, :P]).astype(np.float64)
    ill = drawn(random, np.array(RATES)[group], snps, effect)
    return Data(snps, ill, left[:, :2] * sizes[:2], effect)


PROBLEMS: dict[str, Callable[[np.random.Generator, bool], Data]] = {
    "populations": populations,
    "ancestry": ancestry,
    "components": components,
}


def variants(
    data: Data, trees: int, seed: int
) -> dict[str, Callable[[], tuple[FloatArray, FloatArray]]]:
    """p-values and adjusted p-values of the SNPs, by variant."""
    with_covariates = np.column_stack([data.snps, data.covariates])

    def tested(X: FloatArray, strata: Any = None, **settings: Any) -> tuple[FloatArray, FloatArray]:
        forest = dm.RandomForestClassifier(trees, **settings)
        result = dm.significance.max_t(
            forest, X, data.ill, n_permutations=RUNS, random_state=seed, strata=strata
        )
        return result.p_values[:P], result.p_adjusted[:P]

    def strata(rows: int) -> NDArray[np.int64]:
        return dm.significance.covariate_strata(data.covariates, data.ill, rows_per_stratum=rows)

    def parametric() -> tuple[FloatArray, FloatArray]:
        odds = log_odds(_standardized(data.covariates), data.ill)[:, 0]
        random = np.random.default_rng(seed)
        scores = []
        for run in range(RUNS + 1):
            again = (random.random(N) < 1 / (1 + np.exp(-odds))).astype(np.int64)
            y = data.ill if run == 0 else again
            forest = dm.RandomForestClassifier(trees, random_state=seed + run).fit(data.snps, y)
            scores.append(dm.importances.mdi(forest).values)
        single = (1 + (np.array(scores[1:]) >= scores[0]).sum(axis=0)) / (1 + RUNS)
        statistics = standardized(np.array(scores))
        return single, step_down(statistics[0], statistics[1:])

    exact = data.covariates.shape[1] == 1 and len(np.unique(data.covariates)) <= 3
    by_rows: dict[str, Callable[[], tuple[FloatArray, FloatArray]]] = {
        f"{rows} rows": (lambda rows=rows: tested(data.snps, strata(rows))) for rows in (20, 10)
    }
    if exact:
        by_rows = {"10 rows": by_rows["10 rows"]}
    return {
        "nothing": lambda: tested(data.snps),
        "feature": lambda: tested(with_covariates),
        "always": lambda: tested(with_covariates, max_features=None),
        "residuals": parametric,
        **by_rows,
        "10 rows, feature": lambda: tested(with_covariates, strata(10)),
        "10 rows, always": lambda: tested(with_covariates, strata(10), max_features=None),
    }


def _standardized(columns: FloatArray) -> FloatArray:
    if columns.shape[1] == 1 and len(np.unique(columns)) <= 3:
        return (columns == np.unique(columns)).astype(np.float64)
    spread: FloatArray = columns / columns.std(axis=0)
    return spread


def measured(name: str, n_data_sets: int, trees: int, out: Path) -> dict[str, FloatArray]:
    """Outcomes of each data set, by variant: shape (data sets, 3)."""
    names = list(variants(PROBLEMS[name](np.random.default_rng(0), False), trees, 0))

    def outcome_of(replicate: int) -> FloatArray:
        data = PROBLEMS[name](np.random.default_rng([replicate, 3]), replicate % 2 == 1)
        rows = []
        for variant in variants(data, trees, 1000 * replicate).values():
            single, adjusted = variant()
            null = slice(None, -1) if data.effect else slice(None)
            rows.append(
                [
                    np.mean(single[null] <= LEVEL),
                    float((adjusted[null] <= LEVEL).any()),
                    float(adjusted[-1] <= LEVEL) if data.effect else np.nan,
                ]
            )
        return np.array(rows)

    place = out / f"{name}.npz"
    done: list[FloatArray] = list(np.load(place)["done"]) if place.is_file() else []
    for replicate in range(len(done), n_data_sets):
        done.append(outcome_of(replicate))
        np.savez(place, done=np.array(done))
    result = np.array(done[:n_data_sets])
    return {variant: result[:, i] for i, variant in enumerate(names)}


def summary(by_variant: Mapping[str, FloatArray]) -> str:
    lines = ["| variant | single SNPs | any | power |", "| --- | --- | --- | --- |"]
    for variant, outcomes in by_variant.items():
        cells = []
        for values in outcomes.T:
            defined = values[~np.isnan(values)]
            cells.append(f"{defined.mean():.3f} ({defined.std() / np.sqrt(len(defined)):.3f})")
        lines.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=80)
    parser.add_argument("--trees", type=int, default=25)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name in chosen.problems:
        start = time.perf_counter()
        importances = measured(name, chosen.data_sets, chosen.trees, chosen.out)
        print(f"\n{name}: {chosen.data_sets} data sets, {time.perf_counter() - start:.0f} s\n")
        print(summary(importances), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
