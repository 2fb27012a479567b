"""Selectors: which features to keep."""

from duramen.selection.sequential_random_subspace import SequentialRandomSubspace

__all__ = ["SequentialRandomSubspace"]
