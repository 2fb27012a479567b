"""Request for a ranking: number of trees, groups of features, significance test, resampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duramen.analyses.execution import Wording
    from duramen.importances import Measure
    from duramen.results.significance import ErrorRates
    from duramen.significance import SignificanceTest


@dataclass(frozen=True)
class Groups:
    """Groups of features."""

    file: str  # where they come from: the name of a file, without its folder, or "clusters"
    of_feature: Mapping[str, str]  # the group of each feature that is in one
    wider: bool = False  # whether it covers features that a table may lack

    @classmethod
    def of_clusters(cls, members: Mapping[str, Sequence[str]], prefix: str = "") -> Groups:
        """Return clusters of several features as groups, called as the clusters after a prefix."""
        several = [(prefix + name, own) for name, own in members.items() if len(own) > 1]
        return cls("clusters", {feature: name for name, own in several for feature in own})

    def members(self) -> dict[str, list[str]]:
        """Return the features of each group, groups in the order in which the file has them."""
        members: dict[str, list[str]] = {}
        for feature, name in self.of_feature.items():
            members.setdefault(name, []).append(feature)
        return members

    def whole(self, features: Sequence[str]) -> dict[str, list[str]]:
        """Return the features of each group, and after them each feature in none by itself."""
        alone = {name: [name] for name in features if name not in self.of_feature}
        return self.members() | alone

    def count(self, n_features: int) -> int:
        """Return how many groups there are of so many features, those of one included."""
        return n_features - len(self.of_feature) + len(set(self.of_feature.values()))

    def spread(self, rates: ErrorRates) -> ErrorRates:
        """Return error rates of groups as those of features, each with what its group has."""
        members = self.members()
        of_group = [members.get(name, [name]) for name in rates.names]
        index = [place for place, names in enumerate(of_group) for _ in names]
        return replace(
            rates,
            names=tuple(feature for names in of_group for feature in names),
            scores=rates.scores[index],
            rates=rates.rates[index],
            n_known=sum(map(len, of_group[: rates.n_known])),
            details={what: column[index] for what, column in rates.details.items()},
            metadata={**rates.metadata, "feature_groups": self.file, "n_groups": len(rates)},
        )


@dataclass(frozen=True)
class Request:
    """Significance test that the user asked for."""

    test: SignificanceTest
    permutations: int | None = None  # rounds; None for the test's default
    # Further parameters, without groups; strata and groups are in the learning set.
    choices: Mapping[str, Any] = field(default_factory=dict)
    feature_groups: Groups | None = None  # of features that it ranks in place of these
    default: bool = False  # whether the user named no test

    def check(self, wording: Wording, owner: str = "") -> None:
        """Check that there are as many permutations as an error rate of the test needs.

        Raises
        ------
        ValueError
            If not.
        """
        least = self.test.least
        if self.permutations is not None and self.permutations < least:
            raise ValueError(
                f"{owner}{wording.test(self.test)} needs {wording.permutations.format(least)} or "
                f"more for an error rate up to .05, got {self.permutations}"
            )

    def with_groups(self, feature_groups: Groups | None, features: Sequence[str]) -> Request:
        """Return the request for these groups, if the test is of groups.

        The default test is of features alone where a group has the name of one.
        """
        named = set() if feature_groups is None else set(feature_groups.of_feature.values())
        unfit = not self.test.of_groups or (self.default and not named.isdisjoint(features))
        return replace(self, feature_groups=None if unfit else feature_groups)

    @property
    def tests_groups(self) -> bool:
        """True if the user named a test of groups."""
        return self.test.of_groups and not self.default

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
        return next(measure for measure in chain(chosen, catalogue) if self.test.suits(measure))

    def n_tested(self, n_features: int) -> int:
        """Return how many features, or groups of them, there are."""
        return n_features if self.feature_groups is None else self.feature_groups.count(n_features)


TREES, LEAST_TREES = 1000, 50
"""Number of trees by default, and of those of the tallest tables."""
MANY_ROWS = 100_000
"""From so many rows on there are fewer trees by default."""


def trees_by_default(n_rows: int) -> int:
    """Return the number of trees for a table of so many rows.

    The trees of a tall table take long, and differ less than those of a short one.
    """
    return max(LEAST_TREES, min(TREES, TREES * MANY_ROWS // n_rows))


def fewer_trees(n_rows: int, parameter: str) -> list[str]:
    """Say so where there are fewer trees by default; the parameter sets another number."""
    n_trees = trees_by_default(n_rows)
    if n_trees == TREES:
        return []
    return [
        f"the forest has {n_trees:,} trees instead of {TREES:,}, as the table has {n_rows:,} "
        f"rows; {parameter} sets another number"
    ]


def with_estimates(estimator: Any) -> Any:
    """Return an estimator that computes out-of-bag estimates if its trees leave rows out."""
    from duramen.importances.refit import leaves_rows_out

    return estimator.set_params(oob_score=leaves_rows_out(estimator))


def default_forest(task: str, n_trees: int, **work: Any) -> Any:
    """Return the random forest that features are ranked by if no other is asked for."""
    from duramen.estimators.catalogue import FORESTS

    estimator = FORESTS[0].estimator(task)(n_estimators=n_trees, **work)
    return with_estimates(estimator.set_params(**estimator.target_class.ranking_parameters))


@dataclass(frozen=True)
class Resampling:
    """Intervals and stability of a ranking that the user asked for."""

    intervals: bool = False
    scale: str = "importance"  # of the intervals
    stability: int | None = None  # number of first features whose stability is asked for
    confidence_level: float = 0.95  # of the intervals
    resamples: int | None = None  # parts of the rows

    @property
    def words(self) -> str:
        """Words for the intervals and the stability; empty without either."""
        asked = {"confidence intervals": self.intervals, "stability": self.stability is not None}
        return " and ".join(name for name, is_asked in asked.items() if is_asked)
