"""For asv: importances drawn from a grown forest."""

from __future__ import annotations

import duramen as dm
from benchmarks.speed import cases


class Permutation:
    """Measures that send permuted columns down the trees."""

    params = ["72 x 7129", "500 x 120"]
    param_names = ("table",)

    def setup(self, table: str) -> None:
        X, self.y = cases.load(table)
        self.table = dm.encode(X)
        self.forest = dm.RandomForestClassifier(1000, random_state=0).fit(self.table, self.y)

    def time_mda(self, table: str) -> None:
        dm.importances.mda(self.forest, self.table, self.y)

    def time_mda_auc(self, table: str) -> None:
        dm.importances.mda(self.forest, self.table, self.y, scoring="roc_auc")

    def time_mda_of_the_ensemble(self, table: str) -> None:
        dm.importances.mda(self.forest, self.table, self.y, votes="ensemble")

    def time_vote_change(self, table: str) -> None:
        dm.importances.vote_change(self.forest, self.table, self.y)

    def time_conditional_mda(self, table: str) -> None:
        dm.importances.conditional_mda(self.forest, self.table, self.y)

    def time_mdi_out_of_bag(self, table: str) -> None:
        dm.importances.mdi(self.forest, self.table, self.y, rows="oob")
