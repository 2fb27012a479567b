"""Checks of a table and its target for content that is seldom intended."""

from duramen.findings.table import unequal_values

__all__ = ["unequal_values"]
