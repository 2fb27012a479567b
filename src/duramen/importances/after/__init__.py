"""Further work on importances: comparison, groups, smoothing, representatives."""
