"""Boosted trees of scikit-learn, LightGBM and XGBoost, read into the arrays of a forest.

The scores of boosted trees add up. A forest averages its trees, so each leaf holds the score of its
tree times the number of trees, and the base score: the mean over the trees is the raw prediction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.schema import default_names
from duramen.data.sources import names_of, table_like
from duramen.forests.settings import GrowthSettings
from duramen.forests.sklearn_models import in_float64, interval_schema, tree_arrays
from duramen.forests.structure import ANY, FIRST_HEAVIER, MISSING_FIRST, ORDERED, joined
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.provenance import fingerprint

BOOSTED = "HistGradientBoosting of scikit-learn, or boosted trees of lightgbm or xgboost"
_WORD = 32


@dataclass
class _Tree:
    """A boosted tree: arrays with an entry a node, children after their parent, -1 at a leaf."""

    left: IntArray
    right: IntArray
    feature: IntArray
    threshold: FloatArray  # numbers <= threshold go left
    missing_left: BoolArray
    score: FloatArray  # of a leaf
    weight: FloatArray
    output: int = 0  # class whose score it is
    # Codes of the categories that go left, of the nodes that split on categories.
    categories: dict[int, IntArray] = field(default_factory=dict)


@dataclass
class _Ensemble:
    """Boosted trees, with the score that they start from and the columns that they read."""

    trees: list[_Tree]
    base: FloatArray  # (K,): base score of each output
    link: str  # "identity", "log" or "logit"
    classes: NDArray[Any] | None
    n_features: int
    names: tuple[str, ...] | None
    labels: Mapping[int, NDArray[Any]] = field(default_factory=dict)  # of columns of categories


def is_boosted(model: Any) -> bool:
    """Tell whether a model holds boosted trees that can be read, fitted or not."""
    return _reader_of(model) is not None


def forest_fields(model: Any, X: Any, function: str) -> dict[str, Any]:
    """Return the fields of the forest whose mean over the trees is the raw prediction of a model.

    Two classes have the log-odds of each, so that their scores are opposite.

    Parameters
    ----------
    model : fitted estimator or booster
        A model for which :func:`is_boosted` is true.
    X : table or None
        Rows, whose names the columns have if the model has none.
    function : str
        The function that the user called, for errors.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If it holds leaves, categories or an objective that a forest cannot hold.
    """
    read = _reader_of(model)
    assert read is not None
    ensemble = read(model, function)
    trees, n_outputs = ensemble.trees, len(ensemble.base)
    binary = ensemble.classes is not None and n_outputs == 1
    base = np.array([-1.0, 1.0]) * ensemble.base if binary else ensemble.base
    parts = []
    for tree in trees:
        scores = len(trees) * tree.score[tree.left < 0]
        values = np.tile(base, (len(scores), 1))
        if binary:
            values += scores[:, np.newaxis] * [-1.0, 1.0]
        else:
            values[:, tree.output] += scores
        parts.append(_arrays(tree, values, ensemble.labels))
    arrays = joined(parts)
    names, named = ensemble.names, ensemble.names is not None
    if names is None:
        listed = None if X is None or isinstance(X, str) else names_of(table_like(X))
        fits = listed is not None and len(listed) == ensemble.n_features
        names = tuple(listed) if listed and fits else default_names(ensemble.n_features)
        named = bool(fits)
    digest = fingerprint(*arrays.values())
    n_rows = max(1, int(arrays["rows"][arrays["offsets"][:-1]].max()))
    return {
        **arrays,
        "settings": GrowthSettings(
            criterion="variance" if ensemble.classes is None else "gini",
            max_features=ensemble.n_features,
        ),
        "schema": interval_schema(arrays, names, named, ensemble.labels),
        "classes": ensemble.classes,
        "n_rows": n_rows,
        "total_weight": float(n_rows),
        "seed": int(digest[:16], 16),
        "fingerprint": digest,
        "link": ensemble.link,
    }


def _arrays(
    tree: _Tree, values: FloatArray, labels: Mapping[int, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a tree whose leaves hold values."""
    split = ORDERED + MISSING_FIRST * tree.missing_left.astype(np.int64)
    threshold, cut = tree.threshold.copy(), np.zeros(len(tree.left), dtype=np.int64)
    words: list[int] = []
    for node, first in tree.categories.items():
        n_labels = len(labels[int(tree.feature[node])])
        bits = np.zeros(-(-(n_labels + 1) // _WORD) * _WORD, dtype=np.uint32)  # and missing
        bits[first] = 1
        bits[n_labels] = tree.missing_left[node]
        split[node] = ANY + (FIRST_HEAVIER if tree.missing_left[node] else 0)
        threshold[node], cut[node] = np.nan, len(words)
        powers = np.uint32(1) << np.arange(_WORD, dtype=np.uint32)
        words += (bits.reshape(-1, _WORD) * powers).sum(axis=1, dtype=np.uint32).tolist()
    return tree_arrays(
        tree.left,
        tree.right,
        feature=tree.feature,
        threshold=threshold,
        split=split,
        rows=np.maximum(1, np.ceil(tree.weight)),
        weight=tree.weight,
        impurity=np.zeros(len(tree.left)),
        leaf_values=values,
        cut=cut,
        pool=words,
    )


def _reader_of(model: Any) -> Any:
    """Return the function that reads a model; None if there is none."""
    for kind in type(model).__mro__:  # without importing packages that the model does not need
        package, name = kind.__module__.partition(".")[0], kind.__name__
        if package == "sklearn" and name == "BaseHistGradientBoosting":
            return _of_histograms
        if package == "lightgbm" and name in ("LGBMModel", "Booster"):
            return _of_lightgbm
        if package == "xgboost" and name in ("XGBModel", "Booster"):
            return _of_xgboost
    return None


def _refused(function: str, model: Any, problem: str) -> ValueError:
    return ValueError(
        f"{function}: cannot read this {type(model).__name__}: {problem}. Hint: mda measures any "
        "fitted predictor if scoring is given."
    )


# --- HistGradientBoosting of scikit-learn ---------------------------------------------------------


def _of_histograms(model: Any, function: str) -> _Ensemble:
    """Read a HistGradientBoosting model.

    scikit-learn publishes neither trees nor base score: they are read from ``_predictors``,
    ``_baseline_prediction`` and, for categories, ``_preprocessor``, as in scikit-learn 1.6 to 1.9.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    p = int(model.n_features_in_)
    columns, labels = np.arange(p), dict[int, NDArray[Any]]()
    if model.is_categorical_ is not None and model._preprocessor is not None:
        chosen = np.asarray(model._preprocessor.transformers_[0][2])
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        columns = np.concatenate([chosen, np.setdiff1d(np.arange(p), chosen)])
        categories = model._preprocessor.named_transformers_["encoder"].categories_
        for j, own in zip(chosen.tolist(), categories, strict=True):
            present = np.array([not (label is None or label != label) for label in own])
            labels[j] = own[present]
    trees = []
    for iteration in model._predictors:
        for output, predictor in enumerate(iteration):
            nodes, sets = predictor.nodes, predictor.raw_left_cat_bitsets
            inner = nodes["is_leaf"] == 0
            tree = _Tree(
                left=np.where(inner, nodes["left"].astype(np.int64), -1),
                right=np.where(inner, nodes["right"].astype(np.int64), -1),
                feature=columns[np.where(inner, nodes["feature_idx"], 0)],
                threshold=nodes["num_threshold"].astype(np.float64),
                missing_left=nodes["missing_go_to_left"] != 0,
                score=nodes["value"].astype(np.float64),
                weight=nodes["count"].astype(np.float64),
                output=output,
            )
            for node in np.flatnonzero(inner & (nodes["is_categorical"] != 0)).tolist():
                words = sets[nodes["bitset_idx"][node]].astype("<u4")
                first = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
                n_labels = len(labels[int(tree.feature[node])])
                tree.categories[node] = first[first < n_labels]
            trees.append(tree)
    names = getattr(model, "feature_names_in_", None)
    is_log = getattr(model, "loss", "") in ("poisson", "gamma")
    classes = getattr(model, "classes_", None)
    return _Ensemble(
        trees=trees,
        base=np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1),
        link="logit" if classes is not None else "log" if is_log else "identity",
        classes=classes,
        n_features=p,
        names=None if names is None else tuple(map(str, names)),
        labels=labels,
    )


# --- LightGBM -------------------------------------------------------------------------------------

_LIGHTGBM_LINKS = {
    "binary": "logit",
    "multiclass": "logit",
    "multiclassova": "logit",
    "poisson": "log",
    "gamma": "log",
    "tweedie": "log",
    **dict.fromkeys(
        ["regression", "regression_l1", "huber", "fair", "quantile", "mape"], "identity"
    ),
}


def _of_lightgbm(model: Any, function: str) -> _Ensemble:
    """Read a model of lightgbm from ``Booster.dump_model``."""
    booster, classes = model, None
    if hasattr(model, "booster_") or not hasattr(model, "dump_model"):
        booster = model.booster_  # raises NotFittedError
        classes = getattr(model, "classes_", None)
    dump = booster.dump_model()
    objective, _, options = str(dump.get("objective", "custom")).partition(" ")
    if objective not in _LIGHTGBM_LINKS or "sqrt" in options.split():
        raise _refused(function, model, f"its objective is {objective} {options}".rstrip())
    n_outputs = int(dump["num_tree_per_iteration"])
    if classes is None and _LIGHTGBM_LINKS[objective] == "logit":
        classes = np.arange(max(2, n_outputs))
    names = tuple(map(str, dump["feature_names"]))
    labels, codes = _lightgbm_categories(dump, model, function)
    roots = [info["tree_structure"] for info in dump["tree_info"]]
    trees = [
        _lightgbm_tree(root, i % n_outputs, codes, model, function) for i, root in enumerate(roots)
    ]
    if dump.get("average_output", False):  # random forests
        for tree in trees:
            tree.score = tree.score * n_outputs / len(trees)
    numbered = tuple(f"Column_{j}" for j in range(len(names)))
    return _Ensemble(
        trees=trees,
        base=np.zeros(n_outputs),
        link=_LIGHTGBM_LINKS[objective],
        classes=classes,
        n_features=len(names),
        names=None if names == numbered else names,
        labels=labels,
    )


def _lightgbm_categories(
    dump: dict[str, Any], model: Any, function: str
) -> tuple[dict[int, NDArray[Any]], dict[int, dict[int, int]]]:
    """Return the labels of columns of categories, and the code of each of LightGBM's numbers."""
    columns = {
        j: dump["feature_infos"][name]["values"]
        for j, name in enumerate(dump["feature_names"])
        if dump["feature_infos"].get(name, {}).get("values")
    }
    listed = dump.get("pandas_categorical") or []
    labels = dict[int, NDArray[Any]]()
    codes = dict[int, dict[int, int]]()
    if listed and len(listed) != len(columns):
        raise _refused(function, model, "a column of categories has a single one")
    for i, (j, numbers) in enumerate(columns.items()):
        if listed:
            labels[j] = np.array(listed[i], dtype=object if _is_text(listed[i]) else None)
            codes[j] = {code: code for code in range(len(listed[i]))}
        else:
            labels[j] = np.array(sorted(number for number in numbers if number >= 0))
            codes[j] = {int(number): code for code, number in enumerate(labels[j].tolist())}
    return labels, codes


def _is_text(labels: list[Any]) -> bool:
    return any(isinstance(label, str) for label in labels)


def _lightgbm_tree(
    root: dict[str, Any],
    output: int,
    codes: dict[int, dict[int, int]],
    model: Any,
    function: str,
) -> _Tree:
    """Return a tree of LightGBM, numbered from the root, the left child before the right one."""
    nodes = list(_preorder(root))
    n = len(nodes)
    left, right, feature = np.full(n, -1), np.full(n, -1), np.zeros(n, dtype=np.int64)
    threshold, missing_left = np.full(n, np.nan), np.zeros(n, dtype=np.bool_)
    score, weight = np.zeros(n), np.ones(n)
    categories = dict[int, IntArray]()
    for i, (node, place_of_right) in enumerate(nodes):
        if "split_feature" not in node:
            if "leaf_coeff" in node:
                raise _refused(function, model, "its leaves hold linear models")
            score[i] = node["leaf_value"]
            weight[i] = node.get("leaf_count", 1)
            continue
        left[i], right[i], feature[i] = i + 1, place_of_right, node["split_feature"]
        weight[i] = node["internal_count"]
        if node["decision_type"] == "==":
            code_of = codes[int(feature[i])]
            chosen = [int(number) for number in str(node["threshold"]).split("||")]
            categories[i] = np.array([code_of[c] for c in chosen if c in code_of], dtype=np.int64)
            continue  # missing values and other categories go right
        if node["missing_type"] == "Zero":
            raise _refused(function, model, "it takes zeros for missing values (zero_as_missing)")
        threshold[i] = node["threshold"]
        # Where training had no missing values, they count as 0.
        is_zero = node["missing_type"] == "None"
        missing_left[i] = threshold[i] >= 0.0 if is_zero else node["default_left"]
    return _Tree(left, right, feature, threshold, missing_left, score, weight, output, categories)


def _preorder(root: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the nodes of a tree, and the number of the right child of each."""
    sizes: dict[int, int] = {}
    stack = [(root, False)]
    while stack:  # sizes of subtrees, without recursion: trees may be deep
        node, is_counted = stack.pop()
        children = [node[side] for side in ("left_child", "right_child") if side in node]
        if is_counted or not children:
            sizes[id(node)] = 1 + sum(sizes[id(child)] for child in children)
        else:
            stack += [(node, True), *((child, False) for child in children)]
    waiting, number = [root], 0
    while waiting:
        node = waiting.pop()
        first = node.get("left_child")
        yield node, -1 if first is None else number + 1 + sizes[id(first)]
        if first is not None:
            waiting += [node["right_child"], first]
        number += 1


# --- XGBoost --------------------------------------------------------------------------------------

_XGBOOST_LINKS = {
    "binary:logistic": "logit",
    "binary:logitraw": "logit",
    "multi:softmax": "logit",
    "multi:softprob": "logit",
    "count:poisson": "log",
    "reg:gamma": "log",
    "reg:tweedie": "log",
    **dict.fromkeys(
        [
            "reg:squarederror",
            "reg:absoluteerror",
            "reg:pseudohubererror",
            "reg:quantileerror",
        ],
        "identity",
    ),
}


def _of_xgboost(model: Any, function: str) -> _Ensemble:
    """Read a model of xgboost from ``Booster.save_raw``, whose JSON has a published schema."""
    booster, classes = model, None
    if hasattr(model, "get_booster"):
        booster = model.get_booster()  # raises NotFittedError
        classes = getattr(model, "classes_", None)
        missing = getattr(model, "missing", np.nan)
        if missing is not None and not np.isnan(missing):
            raise _refused(function, model, f"it takes {missing} for missing values")
    learner = json.loads(booster.save_raw("json"))["learner"]
    objective, gradient = learner["objective"]["name"], learner["gradient_booster"]
    if objective not in _XGBOOST_LINKS:
        raise _refused(function, model, f"its objective is {objective}")
    if gradient["name"] not in ("gbtree", "dart"):
        raise _refused(function, model, f"its booster is {gradient['name']}, which has no trees")
    drops = np.array(gradient.get("weight_drop", []), dtype=np.float64)
    grown = gradient.get("gbtree", gradient)["model"]
    link = _XGBOOST_LINKS[objective]
    parameters = learner["learner_model_param"]
    if max(int(parameters.get("num_target", 1)), 1) > 1:
        raise _refused(function, model, "it has several targets")
    n_outputs = max(1, int(parameters["num_class"]))
    if classes is None and link == "logit":
        classes = np.arange(max(2, n_outputs))
    listed = json.loads(f"[{parameters['base_score'].strip('[]')}]")
    base = np.resize(np.array(listed, dtype=np.float64), n_outputs)
    if objective == "binary:logistic":
        base = np.log(base / (1 - base))
    elif link == "log":
        base = np.log(base)
    last = len(grown["trees"])
    if booster is not model and "best_iteration" in learner["attributes"]:
        last = grown["iteration_indptr"][int(learner["attributes"]["best_iteration"]) + 1]
    labels = _xgboost_labels(grown)
    trees = []
    for i, tree in enumerate(grown["trees"][:last]):
        score = 1.0 if not drops.size else float(drops[i])
        trees.append(_xgboost_tree(tree, grown["tree_info"][i], score, labels, model, function))
    names = tuple(map(str, learner["feature_names"]))
    return _Ensemble(
        trees=trees,
        base=base,
        link=link,
        classes=classes,
        n_features=int(parameters["num_feature"]),
        names=names or None,
        labels=labels,
    )


def _xgboost_labels(grown: dict[str, Any]) -> dict[int, NDArray[Any]]:
    """Return the labels of columns of categories, as XGBoost 3.1 and later stores them."""
    labels = dict[int, NDArray[Any]]()
    for j, column in enumerate(grown.get("cats", {}).get("enc", [])):
        values = column["values"]
        if not values:
            continue
        if "offsets" in column:
            text, ends = bytes(value % 256 for value in values), column["offsets"]
            words = [text[a:b].decode() for a, b in pairwise(ends)]
            labels[j] = np.array(words, dtype=object)
        else:
            labels[j] = np.array(values)
    return labels


def _xgboost_tree(
    tree: dict[str, Any],
    output: int,
    weight_drop: float,
    labels: Mapping[int, NDArray[Any]],
    model: Any,
    function: str,
) -> _Tree:
    """Return a tree of XGBoost: numbers < condition, both in float32, go left."""
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise _refused(function, model, "its leaves hold several targets")
    left, right = (np.array(tree[f"{side}_children"]) for side in ("left", "right"))
    kept = np.zeros(len(left), dtype=np.bool_)  # pruned nodes keep their place
    level = np.array([0])
    while len(level):
        kept[level] = True
        level = level[left[level] >= 0]
        level = np.concatenate([left[level], right[level]])
    number = np.cumsum(kept) - 1
    left, right = (np.where(side < 0, -1, number[side])[kept] for side in (left, right))
    condition = np.array(tree["split_conditions"], dtype=np.float32)[kept]
    result = _Tree(
        left=left,
        right=right,
        feature=np.array(tree["split_indices"])[kept],
        threshold=in_float64(np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)),
        missing_left=np.array(tree["default_left"])[kept] != 0,
        score=weight_drop * condition.astype(np.float64),
        weight=np.maximum(np.array(tree["sum_hessian"], dtype=np.float64)[kept], 1e-12),
        output=output,
    )
    starts, sizes = tree["categories_segments"], tree["categories_sizes"]
    for node, start, size in zip(tree["categories_nodes"], starts, sizes, strict=True):
        if not kept[node]:
            continue
        column = int(result.feature[number[node]])
        if column not in labels:
            raise _refused(
                function, model, "it does not store its categories, as XGBoost 3.1 and later does"
            )
        chosen = np.array(tree["categories"][start : start + size], dtype=np.int64)
        result.categories[int(number[node])] = np.setdiff1d(np.arange(len(labels[column])), chosen)
    return result
