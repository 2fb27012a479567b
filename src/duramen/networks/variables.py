"""Variables of a network: each in turn is the target of the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from duramen.data import EncodedTable, LearningSet, NumberTarget, Target, encode
from duramen.data.learning_sets import learning_set_of
from duramen.data.sources import table_like
from duramen.data.target import column_target
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.text import quoted

GENES = ("columns", "rows")


@dataclass(frozen=True, eq=False)
class Variables:
    """Encoded variables, and which of them may be the source or the target of a link.

    Attributes
    ----------
    table : EncodedTable
        n rows of p variables: the inputs.
    sources, targets : int64 arrays
        Indices of variables, ascending.
    responses : float64 array of shape (n, p) or None
        Numbers that the forests of the targets predict; None where each predicts the variable
        itself.
    usable : bool array of shape (n, p) or None
        Rows that tell of the regulation of a variable; None for all.
    """

    table: EncodedTable
    sources: IntArray
    targets: IntArray
    responses: FloatArray | None = None
    usable: BoolArray | None = None

    @cached_property
    def inputs(self) -> EncodedTable:
        """Table of the sources, shared by the targets that are none of them."""
        return self.table.take_columns(self.sources)

    def inputs_of(self, j: int) -> BoolArray:
        """Tell which of the sources are inputs of target j: all but itself."""
        others: BoolArray = self.sources != j
        return others

    def learning_set(self, j: int, *, scale: bool, function: str) -> LearningSet[EncodedTable]:
        """Return the inputs of a target with the target: classes, or numbers with mean 0.

        Parameters
        ----------
        j : int
            Index of the target.
        scale : bool
            Whether numbers are divided by their standard deviation (ddof 0), unless it is 0.
        function : str
            Function that the user called, for errors.
        """
        others = self.inputs_of(j)
        table = self.inputs if others.all() else self.inputs.take_columns(others)
        if self.responses is None:
            target: Target = column_target(self.table, j, function)
        else:
            target = NumberTarget.encode(self.responses[:, j], function=function)
        if self.usable is not None and not self.usable[:, j].all():
            rows = np.flatnonzero(self.usable[:, j])
            table, target = table.take_rows(rows), target.take(rows)
        return learning_set_of(table, target.centered(scale=scale), function)

    def constant(self) -> BoolArray:
        """Tell which variables have one value only."""
        return self.table.constant()


def encoded(
    values: Any,
    *,
    genes: str,
    names: Iterable[str] | None,
    n_threads: int,
    function: str,
) -> EncodedTable:
    """Encode the variables.

    Parameters
    ----------
    given : table of shape (n, p), or (p, n) with ``genes="rows"``
        What the user gave.
    genes : {"columns", "rows"}
        Where the variables are.
    names
        As for :func:`duramen.encode`.
    n_threads : int
        Threads that encode.
    function : str
        Function that the user called, for errors.

    Raises
    ------
    ValueError
        If there are fewer than two variables or rows.
    """
    if checks.check_choice(function, "genes", genes, GENES) == "rows":
        values, names = _transposed(values, names, function)
    table = encode(table_like(values), names=names, n_jobs=n_threads)
    if min(table.shape) < 2:
        raise ValueError(
            f"{function}: expression must have at least 2 samples of 2 genes, got "
            f"{table.n_rows} samples of {table.n_columns} genes."
        )
    return table


def _transposed(expression: Any, names: Any, function: str) -> tuple[Any, Any]:
    """Turn genes by samples into samples by genes; a first column of text holds the names."""
    import narwhals.stable.v2 as nw

    if isinstance(expression, EncodedTable) or hasattr(expression, "as_table"):
        raise ValueError(
            f'{function}: genes="rows" is for arrays and data frames, got '
            f"{type(expression).__name__}. Hint: encode the table of samples by genes."
        )
    frame = nw.from_native(expression, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return np.asarray(expression).T, names
    columns = list(frame.columns)
    labels = None
    if not frame[columns[0]].dtype.is_numeric():
        labels, columns = list(map(str, frame[columns[0]].to_list())), columns[1:]
    elif hasattr(expression, "index") and expression.index.dtype.kind in "OUT":
        labels = list(map(str, expression.index))
    text = [name for name in columns if not frame[name].dtype.is_numeric()]
    if text:
        raise ValueError(
            f"{function}: column {quoted(text[0])} must hold numbers, got "
            f'{frame[text[0]].dtype}. Hint: with genes="rows" only the first column may be text, '
            "the names of the genes."
        )
    values = np.column_stack([frame[name].to_numpy() for name in columns]).T
    return values.astype(np.float64), labels if names is None else names
