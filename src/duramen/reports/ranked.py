"""Features in the order of a table of results, with the scores of all measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from duramen.effects import Direction, EffectsDescription
from duramen.importances.after.comparison import Measured
from duramen.reports.measures import as_importances, name_of, words_of
from duramen.reports.precision import Precision
from duramen.reports.report import joined
from duramen.reports.significance import Verdict
from duramen.results.adjusted_significance import CANDIDATE, CONFIRMED, NOISE
from duramen.results.columns import Column, small
from duramen.results.importances import Importances
from duramen.results.significance import Significance
from duramen.support.arrays import FloatArray

NO_DIRECTION = Direction("").words
_DIRECTION, _INTERVAL = 14, 40  # characters that a narrow terminal leaves to them
_VERDICTS = (CONFIRMED, CANDIDATE, NOISE)


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of features by one measure.

    Attributes
    ----------
    name, title, unit : str
        The measure, its title at the head of a column, the unit of its values.
    values : float64 array of shape (k,)
    standard_error, p_values, q_values : float64 arrays of shape (k,), or None
    """

    name: str
    title: str
    unit: str
    values: NDArray[np.float64]
    standard_error: NDArray[np.float64] | None = None
    p_values: NDArray[np.float64] | None = None
    q_values: NDArray[np.float64] | None = None

    @property
    def heading(self) -> str:
        """The title, with the unit if there is one."""
        return self.title if self.unit == "1" else f"{self.title}, {self.unit}"

    def columns(self, *, first: bool) -> dict[str, NDArray[np.float64]]:
        """Return its columns of a table of results.

        They are its values and, where known, ``_standard_error``, ``_p_value`` and ``_q_value``,
        after its name. The first measure of a table has its values and standard errors elsewhere.
        """
        columns = {f"{self.name}_p_value": self.p_values, f"{self.name}_q_value": self.q_values}
        if not first:
            own = {self.name: self.values, f"{self.name}_standard_error": self.standard_error}
            columns = {**own, **columns}
        return {name: numbers for name, numbers in columns.items() if numbers is not None}


@dataclass(frozen=True, eq=False)
class Ranked:
    """Features in the order of the first measure, or of verdicts first, with all measures."""

    first: Importances  # the first measure with all that is known of it; of a test, its scores
    scores: tuple[Scores, ...]  # all measures, the first one included
    # What a test of one of the measures says of the features.
    tested: tuple[Column, ...] = ()
    directions: tuple[str, ...] = ()  # of the effects, in words
    precision: Precision | None = None  # intervals of the first measure, and stability

    def tests(self, scores: Scores, minor: int = 0) -> list[Column]:
        """Return p- and q-values of a measure."""
        alone = not self.tested and sum(s.p_values is not None for s in self.scores) == 1
        return [
            Column(letter if alone else f"{letter}, {scores.title}", small(numbers), minor=minor)
            for letter, numbers in (("p", scores.p_values), ("q", scores.q_values))
            if numbers is not None
        ]

    def judgments(self) -> tuple[Column, ...]:
        """Return the columns of the test, with the directions after the last major one.

        Columns without any number or word are left out.
        """
        tested = tuple(one for one in self.tested if one.numbers is not None or any(one.cells))
        if not any(self.directions):
            return tested
        column = Column("direction", self.directions, "words", least=_DIRECTION, name="direction")
        place = max((i + 1 for i, one in enumerate(tested) if not one.minor), default=0)
        return (*tested[:place], column, *tested[place:])

    def directed_noise(self) -> str:
        """Return why features that a test calls noise have a direction; empty if none has."""
        pairs = zip(self.first.names, self.faint or (), self.directions, strict=False)
        names = [name for name, noise, said in pairs if noise and said not in ("", NO_DIRECTION)]
        if not names:
            return ""
        return (
            f"Features called noise that have a direction: {joined(names, shown=5)}. The "
            "direction is based on a test of the feature by itself; the verdict compares its test "
            "statistic with the largest of all features under permuted labels."
        )

    def intervals(self) -> Column | None:
        """Return the column of intervals; None if there are none."""
        if self.precision is None or self.precision.intervals is None:
            return None
        cells = self.precision.cells(self.first.names)
        return Column(self.precision.heading, cells, least=_INTERVAL)

    def ends(self) -> tuple[FloatArray, FloatArray] | None:
        """Return the ends of the error bars: intervals, or one standard error to both sides."""
        values, error = self.first.values, self.first.standard_error
        intervals = None if self.precision is None else self.precision.ends(self.first.names)
        if intervals is None and error is not None:
            return values - error, values + error
        return intervals

    @property
    def faint(self) -> list[bool] | None:
        """True for features that a test with verdicts calls noise; None without one."""
        verdicts = [one for one in self.tested if one.numbers is None]
        return [cell == NOISE for cell in verdicts[0].cells] if verdicts else None

    def columns(self) -> dict[str, object]:
        """Return the columns of a table of results: the first, other measures, then the test."""
        columns: dict[str, object] = self.first.columns()
        columns["rank"] = np.arange(1, len(self.first) + 1)
        if self.precision is not None:
            columns.update(self.precision.columns(self.first.names))
        for i, one in enumerate(self.scores):
            columns.update(one.columns(first=i == 0))
        columns.update({column.name: column.values for column in self.tested})
        if self.directions:
            columns["direction"] = list(self.directions)
        return columns


def ranked(
    measures: Sequence[Measured],
    k: int | None = None,
    *,
    tested: Verdict | None = None,
    described: EffectsDescription | None = None,
    precision: Precision | None = None,
) -> Ranked:
    """Put all measures in one order: that of `in_order`.

    Parameters
    ----------
    measures : sequence of Importances and Significance
        At least one; all of the same features, whose order may differ.
    k : int, optional
        How many features; by default all.
    tested : Verdict, optional
        A test of one of the measures.
    described : EffectsDescription, optional
        Effects of some of the features.
    precision : Precision, optional
        Intervals of the first measure, and stability of its ranking.

    Raises
    ------
    ValueError
        If a measure, or the test, lacks a feature of the first.
    """
    best = in_order(measures[0], tested)
    best = best.take(np.arange(len(best) if k is None else min(k, len(best))))
    return Ranked(
        best,
        tuple(_scores(one, best.names) for one in measures),
        () if tested is None else tuple(tested.columns(best.names)),
        () if described is None else _directions(described, best.names),
        precision,
    )


def in_order(measured: Measured, tested: Verdict | None) -> Importances:
    """Return a measure with the most important feature first.

    With a test that gives verdicts, the confirmed features are first, then the candidates.
    """
    best = as_importances(measured)
    best = best.take(best.order())
    verdicts = {} if tested is None else tested.verdicts()
    if not verdicts:
        return best
    places = [_VERDICTS.index(verdicts[name]) for name in best.names]
    return best.take(np.argsort(places, kind="stable"))


def _directions(described: EffectsDescription, names: Sequence[str]) -> tuple[str, ...]:
    """Return the directions of features in words; empty for those that are not described."""
    known = {one.name: one.words for one in described.directions}
    return tuple(known.get(name, "") for name in names)


def _scores(one: Measured, names: Sequence[str]) -> Scores:
    place = {name: j for j, name in enumerate(one.names)}
    lacking = [name for name in names if name not in place]
    if lacking:
        raise ValueError(
            f"reports: measures must be about the same features; {name_of(one)} lacks "
            f"{lacking[0]!r}."
        )
    index = np.array([place[name] for name in names], dtype=np.intp)

    def taken(numbers: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return None if numbers is None else numbers[index]

    tested = one if isinstance(one, Significance) else None
    return Scores(
        name=name_of(one),
        title=words_of(one).title,
        unit=one.unit,
        values=as_importances(one).values[index],
        standard_error=taken(as_importances(one).standard_error),
        p_values=taken(None if tested is None else tested.p_values),
        q_values=taken(None if tested is None else tested.q_values),
    )
