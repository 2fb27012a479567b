"""`duramen pack`: from any table to a column store."""
