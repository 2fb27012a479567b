"""Selectors on pure noise: how often they keep anything.

    python -m benchmarks.selectors null [--data-sets 200] [--methods boruta knock_out ...]

`null` runs the selectors of all relevant features, each as it is by default but for 50 trees a
forest (200 trees of 10 features in the random subspaces), on data sets of 100 rows, with normal
features and two classes that have nothing to do with each other. It prints the fraction of the data
sets of which any feature is kept, with an interval of probability 0.95 (Clopper and Pearson), and
the number of features that are kept of a data set. `benchmarks.boruta null` has the variants of
Boruta.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from duramen.selection import catalogue

N = 100
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "boruta": [{"n_estimators": 50}],
    "knock_out": [{"n_estimators": 50}],
    "artificial_contrasts": [
        {"n_estimators": 50},
        {"n_estimators": 50, "level": 0.001},
        {"n_estimators": 50, "remove_masked": True},
    ],
    "sequential_random_subspace": [{"n_estimators": 200, "n_subspace_features": 10}],
}
FEATURES = {"sequential_random_subspace": (50,)}


def noise(seed: int, p: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    return random.normal(size=(N, p)), random.permutation(np.arange(N) % 2)


def sizes(name: str, given: dict[str, Any], p: int, data_sets: int) -> Iterator[int]:
    for seed in range(data_sets):
        model = catalogue[name].make(**given, random_state=seed, n_jobs=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield int(model.fit(*noise(seed, p)).support_.sum())


def null(methods: list[str], data_sets: int) -> None:
    print("| selector | parameters | features | any kept | 0.95 interval | kept a data set | s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in methods:
        for given in VARIANTS[name]:
            for p in FEATURES.get(name, (20, 50)):
                start = time.perf_counter()
                found = np.array(list(sizes(name, given, p, data_sets)))
                seconds = (time.perf_counter() - start) / data_sets
                k = int((found > 0).sum())
                low = beta.ppf(0.025, k, data_sets - k + 1) if k else 0.0
                high = beta.ppf(0.975, k + 1, data_sets - k) if k < data_sets else 1.0
                words = ", ".join(f"{key}={value}" for key, value in given.items())
                print(
                    f"| {catalogue[name].option} | {words} | {p} | {k / data_sets:.3f} | "
                    f"{low:.3f} to {high:.3f} | {found.mean():.2f} | {seconds:.2f} |",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("null",))
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--methods", nargs="*", choices=list(VARIANTS), default=list(VARIANTS))
    given = parser.parse_args()
    null(given.methods, given.data_sets)


if __name__ == "__main__":
    main()
