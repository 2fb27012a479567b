"""A look at a table and its target before they are used: what is seldom meant."""

from duramen.findings.table import unequal_values

__all__ = ["unequal_values"]
