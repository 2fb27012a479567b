"""Columns, sentences and figure of a test of each feature given all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from duramen.plots.direct import DIRECT_FEATURES
from duramen.reports.report import DRAWN, Chart, Group, Plot, Prose, Section, Table, joined
from duramen.reports.significance import Verdict
from duramen.results.columns import Column, counted, small
from duramen.results.conditional_significance import (
    DIRECT,
    LEVEL,
    SHARED,
    UNDECIDED,
    ConditionalSignificance,
)
from duramen.significance.conditional_tests.conditional import CONDITIONAL

TITLE = "Direct or by proxy"
_OF_TEST = f", {CONDITIONAL.title}"  # in the titles of p and q
_SAID = 5
_ROWS = 50
_MEANINGS = (
    "Direct: the target depends on the feature given all other features, so that the others do not "
    "replace it (q up to {level:g} in a test of each feature given all others). {rate}",
    "Shared with A, B: the feature is associated with the target (false discovery rate {level:g}), "
    "but it is not shown to be direct; most of its association goes through A and B.",
    "Undecided: neither is shown. No verdict says that a feature is noise: of two nearly equal "
    "features none tells much beside the other, and only both together can be shown to be direct.",
)
_RATE = (
    "Of the features called direct, a fraction of at most {level:g} is expected to be false "
    "(Storey, Taylor and Siegmund 2004), if the p-values are valid and nearly independent."
)
_RATE_OF_TREE = (
    "Groups are tested first, then the members of direct groups. Of the groups and features called "
    "direct, a fraction of at most {level:g} is expected to be false (Yekutieli 2008), if the "
    "p-values are valid and independent."
)


@dataclass(frozen=True, eq=False)
class Directness:
    """Test of each feature given all others, and clusters of features that are correlated."""

    result: ConditionalSignificance  # of all features
    of_groups: ConditionalSignificance | None  # of groups of several features
    members: Mapping[str, Sequence[str]]  # features of each group
    # Of the features that are direct or associated: correlated ones together, the first cluster and
    # the first feature of each with the smallest p-value.
    clusters: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The test, as it is shown beside others."""
        return Verdict(self.result, "", self.notes)

    def columns(self, names: Sequence[str]) -> list[Column]:
        """Return verdict, p and q of these features."""
        columns = self.verdict.columns(names)
        return [
            replace(column, title=column.title.replace(_OF_TEST, f", {DIRECT}"))
            for column in columns
        ]

    def counts(self) -> dict[str, int]:
        """Return how many features have each verdict."""
        verdicts = self.result.verdicts()
        shared = sum(verdict.startswith(SHARED) for verdict in verdicts)
        return {
            DIRECT: verdicts.count(DIRECT),
            SHARED: shared,
            UNDECIDED: verdicts.count(UNDECIDED),
        }

    def settings(self) -> dict[str, Any]:
        """Return what the test was told, for the record."""
        metadata = self.result.metadata
        recorded = (
            "method",
            "test",
            "estimator",
            "sampler",
            "n_folds",
            "n_draws",
            "strata",
            "groups",
        )
        return {name: metadata[name] for name in recorded if name in metadata}

    def figures(self) -> dict[str, Any]:
        """Return what was found, for the record."""
        figures = {
            "null": self.result.null,
            "level": LEVEL,
            "adjustment": self.result.adjustment,
            **self.counts(),
            "diagnosis": self.result.metadata.get("diagnosis"),
            "notes": list(self.notes),
        }
        if self.of_groups is not None:
            figures["direct_groups"] = list(self.of_groups.selected(LEVEL))
        return figures

    def line(self) -> str:
        """Return the result in a sentence."""
        count, p = self.counts()[DIRECT], len(self.result)
        rate = f"false discovery rate {LEVEL:g}"
        groups, none = "", f"none of {p:,} features"
        if self.of_groups is not None:
            chosen, of = self.of_groups.selected(LEVEL), counted(len(self.of_groups), "group")
            if not chosen and not count:
                none += f" and none of {of}"
            else:
                listed = f": {joined(chosen, shown=_SAID)}" if chosen else ""
                groups = f"; {len(chosen):,} of {of}{listed}"
        if not count:
            return (
                f"Given all others, {none} is shown to be direct ({rate}){groups}; "
                "this is no evidence that they are noise"
            )
        names = joined(self.result.selected(LEVEL), shown=_SAID)
        verb = "is" if count == 1 else "are"
        return (
            f"Given all others, {count:,} of {p:,} features {verb} direct ({rate}): {names}{groups}"
        )

    def section(self) -> Section:
        """Return the section of a report: words, the figure, and the clusters as a table."""
        rate = _RATE if self.of_groups is None else _RATE_OF_TREE
        meanings = [
            meaning.format(level=LEVEL, rate=rate.format(level=LEVEL)) for meaning in _MEANINGS
        ]
        words = Prose("Result", (f"{self.line()}.", *meanings, *self._fit(), *self.notes))
        if not self.clusters:
            return Group(TITLE, (words,), folded=False)
        return Group(TITLE, (words, self._chart(), self._table()), folded=False)

    def _fit(self) -> list[str]:
        """Return how well the draws of features fit, in a sentence."""
        diagnosis = self.result.metadata.get("diagnosis")
        if diagnosis is None:
            return []
        return [
            "The test draws features given the others. A forest told these draws from the data "
            f"with an area under the ROC curve of {diagnosis['auc']:.2f} (95% interval "
            f"{diagnosis['low']:.2f} to {diagnosis['high']:.2f}); it is .5 or less where the draws "
            "are right."
        ]

    def _chart(self) -> Chart:
        verdicts = self._verdicts
        drawn = [name for of in self.clusters for name in of][:DRAWN]
        direct = [name for name in drawn if verdicts[name] == DIRECT]
        which = f"{len(direct):,} of the {len(drawn):,} features drawn are direct"
        listed = f": {joined(direct, shown=DRAWN)}" if direct else ""
        return Chart(
            title="Correlated features, and which of them are direct",
            plot=Plot(DIRECT_FEATURES, self.result, {"clusters": self.clusters, "k": DRAWN}),
            text=f"Bar chart of -log10 of the q-value of each feature given all others, correlated "
            f"features together. {which}{listed}. The table below has the clusters.",
            caption="Bars: -log10 of the q-value of each feature given all others, blue if it is "
            f"direct (beyond the dashed line, q = {LEVEL:g}); circles: of its association with the "
            "target, whatever the others tell. Shaded blocks: clusters of correlated features.",
        )

    def _table(self) -> Table:
        verdicts, rows = self._verdicts, self.clusters[:_ROWS]
        p_values = dict(self.result)
        columns = (
            Column("features", [f"{len(of):,}" for of in rows]),
            Column(
                "direct",
                [
                    joined([name for name in of if verdicts[name] == DIRECT], shown=_SAID)
                    for of in rows
                ],
                "name",
            ),
            Column(
                "others",
                [
                    joined([name for name in of if verdicts[name] != DIRECT], shown=_SAID)
                    for of in rows
                ],
                "words",
            ),
            Column("smallest p", small(min(p_values[name] for name in of) for of in rows)),
        )
        return Table(
            "Clusters of the features that are direct or associated",
            columns,
            f"The first {len(rows):,} of {counted(len(self.clusters), 'cluster')}. Features are in "
            "one cluster if their Spearman correlations are at least .7 on average, in absolute "
            "value. The columns direct and conditional_q_value of result.csv hold all features.",
            what="clusters",
        )

    @property
    def _verdicts(self) -> dict[str, str]:
        return dict(zip(self.result.names, self.result.verdicts(), strict=True))
