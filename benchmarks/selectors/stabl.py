"""Stability selection beside permuted copies and beside knockoffs, on sparse problems, p > n.

    python -m benchmarks.selectors.stabl --data-sets 20

Prints, for each design, learner and kind of artificial features, the mean fraction of the direct
features that are selected, the mean fractions of features among the selected that are not direct
and that are not associated with the target, the mean size, the mean estimate FDP+ where anything is
selected, and processor seconds of a data set.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import duramen as dm

N, P, DIRECT = 100, 300, 8
DESIGNS = ("independent", "autoregressive", "blocks", "nothing")


def table(design: str, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, and the block of each feature, which is correlated with its block."""
    noise = random.normal(size=(N, P))
    if design == "autoregressive":  # .9 between neighbors
        X = noise.copy()
        for j in range(1, P):
            X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.9**2) * noise[:, j]
        return X, np.zeros(P, dtype=int)
    if design == "blocks":  # of ten, correlations of .7
        block = np.repeat(np.arange(P // 10), 10)
        return np.sqrt(0.7) * random.normal(size=(N, P // 10))[:, block] + np.sqrt(
            0.3
        ) * noise, block
    return noise, np.arange(P)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=20)
    parser.add_argument("--draws", type=int, default=50)
    arguments = parser.parse_args()
    print(f"{N} rows, {P} features, {DIRECT} direct, {arguments.data_sets} data sets")
    for design in DESIGNS:
        for learner in ("lasso", "forest"):
            for artificial in ("permuted", "knockoff"):
                rows = []
                for seed in range(arguments.data_sets):
                    random = np.random.default_rng(seed)
                    X, block = table(design, random)
                    direct = np.arange(0, P, P // DIRECT)[:DIRECT] if design != "nothing" else []
                    signs = random.choice([-1.0, 1.0], size=len(direct))
                    y = X[:, direct] @ signs + 1.5 * random.normal(size=N)
                    model = dm.StabilitySelection(
                        learner=learner,
                        artificial=artificial,
                        n_draws=arguments.draws,
                        random_state=seed,
                    )
                    start = time.process_time()
                    model.fit(X, y)
                    seconds = time.process_time() - start
                    chosen = model.selected_
                    size = max(len(chosen), 1)
                    rows.append(
                        [
                            np.isin(direct, chosen).mean() if len(direct) else np.nan,
                            (~np.isin(chosen, direct)).sum() / size,
                            (~np.isin(block[chosen], block[direct])).sum() / size,
                            len(chosen),
                            model.fdp_,
                            len(chosen) > 0,
                            seconds,
                        ]
                    )
                mean = np.nanmean(np.array(rows, dtype=float), axis=0)
                error = np.nanstd(np.array(rows, dtype=float), axis=0) / np.sqrt(len(rows))
                print(
                    f"{design:15} {learner:7} {artificial:9} direct found {mean[0]:.2f} "
                    f"not direct {mean[1]:.2f} +- {error[1]:.2f} not associated {mean[2]:.2f} "
                    f"+- {error[2]:.2f} size {mean[3]:.1f} FDP+ {mean[4]:.2f} "
                    f"any {mean[5]:.2f} {mean[6]:.1f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
