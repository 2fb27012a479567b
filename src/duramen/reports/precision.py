"""Precision of a ranking: intervals over rows, stability over rows, and number of trees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.plots.importances import RANKING
from duramen.reports.facts import unit_words
from duramen.reports.report import DRAWN, Chart, Part, Plot, Prose
from duramen.results.significance import Intervals
from duramen.significance import Stability, TreesNeeded
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed

INTERVALS, STABILITY, TREES = "Confidence intervals", "Stability of the ranking", "Number of trees"
_REACH = 4  # times the trees of a forest up to which an agreement is extrapolated
_RESAMPLED = (
    "method",
    "seed",
    "n_resamples",
    "subsample",
    "k",
    "correction",
    "scale",
)
_SOURCES = {
    INTERVALS: "H. Ishwaran, M. Lu (2019). Standard errors and confidence intervals for variable "
    "importance in random forest regression, classification, and survival. Statistics in Medicine "
    "38.",
    STABILITY: "S. Nogueira, K. Sechidis, G. Brown (2018). On the stability of feature selection "
    "algorithms. Journal of Machine Learning Research 18(174).",
    TREES: "V. A. Huynh-Thu, Y. Saeys, L. Wehenkel, P. Geurts (2012). Statistical interpretation "
    "of machine learning-based feature importance scores for biomarker discovery. Bioinformatics "
    "28.",
}


@dataclass(frozen=True, eq=False)
class Precision:
    """Dependence of a ranking on the rows and on the number of trees, as far as it was computed."""

    title: str  # of the measure that ranks
    intervals: Intervals | None = None
    stability: Stability | None = None
    trees: TreesNeeded | None = None

    def columns(self, names: Sequence[str]) -> dict[str, FloatArray]:
        """Return the columns of a table of results, for these features."""
        columns = {}
        if (intervals := self.intervals) is not None:
            rows = _rows(intervals.names, names)
            columns["interval_low"] = intervals.low[rows]
            columns["interval_high"] = intervals.high[rows]
            columns["interval_standard_error"] = intervals.standard_error[rows]
            if intervals.p_values is not None:
                columns["interval_p_value"] = intervals.p_values[rows]
        if (stable := self.stability) is not None:
            columns["selection_frequency"] = stable.frequency[_rows(stable.names, names)]
        return columns

    def ends(self, names: Sequence[str]) -> tuple[FloatArray, FloatArray] | None:
        """Return the ends of the intervals of these importances; None without such intervals."""
        if self.intervals is None or self.of_fractions:
            return None
        rows = _rows(self.intervals.names, names)
        return self.intervals.low[rows], self.intervals.high[rows]

    @property
    def of_fractions(self) -> bool:
        """Tell whether the intervals are of fractions of the sum of the importances."""
        return self.intervals is not None and self.intervals.metadata.get("scale") == "fraction"

    @property
    def heading(self) -> str:
        """Heading of a column of intervals; "" without any."""
        if self.intervals is None:
            return ""
        level = _percent(self.intervals.confidence_level)
        return f"{level} interval{', fraction' * self.of_fractions}"

    def cells(self, names: Sequence[str]) -> list[str]:
        """Return the intervals of these features as text; none without intervals."""
        if self.intervals is None:
            return []
        rows = _rows(self.intervals.names, names)
        ends = fixed(np.concatenate([self.intervals.low[rows], self.intervals.high[rows]]), 3)
        return [f"{low} to {high}" for low, high in zip(ends, ends[len(names) :], strict=False)]

    def sections(self) -> list[Part]:
        """Return the sections of a report about intervals and stability."""
        parts: list[Part] = []
        if self.intervals is not None:
            parts += self._interval_parts(self.intervals)
        if self.stability is not None:
            parts += self._stability_parts(self.stability)
        return parts

    def of_trees(self) -> list[Part]:
        """Return the section of a report about the number of trees."""
        if self.trees is None:
            return []
        needed = trees_words(self.trees, self.title)
        return [Prose(TREES, (needed, _TREES), brief=(needed,))]

    def references(self) -> list[str]:
        """Return the sources of what is known."""
        results = {INTERVALS: self.intervals, STABILITY: self.stability, TREES: self.trees}
        return [
            f"{what}: {_SOURCES[what]}" for what, result in results.items() if result is not None
        ]

    def settings(self) -> dict[str, Any]:
        """Return the settings for the record."""
        results: dict[str, Intervals | Stability | None]
        results = {"intervals": self.intervals, "stability": self.stability}
        return {
            name: {
                "measure": result.metadata["measure"],
                "confidence_level": result.confidence_level,
                **_resampled(result),
            }
            for name, result in results.items()
            if result is not None
        }

    def figures(self) -> dict[str, Any]:
        """Return a few figures for the record."""
        figures: dict[str, Any] = {}
        if self.intervals is not None:
            intervals = self.intervals
            above = {"features_with_interval_above_0": len(intervals.above())}
            tested = {} if intervals.p_values is None else above
            figures["intervals"] = {**tested, "notes": list(intervals.notes)}
        if (stable := self.stability) is not None:
            numbers = {"stability": stable.nogueira, "low": stable.low, "high": stable.high}
            figures["stability"] = {
                **{name: _finite(number) for name, number in numbers.items()},
                "notes": list(stable.notes),
            }
        if (trees := self.trees) is not None:
            figures["trees_needed"] = {
                "first_features": trees.k,
                "agreement_of_halves": float(trees.agreement[-1]),
                "agreement_interval": list(trees.interval()),
                "wanted_agreement": trees.wanted,
                "trees_to_rank": _finite(trees.trees_to_rank),
                "trees_to_see": _finite(trees.trees_to_see),
            }
        return figures

    def _interval_parts(self, intervals: Intervals) -> list[Part]:
        best = intervals.top(DRAWN)
        listed = ", ".join(
            f"{name} {low:.3g} to {high:.3g}" for name, (low, high) in list(best)[:5]
        )
        settings, level = intervals.metadata, _percent(intervals.confidence_level)
        fraction = settings["subsample"]
        units = "groups" if settings.get("groups") is not None else "rows"
        covered = "fraction of the sum of all importances" if self.of_fractions else "importance"
        zero = (
            "The importance of an irrelevant feature is 0 on average: the columns "
            "interval_p_value of result.csv hold one-sided p-values of this null hypothesis, for "
            "each feature alone."
            if intervals.p_values is not None
            else f"{self.title} of an irrelevant feature is not 0 on average, so that an interval "
            "above 0 is no evidence of relevance."
        )
        return [
            Chart(
                INTERVALS,
                Plot(RANKING, best, {"k": len(best)}),
                f"Bar chart of the {len(best)} most important features by {self.title} with "
                f"{level} confidence intervals. First: {listed}.",
                f"{self.title}, in {unit_words(intervals.unit)}. "
                f"Lines: {level} confidence intervals.",
            ),
            Prose(
                "About the intervals",
                (
                    "An interval covers, with a probability of "
                    f"{intervals.confidence_level:g}, the {covered} that forests on as many rows "
                    "have on average over data sets. It comes from "
                    f"{settings['n_resamples']:,} forests on {fraction:,} random {units} each, and "
                    "takes the error of finitely many trees into account. The level holds for "
                    "each interval separately: of many intervals, some miss the value.",
                    zero,
                    *intervals.notes,
                ),
            ),
        ]

    def _stability_parts(self, stable: Stability) -> list[Part]:
        k = int(stable.metadata["k"])
        selected = int(np.count_nonzero(stable.frequency))
        most = stable.top(min(DRAWN, selected))
        listed = ", ".join(f"{name} {fraction:.0%}" for name, fraction in list(most)[:5])
        return [
            Chart(
                STABILITY,
                Plot(RANKING, most, {"k": len(most)}),
                f"Bar chart of the fraction of forests on halves of the rows that have a feature "
                f"among their {k} most important ones. First: {listed}.",
                f"Fraction of {stable.n_selections:,} forests on random halves of the rows that "
                f"have a feature among their {k} most important ones by {self.title}.",
            ),
            Prose(
                "About the stability",
                (
                    f"{_stability_words(stable, self.title)} The interval is over the choice of "
                    "halves, not over other data sets. Halves share half of their rows, so that "
                    "rankings of independent data sets agree less.",
                    "Correlated features can replace each other among the first, although the "
                    "same information is found each time. A stable ranking need not be correct.",
                    *stable.notes,
                ),
                brief=(_stability_words(stable, self.title),),
            ),
        ]


_TREES = (
    "Two forests on the same rows differ only by their random numbers. Their agreement is "
    "measured on halves of this forest, and the advised number of trees is extrapolated: grow so "
    "many, and check again. Features that are equivalent on "
    "these rows, such as copies, never have a fixed order. More trees do not make a ranking "
    "valid for other rows."
)


def trees_words(needed: TreesNeeded, title: str) -> str:
    """Say whether the trees suffice for the first features, and how many would."""
    first = "the first feature" if needed.k == 1 else f"the first {needed.k} features"
    n, wanted = f"{needed.n_trees:,} trees", f"{needed.wanted:.0%}"
    low, high = needed.interval()
    half, agreed = f"{int(needed.sizes[-1]):,}", float(needed.agreement[-1])
    common = (
        f"two forests of {half} trees on these rows have {agreed:.0%} of them in common on "
        f"average, and a new pair {low:.0%} to {high:.0%} (95% prediction interval)"
        if needed.k > 1
        else f"two forests of {half} trees on these rows have the same first feature with an "
        f"estimated probability of {agreed:.2f}"
    )
    if needed.trees_to_rank <= needed.n_trees:
        said = (
            f"{n} are sufficient for an average agreement of {wanted} on {first} by {title}: "
            f"{common}"
        )
        if agreed < needed.wanted:
            said += f"; {needed.expected_agreement:.0%} are expected of {n}"
    elif math.isinf(needed.trees_to_rank):
        most = _REACH * needed.n_trees
        said = (
            f"{n} are too few for {first} by {title}: {common}, and {most:,} trees "
            f"would not suffice for {wanted}; features next to each other may be equally important"
        )
    else:
        said = (
            f"{n} are too few for {first} by {title}: {common}; about "
            f"{_rounded(needed.trees_to_rank):,} trees are needed for {wanted}"
        )
    if needed.n_trees < needed.trees_to_see < math.inf:
        said += (
            f"; {needed.trees_to_see:,.0f} trees have every feature as a candidate at some node "
            f"with a probability of {1 - needed.risk:g}"
        )
    return f"{said}."


def _stability_words(stable: Stability, title: str) -> str:
    """Say how far the first features depend on the rows."""
    k = stable.metadata["k"]
    first = "first feature" if k == 1 else f"first {k} features"
    if math.isnan(stable.nogueira):
        return f"The stability of the {first} by {title} is not defined."
    interval = "no interval"
    if not math.isnan(stable.low):
        interval = (
            f"{_percent(stable.confidence_level)} interval {stable.low:.2f} to {stable.high:.2f}"
        )
    return (
        f"Stability of the {first} by {title} over {stable.n_selections:,} random halves of the "
        f"rows: {stable.nogueira:.2f} ({interval}); 1 if every half selects the same "
        "features, 0 on average by chance."
    )


def _rows(ranked: Sequence[str], names: Sequence[str]) -> NDArray[np.intp]:
    place = {name: j for j, name in enumerate(ranked)}
    return np.array([place[name] for name in names], dtype=np.intp)


def _resampled(result: Intervals | Stability) -> dict[str, Any]:
    metadata: Mapping[str, Any] = result.metadata
    own = {name: metadata[name] for name in _RESAMPLED if name in metadata}
    return (
        {**own, "kind": result.kind, "method": result.method}
        if isinstance(result, Intervals)
        else own
    )


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _percent(level: float) -> str:
    return f"{100 * level:g}%"


def _rounded(number: float) -> int:
    """Return a number rounded up to two digits."""
    step = 10.0 ** max(0, math.floor(math.log10(number)) - 1)
    return int(math.ceil(number / step) * step)
