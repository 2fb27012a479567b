"""Defaults of analyses, which commands and functions share."""

SELECTOR = "sequential_random_subspace"
"""Selector."""
COMPARED = ("mdi", "mda")
"""Measures that are compared with all features."""
ALL = "all-features"
"""Name of the method that selects all features."""
COMPARED_TREES = 500
"""Trees of the forests that rank and predict in a comparison."""
