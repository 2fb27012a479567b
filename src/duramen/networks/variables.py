"""Variables of a network: each in turn is the target of the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.text import quoted
from duramen.tables import EncodedTable, LearningSet, Target, Task, encode, encode_target
from duramen.tables.containers import table_like
from duramen.tables.exchangeability import Exchangeability

_FEW = 5  # names that a message lists


@dataclass(frozen=True, eq=False)
class Variables:
    """Encoded variables with those that may be the source or the target of a link.

    Attributes
    ----------
    table : EncodedTable
        n rows of p variables.
    sources, targets : int64 arrays
        Indices, ascending.
    """

    table: EncodedTable
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]

    def inputs_of(self, j: int) -> NDArray[np.int64]:
        """Return the sources of a target: all but itself."""
        return self.sources[self.sources != j]

    def target(self, j: int, *, scale: bool, function: str) -> Target:
        """Return a variable as a target: classes, or numbers with mean 0.

        Parameters
        ----------
        j : int
            Its index.
        scale : bool
            Whether numbers are divided by their standard deviation (ddof 0), unless it is 0.
        function : str
            Function that the user called, for errors.
        """
        values = np.asarray(self.table.values(j))[self.table.codes(j)]
        task: Task = "regression" if self.table.kinds[j] == "numeric" else "classification"
        target = encode_target(values, task, allow_one_class=True, function=function)
        if target.codes is not None:
            return target
        numbers = target.values - target.values.mean()
        spread = float(numbers.std())
        return Target(numbers / spread if scale and spread > 0 else numbers)

    def learning_set(
        self, j: int, *, scale: bool, function: str
    ) -> LearningSet[EncodedTable]:
        """Return the learning set of a target: the other sources, and the target."""
        table = self.table.take_columns(self.inputs_of(j))
        target = self.target(j, scale=scale, function=function)
        return LearningSet(table, target, None, Exchangeability(table.n_rows))


def variables_of(
    given: Any,
    *,
    names: Iterable[str] | None,
    kinds: Any,
    genes: str,
    regulators: Any,
    targets: Any,
    n_threads: int,
    function: str,
) -> Variables:
    """Encode variables, and find those that are sources and targets.

    Parameters
    ----------
    given : table of shape (n, p), or (p, n) with ``genes="rows"``
        What the user gave.
    names, kinds
        As for :func:`duramen.encode`.
    genes : {"columns", "rows"}
        Where the variables are.
    regulators, targets : iterable of str or int, or None
        Sources and targets, by name or index; None for all.
    n_threads : int
        Threads that encode.
    function : str
        Function that the user called, for errors.

    Raises
    ------
    ValueError
        If a name or index is unknown, or there are fewer than two variables or rows.
    """
    if genes == "rows":
        given, names = _transposed(given, names, function)
    table = encode(table_like(given), names=names, kinds=kinds, n_jobs=n_threads)
    n, p = table.shape
    if p < 2 or n < 2:
        raise ValueError(
            f"{function}: expression must have at least 2 genes and 2 samples, got {p} and {n}."
        )
    sources = _chosen(regulators, "regulators", table, function)
    wanted = _chosen(targets, "targets", table, function)
    lacking = wanted[table.missing[wanted].astype(bool)]
    if len(lacking):
        raise ValueError(
            f"{function}: {quoted(table.names[lacking[0]])} has missing values, and a target must "
            "not. Hint: leave such samples out, fill the gaps, or name as targets the genes without "
            "missing values."
        )
    return Variables(table, sources, wanted)


def _transposed(given: Any, names: Any, function: str) -> tuple[Any, Any]:
    """Turn genes by samples into samples by genes; a first column of text holds the names."""
    import narwhals.stable.v2 as nw

    if hasattr(given, "as_table") or isinstance(given, EncodedTable):
        raise ValueError(
            f'{function}: genes="rows" is for arrays and data frames, got {type(given).__name__}. '
            "Hint: encode samples by genes."
        )
    try:
        frame = nw.from_native(given, eager_only=True)
    except TypeError:
        return np.asarray(given).T, names
    index = getattr(given, "index", None)
    labels = None if index is None or index.dtype.kind not in "OUT" else list(map(str, index))
    columns = list(frame.columns)
    if not frame[columns[0]].dtype.is_numeric():
        labels, columns = list(map(str, frame[columns[0]].to_list())), columns[1:]
    values = np.column_stack([frame[c].to_numpy() for c in columns]).T.astype(np.float64)
    return values, names if names is not None else labels


def _chosen(
    asked: Any, what: str, table: EncodedTable, function: str
) -> NDArray[np.int64]:
    """Return the indices of variables that are given by name or index, ascending."""
    if asked is None:
        return np.arange(table.n_columns)
    given = [asked] if isinstance(asked, str) else list(np.asarray(asked, dtype=object))
    if len(given) == table.n_columns and all(isinstance(one, bool | np.bool_) for one in given):
        given = np.flatnonzero(given).tolist()
    place = {name: j for j, name in enumerate(table.names)}
    found = {
        place.get(one, -1) if isinstance(one, str) else int(one) for one in given
    }
    unknown = [
        one for one in given if (place.get(one, -1) if isinstance(one, str) else int(one)) not in range(table.n_columns)
    ]
    if unknown or not given:
        shown = ", ".join(map(quoted, unknown[:_FEW])) or "none"
        more = f" and {len(unknown) - _FEW} more" if len(unknown) > _FEW else ""
        raise ValueError(
            f"{function}: {what} must be names or indices of genes, got {shown}{more}. Genes: "
            f"{', '.join(map(quoted, table.names[:_FEW]))}, ... ({table.n_columns} in all)."
        )
    return np.array(sorted(found), dtype=np.int64)
