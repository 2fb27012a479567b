"""False positives of the test of pairs, where strong main effects are all there is.

``python -m benchmarks.error_rates.pair_nulls`` prints, for each design, how often
`interaction_test` declares any pair at .05 (family-wise); exit status 1 where that is above .05 by
more than chance. In the last designs groups of ten rows share a part of their features and an
effect on the target; they are tested as groups, and for comparison as independent rows. In those
"beside interactions" three pairs interact as well, and only the other pairs count, many of which
have a feature of one of the three.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

ALPHA = 0.05
N_SETS = 200
ROWS, FEATURES, DRAWS, CUTS = 300, 40, 59, 2
GROUPS = np.arange(ROWS) // 10
INTERACTING = ((0, 5), (6, 7), (8, 9))  # of the designs that have interactions


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
    if "interactions" in kind:
        for a, b in INTERACTING:
            effects = effects + 1.5 * np.sign(X[:, a] * X[:, b])
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
    "numbers beside interactions",
    "classes beside interactions",
    "numbers in groups beside interactions",
    "classes in groups beside interactions",
    "numbers, correlated, beside interactions",
)
# Rows that are not independent as if they were, and pairs of features that follow those that
# interact: their rates are printed, and are above the level.
NOT_HELD = (
    "numbers in groups, as rows",
    "classes in groups, as rows",
    "numbers, correlated, beside interactions",
)


def false_pairs(pairs: Any, kind: str) -> tuple[int, int]:
    """Numbers of pairs that are declared: of those that do not interact, and of those that do."""
    frame = pairs.to_frame()
    declared = frame[frame["p_adjusted"] <= ALPHA]
    true = {(f"x{a}", f"x{b}") for a, b in INTERACTING if "interactions" in kind}
    pair = zip(declared["feature"], declared["other"], strict=True)
    n_true = sum(tuple(sorted(names)) in true for names in pair)
    return len(declared) - n_true, n_true


def main() -> int:
    """Print the rates; return 1 where one is above the level by more than chance."""
    import duramen as dm

    parser = argparse.ArgumentParser(prog="benchmarks.error_rates.pair_nulls", description=__doc__)
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS))
    asked = parser.parse_args()
    bound = ALPHA + 3.0 * np.sqrt(ALPHA * (1.0 - ALPHA) / N_SETS)
    print(f"{N_SETS} data sets of {ROWS} x {FEATURES} each; at most {bound:.3f} is by chance")
    print("| design | any false pair declared | interacting ones | processor s |")
    print("| --- | --- | --- | --- |")
    above = False
    for kind in asked.designs:
        start, any_false, power = time.process_time(), 0, 0
        for seed in range(N_SETS):
            grouped = "in groups" in kind and not kind.endswith("as rows")
            data = dm.learning_set(*design(kind, seed), groups=GROUPS if grouped else None)
            pairs = dm.significance.interaction_test(
                data, n_cuts=CUTS, n_resamples=DRAWS, random_state=seed, n_jobs=1
            )
            false, true = false_pairs(pairs, kind)
            any_false, power = any_false + bool(false), power + true
        rate = any_false / N_SETS
        above |= rate > bound and kind not in NOT_HELD
        fraction = f"{power / N_SETS / len(INTERACTING):.2f}" if "interactions" in kind else "-"
        seconds = time.process_time() - start
        print(f"| {kind} | {rate:.3f} | {fraction} | {seconds:.0f} |", flush=True)
    return int(above)


if __name__ == "__main__":
    sys.exit(main())
