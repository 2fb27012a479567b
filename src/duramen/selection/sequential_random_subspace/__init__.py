"""Sequential random subspace: the selector, its search and its tests of relevance."""
