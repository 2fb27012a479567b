"""Filters to compare with: information criteria, ReliefF, Lasso."""
