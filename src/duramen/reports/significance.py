"""Columns and sentences of tables and reports about a test of significance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from duramen.importances import catalogue as measures
from duramen.plots.importances import P_VALUES
from duramen.reports.facts import LEVEL, adjusted_words
from duramen.reports.report import Chart, Part, Plot, Prose
from duramen.results.columns import Column, counted, small
from duramen.results.conditional_significance import DIRECT, ConditionalSignificance
from duramen.results.importances import Importances
from duramen.results.significance import (
    ALONE,
    CANDIDATE,
    CONFIRMED,
    JOINTLY,
    NOISE,
    WITH_OTHERS,
    AdjustedSignificance,
    ErrorRates,
    Significance,
)
from duramen.significance import SignificanceTest
from duramen.significance import catalogue as tests
from duramen.support.arrays import FloatArray

_VERDICTS = (
    f"Features whose family-wise adjusted p-value (p adj., step-down max-T) is up to {LEVEL:g} "
    "are confirmed. Of the others, those with an estimated false discovery rate (FDR) up to "
    f"{LEVEL:g} and a p-value of their own up to {LEVEL:g} are candidates: the rate is that of "
    "selecting all features with at least this test statistic, and those confirmed before. The "
    "others are called noise, because they were "
    "not distinguished from noise; this is no evidence that a feature is irrelevant."
)
_EVIDENCE = (
    'The evidence of a confirmed feature is "alone" if the rank statistic of the feature by itself '
    '{jointly}confirms it, and "with others" if only its importance in the forests of the test '
    "does, as that of features that act through interactions. The evidence of a candidate is its "
    "largest statistic."
)
_JOINTLY = 'confirms it, else "jointly" if its statistic in a linear model of all features '
_NEGATIVE = " (importance < 0)"
_VERDICT = 12  # characters that a narrow terminal leaves to the verdict of a conditional test
_IMPORTANCE = (
    "standardized importance: the excess over its mean under permuted labels, in units of its "
    "standard deviation under permuted labels"
)
_LARGEST = (
    "the largest of {count} statistics, each on the scale of its maximum over all features under "
    f"the same permutations: their {_IMPORTANCE}; a rank statistic of the feature by itself "
    "(by the kinds of feature and target, that of Mann and Whitney, of Kruskal and Wallis, "
    "Spearman's correlation, chi-squared, or the log-rank test){more}."
)
_STATISTICS = {
    (): f"their {_IMPORTANCE}.",
    ("marginal",): _LARGEST.format(count="two", more=""),
    ("marginal", "joint"): _LARGEST.format(
        count="three",
        more="; and the effect of the feature in a ridge regression of the scores of the target on "
        "all features, in standard errors",
    ),
}
_GROWN = (
    "The test grew {forests:,} forests, with {trees} trees each and with seeds other than that "
    "of the forest of this report. It compares features by {statistics} {stages}The table is "
    "ordered by the verdicts, and within a verdict by the importances in the forest of this report."
)
_STAGES = (
    "There were {stages} stages: in each after the first, the features confirmed before were "
    "permuted together with the target, which keeps their association with it, and the others "
    "were tested again. "
)


@dataclass(frozen=True, eq=False)
class Verdict:
    """A test of a measure."""

    result: Significance | ErrorRates  # of the features that were ranked, in any order
    measure: str  # as its function is called; "" of a test that is about none
    notes: tuple[str, ...] = ()  # what was to be said when it was computed
    of_groups: AdjustedSignificance | None = None  # groups that were tested before their members

    @property
    def test(self) -> SignificanceTest:
        """The record of the test."""
        return tests[self.result.method]

    @property
    def title(self) -> str:
        """The method and the measure, for sentences."""
        if sum(map(self.test.suits, measures)) <= 1:  # its title says which
            return self.test.title
        return f"{self.test.title} of {measures[self.measure].title}"

    @property
    def limit(self) -> str:
        """Criterion of the selected features, in a few words."""
        if isinstance(self.result, Significance):
            return f"q up to {LEVEL:g}"
        article = "an" if self.test.rate[0] in "aeiou" else "a"
        return f"{article} {self.test.rate} up to {LEVEL:g}"

    @property
    def meaning(self) -> str:
        """Null hypothesis, or meaning of the rates, in one sentence with a name before it."""
        if isinstance(self.result, Significance):
            return f"Null hypothesis: {self.result.null}"
        return f"{self.test.rate.capitalize()}: {self.result.meaning}"

    def note(self, title: str) -> str:
        """Return the sentence below a table, after the count; `title` is of the first measure."""
        return self.order_note(title) or self.meaning

    def order_note(self, title: str) -> str:
        """Return how verdicts order a table, and what they compare; empty without verdicts."""
        if not isinstance(self.result, AdjustedSignificance):
            return ""
        order = f"Features are in the order of verdicts, then of {title}."
        if not self.has_evidence:
            return f"{order} Verdicts compare importances standardized under permuted labels."
        compared = "larger of standardized importance and a rank statistic of the feature by itself"
        if "joint" in self.beside:
            compared = (
                "largest of standardized importance, a rank statistic of the feature by itself, "
                "and its effect in a linear model of all features"
            )
        return (
            f'{order} Verdicts compare the {compared}; evidence "with others": only the importance '
            "reaches the threshold."
        )

    def verdicts(self) -> dict[str, str]:
        """Return the verdict on each feature, of a test that gives them."""
        if not isinstance(self.result, AdjustedSignificance):
            return {}
        return dict(zip(self.result.names, self.result.verdicts(LEVEL), strict=True))

    @property
    def has_evidence(self) -> bool:
        """True if verdicts depend on statistics of features by themselves as well."""
        return bool(self.beside)

    @property
    def beside(self) -> tuple[str, ...]:
        """Kinds of statistics that verdicts compare beside importances."""
        details = getattr(self.result, "details", {})
        return tuple(kind for kind in ("marginal", "joint") if f"{kind}_statistic" in details)

    def selected(self) -> tuple[str, ...]:
        """Return the features whose q-value or error rate is at most `LEVEL`, the best first.

        Of a test with verdicts, those that are confirmed or candidates.
        """
        if isinstance(self.result, AdjustedSignificance):
            verdicts, names = self.result.verdicts(LEVEL), self.result.names
            return tuple(names[j] for j in self.result.order() if verdicts[j] != NOISE)
        if isinstance(self.result, Significance):
            return self.result.selected(LEVEL)
        return self.result.names[: int(np.count_nonzero(self.result.rates <= LEVEL))]

    def count(self) -> str:
        """Say how many are selected."""
        if isinstance(self.result, AdjustedSignificance):
            return self._verdict_words()
        n, p = len(self.selected()), len(self.result)
        have = "has" if n == 1 else "have"
        return f"{n:,} of {counted(p, 'feature')} {have} {self.limit} by {self.title}"

    def n_by_verdict(self) -> dict[str, int]:
        """Return how many features have each verdict, of a test that gives them."""
        if not isinstance(self.result, AdjustedSignificance):
            return {}
        verdicts = self.result.verdicts(LEVEL)
        return {verdict: verdicts.count(verdict) for verdict in (CONFIRMED, CANDIDATE, NOISE)}

    def n_by_evidence(self) -> dict[str, int]:
        """Return how many features have each evidence, of a test that tells it."""
        if not (isinstance(self.result, AdjustedSignificance) and self.has_evidence):
            return {}
        evidence = self.result.evidence(LEVEL)
        words = (ALONE, *([JOINTLY] if "joint" in self.beside else []), WITH_OTHERS)
        return {word: evidence.count(word) for word in words}

    def facts(self) -> list[tuple[str, int]]:
        """Return what is counted at the head of a report, and how many features there are of it."""
        if counts := self.n_by_verdict():
            return [
                (f"confirmed by {self.title}", counts[CONFIRMED]),
                ("candidate" if counts[CANDIDATE] == 1 else "candidates", counts[CANDIDATE]),
            ]
        return [(f"with {self.limit} by {self.title}", len(self.selected()))]

    def _verdict_words(self) -> str:
        counts, p = self.n_by_verdict(), len(self.result)
        sure, likely = counts[CONFIRMED], counts[CANDIDATE]
        if not sure + likely:
            return (
                f"None of {counted(p, 'feature')} is confirmed (family-wise error rate {LEVEL:g}) "
                f"or a candidate (false discovery rate {LEVEL:g}) by {self.title}: none is "
                "distinguished from noise"
            )
        confirmed = (
            f"{f'{sure:,}' if sure else 'None'} of {counted(p, 'feature')} "
            f"{'are' if sure > 1 else 'is'} confirmed by {self.title} (family-wise error rate "
            f"{LEVEL:g})"
        )
        if not likely:
            return confirmed
        among = f"among all {sure + likely:,} " if sure + likely > 1 else ""
        return (
            f"{confirmed}, {_candidates(sure, likely)} (estimated false discovery rate "
            f"{among}at most {LEVEL:g})"
        )

    def columns(self, names: Sequence[str]) -> list[Column]:
        """Return p and q, or the error rate, or the verdicts, of these features."""
        place = {name: j for j, name in enumerate(self.result.names)}
        lacking = [name for name in names if name not in place]
        if lacking:
            raise ValueError(
                f"reports: {self.result.method} must have all features; it lacks {lacking[0]!r}."
            )
        index = np.array([place[name] for name in names], dtype=np.intp)
        name, title = self.test.name, self.test.title
        if isinstance(self.result, ErrorRates):
            rates = self.result.rates[index]
            certain = (index < self.result.n_known).tolist()
            pairs = zip(rates.tolist(), certain, strict=True)
            cells = [f"{rate:.2g}" if here else f"> {LEVEL:g}" for rate, here in pairs]
            rate = self.test.rate
            word = rate.replace(" ", "_")
            own = f"{name.removesuffix(f'_{word}')}_{word}"
            return [Column(rate, cells, name=own, numbers=rates)]
        if isinstance(self.result, AdjustedSignificance):
            words = {"verdict": self.result.verdicts(LEVEL)}
            if self.has_evidence:
                words["evidence"] = self._evidence()
            return [
                *(
                    Column(word, [cells[j] for j in index], "words", name=word)
                    for word, cells in words.items()
                ),
                _numbers("p_adjusted", "p adj.", self.result.p_adjusted[index], minor=True),
                _numbers("fdr", "FDR", self.result.q_values[index], minor=True),
            ]
        pairs_of = (("p", self.result.p_values), ("q", self.result.q_values))
        columns = [
            _numbers(
                f"{name}_{letter}_value", f"{letter}, {title}", numbers[index], minor=letter == "p"
            )
            for letter, numbers in pairs_of
        ]
        if isinstance(self.result, ConditionalSignificance):
            every = self.result.verdicts()
            verdicts = [every[j] for j in index]
            columns.insert(0, Column(DIRECT, verdicts, "words", least=_VERDICT, name=DIRECT))
        return columns

    def _evidence(self) -> tuple[str, ...]:
        """Return the evidence, and which candidates by themselves have negative importances."""
        result = self.result
        assert isinstance(result, AdjustedSignificance)
        likely, evidence = np.array(result.verdicts(LEVEL)) == CANDIDATE, result.evidence(LEVEL)
        negative = likely & (np.array(evidence) == ALONE) & (result.scores < 0)
        return tuple(
            word + _NEGATIVE if below else word
            for word, below in zip(evidence, negative, strict=True)
        )

    def references(self) -> list[str]:
        """Return the source of the test."""
        return [f"{self.test.title}: {self.test.reference}"] if self.test.reference else []

    def threshold(self, importances: Importances) -> float | None:
        """Return the smallest importance of the selected features; None if there is none.

        Verdicts compare test statistics: no importance divides them.
        """
        if isinstance(self.result, AdjustedSignificance):
            return None
        chosen = set(self.selected())
        return min((value for name, value in importances if name in chosen), default=None)

    def line(self, importances: Importances, shown: Sequence[str] = ()) -> str:
        """Say what the line in the ranking is, or what verdicts the features shown there have."""
        if isinstance(self.result, AdjustedSignificance):
            verdicts = dict(zip(self.result.names, self.result.verdicts(LEVEL), strict=True))
            counts = [verdicts[name] for name in shown]
            sure, likely = counts.count(CONFIRMED), counts.count(CANDIDATE)
            words = [f"{sure or 'none'} {'are' if sure > 1 else 'is'} confirmed"]
            words += [_candidates(sure, likely)] if likely else []
            return f"Of these, {' and '.join(words)} by {self.title}."
        chosen, threshold = set(self.selected()), self.threshold(importances)
        if threshold is None:
            return f"No line: no feature has {self.limit} by {self.title}."
        beyond = sum(value >= threshold and name not in chosen for name, value in importances)
        count = f"the {len(chosen):,} features" if len(chosen) > 1 else "the only feature"
        line = f"Dashed: the smallest importance of {count} with {self.limit} by {self.test.title}."
        return (
            f"{line} {beyond:,} more features are beyond it, but do not meet this limit."
            if beyond
            else line
        )


def _candidates(sure: int, likely: int) -> str:
    """Say how many features are candidates beside those that are confirmed."""
    single = likely == 1
    more = f"{likely:,} more" if sure else f"{likely:,}"
    return f"{more} {'is a candidate' if single else 'are candidates'}"


def verdict_sections(tested: Verdict) -> list[Part]:
    """Return the sections about a test: the histogram of its p-values, and their guarantee."""
    result, sections = tested.result, list[Part]()
    title = f"Significance by {tested.test.title}"
    if isinstance(result, Significance) and len(result):
        small = int(np.count_nonzero(result.p_values <= LEVEL))
        sections.append(
            Chart(
                title=title,
                plot=Plot(P_VALUES, result),
                text=f"Histogram of the p-values of {len(result):,} features; {small:,} are up to "
                f"{LEVEL:g}.",
                caption=f"{small:,} of {len(result):,} p-values are up to {LEVEL:g}. Dashed: the "
                "count expected in each bar if all features were irrelevant and p-values uniform, "
                f"{len(result) / 20:.3g}.",
            )
        )
        title = "Result of the test"
    chosen = tested.selected()
    listed = f": {', '.join(chosen[:10])}{' ...' if len(chosen) > 10 else ''}" if chosen else ""
    adjusted = []
    if isinstance(result, AdjustedSignificance):
        jointly = _JOINTLY if "joint" in tested.beside else ""
        evidence = [_EVIDENCE.format(jointly=jointly)] if tested.has_evidence else []
        adjusted = [_VERDICTS, *evidence]
    elif isinstance(result, Significance):
        adjusted = [adjusted_words(result)]
    lines = (
        f"{tested.count()}{listed}.",
        tested.meaning,
        " ".join([tested.test.promise.format(level=LEVEL), *adjusted]),
        *_grown(tested),
        *tested.notes,
    )
    sections.append(Prose(title, lines))
    return sections


def _numbers(name: str, title: str, numbers: FloatArray, *, minor: bool) -> Column:
    return Column(title, small(numbers), minor=int(minor), name=name, numbers=numbers)


def _grown(tested: Verdict) -> list[str]:
    result = tested.result
    if not tested.test.grows:
        return []
    if isinstance(result, AdjustedSignificance):
        metadata, stages = result.metadata, int(max(result.details.get("stage", ()), default=1))
        return [
            _GROWN.format(
                forests=metadata.get("n_forests", metadata.get("n_permutations", 0) + 1),
                trees=metadata.get("parameters", {}).get("n_estimators", "as many"),
                statistics=_STATISTICS[tested.beside],
                stages=_STAGES.format(stages=stages) if stages > 1 else "",
            )
        ]
    return [
        "The test grew its own forests, with seeds other than that of the forest of this report, "
        "so that its scores differ from the importances shown by random variation between "
        "forests."
    ]
