"""Selections by tests of features without effect that are correlated with relevant features.

``python -m benchmarks.error_rates.proxies --out DIR --data-sets 60`` draws two problems of 200
rows, 60 normal features and two classes, and counts how often each test takes features of each kind
at .05:

* proxies: three features add up to the target; each has four proxies with correlation .8, and the
  other features are independent of all;
* chain: an autoregressive sequence of features with correlation .7 of neighbors, three of which,
  far from each other, add up to the target; neighbors are those up to three places away.

A proxy is independent of the target *given* the relevant features, and depends on it without them.
A run that was killed goes on from DIR.
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
    RELEVANT,
    Data,
    Run,
    correlation,
    refitted,
    report,
)

RUNS = 19
N, P = 200, 60
FAMILIES = (
    *("max_t", "fdr_curve", "conditional_error_rate", "multiple_probes"),
    *("vote_change, q", "SRS, decoys"),
)
ADJUSTED = ("vote_change, q",)


def proxies(random: np.random.Generator) -> Data:
    X = random.normal(size=(N, P))
    kinds = np.full(P, "independent", dtype=object)
    kinds[:3] = RELEVANT
    for j in range(3, 15):
        X[:, j] = 0.8 * X[:, j % 3] + 0.6 * X[:, j]
        kinds[j] = "proxies"
    return Data(X, _classes(X[:, :3], random), kinds)


def chain(random: np.random.Generator) -> Data:
    X = random.normal(size=(N, P))
    for j in range(1, P):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(1 - 0.7**2) * X[:, j]
    relevant = np.array([10, 30, 50])
    distance = np.abs(np.arange(P)[:, None] - relevant).min(axis=1)
    kinds = np.where(distance <= 3, "neighbors", "farther").astype(object)
    kinds[relevant] = RELEVANT
    return Data(X, _classes(X[:, relevant], random), kinds)


def _classes(parts: NDArray[Any], random: np.random.Generator) -> NDArray[Any]:
    return (parts.sum(axis=1) + random.normal(size=N) > 0).astype(int)


PROBLEMS: dict[str, Callable[..., Data]] = {"proxies": proxies, "chain": chain}


def tests(trees: int) -> dict[str, Run]:
    forest = dm.RandomForestClassifier(trees)
    large = dm.RandomForestClassifier(6 * trees)
    permuted = {"n_permutations": RUNS}
    probed = {"n_permutations": RUNS, "add_one": True}

    def of_correlations(X: Any, y: Any, seed: int, rows: Any) -> Any:
        test = dm.significance.permutation_test
        return test(correlation, X, y, random_state=seed, **permuted)

    def janitza(X: Any, y: Any, seed: int, rows: Any) -> Any:
        values = dm.importances.holdout_mda(large, X, y, random_state=seed)
        return dm.significance.janitza(values, add_one=False)

    def vote_change(X: Any, y: Any, seed: int, rows: Any) -> Any:
        grown = dm.RandomForestClassifier(20 * trees, random_state=seed).fit(X, y)
        return dm.importances.vote_change(grown, X, y)

    def srs(X: Any, y: Any, seed: int, rows: Any) -> Any:
        return dm.SequentialRandomSubspace(
            10 * trees, n_subspace_features=P // 4, random_state=seed
        ).fit(X, y)

    return {
        "altmann": refitted("altmann", forest, **permuted),
        "hapfelmeier": refitted(
            "hapfelmeier",
            forest,
            measure="mdi",
            features=[0, 10, 12, 13, 27, 35, 40, 50],
            **permuted,
        ),
        "mean_rank_test": refitted("mean_rank_test", forest, n_resamples=3, **permuted),
        "frequency_control": refitted("frequency_control", forest, **permuted),
        "permutation_test, correlation": of_correlations,
        "one_probe": refitted("one_probe", forest, **probed),
        "janitza, holdout_mda": janitza,
        "vote_change": vote_change,
        "max_t": refitted("max_t", forest, **permuted),
        "fdr_curve": refitted("fdr_curve", forest, **permuted),
        "conditional_error_rate": refitted("conditional_error_rate", forest, **permuted),
        "multiple_probes": refitted("multiple_probes", forest, **probed),
        "vote_change, q": vote_change,
        "SRS, decoys": srs,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=60)
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--tests", nargs="+", metavar="NAME", help="some of the tests")
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    run = tests(chosen.trees)
    run = {test: compute for test, compute in run.items() if test in (chosen.tests or run)}
    some = f"-{'-'.join(chosen.tests)}" if chosen.tests else ""
    for name, draw in PROBLEMS.items():
        report(
            name,
            run,
            draw,
            chosen.data_sets,
            variants={"": {}},
            seed=2,
            checkpoint=chosen.out / f"{name}-{chosen.trees}{some}.npz",
            adjusted=ADJUSTED,
            families=FAMILIES,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
