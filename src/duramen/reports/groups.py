"""Importances of groups of features that are permuted together, in tables and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duramen.reports.facts import unit_words
from duramen.reports.report import Table, joined
from duramen.results.columns import Column
from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed

TITLE = "Groups of features"
_ROWS, _MEMBERS, _SAID = 50, 6, 5


@dataclass(frozen=True, eq=False)
class GroupImportances:
    """MDA of groups of features, each permuted as a whole, and of their features alone."""

    importances: Importances  # of the groups
    members: Mapping[str, Sequence[str]]  # the features of each group
    of_features: Importances | None  # MDA of single features, where it was computed
    source: str  # the file that names them, or how they were found

    @property
    def sums(self) -> FloatArray | None:
        """Sum of the MDA of the features of each group, each permuted alone."""
        if self.of_features is None:
            return None
        alone = dict(self.of_features)
        return np.array(
            [sum(alone[name] for name in self.members[one]) for one in self.importances.names]
        )

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table of groups, the most important first."""
        order = self.importances.order()
        best = self.importances.top(len(order))
        columns = best.columns()
        columns["n_features"] = [len(self.members[name]) for name in best.names]
        if self.sums is not None:
            columns["sum_of_features"] = self.sums[order]
        columns["features"] = [";".join(self.members[name]) for name in best.names]
        return columns

    def _line(self) -> str:
        """Return the first groups, as a line in a terminal."""
        best = self.importances.top(_SAID)
        cells = zip(best.names, fixed(best.values, 3), strict=True)
        more = len(self.importances) - len(best)
        listed = ", ".join(f"{name} {cell}" for name, cell in cells)
        return (
            f"Groups by the MDA of permuting their features together ({self.source}): {listed}"
            + (f", and {more:,} more in result-groups.csv" if more > 0 else "")
        )

    def table(self) -> Table:
        """Return the section of a report."""
        order = self.importances.order()[:_ROWS]
        best = self.importances.top(_ROWS)
        columns = [
            Column("group", best.names, "name"),
            Column("features", [f"{len(self.members[n]):,}" for n in best.names]),
            Column(f"MDA, {unit_words(best.unit)}", fixed(best.values, 4)),
        ]
        if best.standard_error is not None:
            columns.append(Column("std. error", fixed(best.standard_error, 2), minor=1))
        if self.sums is not None:
            columns.append(Column("sum of single features", fixed(self.sums[order], 4), minor=1))
        listed = [joined(list(self.members[name]), shown=_MEMBERS) for name in best.names]
        columns.append(Column("members", listed, "words", minor=1))
        note = self._note(len(best))
        return Table(TITLE, tuple(columns), note, brief=(self._line(),))

    def settings(self) -> dict[str, Any]:
        """Return the settings for the record."""
        known = self.importances.metadata.get("mda", {})
        return {"source": self.source, "n_groups": len(self.importances), **known}

    def _note(self, shown: int) -> str:
        count = len(self.importances)
        which = f"The first {shown:,} of {count:,}" if shown < count else f"All {count:,}"
        words = (
            f"{which} groups ({self.source}; a feature in no group is its own group), all in "
            "result-groups.csv. The MDA of a group is the loss of accuracy on out-of-bag rows "
            "when all of its features are permuted together, by the same permutation."
        )
        if self.sums is None:
            return words
        return (
            f"{words} If it exceeds the sum over its features permuted alone, these can replace "
            "each other; if it is smaller, several of them are needed for the same predictions."
        )
