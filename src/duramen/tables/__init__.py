"""Tables, targets and learning sets as dense codes; all that knows data frames and files."""

from duramen.tables.encoded import EncodedTable
from duramen.tables.encoding import encode
from duramen.tables.exchangeability import Exchangeability
from duramen.tables.files import read_table, target_column, write_table
from duramen.tables.finding import Finding
from duramen.tables.findings import findings
from duramen.tables.formats import catalogue
from duramen.tables.formats.format import Format, Request
from duramen.tables.learning_set import LearningSet, learning_set
from duramen.tables.numbers_in_text import NumbersInTextWarning, numbers_in_text
from duramen.tables.recordings import Recording, read_recording
from duramen.tables.schema import Schema
from duramen.tables.store.column_store import ColumnStore, open_store
from duramen.tables.store.packing import pack
from duramen.tables.stray import StrayValuesWarning
from duramen.tables.target import Target, Task, encode_target, infer_task, target_array

__all__ = [
    "ColumnStore",
    "EncodedTable",
    "Exchangeability",
    "Finding",
    "Format",
    "LearningSet",
    "NumbersInTextWarning",
    "Recording",
    "Request",
    "Schema",
    "StrayValuesWarning",
    "Target",
    "Task",
    "catalogue",
    "encode",
    "encode_target",
    "findings",
    "infer_task",
    "learning_set",
    "numbers_in_text",
    "open_store",
    "pack",
    "read_recording",
    "read_table",
    "target_array",
    "target_column",
    "write_table",
]
