"""False confirmations of groups and of features by max-T, with groups of unequal size.

    python -m benchmarks.error_rates.group_tests --data-sets 200

60 rows; ten single features, five groups of 2, four of 5, two of 20. Prints, for each design, the
fraction of data sets in which a group, a feature, or either is confirmed falsely, the fraction of
the relevant groups that are confirmed, and the fraction of irrelevant groups of each size that are
confirmed.
"""

from __future__ import annotations

import argparse

import numpy as np

import duramen as dm

SIZES = [1] * 10 + [2] * 5 + [5] * 4 + [20] * 2
LABELS = np.repeat(np.arange(len(SIZES)), SIZES)
P, N = len(LABELS), 60
RELEVANT = (0, 15, 19)  # a single feature, and the first groups of 5 and 20
NAMES = {g: f"g{g}" for g in range(10, len(SIZES))}
GROUPS = {name: np.flatnonzero(g == LABELS).tolist() for g, name in NAMES.items()}
DESIGNS = {
    "nothing, independent": (0.0, "none"),
    "nothing, correlated .7": (0.7, "none"),
    "one member, independent": (0.0, "first"),
    "one member, correlated .7": (0.7, "first"),
    "all members, independent": (0.0, "all"),
}


def data_set(design: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, target, and which features are associated with it."""
    correlation, members = DESIGNS[design]
    random = np.random.default_rng(seed)
    shared = random.normal(size=(N, len(SIZES)))[:, LABELS]
    X = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * random.normal(size=(N, P))
    y = random.normal(size=N)
    associated = np.zeros(P, dtype=bool)
    for g in () if members == "none" else RELEVANT:
        features = np.flatnonzero(g == LABELS)
        causes = features[:1] if members == "first" else features
        signal = X[:, causes].sum(axis=1)
        y = y + signal / signal.std()
        associated[features if correlation else causes] = True
    return X, y, associated


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--permutations", type=int, default=39)
    arguments = parser.parse_args()
    forest = dm.RandomForestRegressor(30, random_state=0)
    for design in DESIGNS:
        rows = []
        for seed in range(arguments.data_sets):
            X, y, associated = data_set(design, seed)
            result = dm.significance.max_t(
                forest,
                X,
                y,
                feature_groups=GROUPS,
                n_permutations=arguments.permutations,
                random_state=seed,
            )
            verdict = dict(zip(result.names, result.verdicts(), strict=True))
            single = np.array([verdict[f"x{j}"] for j in range(P)])
            confirmed = single == "confirmed"
            of_groups = np.array(
                [
                    verdict[NAMES[g]] == "confirmed" if g in NAMES else confirmed[g]
                    for g in range(len(SIZES))
                ]
            )
            relevant = np.array([associated[g == LABELS].any() for g in range(len(SIZES))])
            false = [(of_groups & ~relevant).any(), (confirmed & ~associated).any()]
            detected = of_groups[list(RELEVANT)] if relevant.any() else np.zeros(3)
            by_size = [
                (of_groups & ~relevant)[np.array(SIZES) == size].mean() for size in (1, 2, 5, 20)
            ]
            rows.append([*false, any(false), *detected, *by_size])
        mean = np.mean(rows, axis=0)
        print(
            f"{design:26} false groups {mean[0]:.3f} features {mean[1]:.3f} either {mean[2]:.3f}"
            f"  found 1/5/20 {np.round(mean[3:6], 2)}  false per group of 1/2/5/20 "
            f"{np.round(mean[6:], 4)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
