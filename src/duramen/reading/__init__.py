"""Reading of a file, a table or a store into a learning set."""

from duramen.reading.tables import read

__all__ = ["read"]
