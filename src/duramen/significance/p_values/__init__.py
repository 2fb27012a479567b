"""P-values of importances, one test a file."""
