"""Ranking of features: forest, measures, test, effects and report."""
