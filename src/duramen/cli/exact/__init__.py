"""`duramen exact`: importances of infinitely many trees, and the relevance of the features."""
