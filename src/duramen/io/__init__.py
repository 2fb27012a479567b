"""Files of tables and recordings, column stores, and the joining of samples."""

from duramen.io.files import read_table, write_table
from duramen.io.formats import catalogue
from duramen.io.formats.format import Format, Request
from duramen.io.groups import feature_groups, read_gmt
from duramen.io.recordings import Recording, read_recording
from duramen.io.store.column_store import ColumnStore, open_store

__all__ = [
    "ColumnStore",
    "Format",
    "Recording",
    "Request",
    "catalogue",
    "feature_groups",
    "open_store",
    "read_gmt",
    "read_recording",
    "read_table",
    "write_table",
]
