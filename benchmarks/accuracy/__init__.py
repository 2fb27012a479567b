"""Estimates against exact values: importances, intervals, directions."""
