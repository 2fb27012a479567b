"""Rows of a learning set, for methods of this package and for those that take matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from duramen.data import EncodedTable, LearningSet
from duramen.data.routing import routing_values
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.checks import refuse

Data = LearningSet[EncodedTable]


@dataclass(frozen=True, eq=False)
class Subject:
    """Learning set, and its matrix of numbers where one is asked for."""

    data: Data
    function: str  # for errors

    @cached_property
    def matrix(self) -> FloatArray:
        """Values of shape (n, p), NaN for missing ones.

        Raises
        ------
        ValueError
            If a column has categories without an order.
        """
        table = self.data.table
        nominal = [
            name for name, kind in zip(table.names, table.kinds, strict=True) if kind == "nominal"
        ]
        if nominal:
            raise refuse(
                self.function,
                "X",
                "a table of numbers for selectors and learners of scikit-learn",
                f"the column of categories {nominal[0]}",
                "selectors and forests of duramen, or columns of 0 and 1",
            )
        return routing_values(table.schema, table)

    def part(self, rows: IntArray, key: object) -> Part:
        """Return some of the rows."""
        return Part(self, rows, self.data.of_rows(rows, key=("part", key)))


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a learning set."""

    subject: Subject
    rows: IntArray
    data: Data

    @property
    def classes(self) -> NDArray[Any] | None:
        """Labels of all classes, also of those without a row here; None for numbers."""
        return self.subject.data.classes

    @property
    def target(self) -> NDArray[Any]:
        """Codes among all classes, or numbers, of these rows."""
        return self.subject.data.target.values[self.rows]

    @cached_property
    def matrix(self) -> FloatArray:
        """Values of these rows."""
        return self.subject.matrix[self.rows]

    def of_columns(self, columns: IntArray) -> Data:
        """Return the learning set of some columns."""
        key = ("columns", columns.tobytes())
        return self.data.with_table(self.data.table.take_columns(columns), key=key)


def seeded(estimator: Any, seed: int) -> Any:
    """Set all parameters of an estimator that are random states, those of its parts included."""
    from sklearn.base import clone

    made = clone(estimator)
    names = [name for name in made.get_params() if name.rpartition("__")[2] == "random_state"]
    return made.set_params(**dict.fromkeys(sorted(names), seed % 2**32)) if names else made
