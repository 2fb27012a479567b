"""Importances as a function of a learning set and a seed, for tests that refit forests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from duramen.estimators.base import BaseForest
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
from duramen.importances.refit import data_for, template_of
from duramen.results.provenance import versions
from duramen.tables import EncodedTable, Exchangeability, LearningSet

FloatArray = NDArray[np.float64]
Data = LearningSet[EncodedTable]
Measure = str | Callable[[Any, EncodedTable, NDArray[Any]], Any]

# Of a fitted forest, and the learning set that it was grown on.
GROWN: dict[str, Callable[[Any, Data], Importances]] = {
    "mdi": lambda forest, data: mdi(forest),
    "mdi_oob": lambda forest, data: mdi(forest, data, rows="oob"),
    "mda": mda,
    "conditional_mda": conditional_mda,
    "noising": noising,
    "frequency": lambda forest, data: frequency(forest),
    "minimal_depth": lambda forest, data: minimal_depth(forest),
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
    data : LearningSet
        n rows of p columns, encoded once, with the rows that a test may exchange.
    measure : str or callable
        As given to :func:`measured`.
    """

    template: BaseForest
    data: Data
    measure: Measure

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.data.names

    @property
    def exchangeability(self) -> Exchangeability:
        """Rows that a test may exchange."""
        return self.data.exchangeability

    @property
    def measure_name(self) -> str:
        """Name of the measure."""
        if isinstance(self.measure, str):
            return self.measure
        return getattr(self.measure, "__name__", type(self.measure).__name__)

    def importances(self, seed: int, *, data: Data | None = None) -> Importances:
        """Grow a forest from a seed and measure it, on these rows or on others in their place."""
        data = self.data if data is None else data
        template = clone(self.template).set_params(random_state=seed % 2**32)
        if isinstance(self.measure, str) and self.measure in REFITTED:
            rows = self._exchanging(self.measure, data)
            return REFITTED[self.measure](template, rows, random_state=seed % 2**32)
        forest = template.fit(data)
        if isinstance(self.measure, str):
            return GROWN[self.measure](forest, data)
        return self._own(self.measure(forest, data.table, data.y), data)

    def _exchanging(self, measure: str, data: Data) -> Data:
        """Return the rows with the strata and blocks that a measure of several forests needs."""
        rows = data.exchangeability
        # Targets of blocks of different sizes can be exchanged, their rows cannot.
        if measure != "holdout_mda" and rows.restricted and rows.count() == 1:
            return data.with_exchangeability(Exchangeability(data.n_rows))
        return data

    def scores(self, seed: int, *, data: Data | None = None) -> FloatArray:
        """The values of :meth:`importances`, of shape (p,)."""
        return self.importances(seed, data=data).values

    def permuted_scores(self, random: np.random.Generator, key: object) -> FloatArray:
        """Permute the target as the rows allow, grow a forest, and return the importances.

        Permutation and forest come from `random`; `key` tells one such replicate from others.
        """
        order = self.exchangeability.permutation(random, self.data.target.values)
        data = self.data.permuted(order, key=("permuted", key))
        return self.scores(int(random.integers(2**32)), data=data)

    def of_rows(self, rows: NDArray[Any], key: object) -> Measured:
        """Return the same measure of some of the rows, given by index."""
        return replace(self, data=self.data.of_rows(rows, key=("rows", key)))

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
            "data": self.data.fingerprint,
            "versions": versions(),
            **self.exchangeability.identity(),
            **choices,
        }

    def _own(self, result: Any, data: Data) -> Importances:
        if isinstance(result, Importances):
            return result
        return Importances(data.names, np.asarray(result), self.measure_name, "1")


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
    takes_strata: bool = True,
) -> Measured:
    """Check an estimator, encode X and y once, and tie them to a measure.

    Parameters
    ----------
    estimator : estimator of duramen
        The parameters of the forests.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Their classes or numbers; None for a learning set.
    measure : str or callable
        One of :data:`GROWN` or :data:`REFITTED`; or ``measure(forest, X, y)`` that takes a fitted
        estimator and the encoded rows that it was grown on, and returns `Importances` or p
        numbers.
    function : str
        Who asks, for errors.
    strata, blocks : array-like of shape (n,), optional
        Labels of the rows that a test may exchange; see
        :meth:`duramen.tables.exchangeability.Exchangeability.checked`.

    takes_strata : bool
        Whether the function knows strata: those of a learning set are refused otherwise.

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
    data = data_for(template, X, y, function, strata=strata, blocks=blocks)
    if not takes_strata and data.exchangeability.strata is not None:
        raise ValueError(
            f"{function}: the rows of this learning set have strata, which {function} does not "
            "take. Hint: learning_set without strata."
        )
    return Measured(template.set_params(n_jobs=1, verbose=0), data, measure)
