"""What sequential random subspace does on the problems of the papers, and on real data."""
