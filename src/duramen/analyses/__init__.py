"""Analyses from table to report: what the commands `rank`, `select` and `compare` compute."""

SELECTOR = "sequential_random_subspace"
"""Selector by default."""
