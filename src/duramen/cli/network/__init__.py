"""`duramen network`."""
