"""What a report is made of, as plain data: no colour, no tag, no figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from duramen.results.importances import Importances

if TYPE_CHECKING:
    from duramen.importances.after.comparison import Comparison
    from duramen.results.context_importances import ContextImportances, Control
    from duramen.results.context_network import ContextNetwork
    from duramen.results.significance import Significance


@dataclass(frozen=True)
class Fact:
    """A name and what stands beside it."""

    name: str
    value: str


@dataclass(frozen=True)
class Facts:
    """A section of names and values."""

    layout: ClassVar[str] = "facts"

    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Prose:
    """A section of sentences: paragraphs, or points of a list.

    Attributes
    ----------
    title : str
    lines : tuple of str
    points : bool
        Whether the lines are points of a list.
    caution : bool
        Whether they warn.
    """

    layout: ClassVar[str] = "prose"

    title: str
    lines: tuple[str, ...]
    points: bool = False
    caution: bool = False


@dataclass(frozen=True)
class Column:
    """A column of a table in a report.

    Attributes
    ----------
    title : str
    holds : {"number", "name", "words", "bar"}
        What its cells are: numbers as text; the name that the row is about; other words; or
        shares from 0 to 1, to be drawn as bars.
    """

    title: str
    holds: Literal["number", "name", "words", "bar"]


@dataclass(frozen=True)
class Table:
    """A section with a table.

    Attributes
    ----------
    title : str
    columns : tuple of Column
    rows : tuple of tuples of str or float
        One entry a column: a float for a bar, else the text.
    note : str
        What is shown, and where the rest is.
    """

    layout: ClassVar[str] = "table"

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str | float, ...], ...]
    note: str

    def column(self, title: str) -> tuple[str | float, ...]:
        """Return the cells of a column."""
        place = [column.title for column in self.columns].index(title)
        return tuple(row[place] for row in self.rows)


@dataclass(frozen=True, eq=False)
class Bars:
    """Importances, to be drawn as bars, and where a line shall be drawn, if any."""

    importances: Importances
    threshold: float | None = None


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Importances with their parts by degree, to be drawn as a heat map of so many columns."""

    importances: Importances
    columns: int


@dataclass(frozen=True)
class ErrorCurve:
    """Errors after 1, 2, ... trees, and what they are."""

    errors: tuple[float, ...]
    what: str


@dataclass(frozen=True, eq=False)
class FoundCurves:
    """Features found after 0, 1, 2, ... trees by setting, and the setting that stands out."""

    curves: Mapping[str, NDArray[np.float64]]
    best: str


@dataclass(frozen=True, eq=False)
class Correlations:
    """Measures whose rank correlations are to be drawn as a heat map."""

    comparison: Comparison


@dataclass(frozen=True, eq=False)
class ParallelRanks:
    """Measures whose ranks of the `k` best features of the first are to be drawn as lines."""

    comparison: Comparison
    k: int


@dataclass(frozen=True, eq=False)
class PValues:
    """A test whose p-values are to be drawn as a histogram."""

    significance: Significance


@dataclass(frozen=True, eq=False)
class ContextEffects:
    """What a context does to the `k` features that depend most on it, and how surely."""

    result: ContextImportances
    context: str
    k: int
    alpha: float
    control: Control


@dataclass(frozen=True, eq=False)
class ContextLinks:
    """What a context does to links, by an effect; `limit` is what has the fullest colour."""

    network: ContextNetwork
    context: str
    effect: str
    alpha: float
    control: Control
    limit: float


Plot = (
    Bars
    | HeatMap
    | ErrorCurve
    | FoundCurves
    | Correlations
    | ParallelRanks
    | PValues
    | ContextEffects
    | ContextLinks
)


@dataclass(frozen=True, eq=False)
class Chart:
    """A section with a figure.

    Attributes
    ----------
    title : str
    plot : Bars, HeatMap, ErrorCurve, FoundCurves, Correlations, ParallelRanks, PValues, \
ContextEffects or ContextLinks
        What is to be drawn.
    text : str
        What the figure shows, for those who cannot see it.
    caption : str
    """

    layout: ClassVar[str] = "chart"

    title: str
    plot: Plot
    text: str
    caption: str


Section = Chart | Table | Prose | Facts


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that a report says.

    Attributes
    ----------
    kind : str
        What kind of report it is.
    title : str
        What it is about.
    headline : tuple of Fact
        The few figures to see first.
    sections : tuple of Chart, Table, Prose or Facts
        The rest, from top to bottom.
    """

    kind: str
    title: str
    headline: tuple[Fact, ...]
    sections: tuple[Section, ...]

    def section(self, title: str) -> Section:
        """Return the section of that title.

        Raises
        ------
        KeyError
            If there is none.
        """
        for section in self.sections:
            if section.title == title:
                return section
        raise KeyError(title)

    def facts(self, title: str) -> dict[str, str]:
        """Return the facts of a section by name.

        Raises
        ------
        KeyError
            If there is no such section of facts.
        """
        section = self.section(title)
        if not isinstance(section, Facts):
            raise KeyError(title)
        return {fact.name: fact.value for fact in section.facts}


def joined(words: Sequence[str], *, shown: int) -> str:
    """Return the first words, separated by commas, and how many there are beyond."""
    more = [f"and {len(words) - shown:,} more"] if len(words) > shown else []
    return ", ".join([*words[:shown], *more])
