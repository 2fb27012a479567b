"""Left-truncated survival: features that `max_t` confirms with entry times and without.

``python -m benchmarks.error_rates.left_truncation --data-sets 200`` prints how often the relevant
feature, any other one, and the feature that may depend on the age at inclusion are confirmed.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

import duramen as dm

ROWS, FEATURES = 120, 6


def cohort(seed: int, depends: bool) -> tuple[NDArray[np.float64], NDArray[np.void]]:
    """Draw features and ages at death of persons who were included at some age.

    x0 has a hazard ratio of 2.2 for a standard deviation, and x2 may be the age at inclusion with
    noise.
    """
    random, n = np.random.default_rng(seed), 8 * ROWS
    X = random.normal(size=(n, FEATURES))
    death = 80 * random.weibull(8, n) * np.exp(-0.8 * X[:, 0] / 8)
    entry = random.uniform(20, 90, n)
    alive = np.flatnonzero(death > entry)[:ROWS]
    X, death, entry = X[alive], death[alive], entry[alive]
    if depends:
        X[:, 2] = entry + 5 * X[:, 2]
    end = entry + random.exponential(25, ROWS)
    y = np.empty(ROWS, dtype=[("event", bool), ("time", float), ("entry", float)])
    y["event"], y["time"], y["entry"] = death <= end, np.minimum(death, end), entry
    return X, y


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=200)
    n = parser.parse_args().data_sets
    print("x2             entries    x0    others  x2")
    for depends in (False, True):
        for fields in (["event", "time", "entry"], ["event", "time"]):
            counts = np.zeros(3)
            for seed in range(n):
                X, y = cohort(seed, depends)
                forest = dm.RandomSurvivalForest(50, random_state=seed)
                test = dm.significance.max_t(
                    forest, X, y[fields], n_permutations=39, random_state=seed
                )
                found = {*test.selected(0.05, control="fwer")}
                counts += "x0" in found, bool(found - {"x0"}), "x2" in found
            words = "with entry" if depends else "noise", "honored" if fields[2:] else "ignored"
            print(f"{words[0]:<14} {words[1]:<10}", *(f"{rate:.3f}" for rate in counts / n))


if __name__ == "__main__":
    main()
