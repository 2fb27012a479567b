"""Importances with confidence intervals: what other data of the same law could have given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import checks
from duramen.results.fields import FloatArray, checked_names, frozen, frozen_between, ranks
from duramen.results.frames import native_frame
from duramen.results.metadata import frozen_metadata
from duramen.results.multiplicity import least_replicates
from duramen.results.notes import checked_notes, note_lines
from duramen.results.result import Result
from duramen.results.significance import Significance
from duramen.results.text import aligned, fixed, quoted

_SHOWN = 10
_OPTIONAL = ("p_values", "replicate_mean", "degrees_of_freedom")
_NUMBERS = ("values", "standard_error", "low", "high", *_OPTIONAL)

NULL = (
    "On average over learning sets of this size, forests give the feature an importance of 0 or "
    "less."
)


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Result):
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
    level : float
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
        Mean over the replicates. How far it lies from `values` says what smaller samples do to the
        measure.
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
    ...     dm.RandomForestRegressor(20), X, X[:, 0], n_replicates=20, random_state=0)
    >>> bool((result.low <= result.high).all())
    True
    """

    names: tuple[str, ...]
    values: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    measure: str
    unit: str
    method: str
    kind: str
    p_values: FloatArray | None = None
    replicate_mean: FloatArray | None = None
    degrees_of_freedom: FloatArray | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        owner, settle = "Intervals", object.__setattr__
        names = checked_names(owner, "names", self.names)
        settle(self, "names", names)
        for what in ("values", "low", "high"):
            settle(self, what, frozen(owner, what, getattr(self, what), names))
        error = frozen_between(owner, "standard_error", self.standard_error, names)
        settle(self, "standard_error", error)
        if self.p_values is not None:
            p_values = frozen_between(owner, "p_values", self.p_values, names, high=1.0)
            settle(self, "p_values", p_values)
        if self.replicate_mean is not None:
            mean = frozen(owner, "replicate_mean", self.replicate_mean, names)
            settle(self, "replicate_mean", mean)
        if self.degrees_of_freedom is not None:
            freedom = frozen_between(
                owner, "degrees_of_freedom", self.degrees_of_freedom, names, low=1.0
            )
            settle(self, "degrees_of_freedom", freedom)
        settle(self, "level", checks.check_real(owner, "level", self.level, 0, 1, ends="()"))
        crossed = np.flatnonzero(self.low > self.high)
        if crossed.size:
            j = int(crossed[0])
            raise ValueError(
                f"{owner}: low must not exceed high, got {self.low[j]:g} and {self.high[j]:g} for "
                f"{quoted(names[j])}."
            )
        settle(self, "metadata", frozen_metadata(owner, self.metadata))
        settle(self, "notes", checked_notes(owner, self.notes))

    # --- as a collection -------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, tuple[float, float]]]:
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return zip(self.names, ends, strict=True)

    def __getitem__(self, name: str) -> tuple[float, float]:
        try:
            j = self.names.index(name)
        except ValueError:
            raise KeyError(name) from None
        return float(self.low[j]), float(self.high[j])

    # --- ranking and selection -------------------------------------------------------------

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by decreasing value; ties keep column order."""
        return np.argsort(-self.values, kind="stable")

    def top(self, k: int) -> Intervals:
        """Return the `k` most important features (all when p < k), the best first.

        Raises
        ------
        ValueError
            If `k` is negative.
        """
        checks.check_integer("Intervals.top", "k", k, 0)
        index = self.order()[:k]
        columns: dict[str, Any] = {what: getattr(self, what) for what in _NUMBERS}
        for what, column in columns.items():
            columns[what] = None if column is None else column[index]
        return replace(self, names=tuple(self.names[j] for j in index), **columns)

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
        count = self.metadata.get("n_replicates")
        if count is None or self.kind == "percentile" or not len(self):
            return
        least = least_replicates(len(self))
        if count < least:
            raise ValueError(
                f"Intervals.significance: p-values of {len(self)} features can be adjusted if they "
                f"come from {least} replicates or more, these come from {count}. Hint: "
                f"confidence_intervals(..., n_replicates={least}), better 100; p_values of single "
                "features are in Intervals.p_values."
            )

    # --- in and out ------------------------------------------------------------------------

    def to_frame(self) -> Any:
        """Return a data frame with one row a feature, in the order of the columns.

        Its columns are those of `columns`.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The first of these libraries that is installed.
        """
        return native_frame(self.columns())

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is the most important), ``importance``, ``standard_error``,
        ``low``, ``high``, and ``p_value``, ``replicate_mean`` and ``degrees_of_freedom`` (if
        known).
        """
        columns: dict[str, Any] = {
            "name": list(self.names),
            "rank": ranks(self.order()),
            "importance": self.values.copy(),
            "standard_error": self.standard_error.copy(),
            "low": self.low.copy(),
            "high": self.high.copy(),
        }
        if self.p_values is not None:
            columns["p_value"] = self.p_values.copy()
        if self.replicate_mean is not None:
            columns["replicate_mean"] = self.replicate_mean.copy()
        if self.degrees_of_freedom is not None:
            columns["degrees_of_freedom"] = self.degrees_of_freedom.copy()
        return columns

    def __repr__(self) -> str:
        best = self.top(_SHOWN)
        count = f"{len(self)} feature" + ("" if len(self) == 1 else "s")
        lines = [
            f"Intervals: {self.measure} of {count}, {100 * self.level:g} % {self.kind} intervals "
            f"by {self.method}"
        ]
        if len(self):
            ends = fixed(np.concatenate([best.values, best.low, best.high]), 4)
            header = ["", "feature", "importance" if self.unit == "1" else self.unit, "std. error"]
            columns = [
                [str(i + 1) for i in range(len(best))],
                list(best.names),
                ends[: len(best)],
                fixed(best.standard_error, 2),
                ends[len(best) : 2 * len(best)],
                ends[2 * len(best) :],
            ]
            header += ["low", "high"]
            if best.p_values is not None:
                header.append("p")
                columns.append([f"{p:.2g}" for p in best.p_values])
            right = [True, False] + [True] * (len(header) - 2)
            lines += aligned(header, columns, right=right)
        if len(self) > len(best):
            lines.append(f"... and {len(self) - len(best)} more")
        return "\n".join([*lines, *note_lines(self.notes)])
