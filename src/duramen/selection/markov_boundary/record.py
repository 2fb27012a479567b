"""Record of the search for Markov boundaries."""

from __future__ import annotations

from duramen.selection.records import Selector

MARKOV_BOUNDARY = Selector(
    "markov_boundary",
    "duramen.selection.markov_boundary.selector:MarkovBoundary",
    title="smallest Markov boundary",
    words=(
        "The rows are taken as the distribution itself. Selected is a smallest set of features "
        "that determines the target as well as all features do, which is what FOCUS finds. By "
        "chance a single column of many values does.",
    ),
    reference="H. Almuallim, T. G. Dietterich (1994). Learning boolean concepts in the presence of "
    "many irrelevant features. Artificial Intelligence 69.",
    goal="minimal",
    tasks=("classification",),
)
"""FOCUS, by Markov boundaries of the empirical distribution."""
