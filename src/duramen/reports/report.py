"""A report: plain data that a terminal, a notebook, one HTML file and files of tables show."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from io import StringIO
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeVar

from markupsafe import Markup, escape

from duramen.importances import Measure, catalogue
from duramen.importances.measure import Measured
from duramen.io import write_table
from duramen.plots.canvas import ACCENT, INK, MUTED, ON_ACCENT
from duramen.plots.importances import BY_DEGREE
from duramen.plots.svg import SvgAxes
from duramen.results.archive import Savable, Saved
from duramen.results.importances import Importances
from duramen.results.result import ResultFigure
from duramen.results.significance import Significance
from duramen.results.summary import Column, Framed, Summary, counted, hidden
from duramen.support.arrow import pa
from duramen.support.checks import warn
from duramen.support.files import expanded, replacing
from duramen.support.text import joined, printable

LEVEL = 0.05
"""False discovery rate at which features are counted as significant."""
DRAWN = 20
"""The most features that a figure shows."""
HELD = 5000
"""Rows of the main table: a terminal or a notebook shows the first, a page can search all."""
WORKBOOK = "result.xlsx"
OF_GROUPS, OF_ROWS, OF_PAIRS = "result-groups.csv", "result-rows.csv", "result-pairs.csv"
OTHER_METHODS = (
    "duramen rank, duramen select and Boruta may find different features in one file, because they "
    "control different errors: rank the probability that any confirmed feature is false; select "
    "the false discovery rate of a search, against a permuted copy of each feature; Boruta the "
    "errors of counting in how many forests a feature exceeds the largest permuted copy."
)
"""Why commands disagree, for the reports of each."""
METHODS = "Methods"
"""Title of the section with the methods in the words of a paper."""
_ARCHIVE = "report.npz"
_LONGEST = 4000  # characters of a text on the page; sentences and commands hold many names
_FEW_CLASSES = 3  # whose sizes stand at the head of a page
_REM = 7.7  # width of the page that an inch of a figure takes at most, in units of its type
_VARIABLES = {
    ACCENT: "var(--accent)",
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    ON_ACCENT: "var(--on-accent)",
}
_UNITS = {
    "bits": "bits of information",
    "gini": "decrease of Gini impurity",
    "variance": "decrease of variance",
    "chi-square": "sum of log-rank statistics",
    "1": "importance",
    "fraction": "fraction of the sum of all importances",
}
_ADJUSTED = {
    "bh": "Benjamini and Hochberg",
    "by": "Benjamini and Yekutieli",
    "storey": "Storey, Taylor and Siegmund",
}

# --- parts of a report ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Section(Savable):
    """A section: paragraphs, names and values, a figure, or sections below it.

    Attributes
    ----------
    title : str
    lines : tuple of str
        Paragraphs.
    points, caution : bool
        Whether the lines are points of a list, and whether they warn.
    facts : tuple of pairs of str
        Names, and what stands beside each.
    figure : tuple of ResultFigure, result and mapping, or None
        Figure to be drawn, the result that it draws, and its options, by name.
    caption, text : str
        What stands below the figure, and what it shows, for those who cannot see it.
    drawing : str
        The figure, drawn as an svg element.
    sections : tuple of Section or Table
        Sections below this one.
    folded, tiled : bool
        Whether these are hidden until a reader opens or prints them, and whether they lie beside
        each other where there is room.
    brief : tuple of str
        What is said in a terminal.
    """

    title: str
    lines: tuple[str, ...] = ()
    points: bool = False
    caution: bool = False
    facts: tuple[tuple[str, str], ...] = ()
    figure: tuple[ResultFigure, Any, Mapping[str, Any]] | None = None
    caption: str = ""
    text: str = ""
    drawing: str = ""
    sections: tuple[Section | Table, ...] = ()
    folded: bool = False
    tiled: bool = False
    brief: tuple[str, ...] = ()


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
        Rows that the page shows at first, and without script; all by default.
    total : int or None
        Rows that there are, of which these are the first; as many as here by default.
    what : str
        What a row is about, in the plural.
    main : bool
        Whether it is the table of the report: what a terminal and a notebook show.
    brief : tuple of str
        What is said of it in a terminal.
    """

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

    @property
    def n_rows(self) -> int:
        """Number of rows that there are, on the page or not."""
        return len(self) if self.total is None else self.total

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


class ReportFigure:
    """A figure of a report, to be saved as a file or shown in a notebook.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 6, n_relevant=2, random_state=0)
    >>> report = dm.rank(data.X, data.y, n_jobs=1)
    >>> report.figures["Map of the rows"]
    ReportFigure('Map of the rows')
    """

    def __init__(self, section: Section) -> None:
        self._section = section

    def savefig(self, path: str | PathLike[str], *, dpi: float = 200.0) -> None:
        """Save the figure as a file, whose name ends in .svg, .png or .pdf.

        Parameters
        ----------
        path : path
            File to write.
        dpi : float
            Pixels per inch of a .png file.

        Raises
        ------
        ValueError
            If the name of the file ends otherwise, or in .png or .pdf for a figure of a loaded
            report, which holds the figures as they were drawn, in SVG.
        """
        place, owner = expanded(path, "ReportFigure.savefig"), "ReportFigure.savefig"
        kind = place.suffix.lower()
        if kind not in (".svg", ".png", ".pdf"):
            raise ValueError(f"{owner}: path must end in .svg, .png or .pdf, got {place.name!r}.")
        if kind == ".svg":
            with replacing(place) as file:
                file.write(self._svg().encode("utf-8"))
            return
        if self._section.figure is None:
            raise ValueError(
                f"{owner}: path must end in .svg for a report that was loaded, got {place.name!r}. "
                "Hint: save it as .svg, or from the page of the report as PNG."
            )
        from matplotlib.figure import Figure

        entry, of, options = self._section.figure
        canvas = Figure(figsize=(entry.width, entry.height(of, options)), layout="constrained")
        entry.draw(of, **options, ax=canvas.add_subplot())
        with replacing(place) as file:
            canvas.savefig(file, format=kind[1:], dpi=dpi)

    def _svg(self) -> str:
        """Return the figure as an svg document with colors for a white page."""
        text = self._section.drawing or svg(self._section, "figure")
        for color, variable in _VARIABLES.items():
            text = text.replace(variable, color)
        width, height = re.findall(r'viewBox="\S+ \S+ (\S+) (\S+)"', text)[0]
        size = f'<svg width="{width}pt" height="{height}pt" font-family="sans-serif" '
        return text.replace("<svg ", size, 1)

    def _repr_svg_(self) -> str:
        return self._svg()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._section.title!r})"


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

    def to_json(self) -> str:
        """Return the record as the JSON text of ``run.json``."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report(Saved, Framed):
    """Report of an analysis as plain data for terminal, notebook, page and files.

    Attributes
    ----------
    kind : str
        What kind of report it is.
    title : str
        What it is about.
    run : Run
        Record of the run: settings, seed, versions, fingerprint of the data.
    headline : tuple of pairs of str
        The few figures to see first: names and values.
    sections : tuple of Section or Table
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
    headline: tuple[tuple[str, str], ...] = ()
    sections: tuple[Section | Table, ...] = ()
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
    def methods(self) -> str:
        """Methods, settings and sources in sentences for a paper; empty if the report has none."""
        sections = (part for part in self.walk() if isinstance(part, Section))
        return next((part.lines[0] for part in sections if part.title == METHODS), "")

    @property
    def figures(self) -> dict[str, ReportFigure]:
        """Figures by the title of their section, each with a method ``savefig``."""
        return {
            part.title: ReportFigure(part)
            for part in self.walk()
            if isinstance(part, Section) and (part.figure is not None or part.drawing)
        }

    @property
    def metadata(self) -> dict[str, Any]:
        """Settings, seed, versions and fingerprint of the data."""
        identity = {"fingerprint": self.run.fingerprint, "seed": self.run.seed}
        return {**self.run.settings, **identity, "versions": dict(self.run.versions)}

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` and ``result.csv`` by name."""
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
        """Return the report with all figures drawn and their results released.

        A figure that cannot be drawn is replaced by its text, and a note gives the reason.
        """
        number, failures = count(), list[str]()

        def with_drawing(section: Any) -> Any:
            prefix = f"figure{next(number)}"
            if isinstance(section, Table):
                return section
            below = tuple(map(with_drawing, section.sections))
            if section.figure is None:
                return replace(section, sections=below) if below else section
            try:
                return replace(section, figure=None, drawing=svg(section, prefix))
            except Exception as error:  # results are not lost for want of a figure
                failures.append(
                    f"the figure {section.title!r} is left out: {type(error).__name__}: {error}"
                )
                return replace(section, figure=None, lines=(section.text,))

        sections = tuple(map(with_drawing, self.sections))
        for failure in failures:
            warn(failure)
        return replace(self, sections=sections, notes=(*self.notes, *failures))

    def _summary(self, rows: int) -> Summary:
        heading = (self.conclusion or self.title,)
        if (main := self.main) is None:
            return Summary(heading, notes=self.notes)
        columns = [column.take(rows) for column in main.columns if not column.minor]
        below = hidden(main.n_rows, len(columns[0].cells))
        return Summary(heading, columns, below, self.notes)

    def walk(self) -> Iterator[Section | Table]:
        """Iterate over all sections, parents before children."""
        for section in self.sections:
            yield section
            if isinstance(section, Section):
                yield from section.sections

    def explanations(self) -> dict[str, tuple[str, ...]]:
        """Return the texts that a terminal does not show by default, by section."""
        sections = (part for part in self.walk() if isinstance(part, Section))
        return {
            part.title: part.lines
            for part in sections
            if part.lines and not (part.brief or part.sections or part.figure or part.drawing)
        }

    def section(self, title: str) -> Any:
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


# --- the page and the files


def render(report: Any) -> str:
    """Return a report as one self-contained HTML page.

    Figures and styles are inside; it loads nothing, follows the reader's choice of light or dark,
    and can be printed. Its one script, which the content security policy of the page allows by its
    digest, sorts, searches and filters tables and saves figures. Names from the data are escaped,
    control characters in them are shown as such, and long text is cut in its middle.

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
    tables = (section for section in report.walk() if isinstance(section, Table))
    columns = (column for table in tables for column in table.columns)
    bars = {column: column.drawn() for column in columns if column.bars is not None}

    def further_rows(table: Table) -> Markup:
        """Return the rows that the page does not show at first, for its script."""
        first = table.shown or 0
        rest = {
            "cells": [
                [printable(cell, _LONGEST) for cell in column.cells[first:]]
                for column in table.columns
            ],
            "bars": {
                place: [
                    [None if x is None else round(x, 4) for x in bar]
                    for bar in bars[column][first:]
                ]
                for place, column in enumerate(table.columns)
                if column in bars
            },
        }
        return Markup(json.dumps(rest, separators=(",", ":")).replace("<", "\\u003c"))

    script = files("duramen.reports").joinpath("templates/report.js").read_text(encoding="utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return environment.get_template("report.html").render(
        report=report,
        bars=bars,
        further_rows=further_rows,
        script=Markup(script),
        script_hash=f"sha256-{digest}",
    )


def svg(section: Section, prefix: str) -> str:
    """Draw the figure of a section as an ``<svg>`` element.

    `prefix` makes its ids differ from those of other figures on the page.
    """
    figure, of, options = section.figure or (None, None, {})
    if figure is None:
        raise ValueError(f"reports: the section {section.title!r} has no figure")
    height = figure.height(of, options)
    if figure.svg:
        axes = SvgAxes(figure.width, height)
        figure.draw(of, **options, ax=axes)
        box, body = f'viewBox="0 0 {axes.width:g} {axes.height:g}"', f"{axes.drawn()}</svg>"
    else:
        box, body = _by_matplotlib(
            partial(figure.draw, of, **options), (figure.width, height), prefix
        )
    body = re.sub(r'\bid="', f'id="{prefix}-', body)
    body = re.sub(r'(href="|url\()#', rf"\1#{prefix}-", body)
    for color, variable in _VARIABLES.items():
        body = body.replace(color, variable)
    said = escape(printable(section.text, _LONGEST))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{box} style="max-width: {_REM * figure.width:.3g}rem" role="img" aria-label="{said}">'
        f"{body}"
    )


def _by_matplotlib(
    draw: Callable[..., Any], size: tuple[float, float], prefix: str
) -> tuple[str, str]:
    """Return the attribute ``viewBox`` of a figure, and its content to the end of the element."""
    # Figures of a page need no backend: that of MPLBACKEND need not exist here. One that exists is
    # the default for whoever draws later.
    backend = None if "matplotlib" in sys.modules else os.environ.pop("MPLBACKEND", None)
    matplotlib: Any = import_module("matplotlib")
    if backend is not None:
        os.environ["MPLBACKEND"] = backend
        with suppress(ValueError):
            matplotlib.rcParams["backend"] = backend
    from matplotlib.figure import Figure

    canvas = Figure(figsize=size, layout="constrained")
    draw(ax=canvas.add_subplot())
    buffer = StringIO()
    style = {"svg.fonttype": "none", "svg.hashsalt": prefix, "font.family": "DejaVu Sans"}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # A glyph that matplotlib's font lacks is no loss: the browser draws the text.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        canvas.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    drawn = buffer.getvalue()
    head, body = drawn[drawn.index("<svg") :].split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    return box.group(0) if box else "", re.sub(
        r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL
    )


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


# --- what reports of analyses have in common --------------------------------------------------

ReportT = TypeVar("ReportT", bound=Report)


def page(
    report_class: type[ReportT],
    run: Run,
    *,
    facts: Mapping[str, str],
    sections: Sequence[Section | Table],
    methods: str = "",
    references: Sequence[str] = (),
    reading: Sequence[str] = (),
    cautions: Sequence[str] = (),
    model: Sequence[str] = (),
    subject: Sequence[str] = (),
    **fields: Any,
) -> ReportT:
    """Return a report whose sections lie between the look at the data and the settings.

    Where there is a target, the numbers of rows and features head the `facts`, and a line on the
    data and the `model` the `subject`. `methods` are sentences with the terms of the field; the
    version and the seed follow them, then the `references`.
    """
    rows, features, target = f"{run.n_rows or 0:,}", f"{run.n_features or 0:,}", run.target
    if target is not None:
        sizes = [f"{name} {n:,}" for name, n in (run.classes or {}).items()]
        few = {"classes": ", ".join(sizes)} if 0 < len(sizes) <= _FEW_CLASSES else {}
        facts = {"rows": rows, **few, "features": features, **facts}
        shape = f"{counted(run.n_rows or 0, 'row')} x {counted(run.n_features or 0, 'feature')}"
        classes = "" if run.classes is None else f" of {len(run.classes)} classes"
        name = f"{printable(run.file)}: " if run.file else ""
        line = f"{name}{shape}, target {printable(target)}{classes}"
        subject = (", ".join([line, *model]), *subject)
    looks = [f"{finding['message']}. Hint: {finding['hint']}." for finding in run.findings]
    looks = [line[0].upper() + line[1:] for line in looks]
    look = Section("Look at the data", tuple(looks), points=True, caution=True)
    below = list[Section]()
    if methods:
        seed = "" if run.seed is None else f", seed {run.seed}"
        methods += f" Computed with duramen {run.versions.get('duramen', '')}{seed}."
        below.append(Section(METHODS, (methods,), brief=(f"{METHODS}: {methods}",)))
    below += [
        Section("References", tuple(references), points=True),
        Section("Interpretation", tuple(reading)),
        Section("Limitations", tuple(cautions), points=True, caution=True),
    ]
    settings = {"command": run.command} | ({} if run.seed is None else {"seed": str(run.seed)})
    settings |= {name: plain(value) for name, value in run.settings.items()}
    below.append(Section("Command and settings", facts=tuple(settings.items())))
    if run.file is not None:
        classes_by_size = sorted((run.classes or {}).items(), key=lambda item: -item[1])
        data = {
            "file": run.file,
            "rows": rows,
            "features": features,
            "target": target,
            "task": run.task,
            "classes": joined([f"{name} ({n:,})" for name, n in classes_by_size], shown=12),
            "fingerprint": run.fingerprint,
            "please cite": run.citation,
        }
        pairs = tuple((name, value) for name, value in data.items() if value)
        below.append(Section("Data", facts=pairs))
    times = {f"seconds to {step}": f"{took:.3g}" for step, took in run.timings.items()}
    below.append(Section("Versions and times", facts=tuple({**run.versions, **times}.items())))
    return report_class(
        run=run,
        headline=tuple(facts.items()),
        sections=tuple(
            section
            for section in (look, *sections, *below)
            if isinstance(section, Table)
            or section.lines
            or section.facts
            or section.figure
            or section.sections
        ),
        subject=tuple(subject),
        references=tuple(references),
        **fields,
    )


def plain(value: object) -> str:
    """Return a setting as a reader would write it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plain(part)}" for name, part in value.items()) or "none"
    return str(value)


def unit_words(unit: str) -> str:
    """Return the words for a unit of importance."""
    return _UNITS.get(unit, unit)


def as_importances(measured: Measured) -> Importances:
    """Return a measure as importances: of a test, its scores."""
    if isinstance(measured, Importances):
        return measured
    return Importances(measured.names, measured.scores, measured.method, measured.unit)


def adjusted_words(result: Significance) -> str:
    """Return a sentence that explains q-values."""
    adjusted = _ADJUSTED.get(result.adjustment, result.adjustment)
    return (
        f"q is p adjusted for the number of features (after {adjusted}): of the features with q "
        f"up to {LEVEL:g}, at most {LEVEL:.0%} are expected to be false discoveries, if the "
        "p-values are valid."
    )


def rows_note(shown: int, n_features: int) -> str:
    """Return a note on the number of features shown, and on the files with all features."""
    if shown < n_features:
        return (
            f"The first {shown:,} of {n_features:,} features; result.csv and result.parquet hold "
            "them all."
        )
    return f"All {counted(n_features, 'feature')}, as in result.csv and result.parquet."


def words_of(measured: Measured) -> Measure:
    """Return the record of a measure, or a record with only its name outside the catalogue."""
    name = measured.measure if isinstance(measured, Importances) else measured.method
    if name in catalogue:
        return catalogue[name]
    return Measure("unlisted", lambda _: measured, name.replace("_", " "))


def degree_charts(importances: Importances, columns: int = 9) -> list[Section]:
    """Return the parts of the first features by degree, where known."""
    if importances.by_degree is None or not len(importances):
        return []
    best = importances.top(DRAWN)
    settings = importances.metadata.get("forest") or importances.metadata.get("population") or {}
    meaning = (
        "Nodes are split on the best of several candidates (K > 1): a weaker feature has little "
        "importance at degree 0 even if no features interact. Deep nodes hold few rows, where "
        "noise features have importance by chance: this is no evidence of an interaction."
    )
    if settings.get("max_features") == 1:
        meaning = (
            "Each node has one random candidate (K = 1): degree 0 holds the information of a "
            "feature by itself, higher degrees the information that it adds given other features."
        )
    chart = Section(
        "By interaction degree",
        caption="The importance of each feature by the number of splits above, in "
        f"{unit_words(importances.unit)}. {meaning}",
        figure=(BY_DEGREE, best, {"k": len(best), "columns": columns}),
        text="Heat map of the importance of these features by the number of splits above. The "
        "columns degree_0, degree_1 ... of result.csv hold its numbers.",
    )
    return [chart]
