"""Summary of a result: heading, table and notes, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duramen.configuration import get_config
from duramen.results.columns import Column
from duramen.results.html import page, table
from duramen.results.notes import note_lines
from duramen.support.arrays import native_frame
from duramen.support.text import aligned

ROWS = 10
"""Rows that a result shows unless `set_config` says otherwise."""

_SETTINGS = {
    "criterion": "criterion",
    "max_features": "K",
    "n_trees": "trees",
    "n_permutations": "permutations",
    "n_resamples": "resamples",
    "n_rows": "rows",
    "seed": "seed",
}
_DIGITS_OF_FINGERPRINT = 8


@dataclass(frozen=True)
class Summary:
    """Heading, table and notes of a result."""

    # Lines above the table, the first one the name of the result and its sizes.
    heading: tuple[str, ...]
    columns: Sequence[Column] = ()  # the table; without rows it is left out
    below: tuple[str, ...] = ()  # lines below the table, such as `hidden`
    notes: tuple[str, ...] = ()  # limits of the result, a sentence each
    then: Summary | None = None  # a second table with its own heading

    def parts(self) -> Iterator[Summary]:
        """Yield this summary and those that follow it."""
        yield self
        if self.then is not None:
            yield from self.then.parts()

    def text(self) -> str:
        """Return the summary as lines of text."""
        return "\n\n".join("\n".join(one._lines()) for one in self.parts())

    def _lines(self) -> Iterator[str]:
        yield from self.heading
        if self.columns and len(self.columns[0].cells):
            yield from aligned(
                [column.title for column in self.columns],
                [column.cells for column in self.columns],
                right=[not column.left for column in self.columns],
            )
        yield from self.below
        yield from note_lines(self.notes)

    def html(self, settings: str = "") -> str:
        """Return the summary as static HTML, with `settings` as its last line."""
        return page(
            (
                (
                    one.heading,
                    table(one.columns),
                    (*one.below, *(f"note: {note}" for note in one.notes)),
                )
                for one in self.parts()
            ),
            settings,
        )


class Summarized:
    """Base of what shows itself: as text, and as a table with bars in a notebook.

    A class says once what it shows, in `_summary`.
    """

    _rows_shown = ROWS

    def _summary(self, rows: int) -> Summary:
        raise NotImplementedError

    def summary(self, rows: int = ROWS) -> Summary:
        """Return the heading, at most so many rows of the table, and the notes."""
        return self._summary(rows)

    def _shown(self) -> Summary:
        rows = get_config()["max_rows"]
        return self._summary(self._rows_shown if rows is None else rows)

    def __repr__(self) -> str:
        return self._shown().text()

    def _repr_html_(self) -> str | None:
        if get_config()["display"] != "html":
            return None
        return self._shown().html(settings_line(getattr(self, "metadata", {})))


class Framed(Summarized):
    """Base of what becomes a data frame too."""

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return a data frame; its columns are those of `columns`.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The first of these libraries that is installed.
        """
        return native_frame(self.columns())


def settings_line(metadata: Mapping[str, Any]) -> str:
    """Return the settings, seed, data and version of a result on one line."""
    inner = [value for value in metadata.values() if isinstance(value, Mapping)]
    parts = []
    for key, word in _SETTINGS.items():
        found = next((one[key] for one in (metadata, *inner) if one.get(key) is not None), None)
        if isinstance(found, str | int | float):
            parts.append(f"{word} {found}")
    if isinstance(data := metadata.get("fingerprint"), str):
        parts.append(f"data {data[:_DIGITS_OF_FINGERPRINT]}")
    if isinstance(versions := metadata.get("versions"), Mapping) and "duramen" in versions:
        parts.append(f"duramen {versions['duramen']}")
    return " · ".join(parts)
