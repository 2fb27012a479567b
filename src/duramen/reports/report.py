"""A report: plain data that a terminal, a notebook, one HTML file and files of tables show."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from io import StringIO
from itertools import count
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from markupsafe import escape

from duramen.io import write_table
from duramen.plots.canvas import ACCENT, INK, MUTED, ON_ACCENT
from duramen.results.archive import Savable, Saved
from duramen.results.result import ResultFigure
from duramen.results.summary import Column, Framed, Summary
from duramen.support.arrow import pa
from duramen.support.files import expanded, replacing
from duramen.support.text import printable
from duramen.support.warning import warn

if TYPE_CHECKING:
    from duramen.data import Target

_INCHES = 4.4  # width of a figure
_VARIABLES = {
    ACCENT: "var(--accent)",
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    ON_ACCENT: "var(--on-accent)",
}


@dataclass(frozen=True, eq=False)
class Plot:
    """Figure to be drawn."""

    figure: ResultFigure
    of: Any  # result that it draws
    options: Mapping[str, Any] = field(default_factory=dict)  # its options, by name


def svg(plot: Plot, text: str, prefix: str) -> str:
    """Draw a figure as an ``<svg>`` element.

    `text` says what it shows, for those who cannot see it; `prefix` makes its ids differ from those
    of others on the page.
    """
    # Figures of a page need no backend: that of MPLBACKEND need not exist here. One that exists is
    # the default for whoever draws later.
    backend = None if "matplotlib" in sys.modules else os.environ.pop("MPLBACKEND", None)
    matplotlib: Any = import_module("matplotlib")
    if backend is not None:
        os.environ["MPLBACKEND"] = backend
        with suppress(ValueError):
            matplotlib.rcParams["backend"] = backend
    from matplotlib.figure import Figure

    figure, buffer = plot.figure, StringIO()
    canvas = Figure(figsize=(_INCHES, figure.height(plot.of, plot.options)), layout="constrained")
    figure.draw(plot.of, **plot.options, ax=canvas.add_subplot())
    style = {"svg.fonttype": "none", "svg.hashsalt": prefix, "font.family": "DejaVu Sans"}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # A glyph that matplotlib's font lacks is no loss: the browser draws the text.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        canvas.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    drawn = buffer.getvalue()
    head, body = drawn[drawn.index("<svg") :].split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{prefix}-', body)
    body = re.sub(r'(href="|url\()#', rf"\1#{prefix}-", body)
    for color, variable in _VARIABLES.items():
        body = body.replace(color, variable)
    said = escape(printable(text, _LONGEST))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{box.group(0) if box else ""} role="img" aria-label="{said}">{body}'
    )


_LONGEST = 4000  # characters of a text on the page; sentences and commands hold many names


def render(report: Any) -> str:
    """Return a report as one self-contained HTML page.

    Figures and styles are inside; it loads nothing, runs nothing, follows the reader's choice of
    light or dark, and can be printed. Names from the data are escaped, control characters in them
    are shown as such, and long text is cut in its middle.

    Parameters
    ----------
    report : Report
        What a summary or an analysis has returned.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("duramen.reports"),
        autoescape=True,
        # Markup, of a class of its own, stays as it is.
        finalize=lambda value: printable(value, _LONGEST) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    report = report.drawn()
    tables = (section for section in report.walk() if section.layout == "table")
    columns = (column for table in tables for column in table.columns)
    bars = {column: column.drawn() for column in columns if column.bars is not None}
    return environment.get_template("report.html").render(report=report, bars=bars)


WORKBOOK = "result.xlsx"
_ARCHIVE = "report.npz"
OF_GROUPS = "result-groups.csv"
OF_ROWS, OF_PAIRS = "result-rows.csv", "result-pairs.csv"


def write_tables(
    folder: Path,
    table: Mapping[str, Any],
    further: Mapping[str, Mapping[str, Any]],
    *,
    spreadsheet_safe: bool,
) -> None:
    """Write result.csv, result.parquet and further tables."""
    columns = pa.table(dict(table))
    write_table(columns, folder / "result.csv", spreadsheet_safe=spreadsheet_safe)
    write_table(columns, folder / "result.parquet")
    for name, more in further.items():
        write_table(pa.table(dict(more)), folder / name, spreadsheet_safe=spreadsheet_safe)


DRAWN = 20
"""The most features that a figure shows."""
HELD = 1000
"""Rows of the main table, of which a page, a terminal or a notebook shows the first."""


@dataclass(frozen=True)
class Fact(Savable):
    """A name and what stands beside it."""

    name: str
    value: str


@dataclass(frozen=True)
class Facts(Savable):
    """A section of names and values."""

    layout: ClassVar[str] = "facts"

    title: str
    facts: tuple[Fact, ...]
    brief: tuple[str, ...] = ()  # what is said in a terminal


@dataclass(frozen=True)
class Prose(Savable):
    """A section of sentences: paragraphs, or points of a list."""

    layout: ClassVar[str] = "prose"

    title: str
    lines: tuple[str, ...]
    points: bool = False  # whether the lines are points of a list
    caution: bool = False  # whether they warn
    brief: tuple[str, ...] = ()  # what is said in a terminal


@dataclass(frozen=True, eq=False)
class Table(Savable):
    """A section with a table.

    Attributes
    ----------
    title : str
    columns : tuple of Column
    note : str
        What the page shows, and where the rest is.
    shown : int or None
        Rows on the page; all by default.
    total : int or None
        Rows that there are, of which these are the first; as many as here by default.
    what : str
        What a row is about, in the plural.
    main : bool
        Whether it is the table of the report: what a terminal and a notebook show.
    brief : tuple of str
        What is said of it in a terminal.
    """

    layout: ClassVar[str] = "table"

    title: str
    columns: tuple[Column, ...]
    note: str
    shown: int | None = None
    total: int | None = None
    what: str = "features"
    main: bool = False
    brief: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns[0].cells)

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Rows on the page."""
        cells = (column.cells[: self.shown] for column in self.columns)
        return tuple(zip(*cells, strict=True))

    def hidden(self, n: int) -> int:
        """Return how many rows there are beyond the first n."""
        return max(0, (len(self) if self.total is None else self.total) - n)

    def column(self, title: str) -> tuple[str, ...]:
        """Return the cells of a column on the page."""
        column = next(column for column in self.columns if column.title == title)
        return tuple(column.cells[: self.shown])


def shown_columns(columns: Sequence[Column], n: int) -> tuple[Column, ...]:
    """Return the first rows of the columns with a title and any content, for a page."""
    return tuple(
        column.take(n)
        for column in columns
        if column.title and (column.numbers is not None or any(column.cells))
    )


@dataclass(frozen=True, eq=False)
class Chart(Savable):
    """A section with a figure."""

    layout: ClassVar[str] = "chart"

    title: str
    plot: Plot | str  # drawn, as an svg element
    text: str  # what the figure shows, for those who cannot see it
    caption: str


Part = Chart | Table | Prose | Facts


@dataclass(frozen=True, eq=False)
class Group(Savable):
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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report(Saved, Framed):
    """Report of an analysis as plain data, which a terminal, a notebook, a page and files show.

    Attributes
    ----------
    kind : str
        What kind of report it is.
    title : str
        What it is about.
    run : Run
        Record of the run: settings, seed, versions, fingerprint of the data.
    headline : tuple of Fact
        The few figures to see first.
    sections : tuple of Chart, Table, Prose, Facts or Group
        The rest, from top to bottom; one table at most is the main one.
    conclusion : str
        The result in a sentence, above everything else.
    subject : tuple of str
        Data and model, a line each, below the conclusion in a terminal.
    table : mapping of str to columns
        Columns of the table of results with all rows, those of ``result.csv``.
    further : mapping of str to columns
        Columns of further tables by their file, such as ``result-groups.csv``.
    notes : tuple of str
        Remarks on the data and on the analysis, a sentence each.
    references : tuple of str
        Sources of the methods.
    """

    kind: str
    title: str
    run: Run
    headline: tuple[Fact, ...] = ()
    sections: tuple[Section, ...] = ()
    conclusion: str = ""
    subject: tuple[str, ...] = ()
    table: Mapping[str, Any] = field(default_factory=dict)
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    @property
    def main(self) -> Table | None:
        """The main table."""
        tables = (part for part in self.walk() if isinstance(part, Table) and part.main)
        return next(tables, None)

    @property
    def metadata(self) -> dict[str, Any]:
        """Settings, seed, versions and fingerprint of the data."""
        identity = {"fingerprint": self.run.fingerprint, "seed": self.run.seed}
        return {**self.run.settings, **identity, "versions": dict(self.run.versions)}

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name, those of ``result.csv``."""
        table = pa.table(dict(self.table))
        return {name: table[name].to_numpy() for name in table.column_names}

    def report(self) -> Report:
        """Return the report itself, whose sections `duramen.reports.render` draws."""
        return self

    def save(self, folder: str | PathLike[str], *, spreadsheet_safe: bool = False) -> None:
        """Write the report and the results to a folder, as the command does.

        The files are report.html, result.csv, result.parquet and run.json, those of `further`
        tables, and report.npz, which `load` reads. Each appears whole or not at all; other files
        stay.

        Parameters
        ----------
        folder : path
            Made if it does not exist.
        spreadsheet_safe : bool
            Whether text in result.csv that a spreadsheet would evaluate as a formula gets an
            apostrophe.

        Raises
        ------
        OSError
            If the folder cannot be written to.
        """
        place = expanded(folder, f"{type(self).__name__}.save")
        place.mkdir(parents=True, exist_ok=True)
        write_tables(place, self.table, self.further, spreadsheet_safe=spreadsheet_safe)
        report = self.drawn()
        record = replace(self.run, references=self.references)
        written = {"report.html": render(report), "run.json": record.to_json()}
        for name, text in written.items():
            with replacing(place / name) as file:
                file.write(text.encode("utf-8"))
        super(Report, report).save(place / _ARCHIVE)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read the report that `save` wrote to a folder, with its figures as they were drawn.

        Raises
        ------
        FileNotFoundError
            If there is no such folder, or no report in it.
        ValueError
            If its report is of another class, was altered, or was written by a later version.
        """
        return super().load(expanded(folder, f"{cls.__name__}.load") / _ARCHIVE)

    def drawn(self) -> Self:
        """Return the report with all figures drawn, which no longer hold what they show.

        A figure that cannot be drawn is replaced by its text, and a note gives the reason.
        """
        number, failures = count(), list[str]()

        def with_drawing(section: Any) -> Any:
            i = next(number)
            if isinstance(section, Group):
                return replace(section, sections=tuple(map(with_drawing, section.sections)))
            if isinstance(section, Chart) and isinstance(section.plot, Plot):
                try:
                    drawing = svg(section.plot, section.text, f"figure{i}")
                except Exception as error:  # results are not lost for want of a figure
                    failures.append(
                        f"the figure {section.title!r} is left out: {type(error).__name__}: {error}"
                    )
                    return Prose(section.title, (section.text,))
                return replace(section, plot=drawing)
            return section

        sections = tuple(map(with_drawing, self.sections))
        for failure in failures:
            warn(failure)
        return replace(self, sections=sections, notes=(*self.notes, *failures))

    def _summary(self, rows: int) -> Summary:
        heading = (self.conclusion or self.title,)
        if (main := self.main) is None:
            return Summary(heading, notes=self.notes)
        columns = [column.take(rows) for column in main.columns if not column.minor]
        more = main.hidden(len(columns[0].cells))
        below = (f"... and {more} more",) if more else ()
        return Summary(heading, columns, below, self.notes)

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


@dataclass(frozen=True, kw_only=True)
class Run(Savable):
    """Command, data, settings and seed of a run.

    Only `paths` names folders, as the user did; a report does not show it.

    What does not apply is None, as the data of a run without any.

    Parameters
    ----------
    command : str
        The command line, files by their name alone.
    task : str, optional
        ``"classification"``, ``"regression"`` or ``"survival"``.
    target : str, optional
        Name of the target column.
    file : str, optional
        Name of the input file.
    paths : mapping of str to str
        Files as they were given, by the argument or option.
    n_rows, n_features : int, optional
        Shape of the table, without the target.
    fingerprint : str, optional
        Fingerprint of the encoded table and the target.
    seed : int, optional
        Seed of the random numbers.
    settings : mapping
        Every setting, defaults included, resolved.
    versions : mapping
        Versions of Python and of the packages.
    classes : mapping of str to int, optional
        Number of rows of each class.
    results : mapping
        A few figures, such as the out-of-bag error.
    timings : mapping of str to float
        Seconds that each step took.
    citation : str
        What the data ask to be cited; empty if nothing.
    references : sequence of str
        Sources of the methods, to be cited.
    findings : sequence of mappings
        What a look at the data found: ``"kind"``, ``"columns"``, ``"message"``, ``"hint"`` and
        ``"values"`` of each `duramen.data.Finding`.
    """

    command: str
    task: str | None = None
    target: str | None = None
    file: str | None = None
    paths: Mapping[str, str] = field(default_factory=dict)
    n_rows: int | None = None
    n_features: int | None = None
    fingerprint: str | None = None
    seed: int | None = None
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    classes: Mapping[str, int] | None = None
    results: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    citation: str = ""
    references: Sequence[str] = ()
    findings: Sequence[Mapping[str, Any]] = ()

    @property
    def target_class(self) -> type[Target]:
        """Class of the target; that of numbers where the task is not known."""
        from duramen.data.target import NumberTarget, target_class

        return target_class(self.task or NumberTarget.task)

    def to_json(self) -> str:
        """Return the record as JSON text, as it stands in ``run.json``."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
