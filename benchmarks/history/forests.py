"""For asv: the cases of the peers' table, as times, peaks and ratios over the history."""

from __future__ import annotations

from benchmarks.speed import cases, peers

NAMES = [case.name for case in cases.CASES]


class Forests:
    """Whole fits with importances, encoding included, one thread."""

    params = NAMES
    param_names = ["case"]
    timeout = 600
    rounds = 2

    def setup(self, name: str) -> None:
        self.case = cases.CASES[NAMES.index(name)]
        cases.fit("duramen", self.case, 2, seed=0)

    def time_fit(self, name: str) -> None:
        cases.fit("duramen", self.case, self.case.n_trees, seed=1)

    def peakmem_fit(self, name: str) -> None:
        cases.fit("duramen", self.case, self.case.n_trees, seed=1)

    def track_ratio_to_scikit_learn(self, name: str) -> float:
        """Return the speed relative to scikit-learn, which grows a tenth of the trees."""
        plan = peers.Plan(rounds=3, scale=0.1, clock="cpu", memory=False, ranger=False)
        return peers.run(self.case, plan).ratio


Forests.track_ratio_to_scikit_learn.unit = "times as fast"  # type: ignore[attr-defined]
