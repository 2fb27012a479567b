"""False positives of the test of pairs, where strong main effects are all there is.

``python -m benchmarks.error_rates.pair_nulls`` prints, for each design, how often
`interaction_test` declares any pair at .05 (family-wise); exit status 1 where that is above .05 by
more than chance. In the last designs groups of ten rows share a part of their features and an
effect on the target; they are tested as groups, and for comparison as independent rows.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

ALPHA = 0.05
N_SETS = 200
ROWS, FEATURES, DRAWS, CUTS = 300, 40, 59, 2
GROUPS = np.arange(ROWS) // 10


def design(kind: str, seed: int) -> tuple[Any, Any]:
    """Return a table and a target that is additive in five features."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(ROWS, FEATURES))
    if "correlated" in kind:
        X = np.sqrt(0.5) * X + np.sqrt(0.5) * random.normal(size=(ROWS, 1))
    if "binary" in kind:
        X = (X > 0.5).astype(float)
    if "groups" in kind:
        X = np.sqrt(0.2) * X + np.sqrt(0.8) * random.normal(size=(ROWS, FEATURES))[GROUPS]
    effects = 1.5 * X[:, 0] + 1.5 * X[:, 1] + 0.5 * X[:, 2] - 0.5 * X[:, 3]
    effects = effects + 0.5 * np.abs(X[:, 4])
    if "groups" in kind:
        effects = effects + random.normal(size=ROWS)[GROUPS]
    if "classes" in kind:
        centered = effects - effects.mean()
        return X, (random.random(ROWS) < 1.0 / (1.0 + np.exp(-centered))).astype(int)
    if "skewed" in kind:
        return X, effects + random.exponential(size=ROWS) * (1.0 + np.abs(X[:, 0]))
    return X, effects + random.normal(size=ROWS)


DESIGNS = (
    "numbers",
    "numbers, correlated",
    "numbers, binary features",
    "numbers, skewed and heteroscedastic",
    "classes",
    "classes, correlated",
    "classes, binary features",
    "numbers in groups",
    "classes in groups",
    "numbers in groups, as rows",
    "classes in groups, as rows",
)


def main() -> int:
    """Print the rates; return 1 where one is above the level by more than chance."""
    import duramen as dm

    bound = ALPHA + 3.0 * np.sqrt(ALPHA * (1.0 - ALPHA) / N_SETS)
    print(f"{N_SETS} data sets of {ROWS} x {FEATURES} each; at most {bound:.3f} is by chance")
    print("| design | any pair declared | processor s |\n| --- | --- | --- |")
    above = False
    for kind in DESIGNS:
        start, declared = time.process_time(), 0
        for seed in range(N_SETS):
            groups = GROUPS if kind.endswith("groups") else None
            data = dm.learning_set(*design(kind, seed), groups=groups)
            pairs = dm.significance.interaction_test(
                data, n_pairs=1, n_cuts=CUTS, n_resamples=DRAWS, random_state=seed, n_jobs=1
            )
            declared += bool(pairs.to_frame()["p_adjusted"].le(ALPHA).any())
        rate = declared / N_SETS
        above |= rate > bound and not kind.endswith("as rows")
        print(f"| {kind} | {rate:.3f} | {time.process_time() - start:.0f} |", flush=True)
    return int(above)


if __name__ == "__main__":
    sys.exit(main())
