"""Tables: the one room that knows data frames and files; everything beyond reads dense codes."""

from duramen.tables.encoded import EncodedTable
from duramen.tables.encoding import encode
from duramen.tables.files import read_table, target_column, write_table
from duramen.tables.schema import Schema
from duramen.tables.stray import StrayValuesWarning
from duramen.tables.target import (
    encode_target,
    infer_task,
    learning_set_fingerprint,
    target_array,
)

__all__ = [
    "EncodedTable",
    "Schema",
    "StrayValuesWarning",
    "encode",
    "encode_target",
    "infer_task",
    "learning_set_fingerprint",
    "read_table",
    "target_array",
    "target_column",
    "write_table",
]
