"""Records of regularized and guided regularized forests."""

from __future__ import annotations

from duramen.selection.records import Selector

_WORDS = (
    "The trees of a forest grow one after the other. A feature that no node was split on so far "
    "is chosen only where its decrease of impurity, times a factor below 1, is larger than that of "
    "all features in use; the features in use at the end are selected. A feature that adds nothing "
    "to others is left out, even where it is associated with the target.",
)
REGULARIZED_FOREST = Selector(
    "regularized_forest",
    "duramen.selection.regularized_forest.selector:RegularizedForestSelector",
    title="regularized random forest",
    words=_WORDS,
    reference="H. Deng, G. Runger (2012). Feature selection via regularized trees. IJCNN.",
    goal="minimal",
)
"""Features that a regularized forest uses."""

GUIDED_REGULARIZED_FOREST = Selector(
    "guided_regularized_forest",
    "duramen.selection.regularized_forest.selector:RegularizedForestSelector",
    title="guided regularized random forest",
    words=(
        *_WORDS,
        "The factor of a feature grows with its importance in an ordinary random forest.",
    ),
    reference="H. Deng, G. Runger (2013). Gene selection with guided regularized random forest. "
    "Pattern Recognition 46(12).",
    goal="minimal",
    parameters={"guidance": 0.5},
)
"""The same with factors by importance."""
