"""Words for parameters in messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duramen.importances import Measure
    from duramen.selection import Selector
    from duramen.significance import SignificanceTest


@dataclass(frozen=True)
class Wording:
    """Parameters as a user writes them: those of Python, and of the command line in `cli`."""

    again: str = "the same call"
    forest: str = "{}"
    bootstrap: str = "bootstrap=True"
    smaller: str = "fewer rows, a smaller n_estimators or max_depth, or a larger min_samples_leaf"
    fair: str = "measure=NAME ranks without this bias, with NAME one of {}"
    as_classes: str = "task='classification'"
    memory: str = "select: memory"
    no_test: str = "test=False"
    permutations: str = "n_permutations={}"
    intervals: str = "intervals"
    fraction: str = "interval_scale='fraction'"
    stability: str = "stability"
    feature_groups: str = "feature_groups"
    pos_label: str = "rank: pos_label"

    def names(self, measures: Iterable[Measure]) -> list[str]:
        """Return the names of measures."""
        return [repr(measure.name) for measure in measures]

    def measure(self, measure: Measure | None = None) -> str:
        """Return the choice of a measure; of none, the name of the parameter."""
        return "measure" if measure is None else f"measure={measure.name!r}"

    def measure_name(self, measure: Measure) -> str:
        """Return the name of a measure in sentences."""
        return measure.name

    def method(self, record: Selector) -> str:
        """Return the choice of a selector."""
        return f"selector={record.name!r}"

    def test(self, test: SignificanceTest) -> str:
        """Return the choice of a test."""
        return f"test={test.name!r}"

    def test_name(self, test: SignificanceTest) -> str:
        """Return the name of a test in sentences."""
        return test.name


PYTHON = Wording()
