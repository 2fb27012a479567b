"""Importances as a function of a table, a target and a seed: what the tests of this room refit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from duramen.forests.base import BaseForest
from duramen.importances import (
    Importances,
    air,
    conditional_mda,
    frequency,
    holdout_mda,
    mda,
    mdi,
    minimal_depth,
    noising,
    sandri,
)
from duramen.importances.refit import encoded_for, labels_of, template_of
from duramen.results.fingerprint import fingerprint
from duramen.results.provenance import versions
from duramen.tables import EncodedTable
from duramen.tables.exchangeability import Exchangeability

FloatArray = NDArray[np.float64]
Measure = str | Callable[[Any, EncodedTable, NDArray[Any]], Any]

# Of a fitted forest, the table and the target that it was grown on.
GROWN: dict[str, Callable[[Any, EncodedTable, NDArray[Any]], Importances]] = {
    "mdi": lambda forest, X, y: mdi(forest),
    "mdi_oob": lambda forest, X, y: mdi(forest, X, y, rows="oob"),
    "mda": mda,
    "conditional_mda": conditional_mda,
    "noising": noising,
    "frequency": lambda forest, X, y: frequency(forest),
    "minimal_depth": lambda forest, X, y: minimal_depth(forest),
}
# Of an estimator that is fitted in the measure.
REFITTED: dict[str, Callable[..., Importances]] = {
    "holdout_mda": holdout_mda,
    "air": air,
    "sandri": sandri,
}


@dataclass(frozen=True, eq=False)
class Measured:
    """An importance of every column of a table, ready to be computed again and again.

    Attributes
    ----------
    template : BaseForest
        The parameters of the forests; grown on one thread each.
    table : EncodedTable
        n rows of p columns, encoded once.
    y : array of shape (n,)
        Labels or numbers.
    measure : str or callable
        As given to :func:`measured`.
    exchangeability : Exchangeability
        Which rows a test may exchange.
    """

    template: BaseForest
    table: EncodedTable
    y: NDArray[Any]
    measure: Measure
    exchangeability: Exchangeability

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.table.names

    @property
    def measure_name(self) -> str:
        """Name of the measure."""
        if isinstance(self.measure, str):
            return self.measure
        return getattr(self.measure, "__name__", type(self.measure).__name__)

    def importances(
        self, seed: int, *, table: EncodedTable | None = None, y: NDArray[Any] | None = None
    ) -> Importances:
        """Grow a forest from a seed and measure it, on these rows or on others in their place."""
        table = self.table if table is None else table
        y = self.y if y is None else y
        template = clone(self.template).set_params(random_state=seed % 2**32)
        if isinstance(self.measure, str) and self.measure in REFITTED:
            rows = self._rows_of(self.measure)
            return REFITTED[self.measure](template, table, y, random_state=seed % 2**32, **rows)
        forest = template.fit(table, y)
        if isinstance(self.measure, str):
            return GROWN[self.measure](forest, table, y)
        return self._own(self.measure(forest, table, y), table)

    def _rows_of(self, measure: str) -> dict[str, Any]:
        """Return what a measure that grows its own forests is told of strata and blocks."""
        rows = self.exchangeability
        if measure == "holdout_mda":
            return {"blocks": rows.blocks}
        # Targets of blocks of different sizes can be exchanged, their rows cannot.
        if not rows.restricted or rows.count() == 1:
            return {}
        return {"strata": rows.strata, "blocks": rows.blocks}

    def scores(self, seed: int, **data: Any) -> FloatArray:
        """The values of :meth:`importances`, of shape (p,)."""
        return self.importances(seed, **data).values

    def of_rows(self, rows: NDArray[Any]) -> Measured:
        """Return the same measure of some of the rows, given by index."""
        return replace(
            self,
            table=self.table.take_rows(rows),
            y=self.y[rows],
            exchangeability=self.exchangeability.of_rows(rows),
        )

    def identity(self, method: str, **choices: Any) -> dict[str, Any]:
        """What replicates of this measure depend on, for checkpoints and metadata."""
        parameters = {
            name: repr(value)
            for name, value in self.template.get_params().items()
            if name not in ("random_state", "n_jobs", "verbose")
        }
        return {
            "method": method,
            "measure": self.measure if isinstance(self.measure, str) else qualified(self.measure),
            "estimator": type(self.template).__name__,
            "parameters": parameters,
            "data": fingerprint(self.table.fingerprint(), np.asarray(self.y).astype(str)),
            "versions": versions(),
            **self.exchangeability.identity(),
            **choices,
        }

    def _own(self, result: Any, table: EncodedTable) -> Importances:
        if isinstance(result, Importances):
            return result
        return Importances(table.names, np.asarray(result), self.measure_name, "1")


def qualified(function: Any) -> str:
    """Return module and qualified name of a function; a partial has those of its function."""
    named = function
    if not hasattr(named, "__qualname__"):
        named = getattr(named, "func", type(named))
    return f"{named.__module__}.{named.__qualname__}"


def measured(
    estimator: Any,
    X: Any,
    y: Any,
    measure: Measure,
    function: str,
    *,
    strata: Any = None,
    blocks: Any = None,
) -> Measured:
    """Check an estimator, encode X and y once, and tie them to a measure.

    Parameters
    ----------
    estimator : estimator of duramen
        The parameters of the forests.
    X : table of shape (n, p)
        The rows.
    y : array-like of shape (n,)
        Their classes or numbers.
    measure : str or callable
        One of :data:`GROWN` or :data:`REFITTED`; or ``measure(forest, X, y)`` that takes a fitted
        estimator and the encoded rows that it was grown on, and returns `Importances` or p
        numbers.
    function : str
        Who asks, for errors.
    strata, blocks : array-like of shape (n,), optional
        Labels of the rows that a test may exchange; see
        :meth:`duramen.tables.exchangeability.Exchangeability.checked`.

    Raises
    ------
    TypeError
        If `estimator` is none of this package.
    ValueError
        If `measure`, the data or the labels are not as described.
    """
    known = (*GROWN, *REFITTED)
    if not callable(measure) and measure not in known:
        raise ValueError(
            f"{function}: measure must be one of {', '.join(map(repr, known))}, or a function "
            f"measure(forest, X, y) that returns importances, got {measure!r}."
        )
    template = template_of(estimator, function)
    table = encoded_for(template, X)
    labels = labels_of(template, y, table.n_rows, function)
    rows = Exchangeability.checked(table.n_rows, strata, blocks, function=function)
    return Measured(template.set_params(n_jobs=1, verbose=0), table, labels, measure, rows)
