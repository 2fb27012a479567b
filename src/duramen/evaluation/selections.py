"""Rows that choose the features."""

SELECTIONS = ("inside", "outside")
"""Training rows of each split, or all rows, which is biased."""
