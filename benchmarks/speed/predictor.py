"""Permutation importance of a forest of scikit-learn: duramen's beside scikit-learn's own.

``python -m benchmarks.speed.predictor [ROUNDS]`` fits a forest of 100 trees on 2000 x 500 and
measures ``predict`` on 2000 other rows with five permutations of each feature a round, by
scikit-learn's ``permutation_importance``, whose default that is, and by
``dm.importances.mda(votes="predictor")``, in turn and on one thread; reading the model and encoding
the rows are counted. It prints the ratio of the processor times of each round, and how far the
means over the permutations of a round differ, in standard errors.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.measuring import timed


def main(rounds: int = 1) -> None:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.inspection import permutation_importance

    import duramen as dm

    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 500))
    y = X[:, :5].sum(axis=1) + random.normal(size=4000) > 0
    model = RandomForestClassifier(100, random_state=0).fit(X[:2000], y[:2000])
    X, y = X[2000:], y[2000:]
    options = {"rows": None, "votes": "predictor", "n_repeats": 5}
    dm.importances.mda(model, X, y, **options)  # imports are not counted
    for seed in range(rounds):
        peer, theirs = timed(
            lambda seed=seed: permutation_importance(model, X, y, n_repeats=5, random_state=seed),
            time.process_time,
        )
        own, ours = timed(
            lambda seed=seed: dm.importances.mda(model, X, y, random_state=seed, **options),
            time.process_time,
        )
        gap = ours.values - theirs.importances_mean
        variance = theirs.importances.var(axis=1, ddof=1) / 5 + ours.standard_error**2
        print(
            f"round {seed}: {peer:.1f} s and {own:.3f} s, ratio {peer / own:.0f}; root mean square "
            f"of the difference {np.sqrt((gap**2).mean() / variance.mean()):.2f} standard errors",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
