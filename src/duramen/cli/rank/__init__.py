"""`duramen rank`: from a table to a ranking of its features."""
