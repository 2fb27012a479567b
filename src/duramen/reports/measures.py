"""Sentences of tables and reports about measures: titles, meaning and cautions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from duramen.forests.criteria import criterion_named
from duramen.importances import Words, catalogue
from duramen.importances.after.comparison import Measured
from duramen.reports.facts import unit_words
from duramen.results.importances import Importances
from duramen.results.significance import Significance

LEVEL = 0.05
"""False discovery rate at which features are counted as significant."""


_ADJUSTED = {"bh": "Benjamini and Hochberg", "by": "Benjamini and Yekutieli"}


def words_of(measured: Measured) -> Words:
    """Return the text about a measure; its name alone for one that is not in the catalogue."""
    name = name_of(measured)
    return catalogue[name].words if name in catalogue else Words(name.replace("_", " "))


def spread_of(measured: Measured) -> str:
    """Return what the standard error of a measure is over."""
    name = name_of(measured)
    return f"the {catalogue[name].spread if name in catalogue else 'trees'}"


def references(measures: Sequence[Measured]) -> list[str]:
    """Return the sources of the measures that are in the catalogue."""
    known = [catalogue[name] for one in measures if (name := name_of(one)) in catalogue]
    return [f"{one.words.title}: {one.reference}" for one in known if one.reference]


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
        scored = one.unit == criterion_named("log_rank").unit
        reading = (words.survival_reading if scored else "") or words.reading
        if reading:
            lines.append(reading.format(unit=unit_words(one.unit)))
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
        f"q is p adjusted for the number of features (after {adjusted}): of the features with q "
        f"up to {LEVEL:g}, at most {LEVEL:.0%} are expected to be false discoveries, if the "
        "p-values are valid."
    )


def _tested(one: Significance, words: Words) -> str:
    trees = one.metadata.get("n_trees")
    depends = "" if trees is None else words.p_values.format(n_trees=trees)
    return (
        f"The p-value of {words.title} tests this null hypothesis: {one.null} "
        f"{depends}{adjusted_words(one)}"
    )
