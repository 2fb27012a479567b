"""Sequential random subspace on the problems of the papers and on real data."""
