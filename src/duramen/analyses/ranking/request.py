"""Significance test of a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from duramen.analyses.ranking.groups import Groups

if TYPE_CHECKING:
    from duramen.importances import Measure
    from duramen.significance import SignificanceTest


@dataclass(frozen=True)
class Request:
    """Significance test that the user asked for."""

    test: SignificanceTest
    permutations: int | None = None  # rounds; None for the test's default
    # Further parameters, without groups; strata and groups are in the learning set.
    choices: Mapping[str, Any] = field(default_factory=dict)
    feature_groups: Groups | None = None  # of features that it ranks in place of these
    default: bool = False  # whether the user named no test

    def measure(self, chosen: Sequence[Measure], estimator: Any) -> Measure | None:
        """Return the measure that is tested: the first of these that suits the test, or of all.

        There is none for a test of the rows. The default test has a measure of its own, whatever is
        ranked by.
        """
        from duramen.importances import catalogue
        from duramen.significance.measured import automatic

        if self.default:
            return catalogue[automatic(estimator)]
        if self.test.of_rows:
            return None
        return next(one for one in chain(chosen, catalogue) if self.test.suits(one))

    def n_tested(self, n_features: int) -> int:
        """Return how many features, or groups of them, there are."""
        return n_features if self.feature_groups is None else self.feature_groups.count(n_features)
