"""Interactions of all pairs of features, beside a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.samples import sampled_if_many
from duramen.data import EncodedTable, LearningSet
from duramen.importances import Inputs, interactions
from duramen.plots.interactions import INTERACTION_MATRIX, INTERACTION_NETWORK
from duramen.reports.facts import LEVEL
from duramen.reports.report import DRAWN, Chart, Group, Part, Plot, Prose, Section, Table
from duramen.results.columns import Column, places
from duramen.results.pair_interactions import PairInteractions
from duramen.results.saved import Savable
from duramen.significance import interaction_test
from duramen.significance.pair_contrasts import check_rows
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed, joined, printable

_MANY_FEATURES = 1000  # of more, features are cut at their medians alone
_SAID = 5
_ROWS = 20
_SOURCES = (
    "M. Grabisch, M. Roubens (1999). An axiomatic approach to the concept of interaction among "
    "players in cooperative games. International Journal of Game Theory 28.",
    "V. Chernozhukov, D. Chetverikov, K. Kato (2013). Gaussian approximations and multiplier "
    "bootstrap for maxima of sums of high-dimensional random vectors. Annals of Statistics 41.",
)


@dataclass(frozen=True, eq=False)
class AllPairs(Savable):
    """Interactions of pairs of features: a test of all, and those in the trees of the forest."""

    tested: PairInteractions  # the strongest pairs, with family-wise p-values
    in_forest: PairInteractions  # of pairs on common paths, or of the features of largest MDI
    notes: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """Sources of the index and of the test."""
        return _SOURCES

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
        """Return the columns of a file: the strongest pairs of the test, then those of the forest.

        A pair that only one of the two has lacks the value of the other.
        """
        tested, forest = self.tested.columns(), self.in_forest.columns()
        pairs: dict[tuple[str, str], list[float]] = {}
        for row, pair in enumerate(zip(tested["feature"], tested["other"], strict=True)):
            z, p = tested["interaction"][row], tested["p_adjusted"][row]
            pairs[pair] = [float(z), float(p), np.nan]
        first = len(pairs) + _ROWS
        for pair, value in zip(
            zip(forest["feature"], forest["other"], strict=True), forest["interaction"], strict=True
        ):
            if pair not in pairs and len(pairs) >= first:
                continue
            pairs.setdefault(pair, [np.nan, np.nan, np.nan])[2] = float(value)
        values = np.array(list(pairs.values())).reshape(-1, 3)
        return {
            "feature": [pair[0] for pair in pairs],
            "other": [pair[1] for pair in pairs],
            "z": values[:, 0],
            "p_adjusted": values[:, 1],
            f"in_forest_{self.in_forest.unit}": values[:, 2],
        }

    def figures(self) -> dict[str, Any]:
        """Return what was found, for the record."""
        return {
            "n_pairs": self.n_pairs,
            "level": LEVEL,
            "supported": [list(pair) for pair in self.supported()],
            "n_resamples": self.tested.metadata["interaction_test"]["n_resamples"],
            "n_cuts": self.tested.metadata["interaction_test"]["n_cuts"],
            "notes": list(self.notes),
        }

    def line(self) -> str:
        """Return the result of the test in a sentence."""
        supported = self.supported()
        if not supported:
            return (
                f"None of {self.n_pairs:,} pairs of features is shown to interact (family-wise "
                f"error rate {LEVEL:g}); this is no evidence that none does"
            )
        names = [f"{printable(first)} with {printable(second)}" for first, second in supported]
        verb = "interacts" if len(supported) == 1 else "interact"
        return (
            f"{len(supported):,} of {self.n_pairs:,} pairs of features {verb} (family-wise error "
            f"rate {LEVEL:g}): {joined(names, shown=_SAID)}"
        )

    def section(self) -> Section:
        """Return the section of a report: words, the two maps, and the strongest pairs."""
        reading = (
            "The test asks, for each pair, whether the target depends on the two features together "
            "in a way that is no sum of their main effects: z is the contrast of the four means "
            "over its standard error, or that with the product of their ranks if it is larger, "
            "above 0 where the target is larger with both features high or both low. A pair is "
            "compared with the strongest of all pairs under random signs of the residuals."
        )
        forest = (
            f"Of the trees: what the splits on one feature tell, in {self.in_forest.unit}, below "
            "splits on the other, less what they tell without; above 0 synergy, below 0 redundancy."
        )
        notes = (*self.tested.notes, *self.in_forest.notes, *self.notes)
        line = self.line()
        parts: list[Part] = [Prose("Result", (f"{line}.", reading, forest, *notes), brief=(line,))]
        if len(self.tested):
            parts.append(
                Chart(
                    "Strongest pairs of the test",
                    Plot(INTERACTION_NETWORK, self.tested, {"alpha": LEVEL}),
                    f"Network of the strongest pairs. {line}.",
                    "Lines: the strongest pairs of the test, the wider the larger z; blue above 0, "
                    f"vermilion below; faint where the adjusted p-value is above {LEVEL:g}.",
                )
            )
        if len(self.in_forest):
            parts.append(
                Chart(
                    "Interactions in the trees",
                    Plot(INTERACTION_MATRIX, self.in_forest, {"k": DRAWN}),
                    f"Matrix of the interactions of {DRAWN} features in the trees of the forest.",
                    "Synergy (blue) and redundancy (vermilion) of the features with the strongest "
                    "interactions in the trees.",
                )
            )
        return Group("Interactions of all pairs", (*parts, self._table()), folded=False)

    def _table(self) -> Table:
        columns = {name: list(column)[:_ROWS] for name, column in self.columns().items()}
        z, p, value = (np.array(column) for column in list(columns.values())[2:])
        return Table(
            "Strongest pairs",
            (
                places(len(z)),
                Column("feature", columns["feature"], "name"),
                Column("with", columns["other"], "words"),
                Column("z", _known(z, 3)),
                Column("adj. p", _known(p, 2)),
                Column(f"in the trees, {self.in_forest.unit}", _known(value, 3)),
            ),
            f"The first {len(z)} pairs by the test, then by the trees; result-pairs.csv has more.",
            what="pairs",
        )


def _known(values: FloatArray, digits: int) -> Sequence[str]:
    texts = fixed(np.nan_to_num(values), digits)
    return ["" if np.isnan(value) else text for value, text in zip(values, texts, strict=True)]


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
    """Test all pairs, and tell how the trees of a forest, fitted to `data`, use them together."""
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
        random_state=inputs.random_state,
        n_jobs=inputs.n_jobs,
        client=execution.client,
        checkpoint=checkpoint,
        verbose=inputs.verbose,
    )
    forest, multiway = estimator.forest_, estimator.forest_.settings.splits == "multiway"
    in_forest = (
        interactions(forest, data, n_jobs=inputs.n_jobs)
        if multiway
        else interactions(forest, sparse=True, n_jobs=inputs.n_jobs)
    )
    return AllPairs(tested, in_forest, tuple(notes))
