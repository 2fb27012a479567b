"""Analyses from table to report: what the commands `rank`, `select` and `compare` compute."""

SELECTOR = "sequential_random_subspace"
"""Selector by default."""
COMPARED = ("mdi", "mda")
"""Measures that are compared with all features."""
ALL = "all-features"
"""Name of the method that selects all features."""
COMPARED_TREES = 500
"""Trees of the forests that rank and predict in a comparison."""
