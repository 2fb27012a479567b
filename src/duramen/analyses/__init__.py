"""Analyses, from a table to a report: the functions that the commands call."""
