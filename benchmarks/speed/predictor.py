"""Permutation importance of a forest of scikit-learn: duramen's beside scikit-learn's own.

``python -m benchmarks.speed.predictor [ROUNDS]`` fits a forest of 100 trees on 2000 x 500 and
measures ``predict`` on 2000 other rows with one permutation of each feature a round, by
scikit-learn's ``permutation_importance`` and by ``dm.importances.mda(votes="predictor")``, in turn
and on one thread; reading the model and encoding the rows are counted. It prints the ratio of the
processor times of each round, and how far the means over the rounds differ, in standard errors.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.measuring import timed


def main(rounds: int = 3) -> None:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.inspection import permutation_importance

    import duramen as dm

    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 500))
    y = X[:, :5].sum(axis=1) + random.normal(size=4000) > 0
    model = RandomForestClassifier(100, random_state=0).fit(X[:2000], y[:2000])
    X, y = X[2000:], y[2000:]
    options = {"rows": None, "votes": "predictor", "n_repeats": 1}
    ours, theirs = [], []
    dm.importances.mda(model, X, y, **options)  # imports are not counted
    for seed in range(rounds):
        peer, result = timed(
            lambda seed=seed: permutation_importance(model, X, y, n_repeats=1, random_state=seed),
            time.process_time,
        )
        theirs.append(result.importances_mean)
        own, result = timed(
            lambda seed=seed: dm.importances.mda(model, X, y, random_state=seed, **options),
            time.process_time,
        )
        ours.append(result.values)
        print(f"round {seed}: {peer:.1f} s and {own:.3f} s, ratio {peer / own:.0f}", flush=True)
    gap = np.mean(ours, axis=0) - np.mean(theirs, axis=0)
    # Over the features, as a few rounds give no standard error for each.
    error = np.sqrt((np.var(ours, axis=0, ddof=1) + np.var(theirs, axis=0, ddof=1)).mean() / rounds)
    print(f"root mean square of the difference: {np.sqrt((gap**2).mean()) / error:.2f} errors")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
