"""Names that parameters have in other packages, for those who come from there."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import Any

_NAMES = {
    "n_estimators": ("ntree", "num.trees", "num_trees", "ntrees", "n_trees"),
    "max_features": ("mtry", "feature_fraction", "colsample_bynode"),
    "min_samples_leaf": ("nodesize", "min.bucket", "min_bucket", "min_data_in_leaf"),
    "min_samples_split": ("min.node.size", "min_node_size"),
    "max_leaf_nodes": ("maxnodes", "num_leaves"),
    "max_depth": ("max.depth", "depth", "nodedepth"),
    "bootstrap": ("replace",),
    "max_samples": ("sampsize", "sample.fraction", "sample_fraction", "subsample"),
    "criterion": ("splitrule",),
    "class_weight": ("class.weights", "class_weights", "classwt"),
    "categorical_features": ("respect.unordered.factors", "cat_features", "categorical_feature"),
    "random_state": ("seed",),
    "n_jobs": ("num.threads", "num_threads", "nthread", "n_threads"),
}
RENAMED = {other: name for name, others in _NAMES.items() for other in others}
"""Parameters by what other packages call them."""


def unknown_parameter(owner: str, name: str, names: Iterable[str]) -> TypeError:
    """Return the error for a parameter that an estimator does not have.

    Examples
    --------
    >>> from duramen.estimators.renamed import unknown_parameter
    >>> print(unknown_parameter("RandomForestClassifier", "mtry", ["max_features"]))
    RandomForestClassifier: there is no parameter 'mtry'. Hint: it is called max_features.
    """
    there = list(names)
    ours = RENAMED.get(name)
    close = difflib.get_close_matches(name, there, n=1)
    if ours in there:
        hint = f"it is called {ours}"
    elif close:
        hint = f"did you mean {close[0]}?"
    else:
        hint = f"parameters: {', '.join(there)}"
    end = "" if hint.endswith("?") else "."
    return TypeError(f"{owner}: there is no parameter {name!r}. Hint: {hint}{end}")


def check_parameters(kind: type[Any], parameters: Collection[str]) -> None:
    """Check that an estimator has the parameters that it is made with."""
    names = kind._get_param_names() if parameters else []
    for name in parameters:
        if name not in names:
            raise unknown_parameter(kind.__name__, name, names)
