"""Trees as text, and as the library shap reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duramen.forests.forest import Forest, Tree
from duramen.forests.structure import (
    ANY,
    FAMILY_MASK,
    MISSING_FIRST,
    MULTIWAY,
    ONE_VS_REST,
    ORDERED,
    depths,
    parents,
)
from duramen.support.checks import check_integer, check_optional_integer
from duramen.support.text import escaped

LISTED = 6


def export_text(
    forest: Forest, tree_index: int = 0, *, max_depth: int | None = None, decimals: int = 4
) -> str:
    """Write one tree as indented text, one line a branch.

    Parameters
    ----------
    forest : Forest
        The forest.
    tree_index : int
        Number of the tree, counted from 0.
    max_depth : int or None
        Depth below which branches are left out; None for the whole tree.
    decimals : int
        Significant digits of numbers.

    Returns
    -------
    str
        Every line names the test that leads to a node, and ends in the rows, the weight and the
        impurity there; at a leaf it also gives the prediction.

    Raises
    ------
    IndexError
        When there is no such tree.
    """
    tree = forest.tree(tree_index)
    max_depth = check_optional_integer("export_text", "max_depth", max_depth, 0)
    decimals = check_integer("export_text", "decimals", decimals, 1, most=17)

    def shown(value: Any) -> str:
        is_number = isinstance(value, float | np.floating)
        return f"{value:.{decimals}g}" if is_number else escaped(str(value))

    lines = []
    stack = [(0, 0, "all rows")]  # node, its depth, and the test that leads there
    while stack:
        node, depth, test = stack.pop()
        facts = (
            f"rows {tree.rows[node]}, weight {shown(tree.weight[node])}, "
            f"{forest.settings.criterion} {shown(tree.impurity[node])}"
        )
        ending = ""
        if tree.feature[node] < 0:
            values = tree.values[tree.child[node]]
            ending = f": {shown(values[0])}"
            if forest.classes is not None:
                best = int(np.argmax(values))
                ending = f": {shown(forest.classes[best])} ({shown(values[best])})"
        elif max_depth is not None and depth >= max_depth:
            ending = " ..."
        else:
            tests = enumerate(_tests(forest, tree, node, shown), start=int(tree.child[node]))
            stack += reversed([(child, depth + 1, test) for child, test in tests])
        indent = "|   " * (depth - 1) + "|--- " if depth else ""
        lines.append(f"{indent}{test} [{facts}]{ending}\n")
    return "".join(lines)


def _tests(forest: Forest, tree: Tree, node: int, shown: Callable[[Any], str]) -> list[str]:
    """Describe the test of each branch below an inner node, in the order of its children."""
    column, cut = int(tree.feature[node]), int(tree.cut[node])
    name, schema = escaped(forest.names[column]), forest.schema
    begin, end = schema.value_offsets[column : column + 2]
    own = schema.labels.get(column, schema.cut_values[begin:end])  # empty where none is looked up
    values = list(map(shown, own))
    missing, n_values = bool(schema.missing[column]), int(schema.n_values[column])
    names = [*values, "missing"] if missing else values
    family = int(tree.split[node]) & FAMILY_MASK
    if family == MULTIWAY:
        count = int(tree.pool[cut])
        return [f"{name} = {names[code]}" for code in tree.pool[cut + 2 : cut + 2 + count]]
    if family == ANY:
        words = tree.pool[cut : cut + (len(names) + 31) // 32]
        bits = [bool(words[code // 32] >> np.uint32(code % 32) & 1) for code in range(len(names))]
        first = [label for label, bit in zip(names, bits, strict=True) if bit]
        others = [label for label, bit in zip(names, bits, strict=True) if not bit]
        return [f"{name} in {_listed(labels)}" for labels in (first, others)]
    alone = family == ORDERED and np.isinf(tree.threshold[node])  # missing against all others
    if alone:
        tests = [f"{name} known", name]
    elif family == ONE_VS_REST:
        tests = [f"{name} = {names[cut]}", f"{name} != {names[cut]}"]
    elif schema.kinds[column] == "nominal":
        tests = [
            f"{name} in {_listed(values[: cut + 1])}",
            f"{name} in {_listed(values[cut + 1 :])}",
        ]
    else:
        numeric = schema.kinds[column] == "numeric"
        bound = shown(tree.threshold[node]) if numeric else values[cut]
        tests = [f"{name} <= {bound}", f"{name} > {bound}"]
    if missing and cut != n_values:
        side = 0 if tree.split[node] & MISSING_FIRST else 1
        tests[side] += " missing" if alone else " or missing"
    return tests


def _listed(entries: list[str]) -> str:
    """Format a set of labels, cut short where it is long."""
    if len(entries) > LISTED:
        entries = [*entries[: LISTED - 1], f"... {len(entries) - LISTED + 1} more"]
    return "{" + ", ".join(entries) + "}"


def shap_trees(forest: Any) -> dict[str, Any]:
    """Return a forest as the dictionary that ``shap.TreeExplainer`` reads.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest with ordered splits, for classes or numbers. Nominal columns have no such splits.

    Returns
    -------
    dict
        ``"trees"`` holds one dictionary a tree, of arrays with an entry a node:
        ``children_left``, ``children_right``, ``children_default`` (where missing values go),
        ``features``, ``thresholds`` (``x <= threshold`` goes left), ``values`` of shape (N, C) and
        ``node_sample_weight``. The values are those of the tree divided by the number of trees:
        the sum over the leaves of a row is the prediction, class probabilities or numbers.

    Raises
    ------
    TypeError
        If `forest` is no forest of this package.
    ValueError
        If it has other splits than ordered ones, or predicts survival.

    Notes
    -----
    Rows are given to the explainer as the forest reads them: numbers of numeric columns, codes 0,
    1, ... in the order of the categories of ordinal ones, NaN for missing values.
    ``TreeExplainer(shap_trees(forest), feature_perturbation="tree_path_dependent")`` needs no
    other data. The values of an inner node are the means of the leaves below it, by their weight.

    References
    ----------
    S. M. Lundberg et al. (2020). From local explanations to global understanding with explainable
    AI for trees. Nature Machine Intelligence 2.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.forests import shap_trees
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0]
    >>> forest = dm.ExtraTreesRegressor(2, max_depth=1, random_state=0).fit(X, y)
    >>> sorted(shap_trees(forest)["trees"][0])[:3]
    ['children_default', 'children_left', 'children_right']
    """
    grown = getattr(forest, "forest_", forest)
    if not isinstance(grown, Forest):
        raise TypeError(
            "shap_trees: forest must be a Forest or a fitted estimator of duramen, got "
            f"{type(forest).__name__}."
        )
    if grown.target_class.censored:
        raise ValueError("shap_trees: forest must be of classes or numbers, got one of survival.")
    inner = grown.feature >= 0
    others = np.unique(grown.feature[inner & ((grown.split & FAMILY_MASK) != ORDERED)])
    if len(others):
        name, kind = grown.names[others[0]], grown.schema.kinds[others[0]]
        hint = 'grow it with splits="ordered".'
        if kind == "nominal":
            hint = (
                "categories without an order are split by sets; make each category a column of 0 "
                "and 1 (pandas.get_dummies), or order them (pandas.Categorical(..., ordered=True))."
            )
        raise ValueError(
            "shap_trees: the forest must have ordered splits, which shap reads, but has others on "
            f"{len(others)} of {grown.n_features} features, such as the {kind} {name!r}. "
            f"Hint: {hint}"
        )
    trees = []
    for index in range(grown.n_trees):
        tree = grown.part(index, index + 1)
        is_leaf = tree.feature < 0
        left = np.where(is_leaf, -1, tree.child).astype(np.int32)
        right = np.where(is_leaf, -1, tree.child + 1).astype(np.int32)
        # Cuts of columns without thresholds are codes.
        cuts = np.where(np.isnan(tree.threshold), tree.cut, tree.threshold)
        leaves = np.flatnonzero(is_leaf)
        values = tree.leaf_values[tree.child[leaves]] + tree.origin
        mass = np.zeros((tree.n_nodes, tree.n_values))
        mass[leaves] = values * tree.weight[leaves, np.newaxis]
        above, depth = parents(tree), depths(tree)
        for level in range(int(depth.max()), 0, -1):
            nodes = np.flatnonzero(depth == level)
            np.add.at(mass, above[nodes], mass[nodes])
        means = mass / tree.weight[:, np.newaxis]
        means[leaves] = values
        trees.append(
            {
                "children_left": left,
                "children_right": right,
                "children_default": np.where(tree.split & MISSING_FIRST, left, right),
                "features": np.where(is_leaf, -2, tree.feature).astype(np.int32),
                "thresholds": np.where(is_leaf, -2.0, cuts),
                "values": means / grown.n_trees,
                "node_sample_weight": tree.weight.astype(np.float64),
            }
        )
    return {
        "trees": trees,
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
        "objective": "binary_crossentropy" if grown.is_classifier else "squared_error",
        "tree_output": "probability" if grown.is_classifier else "raw_value",
    }
