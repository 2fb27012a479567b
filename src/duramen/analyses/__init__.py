"""Analyses from table to report: what the commands `rank`, `select` and `compare` compute."""
