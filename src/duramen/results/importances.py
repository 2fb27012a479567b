"""Result of an importance measure: one number a feature, and its provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, counted, features, hidden
from duramen.results.fields import ANY, checked_names, ranks
from duramen.results.result import FeatureResult
from duramen.results.summary import Summary
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed


@dataclass(frozen=True, eq=False, repr=False)
class Importances(FeatureResult[float]):
    """Importances of p features, with their unit and, where known, their parts and spread.

    ``len(result)`` is p, ``result[name]`` and ``result[j]`` are the value of one feature, and
    iterating gives ``(name, value)`` pairs in the order of the columns.

    Parameters
    ----------
    names : tuple of str
        Names of the p features, in the order of the table's columns, all different.
    values : ndarray of float64, shape (p,)
        Importance of each feature, in `unit`. Values can be negative for measures that are
        corrected or computed from held-out rows.
    measure : str
        Name of the measure, such as ``"mdi"``.
    unit : str
        Unit of the values: ``"bits"``, ``"gini"``, ``"variance"`` or ``"1"`` (a pure number).
    by_degree : ndarray of float64, shape (p, D), optional
        Part of each value that the feature contributes after k other splits above it
        (interaction degree k = 0 .. D-1). Rows sum to `values`.
    standard_error : ndarray of float64, shape (p,), optional
        Standard error of each value over the trees.
    by_class : ndarray of float64, shape (p, C), optional
        The same importance on the rows of each class alone, in `unit`.
    classes : tuple of str
        Names of the C classes of `by_class`; empty without it.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data: whatever `json` can hold.

    Raises
    ------
    TypeError
        If a name is not a string.
    ValueError
        If shapes disagree, names or classes repeat, a value is not finite or a standard error is
        negative.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.Importances(("a", "b", "c"), [0.1, 0.3, 0.2], "mdi", "bits")
    >>> result.top(2).names, result["b"], result[0]
    (('b', 'c'), 0.3, 0.1)
    """

    names: tuple[str, ...]
    values: FloatArray
    measure: str
    unit: str
    by_degree: FloatArray | None = None
    standard_error: FloatArray | None = None
    by_class: FloatArray | None = None
    classes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    _NUMBERS: ClassVar = {"values": ANY, "standard_error": (0.0, np.inf)}
    _TABLES = ("by_degree", "by_class")

    def __post_init__(self) -> None:
        super().__post_init__()
        classes = checked_names("Importances", "classes", self.classes)
        object.__setattr__(self, "classes", classes)
        n_classes = 0 if self.by_class is None else self.by_class.shape[1]
        if len(classes) != n_classes:
            raise ValueError(
                f"Importances: classes must name the {n_classes} columns of by_class, got "
                f"{len(classes)} names."
            )

    # --- ranking ---------------------------------------------------------------------------

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by decreasing value; ties keep column order."""
        return np.argsort(-self.values, kind="stable")

    def normalized(self) -> Importances:
        """Return a copy whose values sum to 1, in unit ``"1"``.

        Raises
        ------
        ValueError
            If the values do not have a positive sum, as when no feature was used.
        """
        total = float(self.values.sum())
        if not total > 0:
            raise ValueError(
                f"Importances.normalized: the values sum to {total:g}; only a positive sum can "
                "be scaled to 1. Hint: compare the values in their own unit instead."
            )
        return replace(
            self,
            unit="1",
            values=self.values / total,
            by_degree=None if self.by_degree is None else self.by_degree / total,
            standard_error=None if self.standard_error is None else self.standard_error / total,
            by_class=None if self.by_class is None else self.by_class / total,
        )

    # --- in and out ------------------------------------------------------------------------

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is the most important), ``importance``, ``standard_error``
        (if known), ``degree_0``, ``degree_1`` ... (if known) and ``class_A``, ``class_B`` ... by
        the names of the classes (if known).
        """
        columns: dict[str, Any] = {
            "name": list(self.names),
            "rank": ranks(self.order()),
            "importance": self.values.copy(),
        }
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error.copy()
        if self.by_degree is not None:
            for k in range(self.by_degree.shape[1]):
                columns[f"degree_{k}"] = self.by_degree[:, k].copy()
        if self.by_class is not None:
            for k, label in enumerate(self.classes):
                columns[f"class_{label}"] = self.by_class[:, k].copy()
        return columns

    def _summary(self, rows: int) -> Summary:
        best = self.top(rows)
        error = best.standard_error
        ends = None if error is None else (best.values - error, best.values + error)
        title = self.unit if self.unit != "1" else "importance"
        columns = [
            *features(best.names),
            Column(title, fixed(best.values, 4), bars=best.values, whiskers=ends),
        ]
        if error is not None:
            columns.append(Column("std. error", fixed(error, 2)))
        unit = "a pure number" if self.unit == "1" else f"in {self.unit}"
        heading = f"Importances: {self.measure} of {counted(len(self), 'feature')}, {unit}"
        return Summary((heading,), columns, hidden(len(self), len(best)))
