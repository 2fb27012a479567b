"""Result of resampling: importances with standard errors over data and confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, counted, features, hidden, small
from duramen.results.fields import ANY, PROBABILITY, least_replicates, ranks
from duramen.results.result import FeatureResult
from duramen.results.significance import Significance
from duramen.results.summary import Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed, quoted

NULL = (
    "On average over learning sets of this size, forests give the feature an importance of 0 or "
    "less."
)


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(FeatureResult[tuple[float, float]]):
    """Importances of p features with their standard errors over data and confidence intervals.

    ``len(result)`` is p, ``result[name]`` the interval ``(low, high)`` of one feature, and
    iterating gives ``(name, (low, high))`` pairs in the order of the columns.

    Parameters
    ----------
    names : tuple of str
        Names of the p features, in the order of the table's columns, all different.
    values : ndarray of float64, shape (p,)
        Importance of each feature in a forest on all the rows, in `unit`.
    standard_error : ndarray of float64, shape (p,)
        Estimated standard deviation of each value over learning sets and forests.
    low, high : ndarrays of float64, shape (p,)
        Ends of the intervals; each holds for its feature alone, not for all of them at once.
    confidence_level : float
        Probability, in (0, 1), with which an interval is to cover.
    measure, unit : str
        What the values are, as in `Importances`.
    method : str
        How the spread was found: ``"subsampling"``, ``"delete-d"`` or ``"double-bootstrap"``.
    kind : str
        How the ends were found from it: ``"wilson"``, ``"normal"`` or ``"percentile"``.
    p_values : ndarray of float64, shape (p,), optional
        One-sided, of the hypothesis that the expected value is 0 or less; None for measures that
        irrelevant features do not have 0 of.
    replicate_mean : ndarray of float64, shape (p,), optional
        Mean over the replicates. Its distance from `values` is the effect of the smaller
        samples on the measure.
    degrees_of_freedom : ndarray of float64, shape (p,), optional
        Of the standard errors, at least 1: how much a t distribution has to allow for their own
        uncertainty.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data: whatever `json` can hold.
    notes : tuple of str
        What limits the result, a sentence each, such as where its numbers are known to be too
        small. They are printed, saved and loaded with it, and shown by reports.

    Raises
    ------
    TypeError
        If a name or a note is not a string.
    ValueError
        If shapes disagree, names repeat, a number is not finite or out of its range, or an interval
        ends below where it begins.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> result = dm.significance.confidence_intervals(
    ...     dm.RandomForestRegressor(20), X, X[:, 0], n_resamples=20, random_state=0)
    >>> bool((result.low <= result.high).all())
    True
    """

    names: tuple[str, ...]
    values: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    confidence_level: float
    measure: str
    unit: str
    method: str
    kind: str
    p_values: FloatArray | None = None
    replicate_mean: FloatArray | None = None
    degrees_of_freedom: FloatArray | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    _NUMBERS: ClassVar = {
        **dict.fromkeys(("values", "low", "high", "replicate_mean"), ANY),
        "standard_error": (0.0, np.inf),
        "p_values": PROBABILITY,
        "degrees_of_freedom": (1.0, np.inf),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        owner, settle = "Intervals", object.__setattr__
        settle(
            self,
            "confidence_level",
            checks.check_real(owner, "confidence_level", self.confidence_level, 0, 1, ends="()"),
        )
        crossed = np.flatnonzero(self.low > self.high)
        if crossed.size:
            j = int(crossed[0])
            raise ValueError(
                f"{owner}: low must not exceed high, got {self.low[j]:g} and {self.high[j]:g} for "
                f"{quoted(self.names[j])}."
            )

    def _numbers(self) -> list[tuple[float, float]]:
        return list(zip(self.low.tolist(), self.high.tolist(), strict=True))

    # --- ranking and selection -------------------------------------------------------------

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by decreasing value; ties keep column order."""
        return np.argsort(-self.values, kind="stable")

    def above(self, threshold: float = 0.0) -> tuple[str, ...]:
        """Return the names of features whose interval lies above a value, in the order of `order`.

        Of m features whose expected importance is `threshold`, about m (1 - level) / 2 are among
        them by chance; :meth:`significance` has p-values that can be adjusted for that.
        """
        return tuple(self.names[j] for j in self.order() if self.low[j] > threshold)

    def significance(self) -> Significance:
        """Return the p-values as the result of a test, with q-values and Holm's adjustment.

        Adjusted p-values of many features read the t distribution far out in its tail, at .05 / p
        and below, where few replicates do not support it; see `least_replicates`.

        Raises
        ------
        ValueError
            If there are no p-values, or they are tails of t distributions that come from fewer
            replicates than adjusting them for p features needs.
        """
        if self.p_values is None:
            raise ValueError(
                f"Intervals.significance: there are no p-values, because {self.measure!r} of an "
                'irrelevant feature is not 0 on average. Hint: measure="mda" is, or "mdi_oob".'
            )
        self._check_replicates()
        details = {"standard_error": self.standard_error, "low": self.low, "high": self.high}
        if self.degrees_of_freedom is not None:
            details["degrees_of_freedom"] = self.degrees_of_freedom
        return Significance(
            names=self.names,
            scores=self.values,
            p_values=self.p_values,
            method="confidence_intervals",
            null=NULL,
            unit=self.unit,
            details=details,
            metadata=self.metadata,
            notes=self.notes,
        )

    def _check_replicates(self) -> None:
        count = self.metadata.get("n_resamples")
        if count is None or self.kind == "percentile" or not len(self):
            return
        least = least_replicates(len(self))
        if count < least:
            raise ValueError(
                f"Intervals.significance: p-values of {len(self)} features can be adjusted if they "
                f"come from {least} replicates or more, these come from {count}. Hint: "
                f"confidence_intervals(..., n_resamples={least}), better 100; p_values of single "
                "features are in Intervals.p_values."
            )

    # --- in and out ------------------------------------------------------------------------

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is the most important), ``importance``, ``standard_error``,
        ``low``, ``high``, and ``p_value``, ``replicate_mean`` and ``degrees_of_freedom`` (if
        known).
        """
        columns: dict[str, Any] = {"name": list(self.names), "rank": ranks(self.order())}
        for title, numbers in (
            ("importance", self.values),
            ("standard_error", self.standard_error),
            ("low", self.low),
            ("high", self.high),
            ("p_value", self.p_values),
            ("replicate_mean", self.replicate_mean),
            ("degrees_of_freedom", self.degrees_of_freedom),
        ):
            if numbers is not None:
                columns[title] = numbers.copy()
        return columns

    def _summary(self, rows: int) -> Summary:
        best = self.top(rows)
        heading = (
            f"Intervals: {self.measure} of {counted(len(self), 'feature')}, "
            f"{100 * self.confidence_level:g} % {self.kind} intervals by {self.method}"
        )
        ends = fixed(np.concatenate([best.values, best.low, best.high]), 4)
        values, low, high = (ends[i * len(best) : (i + 1) * len(best)] for i in range(3))
        title = "importance" if self.unit == "1" else self.unit
        columns = [
            *features(best.names),
            Column(title, values, bars=best.values, whiskers=(best.low, best.high)),
            Column("std. error", fixed(best.standard_error, 2)),
            Column("low", low),
            Column("high", high),
        ]
        if best.p_values is not None:
            columns.append(Column("p", small(best.p_values)))
        return Summary((heading,), columns, hidden(len(self), len(best)), self.notes)
