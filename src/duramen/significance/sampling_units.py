"""Units that resampling draws: single rows, or whole groups of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.significance.measured import Data
from duramen.significance.resampling import Draw, rows_by_class
from duramen.support.arrays import IntArray


@dataclass(frozen=True, eq=False)
class SamplingUnits:
    """Rows of a table, or its groups where it has some."""

    count: int  # number N of units
    # (N,): Class of each unit, for draws within classes; groups with rows of several classes
    # are one class more. None in regression.
    labels: NDArray[Any] | None
    members: list[IntArray] | None = None  # rows of each group; None where each row is a unit

    @classmethod
    def of(cls, data: Data) -> SamplingUnits:
        """Return the units of a learning set."""
        groups = data.exchangeability.groups
        labels = data.target.codes
        if groups is None:
            return cls(data.n_rows, labels)
        members = rows_by_class(groups)
        if labels is None:
            return cls(len(members), None, members)
        several = data.target.n_classes
        of_groups = np.array(
            [c[0] if (c[0] == c).all() else several for c in (labels[rows] for rows in members)]
        )
        return cls(len(members), of_groups, members)

    @property
    def name(self) -> str:
        """Name of the units, in the plural."""
        return "rows" if self.members is None else "groups"

    @property
    def n_classes(self) -> int:
        """Number of classes of the units; 0 in regression."""
        return 0 if self.labels is None else len(np.unique(self.labels))

    @property
    def smallest(self) -> int | None:
        """Number of units of the smallest class; None in regression."""
        return None if self.labels is None else min(map(len, rows_by_class(self.labels)))

    def rows(self, draw: Draw) -> Draw:
        """Return a function that draws the rows of the units that `draw` draws, ascending."""
        members = self.members
        if members is None:
            return draw

        def drawn(random: np.random.Generator) -> IntArray:
            return np.sort(np.concatenate([members[unit] for unit in draw(random)]))

        return drawn
