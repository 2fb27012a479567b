"""Importance measures of a fitted forest."""
