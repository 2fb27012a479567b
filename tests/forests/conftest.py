"""Problems and forests that the tests share."""

import numpy as np
import pytest
from tests.forests.problems import mixed_table, two_classes

from duramen import estimators


@pytest.fixture(scope="session")
def mixed():
    """Table, three classes, and numbers."""
    X, score = mixed_table()
    classes = np.array(["low", "middle", "high"])[np.digitize(score, [0.8, 2.5])]
    return X, classes, score


@pytest.fixture(scope="session")
def grown(mixed):
    """Forests of every family of splits and every way to cut, by name."""
    X, classes, numbers = mixed
    result = {}
    kinds = {
        "best": (estimators.RandomForestClassifier, estimators.RandomForestRegressor),
        "random": (estimators.ExtraTreesClassifier, estimators.ExtraTreesRegressor),
    }
    for cut, (classifier, regressor) in kinds.items():
        for splits in ("ordered", "multiway", "one-vs-rest", "any"):
            common = {"n_estimators": 6, "splits": splits, "random_state": 1}
            labels = two_classes(classes) if splits == "any" else classes
            result[f"classes, {cut}, {splits}"] = classifier(**common).fit(X, labels)
            result[f"numbers, {cut}, {splits}"] = regressor(max_features=0.5, **common).fit(
                X, numbers
            )
    result["pert"] = estimators.PERTClassifier(n_estimators=6, random_state=1).fit(X, classes)
    result["subspace"] = estimators.RandomSubspaceClassifier(n_estimators=6, random_state=1).fit(
        X, classes
    )
    result["patches"] = estimators.RandomPatchesRegressor(n_estimators=6, random_state=1).fit(
        X, numbers
    )
    result["few leaves"] = estimators.RandomForestClassifier(
        n_estimators=6, max_leaf_nodes=5, random_state=1
    ).fit(X, classes)
    result["shallow"] = estimators.ExtraTreesRegressor(
        n_estimators=6, max_depth=3, min_samples_leaf=5, random_state=1
    ).fit(X, numbers)
    return result
