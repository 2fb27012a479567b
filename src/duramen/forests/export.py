"""Trees as text, in the DOT language, and as the library shap reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests.arrays import FAMILY_MASK, MISSING_FIRST, MULTIWAY, ONE_VS_REST, ORDERED
from duramen.forests.forest import Forest, Tree
from duramen.forests.structure import depths, parents
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
    writer = _Writer(forest, forest.tree(tree_index), max_depth, decimals, "export_text")
    lines = [f"all rows [{writer.facts(0)}]{writer.ending(0)}"]
    stack = writer.branches_below(0)[::-1] if writer.opens(0) else []
    while stack:
        node, test = stack.pop()
        indent = "|   " * (int(writer.tree.depth[node]) - 1)
        lines.append(f"{indent}|--- {test} [{writer.facts(node)}]{writer.ending(node)}")
        if writer.opens(node):
            stack.extend(writer.branches_below(node)[::-1])
    return "\n".join(lines) + "\n"


def export_dot(
    forest: Forest, tree_index: int = 0, *, max_depth: int | None = None, decimals: int = 4
) -> str:
    """Write one tree in the DOT language, to be drawn by Graphviz.

    Parameters
    ----------
    forest : Forest
        The forest.
    tree_index : int
        Number of the tree, counted from 0.
    max_depth : int or None
        Depth below which nodes are left out; None for the whole tree.
    decimals : int
        Significant digits of numbers.

    Returns
    -------
    str
        A digraph: boxes hold the facts of the nodes, arrows the tests.

    Raises
    ------
    IndexError
        When there is no such tree.
    """
    writer = _Writer(forest, forest.tree(tree_index), max_depth, decimals, "export_dot")
    lines = [
        "digraph tree {",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  edge [fontname="sans-serif"];',
    ]
    queue = [0]
    for node in queue:
        text = writer.facts(node).replace(", ", "\n") + writer.ending(node).replace(": ", "\n", 1)
        lines.append(f"  {node} [label={json.dumps(text, ensure_ascii=False)}];")
        if not writer.opens(node):
            continue
        for child, test in writer.branches_below(node):
            lines.append(f"  {node} -> {child} [label={json.dumps(test, ensure_ascii=False)}];")
            queue.append(child)
    lines.append("}")
    return "\n".join(lines) + "\n"


def branch_tests(forest: Forest, tree: Tree, node: int, decimals: int = 4) -> list[str]:
    """Describe the test of each branch below an internal node, in the order of its children.

    Numbers have `decimals` significant digits.
    """
    column = int(tree.feature[node])
    name = escaped(forest.names[column])
    values = [_shown(value, decimals) for value in column_values(forest, column)]
    missing, n_values = bool(forest.schema.missing[column]), int(forest.schema.n_values[column])
    names = [*values, "missing"] if missing else values
    family = int(tree.split[node]) & FAMILY_MASK
    cut = int(tree.cut[node])
    if family == MULTIWAY:
        count = int(tree.pool[cut])
        codes = tree.pool[cut + 2 : cut + 2 + count]
        return [f"{name} = {names[code]}" for code in codes]
    if family in (ORDERED, ONE_VS_REST):
        if family == ONE_VS_REST:
            tests = [f"{name} = {names[cut]}", f"{name} != {names[cut]}"]
        else:
            tests = _ordered_tests(forest, tree, node, values, decimals)
        if missing and cut != n_values:
            side = 0 if tree.split[node] & MISSING_FIRST else 1
            alone = family == ORDERED and np.isinf(tree.threshold[node])
            tests[side] += " missing" if alone else " or missing"
        return tests
    words = tree.pool[cut : cut + (len(names) + 31) // 32]
    first = [
        bool(words[code // 32] >> np.uint32(code % 32) & np.uint32(1)) for code in range(len(names))
    ]
    chosen = [label for label, inside in zip(names, first, strict=True) if inside]
    others = [label for label, inside in zip(names, first, strict=True) if not inside]
    return [f"{name} in {_listed(chosen)}", f"{name} in {_listed(others)}"]


def column_values(forest: Forest, column: int) -> NDArray[Any]:
    """Return the values that the codes of a column stand for, numbers or labels, if kept."""
    schema = forest.schema
    if column in schema.labels:
        return schema.labels[column]
    return schema.cut_values[schema.value_offsets[column] : schema.value_offsets[column + 1]]


def _ordered_tests(
    forest: Forest, tree: Tree, node: int, values: Sequence[str], decimals: int
) -> list[str]:
    column, cut = int(tree.feature[node]), int(tree.cut[node])
    name, kind = escaped(forest.names[column]), forest.schema.kinds[column]
    if kind == "numeric":
        if np.isinf(tree.threshold[node]):  # the missing against all the others
            return [f"{name} known", name]
        threshold = _shown(tree.threshold[node], decimals)
        return [f"{name} <= {threshold}", f"{name} > {threshold}"]
    if kind == "ordinal":
        return [f"{name} <= {values[cut]}", f"{name} > {values[cut]}"]
    return [f"{name} in {_listed(values[: cut + 1])}", f"{name} in {_listed(values[cut + 1 :])}"]


class _Writer:
    """Text of the nodes of a tree, for both formats."""

    def __init__(
        self, forest: Forest, tree: Tree, max_depth: int | None, decimals: int, where: str
    ) -> None:
        self.forest = forest
        self.tree = tree
        self.max_depth = check_optional_integer(where, "max_depth", max_depth, 0)
        self.decimals = check_integer(where, "decimals", decimals, 1, most=17)

    def opens(self, node: int) -> bool:
        """Tell whether the children of a node are shown."""
        within = self.max_depth is None or self.tree.depth[node] < self.max_depth
        return bool(within and self.tree.feature[node] >= 0)

    def branches_below(self, node: int) -> list[tuple[int, str]]:
        """Return the children of a node, and the tests that lead to them."""
        first = int(self.tree.child[node])
        tests = branch_tests(self.forest, self.tree, node, self.decimals)
        return [(first + i, test) for i, test in enumerate(tests)]

    def facts(self, node: int) -> str:
        """Describe the rows, the weight and the impurity of a node."""
        tree, shown = self.tree, self.decimals
        return (
            f"rows {tree.rows[node]}, weight {_shown(tree.weight[node], shown)}, "
            f"{self.forest.settings.criterion} {_shown(tree.impurity[node], shown)}"
        )

    def ending(self, node: int) -> str:
        """Return the prediction of a leaf, a mark where the tree is cut off, or nothing."""
        if self.tree.feature[node] >= 0:
            return "" if self.opens(node) else " ..."
        values = self.tree.values[self.tree.child[node]]
        if self.forest.classes is None:
            return f": {_shown(values[0], self.decimals)}"
        best = int(np.argmax(values))
        name = _shown(self.forest.classes[best], self.decimals)
        return f": {name} ({_shown(values[best], self.decimals)})"


def _shown(value: Any, decimals: int) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.{decimals}g}"
    return escaped(str(value))


def _listed(labels: Iterable[str]) -> str:
    """Format a set of labels, cut short where it is long."""
    entries = list(labels)
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
    return {
        "trees": [_tree(grown.part(t, t + 1), grown.n_trees) for t in range(grown.n_trees)],
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
        "objective": "binary_crossentropy" if grown.is_classifier else "squared_error",
        "tree_output": "probability" if grown.is_classifier else "raw_value",
    }


def _tree(tree: Forest, n_trees: int) -> dict[str, Any]:
    is_leaf = tree.feature < 0
    left = np.where(is_leaf, -1, tree.child)
    right = np.where(is_leaf, -1, tree.child + 1)
    missing_first = (tree.split & MISSING_FIRST) != 0
    # Cuts of columns without thresholds are codes.
    coded = np.isnan(tree.threshold) & ~is_leaf
    mass = np.zeros((tree.n_nodes, tree.n_values))
    ends = np.flatnonzero(is_leaf)
    values = tree.leaf_values[tree.child[ends]] + tree.origin
    mass[ends] = values * tree.weight[ends, np.newaxis]
    above = parents(tree)
    depth = depths(tree)
    for level in range(int(depth.max()), 0, -1):
        nodes = np.flatnonzero(depth == level)
        np.add.at(mass, above[nodes], mass[nodes])
    means = mass / tree.weight[:, np.newaxis]
    means[ends] = values
    return {
        "children_left": left.astype(np.int32),
        "children_right": right.astype(np.int32),
        "children_default": np.where(missing_first, left, right).astype(np.int32),
        "features": np.where(is_leaf, -2, tree.feature).astype(np.int32),
        "thresholds": np.where(is_leaf, -2.0, np.where(coded, tree.cut, tree.threshold)),
        "values": means / n_trees,
        "node_sample_weight": tree.weight.astype(np.float64),
    }
