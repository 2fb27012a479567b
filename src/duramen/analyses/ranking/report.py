"""Report of a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duramen.analyses.problem import Problem
from duramen.analyses.ranking.measuring import Found
from duramen.analyses.report import AnalysisReport
from duramen.results.columns import Column, features
from duramen.support.text import fixed

if TYPE_CHECKING:
    from duramen.data import EncodedTable
    from duramen.results.error_rates import ErrorRates
    from duramen.results.significance import Significance


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RankingReport(AnalysisReport):
    """Report of `duramen.rank`: importances, verdicts and directions of all features.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 6, n_relevant=2, random_state=0)
    >>> report = dm.rank(data.X, data.y, n_jobs=1)
    >>> report.selected
    ('x0', 'x1')
    """

    found: Found
    problem: Problem[EncodedTable]

    @property
    def conclusion(self) -> str:
        """The result in a sentence: what was found, and how accurate the forest is out of bag."""
        from duramen.reports.conclusion import conclusion

        return conclusion(self.run, self.found.tested)

    @property
    def importances(self) -> dict[str, Any]:
        """Importances by each measure, by its name; the first one orders the table."""
        return dict(zip(self.found.names, self.found.measures, strict=True))

    @property
    def significance(self) -> Significance | ErrorRates | None:
        """Result of the test; None if none was run."""
        return None if self.found.tested is None else self.found.tested.result

    @property
    def selected(self) -> tuple[str, ...]:
        """Features that the test selects, the best first: those confirmed, and candidates."""
        return () if self.found.tested is None else self.found.tested.selected()

    @property
    def verdicts(self) -> dict[str, str]:
        """Verdict of each feature, "confirmed", "candidate" or "noise", in the order of the table.

        Empty where the test gives none.
        """
        return self._words("verdict")

    @property
    def directions(self) -> dict[str, str]:
        """Directions of the effects, in words, of the features for which they are described."""
        return {name: words for name, words in self._words("direction").items() if words}

    def _words(self, column: str) -> dict[str, str]:
        if column not in self.table:
            return {}
        return dict(zip(_listed(self.table["name"]), _listed(self.table[column]), strict=True))

    def _shown_columns(self, rows: int) -> Sequence[Column]:
        best = self.found.ranked(rows)
        first = best.first
        error = first.standard_error
        ends = None if error is None else (first.values - error, first.values + error)
        heading = best.scores[0].heading
        columns = [
            *features(first.names),
            Column(heading, fixed(first.values, 4), bars=first.values, whiskers=ends),
        ]
        columns += [
            Column(one.title, one.cells, left=one.numbers is None) for one in best.judgments()
        ]
        for score in best.scores:
            columns += [Column(title, cells) for title, cells in best.tests(score)]
        return columns


def _listed(column: Any) -> list[str]:
    """Return a column of text as a list."""
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)
