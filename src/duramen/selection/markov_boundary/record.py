"""Record of the search for Markov boundaries."""

from __future__ import annotations

from duramen.selection.records import Selector

MARKOV_BOUNDARY = Selector(
    "markov_boundary",
    "duramen.selection.markov_boundary.selector:MarkovBoundary",
    title="smallest Markov boundary",
    words=(
        "The rows are treated as the whole distribution. A smallest set of features that "
        "determines the target as well as all features together is selected, as by FOCUS. By "
        "chance, a single column of many values can be such a set.",
    ),
    reference="H. Almuallim, T. G. Dietterich (1994). Learning boolean concepts in the presence of "
    "many irrelevant features. Artificial Intelligence 69.",
    goal="minimal",
    tasks=("classification",),
)
"""FOCUS, by Markov boundaries of the empirical distribution."""
