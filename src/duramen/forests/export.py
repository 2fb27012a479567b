"""Trees as the library shap reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.forests import boosting, sklearn_models
from duramen.forests.forest import Forest
from duramen.forests.structure import FAMILY_MASK, MISSING_FIRST, ORDERED, depths, parents


def shap_trees(forest: Any) -> dict[str, Any]:
    """Return a forest as the dictionary that ``shap.TreeExplainer`` reads.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest with ordered splits, for classes or numbers: of this package, of scikit-learn, or
        boosted trees (:meth:`duramen.Forest.from_boosting`). Nominal columns have no such splits.

    Returns
    -------
    dict
        ``"trees"`` holds one dictionary a tree, of arrays with an entry a node:
        ``children_left``, ``children_right``, ``children_default`` (where missing values go),
        ``features``, ``thresholds`` (``x <= threshold`` goes left), ``values`` of shape (N, C) and
        ``node_sample_weight``. The values are those of the tree divided by the number of trees:
        the sum over the leaves of a row is the prediction, class probabilities or numbers; of
        boosted trees the raw prediction.

    Raises
    ------
    TypeError
        If `forest` is none of these.
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
    if not isinstance(grown, Forest) and sklearn_models.is_readable(grown):
        grown = Forest(**sklearn_models.forest_fields(grown, None, "shap_trees"))
    elif not isinstance(grown, Forest) and boosting.is_boosted(grown):
        grown = Forest(**boosting.forest_fields(grown, None, "shap_trees"))
    if not isinstance(grown, Forest):
        raise TypeError(
            "shap_trees: forest must be a Forest or a fitted estimator of duramen, a "
            f"{sklearn_models.READABLE}, or a {boosting.BOOSTED}, got {type(forest).__name__}."
        )
    if grown.target_class.censored:
        raise ValueError("shap_trees: forest must be of classes or numbers, got one of survival.")
    inner = grown.feature >= 0
    others = np.unique(grown.feature[inner & ((grown.split & FAMILY_MASK) != ORDERED)])
    if len(others):
        name, kind = grown.names[others[0]], grown.schema.kinds[others[0]]
        raise ValueError(
            "shap_trees: the forest must have ordered splits, which shap reads, but has others on "
            f"{len(others)} of {grown.n_features} features, such as the {kind} {name!r}. Hint: "
            'splits="ordered", and categories as columns of 0 and 1 or in an order '
            "(pandas.get_dummies, pandas.Categorical)."
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
        "tree_output": "probability" if grown.is_classifier and not grown.link else "raw_value",
    }
