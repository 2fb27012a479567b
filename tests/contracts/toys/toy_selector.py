"""A selector in one file, with an option of its own on the command line."""

from dataclasses import dataclass

import numpy as np

import duramen as dm
from duramen import Importances
from duramen.selection import BaseSelector, Selector
from duramen.support.checks import check_real, draw_seed


@dataclass(kw_only=True, eq=False, repr=False)
class ToySelector(BaseSelector):
    """Features whose mean decrease of impurity is above a fraction of the largest.

    Parameters
    ----------
    alpha : float
        The fraction.
    margin : float
        Margin of a toy.
    random_state : int
        Seed of the forest.
    """

    alpha: float = 0.3
    margin: float = 0.0
    random_state: int | None = None

    def fit(self, X, y=None):
        """Grow a forest and compare."""
        alpha = check_real("ToySelector", "alpha", self.alpha, 0.0, 1.0)
        check_real("ToySelector", "margin", self.margin, 0.0, 9.0)
        data = self._learning_set(X, y, "classification").in_memory()
        seed = draw_seed(self.random_state) % 2**32
        forest = dm.RandomForestClassifier(30, random_state=seed).fit(data)
        values = dm.importances.mdi(forest).values
        order = np.argsort(-values, kind="stable")
        selected = order[values[order] > alpha * values.max() + self.margin]
        self._adopt(data, selected, {"n_selected": np.array([len(selected)])})
        self.importances_ = Importances(data.names, values, "mdi", "gini")
        return self


TOY = Selector(
    "toy_selector",
    ToySelector,
    title="selection by a toy",
    reference="A. Toymaker (2020). Toys. Journal of Toys 1.",
)
