"""Interactions of all pairs of features, beside a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.forest import sampled_if_many
from duramen.data import EncodedTable, LearningSet
from duramen.importances import Inputs, interactions
from duramen.plots.network import INTERACTION_NETWORK
from duramen.reports.report import LEVEL, Section, Table
from duramen.results.archive import Savable
from duramen.results.pair_interactions import PairInteractions
from duramen.results.summary import Column, places
from duramen.significance import interaction_test
from duramen.significance.pair_contrasts import check_rows
from duramen.support.text import joined, printable

_MANY_FEATURES = 1000  # of more, features are cut at their medians alone
_SAID = 5
_ROWS = 20


@dataclass(frozen=True, eq=False)
class AllPairs(Savable):
    """Interactions of pairs of features: a test of all pairs, and pairs on paths of the forest."""

    tested: PairInteractions  # the strongest pairs, with family-wise p-values
    in_forest: PairInteractions  # of pairs on common paths, or of the features of largest MDI
    notes: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """Sources of the index and of the test."""
        return (
            "M. Grabisch, M. Roubens (1999). An axiomatic approach to the concept of interaction "
            "among players in cooperative games. International Journal of Game Theory 28.",
            "V. Chernozhukov, D. Chetverikov, K. Kato (2013). Gaussian approximations and "
            "multiplier bootstrap for maxima of sums of high-dimensional random vectors. Annals of "
            "Statistics 41.",
        )

    @property
    def n_pairs(self) -> int:
        """Number of pairs that were tested."""
        return len(self.tested.names) * (len(self.tested.names) - 1) // 2

    def supported(self) -> list[tuple[str, str]]:
        """Return the pairs whose adjusted p-value is up to .05, the strongest first."""
        columns = self.tested.columns()
        rows = zip(columns["feature"], columns["other"], columns["p_adjusted"], strict=True)
        return [(first, second) for first, second, p in rows if p <= LEVEL]

    def columns(self) -> dict[str, Any]:
        """Return the columns of a file: the strongest pairs of the test, then of the forest.

        A pair that only one of the two has lacks the value of the other.
        """
        tested, forest = self.tested.columns(), self.in_forest.columns()
        names = ("feature", "other", "interaction", "p_adjusted")
        pairs = {
            (first, second): [float(z), float(p), np.nan]
            for first, second, z, p in zip(*(tested[name] for name in names), strict=True)
        }
        most = len(pairs) + _ROWS
        for first, second, value in zip(*(forest[name] for name in names[:3]), strict=True):
            if (first, second) in pairs or len(pairs) < most:
                pairs.setdefault((first, second), [np.nan] * 3)[2] = float(value)
        values = np.array(list(pairs.values())).reshape(-1, 3)
        return {
            "feature": [pair[0] for pair in pairs],
            "other": [pair[1] for pair in pairs],
            "z": values[:, 0],
            "p_adjusted": values[:, 1],
            f"in_forest_{self.in_forest.unit}": values[:, 2],
        }

    def figures(self) -> dict[str, Any]:
        """Return the results for the record of the run."""
        settings = self.tested.metadata["interaction_test"]
        return {
            "n_pairs": self.n_pairs,
            "level": LEVEL,
            "supported": [list(pair) for pair in self.supported()],
            "n_resamples": settings["n_resamples"],
            "n_cuts": settings["n_cuts"],
            "notes": list(self.notes),
        }

    def section(self) -> Section:
        """Return the section of a report: words, the strongest pairs as a network and a table."""
        names = [
            f"{printable(first)} with {printable(second)}" for first, second in self.supported()
        ]
        of_all, rate = f"of {self.n_pairs:,} pairs", f"(family-wise error rate {LEVEL:g})"
        line = f"None {of_all} of features is shown to interact {rate}; this is no evidence that "
        line += "none does"
        if names:
            interact = "interacts" if len(names) == 1 else "interact"
            line = f"{len(names):,} {of_all} of features {interact} {rate}: "
            line += joined(names, shown=_SAID)
        reading = (
            "z: the contrast of the four means of the target over its standard error, or that with "
            "the product of ranks if it is larger; above 0 where the target is larger with both "
            "features high or both low. A pair is compared with the strongest of all pairs under "
            f"random signs of the residuals. In the trees, in {self.in_forest.unit}: above 0 "
            "synergy of two features, below 0 redundancy."
        )
        notes = (*self.tested.notes, *self.in_forest.notes, *self.notes)
        sections: list[Section | Table] = [
            Section("Result", (f"{line}.", reading, *notes), brief=(line,))
        ]
        if len(self.tested):
            sections.append(
                Section(
                    "Network of the strongest pairs",
                    caption="Lines: the strongest pairs of the test, the wider the larger z; blue "
                    "above 0, vermilion below; faint where the adjusted p-value is above "
                    f"{LEVEL:g}.",
                    figure=(INTERACTION_NETWORK, self.tested, {"alpha": LEVEL}),
                    text=f"Network of the strongest pairs. {line}.",
                )
            )
        first, second, z, p, value = (column[:_ROWS] for column in self.columns().values())
        numbers = {"z": (z, 3), "adj. p": (p, 2)}
        numbers[f"in the trees, {self.in_forest.unit}"] = (value, 3)
        table = Table(
            "Strongest pairs",
            (
                places(len(first)),
                Column("feature", first, "name"),
                Column("with", second, "words"),
                *(
                    Column(title, digits=digits, numbers=np.ma.masked_invalid(values)).take(
                        len(first)
                    )
                    for title, (values, digits) in numbers.items()
                ),
            ),
            f"The first {len(first)} pairs by the test, then by the trees; result-pairs.csv has "
            "more.",
            what="pairs",
        )
        return Section("Interactions of all pairs", sections=(*sections, table))


def check_pairs(data: LearningSet[Any]) -> None:
    """Check, before a forest is grown, that the interactions of the features can be tested.

    Raises
    ------
    ValueError
        If not.
    """
    if data.n_columns < 2:
        raise ValueError("rank: interactions needs two features, got one")
    try:
        check_rows(data)
    except ValueError as error:
        raise ValueError(f"rank: interactions=True: {error}") from None


def all_pairs(
    inputs: Inputs,
    estimator: Any,
    data: LearningSet[EncodedTable],
    execution: Execution,
    checkpoint: Path | None,
) -> AllPairs:
    """Test all pairs, and measure their interactions in a forest that is fitted to `data`."""
    sample, notes = sampled_if_many(inputs), []
    if sample.data.n_rows < inputs.data.n_rows:
        notes.append(f"the test is of a random sample of {sample.data.n_rows:,} rows")
    wide = inputs.data.n_columns > _MANY_FEATURES
    if wide:
        notes.append(
            f"features are cut at their medians alone, as they are more than {_MANY_FEATURES:,}; "
            "dm.significance.interaction_test(n_cuts=3) cuts at quartiles"
        )
    tested = interaction_test(
        sample.data,
        n_cuts=1 if wide else 3,
        **{**execution.resources, "checkpoint": checkpoint},
    )
    forest, multiway = estimator.forest_, estimator.forest_.settings.splits == "multiway"
    in_forest = (
        interactions(forest, data, n_jobs=inputs.n_jobs)
        if multiway
        else interactions(forest, sparse=True, n_jobs=inputs.n_jobs)
    )
    return AllPairs(tested, in_forest, tuple(notes))
