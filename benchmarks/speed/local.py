"""Local MDI: its time against a bound, against prediction, and against shap.TreeExplainer.

``python -m benchmarks.speed.local`` prints each measurement with its bar; exit status 1 where one
is missed. All on one thread, in seconds of the processor. The comparison with shap (``pip install
shap``) explains the same trees, which it reads from dictionaries; without shap it is left out.
"""

from __future__ import annotations

import functools
import importlib.util
import statistics
import sys
import time
from typing import Any

import numpy as np

from benchmarks.measuring import median_seconds
from benchmarks.speed import cases
from benchmarks.speed.bars import Bar, run


@functools.cache
def forest(case: str, n_trees: int, **settings: Any) -> tuple[Any, Any]:
    """A fitted random forest and its encoded table."""
    import duramen as dm

    X, y = cases.load(case)
    table = dm.encode(X)
    estimator = dm.RandomForestClassifier(n_trees, random_state=0, n_jobs=2, **settings)
    return estimator.fit(table, y), table


def leukemia() -> float:
    """Seconds for 72 x 7129 and 1,000 trees."""
    import duramen as dm

    model, table = forest("72 x 7129", 1000)
    return median_seconds(
        lambda: dm.importances.local_mdi(model, table, n_jobs=1), clock=time.process_time
    )


def against_prediction() -> float:
    """Time for 50,000 x 50 and 100 trees relative to prediction, median of interleaved pairs."""
    import duramen as dm

    model, table = forest("50,000 x 50", 100)
    model.n_jobs = 1
    ratios = []
    for _ in range(5):
        start = time.process_time()
        model.predict_proba(table)
        predicted = time.process_time()
        dm.importances.local_mdi(model, table, n_jobs=1)
        ratios.append((time.process_time() - predicted) / (predicted - start))
    return statistics.median(ratios)


def trees_of_class_1(model: Any) -> dict[str, Any]:
    """Return the trees of a forest as shap reads them, with the probability of class 1 alone."""
    from duramen.forests import shap_trees

    trees = shap_trees(model)["trees"]
    return {"trees": [{**tree, "values": tree["values"][:, 1:2]} for tree in trees]}


def against_shap(case: str, n_trees: int, n_rows: int) -> float:
    """Time of shap for a row, of some, relative to local MDI of the prediction, of all rows.

    The median of three interleaved pairs.
    """
    import shap

    import duramen as dm

    X, _ = cases.load(case)
    model, table = forest(case, n_trees)
    explainer = shap.TreeExplainer(
        trees_of_class_1(model), feature_perturbation="tree_path_dependent"
    )
    some = X[:n_rows]
    ratios = []
    for _ in range(3):
        start = time.process_time()
        values = explainer.shap_values(some, check_additivity=False)
        middle = time.process_time()
        local = dm.importances.local_mdi(model, table, of="prediction", sparse=False, n_jobs=1)
        own = (time.process_time() - middle) / len(X)
        ratios.append((middle - start) / len(some) / own)
    np.testing.assert_allclose(  # both add up to the prediction
        local.values[: len(some)].sum(axis=1), values.sum(axis=1), atol=1e-5
    )
    return statistics.median(ratios)


BARS = [
    Bar("local MDI, 72 x 7129, 1,000 trees, one thread", leukemia, 0.1),
    Bar("local MDI, 50,000 x 50, 100 trees, times prediction", against_prediction, 2.0, "x"),
]
if importlib.util.find_spec("shap") is not None:
    BARS += [
        Bar(
            "a row of 72 x 7129, 1,000 trees, against shap",
            functools.partial(against_shap, "72 x 7129", 1000, 72),
            None,
            "x",
            True,
        ),
        Bar(
            "a row of 2000 x 500, 100 trees, against shap",
            functools.partial(against_shap, "2000 x 500", 100, 100),
            50,
            "x",
            True,
        ),
        Bar(
            "a row of 50,000 x 50, 100 trees, against shap",
            functools.partial(against_shap, "50,000 x 50", 100, 10),
            50,
            "x",
            True,
        ),
    ]


if __name__ == "__main__":
    sys.exit(run(BARS))
