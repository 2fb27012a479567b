"""The result of every importance measure: one number a feature, and how it came about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import checks
from duramen.results.fields import (
    checked_names,
    frozen,
    frozen_between,
    ranks,
)
from duramen.results.frames import native_frame
from duramen.results.metadata import frozen_metadata
from duramen.results.result import Result
from duramen.results.text import aligned, fixed

FloatArray = NDArray[np.float64]

_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class Importances(Result):
    """Importances of p features, with their unit and, where known, their parts and spread.

    ``len(result)`` is p, ``result[name]`` the value of one feature, and iterating gives
    ``(name, value)`` pairs in the order of the columns.

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

    def __post_init__(self) -> None:
        names = checked_names("Importances", "names", self.names)
        settle = object.__setattr__
        settle(self, "names", names)
        settle(self, "values", frozen("Importances", "values", self.values, names))
        for what in ("by_degree", "by_class"):
            if (parts := getattr(self, what)) is not None:
                settle(self, what, frozen("Importances", what, parts, names, dimensions=2))
        if self.standard_error is not None:
            error = frozen_between("Importances", "standard_error", self.standard_error, names)
            settle(self, "standard_error", error)
        classes = checked_names("Importances", "classes", self.classes)
        settle(self, "classes", classes)
        n_classes = 0 if self.by_class is None else self.by_class.shape[1]
        if len(classes) != n_classes:
            raise ValueError(
                f"Importances: classes must name the {n_classes} columns of by_class, got "
                f"{len(classes)} names."
            )
        settle(self, "metadata", frozen_metadata("Importances", self.metadata))

    # --- as a collection -------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self.names, self.values.tolist(), strict=True)

    def __getitem__(self, name: str) -> float:
        try:
            return float(self.values[self.names.index(name)])
        except ValueError:
            raise KeyError(name) from None

    # --- ranking ---------------------------------------------------------------------------

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by decreasing value; ties keep column order."""
        return np.argsort(-self.values, kind="stable")

    def top(self, k: int) -> Importances:
        """Return the `k` most important features (all when p < k), the best first.

        Raises
        ------
        ValueError
            If `k` is negative.
        """
        checks.check_integer("Importances.top", "k", k, 0)
        return self.take(self.order()[:k])

    def take(
        self, index: NDArray[np.integer], *, names: Iterable[str] | None = None
    ) -> Importances:
        """Return the features at these indices, in their order, with all that is known of them.

        Parameters
        ----------
        index : ndarray of int, shape (q,)
            Indices of features; one may come several times where `names` tell its copies apart.
        names : iterable of str, optional
            New names of the q features; by default they keep theirs.
        """
        return replace(
            self,
            names=tuple(self.names[j] for j in index) if names is None else tuple(names),
            values=self.values[index],
            by_degree=None if self.by_degree is None else self.by_degree[index],
            standard_error=None if self.standard_error is None else self.standard_error[index],
            by_class=None if self.by_class is None else self.by_class[index],
        )

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

    def __repr__(self) -> str:
        best = self.top(_SHOWN)
        header = ["", "feature", self.unit if self.unit != "1" else "importance"]
        columns = [
            [str(i + 1) for i in range(len(best))],
            list(best.names),
            fixed(best.values, 4),
        ]
        if best.standard_error is not None:
            header.append("std. error")
            columns.append(fixed(best.standard_error, 2))
        count = f"{len(self)} feature" + ("" if len(self) == 1 else "s")
        unit = "a pure number" if self.unit == "1" else f"in {self.unit}"
        lines = [f"Importances: {self.measure} of {count}, {unit}"]
        if len(self):
            lines += aligned(header, columns, right=[True, False, True, True])
        if len(self) > len(best):
            lines.append(f"... and {len(self) - len(best)} more")
        return "\n".join(lines)
