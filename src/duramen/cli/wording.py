"""Words for parameters on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from duramen.analyses.wording import Wording

if TYPE_CHECKING:
    from duramen.importances import Measure
    from duramen.selection import Selector
    from duramen.significance import SignificanceTest


@dataclass(frozen=True)
class Options(Wording):
    """Options, with the names of measures and tests in kebab case."""

    again: str = "the same command"
    forest: str = "--forest {}"
    trees: str = "--trees"
    bootstrap: str = "--bootstrap"
    smaller: str = "--max-rows, --trees, --max-depth or --min-leaf makes a smaller forest"
    fair: str = "--measure NAME ranks without this bias, with NAME one of {}"
    as_classes: str = "--task classification"
    memory: str = "duramen select: --memory"
    no_test: str = "--no-test"
    permutations: str = "--permutations {}"
    intervals: str = "--intervals"
    fraction: str = "--interval-scale fraction"
    stability: str = "--stability"
    feature_groups: str = "--feature-groups"
    pos_label: str = "--positive"

    def names(self, measures: Iterable[Measure]) -> list[str]:
        """Return the names of measures."""
        return [measure.option for measure in measures]

    def measure(self, measure: Measure | None = None) -> str:
        """Return the option for a measure; of none, the option alone."""
        return "--measure" if measure is None else f"--measure {measure.option}"

    def measure_name(self, measure: Measure) -> str:
        """Return the name of a measure in sentences."""
        return measure.option

    def method(self, record: Selector) -> str:
        """Return the option for a selector."""
        return f"--method {record.option}"

    def test(self, test: SignificanceTest) -> str:
        """Return the option for a test."""
        return f"--significance {test.option}"

    def test_name(self, test: SignificanceTest) -> str:
        """Return the name of a test in sentences."""
        return test.option


OPTIONS = Options()
