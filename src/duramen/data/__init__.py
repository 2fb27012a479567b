"""Learning sets: columns as dense codes, targets, weights, and rows that may be exchanged."""

from duramen.data.encoded import EncodedTable
from duramen.data.encoding import encode
from duramen.data.exchangeability import Exchangeability
from duramen.data.learning_sets import LearningSet, learning_set
from duramen.data.provenance import Finding
from duramen.data.schema import Schema
from duramen.data.target import ClassTarget, NumberTarget, SurvivalTarget, Target, Task
from duramen.data.text_numbers import NumbersInTextWarning, StrayValuesWarning, numbers_in_text

__all__ = [
    "ClassTarget",
    "EncodedTable",
    "Exchangeability",
    "Finding",
    "LearningSet",
    "NumberTarget",
    "NumbersInTextWarning",
    "Schema",
    "StrayValuesWarning",
    "SurvivalTarget",
    "Target",
    "Task",
    "encode",
    "learning_set",
    "numbers_in_text",
]
