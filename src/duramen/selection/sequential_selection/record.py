"""Records of sequential searches."""

from __future__ import annotations

from duramen.selection.records import Selector

_CLASS = "duramen.selection.sequential_selection.selector:SequentialSelection"
_CAUTION = (
    "The score of the selected features is too optimistic, because they were chosen by it "
    "among many sets."
)
FORWARD_SELECTION = Selector(
    "forward_selection",
    _CLASS,
    title="sequential forward selection",
    words=(
        "Starting from no feature, each step adds the feature with which the learner scores best "
        "in cross-validation; the smallest set with the best score is selected.",
        _CAUTION,
    ),
    reference="A. W. Whitney (1971). A direct method of nonparametric measurement selection. IEEE "
    "Transactions on Computers 20.",
    goal="minimal",
)
"""One feature more in each step."""

BACKWARD_SELECTION = Selector(
    "backward_selection",
    _CLASS,
    title="sequential backward selection",
    words=(
        "Starting from all features, each step removes the feature without which the learner "
        "scores best in cross-validation; the smallest set with the best score is selected.",
        _CAUTION,
    ),
    reference="T. Marill, D. M. Green (1963). On the effectiveness of receptors in recognition "
    "systems. IEEE Transactions on Information Theory 9.",
    goal="minimal",
    parameters={"direction": "backward"},
)
"""One feature fewer in each step."""

FLOATING_SELECTION = Selector(
    "floating_selection",
    _CLASS,
    title="sequential floating selection",
    words=(
        "Starting from no feature, each step adds the feature with which the learner scores best "
        "in cross-validation; then features are removed as long as this gives the best set of "
        "its size so far. The smallest set with the best score is selected.",
        _CAUTION,
    ),
    reference="P. Pudil, J. Novovičová, J. Kittler (1994). Floating search methods in feature "
    "selection. Pattern Recognition Letters 15(11).",
    goal="minimal",
    parameters={"floating": True},
)
"""A feature more in each step, and as many fewer as improve on sets of their size."""
