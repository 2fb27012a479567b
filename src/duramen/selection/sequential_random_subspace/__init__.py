"""Sequential random subspace: the selector, its search and its tests of relevance."""

from duramen.selection.sequential_random_subspace.selector import SequentialRandomSubspace

__all__ = ["SequentialRandomSubspace"]
