"""Error rates along a ranking of features, one estimate a file."""
