"""MDI+ against the authors' code on the same trees: values, and processor time on one thread.

``python -m benchmarks.speed.mdi_plus`` needs `imodels` (3.0.4 was used), which is no dependency:
``pip install --no-deps imodels mlxtend six requests urllib3``. Both are timed in turn; the figure
is the median of the ratios. Exit status 1 where a ratio is below 10, or values differ.
"""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

SETTINGS = ((200, 10, 1), (500, 50, 5), (1000, 100, 5))  # rows, columns, min_samples_leaf
TREES, ROUNDS = 5, 3
BAR = 10.0
TOLERANCE = {"ridge": 1e-9, "logistic": 5e-4}


def problem(n: int, p: int, task: str) -> tuple[Any, Any]:
    """Return rows of normal features and a target of main effects and an interaction."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, p))
    y = X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3] + random.normal(size=n)
    return X, y if task == "ridge" else (y > np.median(y)).astype(int)


def stand_in(tree: Any) -> Any:
    """Return the attributes of a scikit-learn tree that the authors' code reads."""
    inner = tree.feature >= 0
    left = np.where(inner, tree.child, -1)
    read = SimpleNamespace(
        feature=np.where(inner, tree.feature, -2),
        threshold=tree.threshold,
        children_left=left,
        children_right=np.where(inner, tree.child + 1, -1),
        weighted_n_node_samples=tree.weight,
        node_count=tree.n_nodes,
    )
    return SimpleNamespace(tree_=read, random_state=0)


def of_authors(trees: list[Any], X: Any, y: Any, task: str) -> Any:
    """Return the values of the authors' code, the log loss less that of the class frequencies."""
    from imodels.importance.block_transformers import MDIPlusDefaultTransformer
    from imodels.importance.ppms import LogisticClassifierPPM, RidgeRegressorPPM
    from imodels.importance.rf_plus import ForestMDIPlus
    from sklearn.metrics import log_loss, r2_score

    model = RidgeRegressorPPM if task == "ridge" else LogisticClassifierPPM
    blocks = [MDIPlusDefaultTransformer(tree) for tree in trees]
    models = []
    for block in blocks:
        fitted = model()
        fitted.fit(block.fit_transform(X, center=True, normalize=False).get_all_data(), y)
        models.append(fitted)
    scores = ForestMDIPlus(
        estimators=models,
        transformers=blocks,
        scoring_fns=r2_score if task == "ridge" else lambda y, p: -log_loss(y, p),
        sample_split="loo",
        tree_random_states=[0] * len(trees),
        task="regression" if task == "ridge" else "classification",
    ).get_scores(X, y)
    values = scores["importance"].to_numpy()
    if task == "ridge":
        return values
    frequency = np.bincount(y) / len(y)
    return values - (frequency * np.log(frequency)).sum()


def main(rounds: int = ROUNDS) -> int:
    """Print times, ratios and differences; return 1 where a bar is missed."""
    import duramen as dm

    missed = False
    print("| rows, columns, leaf | regression | duramen, s | authors, s | ratio | difference |")
    print("| --- | --- | --- | --- | --- | --- |")
    for n, p, leaf in SETTINGS:
        for task in ("ridge", "logistic"):
            X, y = problem(n, p, task)
            kind = dm.RandomForestRegressor if task == "ridge" else dm.RandomForestClassifier
            drawn = 1 / 3 if task == "ridge" else "sqrt"
            forest = kind(
                TREES, min_samples_leaf=leaf, max_features=drawn, random_state=0, n_jobs=1
            )
            data = dm.learning_set(X, y)
            forest.fit(data)
            trees = [stand_in(forest.forest_.tree(t)) for t in range(TREES)]
            ours, theirs = [], []
            dm.importances.mdi_plus(forest, data)
            for _ in range(rounds):
                start = time.process_time()
                values = dm.importances.mdi_plus(forest, data).values
                middle = time.process_time()
                wanted = of_authors(trees, X, y, task)
                ours.append(middle - start)
                theirs.append(time.process_time() - middle)
            ratio = float(np.median(np.array(theirs) / np.array(ours)))
            difference = float(np.abs(values - wanted).max())
            print(
                f"| {n}, {p}, {leaf} | {task} | {np.median(ours):.3f} | {np.median(theirs):.2f} | "
                f"{ratio:.1f} | {difference:.1e} |",
                flush=True,
            )
            missed |= ratio < BAR or difference > TOLERANCE[task]
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
