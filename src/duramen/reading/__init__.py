"""Reading: the one door from a file, a table or a store to a learning set."""

from duramen.reading.tables import read

__all__ = ["read"]
