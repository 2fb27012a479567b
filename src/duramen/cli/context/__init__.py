"""`duramen context`: features, or links between columns, that depend on a context."""
