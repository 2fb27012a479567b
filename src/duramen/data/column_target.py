"""Columns of a table as targets, each predicted from the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.target import Target, Task, encode_target
from duramen.support.text import quoted


def column_target(table: EncodedTable, j: int, function: str) -> Target:
    """Return a column as a target: numbers where it is numeric, else classes.

    Parameters
    ----------
    table : EncodedTable
        n rows of p columns.
    j : int
        Index of a column without missing values.
    function : str
        Function that the user called, for errors.
    """
    values = np.asarray(table.values(j))[table.codes(j)]
    task: Task = "regression" if table.kinds[j] == "numeric" else "classification"
    return encode_target(values, task, allow_one_class=True, function=function)


def refuse_missing(
    table: EncodedTable, targets: Sequence[int] | NDArray[np.int64], function: str
) -> None:
    """Raise where a column that is to be a target has missing values.

    Raises
    ------
    ValueError
        Naming the first such column.
    """
    lacking = [j for j in targets if table.missing[j]]
    if lacking:
        raise ValueError(
            f"{function}: {quoted(table.names[lacking[0]])} must have no missing values as a "
            f"target; number of targets with missing values: {len(lacking)}. Hint: leave out the "
            "rows, fill the gaps, or name the complete columns as targets."
        )
