"""Stability of selected features and rankings."""
