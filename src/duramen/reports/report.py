"""Sections of a report as plain data: no color, no tag, no figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

DRAWN = 20
"""The most features that a figure shows."""


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
    """A section of sentences: paragraphs, or points of a list."""

    layout: ClassVar[str] = "prose"

    title: str
    lines: tuple[str, ...]
    points: bool = False  # whether the lines are points of a list
    caution: bool = False  # whether they warn


@dataclass(frozen=True)
class Column:
    """A column of a table in a report.

    Cells are numbers as text; names that the rows are about; other words; or bars.
    """

    title: str
    holds: Literal["number", "name", "words", "bar"]
    minor: bool = False  # whether a narrow screen leaves it out


@dataclass(frozen=True)
class Bar:
    """A bar in a cell of a table, with an error bar; lengths are fractions of the cell's width."""

    length: float
    low: float | None = None  # ends of the error bar
    high: float | None = None
    faint: bool = False  # whether its color is muted

    def __float__(self) -> float:
        return self.length


Cell = str | float | Bar


@dataclass(frozen=True)
class Table:
    """A section with a table.

    Attributes
    ----------
    title : str
    columns : tuple of Column
    rows : tuple of tuples of str, float or Bar
        One entry a column: a float or `Bar` for a bar, else the text.
    note : str
        What is shown, and where the rest is.
    """

    layout: ClassVar[str] = "table"

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str

    @classmethod
    def of(cls, title: str, columns: Sequence[tuple[Column, Sequence[Cell]]], note: str) -> Table:
        """Return a table of columns, each with its cells."""
        rows = tuple(zip(*(cells for _, cells in columns), strict=True))
        return cls(title, tuple(column for column, _ in columns), rows, note)

    def column(self, title: str) -> tuple[Cell, ...]:
        """Return the cells of a column."""
        place = [column.title for column in self.columns].index(title)
        return tuple(row[place] for row in self.rows)


@dataclass(frozen=True, eq=False)
class Plot:
    """Figure to be drawn."""

    figure: str  # name of a function of `duramen.plots`
    of: Any  # result that it draws
    options: Mapping[str, Any] = field(default_factory=dict)  # its options, by name


@dataclass(frozen=True, eq=False)
class Chart:
    """A section with a figure."""

    layout: ClassVar[str] = "chart"

    title: str
    plot: Plot
    text: str  # what the figure shows, for those who cannot see it
    caption: str


Part = Chart | Table | Prose | Facts


@dataclass(frozen=True, eq=False)
class Group:
    """Sections under one title.

    A folded group is closed until a reader opens it, and is not printed.
    """

    layout: ClassVar[str] = "group"

    title: str
    sections: tuple[Part, ...]
    folded: bool = True
    note: str = ""
    tiled: bool = False  # whether the sections lie beside each other where there is room


Section = Part | Group


@dataclass(frozen=True, eq=False)
class Report:
    """Report: headline and sections.

    Attributes
    ----------
    kind : str
        What kind of report it is.
    title : str
        What it is about.
    headline : tuple of Fact
        The few figures to see first.
    sections : tuple of Chart, Table, Prose, Facts or Group
        The rest, from top to bottom.
    conclusion : str
        The result in one sentence, above everything else.
    remarks : tuple of str
        Explanations of figures of the headline that seem to contradict each other.
    """

    kind: str
    title: str
    headline: tuple[Fact, ...]
    sections: tuple[Section, ...]
    conclusion: str = ""
    remarks: tuple[str, ...] = ()

    def walk(self) -> Iterator[Section]:
        """Iterate over all sections, each group before those that are in it."""
        for section in self.sections:
            yield section
            if isinstance(section, Group):
                yield from section.sections

    def section(self, title: str) -> Section:
        """Return the section of that title.

        Raises
        ------
        KeyError
            If there is none.
        """
        for section in self.walk():
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
