"""Many forests on permuted labels: whole runs, against other packages.

``python -m benchmarks.speed.significance`` prints each measurement with its bar; exit status 1
where one is missed. ranger's time was measured once on such a machine (two processors).
"""

from __future__ import annotations

import sys
import time
from typing import Any

from benchmarks.speed import cases
from benchmarks.speed.bars import Bar, run

RANGER_ALTMANN = 114.0  # seconds: 72 x 7129, 500 trees, 100 permutations
THREADS = 2


def seconds_of_altmann(forest: str, n_trees: int) -> float:
    import duramen as dm

    X, y = cases.load("72 x 7129")
    estimator: Any = getattr(dm, forest)(n_trees)
    start = time.perf_counter()
    dm.significance.altmann(
        estimator, X, y, measure="mdi", n_permutations=100, random_state=0, n_jobs=THREADS
    )
    return time.perf_counter() - start


BARS = [
    Bar(
        "100 permutations, 500 random forest trees, 72 x 7129, ranger",
        lambda: RANGER_ALTMANN / seconds_of_altmann("RandomForestClassifier", 500),
        10,
        "x",
        True,
    ),
    Bar(
        "100 permutations, 1000 Extra-Trees, 72 x 7129",
        lambda: seconds_of_altmann("ExtraTreesClassifier", 1000),
        15,
    ),
]


if __name__ == "__main__":
    sys.exit(run(BARS))
