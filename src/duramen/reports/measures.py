"""What tables and reports say of measures: their titles, what they are and what they are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from duramen.reports.facts import unit_words
from duramen.results.importances import Importances
from duramen.results.significance import Significance

if TYPE_CHECKING:
    from duramen.importances.comparison import Measured

LEVEL = 0.05
"""The share of false discoveries at which features are counted as significant."""


@dataclass(frozen=True)
class Words:
    """What is said of a measure.

    Attributes
    ----------
    title : str
        Its name at the head of a column.
    reading : str
        What its numbers are; ``{unit}`` stands for their unit.
    caution : str
        What they are not.
    spread : str
        What its standard error is over.
    p_values : str
        What its p-values depend on; ``{n_trees}`` stands for the number of trees.
    """

    title: str
    reading: str
    caution: str = ""
    spread: str = "the trees"
    p_values: str = ""


_ABOVE_0 = "{title} of an irrelevant feature scatters about 0: to be above it says little."

WORDS = {
    "mdi": Words(
        "MDI",
        "MDI is the mean decrease of impurity: every split of every tree lowers the impurity of "
        "the target by some amount; the amounts are weighted by the share of rows that reach the "
        "split, added up by feature, and averaged over the trees. They are given in {unit} and are "
        "not scaled: they can be compared and added.",
        "MDI gives every feature that is tried often enough some importance, relevant or not, "
        "since a tree fits chance too. Features with many distinct values get more of it than "
        "those with few. MDI itself has no threshold above which it is real: that takes a test.",
    ),
    "mda": Words(
        "MDA",
        "MDA, the mean decrease of accuracy, is what a tree loses on the rows that it was grown "
        "without when the feature is permuted among them, averaged over the trees; in {unit}.",
        _ABOVE_0,
    ),
    "vote_change": Words(
        "J_chi2",
        "J_chi2 compares the votes of the trees on the rows that they were grown without, counted "
        "by class, with the votes after the feature is permuted: it is the chi-square index of the "
        "change.",
        "A feature that is not significant by J_chi2 can be relevant all the same.",
        p_values="The p-values depend on the number of trees, here {n_trees:,}: they shrink as "
        "trees are added, for relevant features and for irrelevant ones. With few trees on each "
        "feature nothing is small, with many noise is; they do not control an error rate. Compare "
        "those of forests of one size only. ",
    ),
    "conditional_mda": Words(
        "conditional MDA",
        "Conditional MDA is MDA with the feature permuted only among rows that agree on the "
        "features it is associated with: what it merely has in common with them does not count; "
        "in {unit}.",
        _ABOVE_0,
    ),
    "frequency": Words(
        "frequency",
        "The frequency is the share of all splits of all trees that are on the feature.",
        "The frequency does not see how much a split achieves: most splits lie deep in the trees, "
        "where few rows are left, and features with many distinct values get more of them.",
    ),
    "minimal_depth": Words(
        "minimal depth",
        "Minimal depth tells how many levels nearer to the root a feature is first split on than "
        "if chance chose the features of the splits, averaged over the trees.",
        "Minimal depth is above 0 for about half of the features where none means anything.",
    ),
    "noising": Words(
        "noising",
        "Noising is the rise of the trees' error on the rows that they were grown without when "
        "these take random sides from the first split on the feature on.",
        "Noising destroys what other features do below that split: features near the root lose "
        "most, relevant or not.",
    ),
    "holdout_mda": Words(
        "hold-out MDA",
        "Hold-out MDA is MDA on rows that no tree of the forest saw: two forests are grown anew, "
        "each on half of the rows, and features are permuted in the other half; in {unit}.",
        _ABOVE_0,
    ),
    "air": Words(
        "AIR",
        "AIR, the actual impurity reduction, is MDI of the feature less that of its shadow, the "
        "same values on other rows, in a forest that is grown anew on both: what a feature wins by "
        "chance cancels out. It is given in {unit}.",
        _ABOVE_0,
    ),
    "sandri": Words(
        "Sandri-Zuccolotto",
        "Sandri-Zuccolotto is MDI of the feature less that of its shadow, the same values on other "
        "rows, averaged over forests that are grown anew with other shadows; in {unit}.",
        _ABOVE_0,
        spread="the shadows",
    ),
    "mcfs": Words(
        "MCFS",
        "MCFS is the relative importance of Monte Carlo feature selection. It does not come from "
        "the forest of this report but from many trees on random subsets of the features: the gain "
        "ratios of the splits on the feature, weighted by the rows they see and by how well the "
        "tree predicts other rows.",
        "MCFS has no threshold here: a feature that says nothing gets some of it as well.",
        spread="the subsets",
    ),
}

_ADJUSTED = {"bh": "Benjamini and Hochberg", "by": "Benjamini and Yekutieli"}


def words_of(measured: Measured) -> Words:
    """Return the words for a measure; of one that is not known here, its name."""
    name = name_of(measured)
    return WORDS.get(name, Words(name.replace("_", " "), ""))


def name_of(measured: Measured) -> str:
    """Return the name of a measure, as its function is called."""
    return measured.measure if isinstance(measured, Importances) else measured.method


def as_importances(measured: Measured) -> Importances:
    """Return a measure as importances: of a test, its scores."""
    if isinstance(measured, Importances):
        return measured
    return Importances(measured.names, measured.scores, measured.method, measured.unit)


def readings(measures: Sequence[Measured]) -> list[str]:
    """Say what the numbers of the measures are, and what was tested."""
    lines = []
    for one in measures:
        words = words_of(one)
        if words.reading:
            lines.append(words.reading.format(unit=unit_words(one.unit)))
        if isinstance(one, Significance):
            lines.append(_tested(one, words))
    return lines


def cautions(measures: Sequence[Measured]) -> list[str]:
    """Say what the measures are not."""
    known = [words_of(one) for one in measures]
    return [words.caution.format(title=words.title) for words in known if words.caution]


def n_significant(tested: Significance) -> int:
    """Return the number of features with a q-value of at most `LEVEL`."""
    return int(np.count_nonzero(tested.q_values <= LEVEL))


def adjusted_words(one: Significance) -> str:
    """Say what q-values are."""
    adjusted = _ADJUSTED.get(one.adjustment, one.adjustment)
    return (
        f"q is p adjusted for the number of features (after {adjusted}): of the features with q up "
        f"to {LEVEL:g}, at most {LEVEL:.0%} are expected to be false, if the p-values hold."
    )


def _tested(one: Significance, words: Words) -> str:
    trees = one.metadata.get("n_trees")
    depends = "" if trees is None else words.p_values.format(n_trees=trees)
    return (
        f"The p-value of {words.title} is that of this null hypothesis: {one.null} {depends}"
        f"{adjusted_words(one)}"
    )
