"""For asv: short calls of the kernel, whose cost is the overhead of a call.

``python -m benchmarks.history.calls`` prints the processor time of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import duramen as dm
from duramen.forests import GrowthSettings, grow, prediction
from duramen.forests.forest import mean_decreases

_ROUNDS = 100


class Calls:
    """72 rows of 200 columns, ten trees, one thread."""

    def setup(self) -> None:
        random = np.random.default_rng(0)
        self.X = random.normal(size=(72, 200))
        self.y = (self.X[:, 0] > 0).astype(int)
        self.data = dm.learning_set(self.X, self.y)
        self.settings = GrowthSettings(cut="random", max_features=14)
        self.model = dm.ExtraTreesClassifier(10, random_state=0).fit(self.data)
        self.row = self.X[:1].copy()

    def time_growth_of_one_tree(self) -> None:
        grow(self.data, self.settings, n_trees=1, seed=0)

    def time_mdi_of_ten_trees(self) -> None:
        mean_decreases(self.model.forest_)

    def time_leaves_of_one_row(self) -> None:
        prediction.predict(self.model.forest_, self.row)

    def time_prediction_of_one_row(self) -> None:
        self.model.predict_proba(self.row)

    def time_search_of_one_tree_a_round(self) -> None:
        search = dm.SequentialRandomSubspace(
            dm.ExtraTreesClassifier(max_features=20), n_estimators=_ROUNDS, random_state=0
        )
        search.fit(self.X, self.y)


def processor_seconds(call: Callable[[], None]) -> float:
    """Least processor time of a call, of seven runs of a tenth of a second or more."""
    call()
    start = time.process_time()
    call()
    times = max(1, int(0.1 / max(time.process_time() - start, 1e-6)))
    taken = []
    for _ in range(7):
        start = time.process_time()
        for _ in range(times):
            call()
        taken.append((time.process_time() - start) / times)
    return min(taken)


if __name__ == "__main__":
    calls = Calls()
    calls.setup()
    print("| call | processor time, us |\n| --- | --- |")
    for name in [name for name in dir(Calls) if name.startswith("time_")]:
        taken = 1e6 * processor_seconds(getattr(calls, name))
        if "search" in name:
            taken /= _ROUNDS
        print(f"| {name.removeprefix('time_').replace('_', ' ')} | {taken:.1f} |", flush=True)
