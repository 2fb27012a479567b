"""Trees as the libraries shap and treelite read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.forests import boosting, sklearn_models
from duramen.forests.forest import Forest
from duramen.forests.structure import FAMILY_MASK, MISSING_FIRST, ORDERED, depths, parents


def _ordered(forest: Any, function: str) -> Forest:
    """Return the forest of a model, whose splits must be ordered."""
    grown = getattr(forest, "forest_", forest)
    if not isinstance(grown, Forest) and sklearn_models.is_readable(grown):
        grown = Forest(**sklearn_models.forest_fields(grown, None, function))
    elif not isinstance(grown, Forest) and boosting.is_boosted(grown):
        grown = Forest(**boosting.forest_fields(grown, None, function))
    if not isinstance(grown, Forest):
        raise TypeError(
            f"{function}: forest must be a Forest or a fitted estimator of duramen, a "
            f"{sklearn_models.READABLE}, or a {boosting.BOOSTED}, got {type(forest).__name__}."
        )
    if grown.target_class.censored:
        raise ValueError(f"{function}: forest must be of classes or numbers, got one of survival.")
    inner = grown.feature >= 0
    others = np.unique(grown.feature[inner & ((grown.split & FAMILY_MASK) != ORDERED)])
    if len(others):
        name, kind = grown.names[others[0]], grown.schema.kinds[others[0]]
        raise ValueError(
            f"{function}: the forest must have ordered splits, by thresholds, but has others on "
            f"{len(others)} of {grown.n_features} features, such as the {kind} {name!r}. Hint: "
            'splits="ordered", and categories as columns of 0 and 1 or in an order '
            "(pandas.get_dummies, pandas.Categorical)."
        )
    return grown


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
    grown = _ordered(forest, "shap_trees")
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


def treelite_model(forest: Any) -> Any:
    """Return a forest as a model of treelite, which predicts without this package.

    Parameters
    ----------
    forest : fitted estimator or Forest
        As for :func:`shap_trees`, whose rows, numbers and outputs the model has too.

    Returns
    -------
    treelite.Model
        With thresholds and values in float64. ``treelite.gtil.predict`` returns the prediction,
        class probabilities or numbers, of shape (n, 1, C); of boosted trees the raw prediction.

    Raises
    ------
    ModuleNotFoundError
        If treelite is not installed.
    TypeError
        If `forest` is no such forest.
    ValueError
        If it has other splits than ordered ones, or predicts survival.

    References
    ----------
    H. Cho, M. Li (2018). Treelite: toolbox for decision tree deployment. SysML.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.forests import treelite_model
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0]
    >>> forest = dm.ExtraTreesRegressor(2, max_depth=1, random_state=0).fit(X, y)
    >>> treelite_model(forest).num_tree  # doctest: +SKIP
    2
    """
    try:
        from treelite import model_builder
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "treelite_model needs the package treelite; pip install treelite"
        ) from None
    grown = _ordered(forest, "treelite_model")
    n_trees, n_values = grown.n_trees, grown.n_values
    several = n_values > 1
    builder: Any = model_builder.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=model_builder.Metadata(
            num_feature=grown.n_features,
            task_type="kMultiClf" if several else "kRegressor",
            average_tree_output=False,
            num_target=1,
            num_class=[n_values],
            leaf_vector_shape=(1, n_values),
        ),
        tree_annotation=model_builder.TreeAnnotation(
            num_tree=n_trees, target_id=[0] * n_trees, class_id=[-1 if several else 0] * n_trees
        ),
        postprocessor=model_builder.PostProcessorFunc(
            name="identity_multiclass" if several else "identity"
        ),
        base_scores=[0.0] * n_values,
    )
    for tree in shap_trees(grown)["trees"]:
        builder.start_tree()
        left, right, value = (
            tree[name].tolist() for name in ("children_left", "children_right", "values")
        )
        for node, first in enumerate(left):
            builder.start_node(node)
            if first < 0:
                builder.leaf(value[node] if several else value[node][0])
            else:
                builder.numerical_test(
                    feature_id=int(tree["features"][node]),
                    threshold=float(tree["thresholds"][node]),
                    default_left=int(tree["children_default"][node]) == first,
                    opname="<=",
                    left_child_key=first,
                    right_child_key=right[node],
                )
            builder.end_node()
        builder.end_tree()
    return builder.commit()
