"""Tables: the one room that knows data frames and files; everything beyond reads dense codes."""

from duramen.tables.encoded import EncodedTable
from duramen.tables.encoding import encode
from duramen.tables.exchangeability import Exchangeability
from duramen.tables.files import read_table, target_column, write_table
from duramen.tables.learning_set import LearningSet, learning_set
from duramen.tables.routing import routing_values
from duramen.tables.schema import Schema
from duramen.tables.stray import StrayValuesWarning
from duramen.tables.target import Target, Task, encode_target, infer_task, target_array

__all__ = [
    "EncodedTable",
    "Exchangeability",
    "LearningSet",
    "Schema",
    "StrayValuesWarning",
    "Target",
    "Task",
    "encode",
    "encode_target",
    "infer_task",
    "learning_set",
    "read_table",
    "routing_values",
    "target_array",
    "target_column",
    "write_table",
]
