"""Sets of features that occur together, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duramen.results.columns import Column, hidden, places
from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed


@dataclass(frozen=True, eq=False, repr=False)
class FeatureSets(Result):
    """Sets of features on common paths of trees, those of largest stability or prevalence first.

    ``len(result)`` is the number of sets.

    Parameters
    ----------
    sets : tuple of tuple of str
        Names of the features of each set, all sets different.
    prevalence : ndarray of float64, shape (s,)
        Fraction of the weight of the leaves whose paths split on all features of the set.
    stability : ndarray of float64, shape (s,), optional
        Fraction of the forests on resampled rows in which the set was found.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data: whatever `json` can hold.
    notes : tuple of str
        Limits of the result, a sentence each.

    Raises
    ------
    ValueError
        If a set repeats, or numbers are not one for each set, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.importances import FeatureSets
    >>> FeatureSets((("a", "b"), ("a", "b", "c")), np.array([0.5, 0.25])).sets[0]
    ('a', 'b')
    """

    sets: tuple[tuple[str, ...], ...]
    prevalence: FloatArray
    stability: FloatArray | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = "FeatureSets"
        sets = tuple(tuple(names) for names in self.sets)
        if len({frozenset(names) for names in sets}) < len(sets):
            raise ValueError(f"{owner}: sets must be different, but one repeats.")
        object.__setattr__(self, "sets", sets)
        self._freeze(["prevalence", "stability"], (len(sets),), (0.0, 1.0 + 1e-9))

    def __len__(self) -> int:
        return len(self.sets)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: names, size, prevalence and stability of each set."""
        columns: dict[str, Any] = {
            "features": [" ".join(names) for names in self.sets],
            "size": np.array([len(names) for names in self.sets], dtype=np.int64),
            "prevalence": self.prevalence,
        }
        if self.stability is not None:
            columns["stability"] = self.stability
        return columns

    def _summary(self, rows: int) -> Summary:
        shown = min(rows, len(self))
        columns = [
            places(shown),
            Column("features", [", ".join(names) for names in self.sets[:shown]], "words"),
            Column("prevalence", fixed(self.prevalence[:shown], 3), bars=self.prevalence[:shown]),
        ]
        if self.stability is not None:
            columns.append(Column("stability", fixed(self.stability[:shown], 2)))
        heading = f"FeatureSets: {len(self)} sets of features on common paths"
        return Summary((heading,), columns, hidden(len(self), shown, "sets"), self.notes)
