"""Representatives of correlated features, as a step before a selector."""
