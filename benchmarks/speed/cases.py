"""The cases that duramen and its peers are timed on, with the speed asked of duramen."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Data = tuple[NDArray[np.float64], NDArray[Any]]


def leukemia() -> Data:
    from duramen.datasets import load_leukemia

    data = load_leukemia()
    return np.ascontiguousarray(data.X, dtype=np.float64), np.asarray(data.y)


def classification(n_rows: int, n_columns: int) -> Data:
    from sklearn.datasets import make_classification

    return make_classification(
        n_rows, n_columns, n_informative=10, n_redundant=10, n_classes=2, random_state=7
    )


def regression(n_rows: int, n_columns: int) -> Data:
    from sklearn.datasets import make_regression

    return make_regression(n_rows, n_columns, n_informative=20, noise=10.0, random_state=7)


def regression_correlated(n_rows: int, n_columns: int) -> Data:
    """Numbers that depend on one of three correlated columns, and on another column."""
    random = np.random.default_rng(7)
    X = random.normal(size=(n_rows, n_columns))
    X[:, 1:3] = X[:, :1] + 0.3 * X[:, 1:3]
    return X, 2 * X[:, 0] + X[:, 5] + random.normal(size=n_rows)


DATA: dict[str, Callable[[], Data]] = {
    "72 x 7129": leukemia,
    "500 x 120": functools.partial(classification, 500, 120),
    "300 x 30 regression": functools.partial(regression_correlated, 300, 30),
    "2000 x 500": functools.partial(classification, 2000, 500),
    "50,000 x 50": functools.partial(classification, 50_000, 50),
    "50,000 x 50 regression": functools.partial(regression, 50_000, 50),
    "800 x 1600 regression": functools.partial(regression, 800, 1600),
}


@functools.cache
def load(name: str) -> Data:
    """The data of that name; made once a process."""
    return DATA[name]()


@dataclass(frozen=True)
class Case:
    """A forest on a data set, with equal settings on every side."""

    data: str
    forest: str
    """"ET" (Extra-Trees) or "RF" (random forest)."""
    candidates: str
    """K, the features tried at a node: "1", "sqrt" or "all"."""
    n_trees: int
    bar: float
    """How many times as fast as scikit-learn duramen is to be."""

    @property
    def name(self) -> str:
        candidates = {"1": "1", "sqrt": "sqrt(p)", "all": "p"}[self.candidates]
        return f"{self.data}, {self.forest}, K={candidates}, {self.n_trees} trees"

    @property
    def regression(self) -> bool:
        return self.data.endswith("regression")

    def max_features(self, n_columns: int) -> int:
        return {"1": 1, "sqrt": int(np.sqrt(n_columns)), "all": n_columns}[self.candidates]


CASES = [
    Case("72 x 7129", "ET", "sqrt", 1000, 20.0),
    Case("72 x 7129", "ET", "1", 10_000, 60.0),
    Case("72 x 7129", "ET", "all", 1000, 8.0),
    Case("72 x 7129", "RF", "sqrt", 1000, 12.0),
    Case("72 x 7129", "RF", "all", 1000, 8.0),
    Case("2000 x 500", "ET", "sqrt", 200, 6.0),
    Case("2000 x 500", "RF", "sqrt", 200, 6.0),
    Case("2000 x 500", "RF", "all", 200, 10.0),
    Case("50,000 x 50", "ET", "sqrt", 100, 4.0),
    Case("50,000 x 50", "RF", "sqrt", 100, 7.0),
    Case("50,000 x 50 regression", "ET", "sqrt", 100, 2.0),
    Case("50,000 x 50 regression", "ET", "all", 100, 4.0),
    Case("800 x 1600 regression", "ET", "sqrt", 100, 4.0),
    Case("800 x 1600 regression", "RF", "sqrt", 100, 6.0),
]


def forest_class(side: str, case: Case) -> Any:
    """The estimator of a side ("duramen" or "scikit-learn"); imports that library alone."""
    if side == "duramen":
        import duramen as library
    else:
        import sklearn.ensemble as library  # type: ignore[no-redef]
    kind = {"ET": "ExtraTrees", "RF": "RandomForest"}[case.forest]
    task = "Regressor" if case.regression else "Classifier"
    return getattr(library, kind + task)


def fit(side: str, case: Case, n_trees: int, seed: int, n_jobs: int = 1) -> NDArray[np.float64]:
    """Fit a model, encoding included, and return the importances; this is timed."""
    X, y = load(case.data)
    model = forest_class(side, case)(
        n_estimators=n_trees,
        max_features=case.max_features(X.shape[1]),
        random_state=seed,
        n_jobs=n_jobs,
    )
    return np.asarray(model.fit(X, y).feature_importances_)
