"""Series matrix files of the Gene Expression Omnibus (GEO).

Lines that begin with ``!`` describe the series and its samples; between two of them lies a table
with a line a feature, such as a probe, and a column a sample.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

from duramen.io.formats.delimited import explained
from duramen.io.formats.format import Format, Input, Request, named_rows
from duramen.io.formats.text import TransposedTextInput
from duramen.io.formats.text_file import TextFile
from duramen.support.arrow import pa, pc

_BEGIN, _END = b"!series_matrix_table_begin", b"!series_matrix_table_end"
_SAMPLE, _TRAIT = "!Sample_", "characteristics"
_MISSING = ("", "NA", "N/A", "na", "n/a", "null", "NaN", "--")


def open_geo(path: Path, request: Request) -> Input:
    """Open a series matrix; its features become columns, whether asked for or not."""
    text = replace(TextFile.of(path, "\t", request), separator="\t")
    lines, begins = [], 0
    with explained(text), text.opened() as stream:
        rows = stream if hasattr(stream, "peek") else text.buffered(stream)
        for line in iter(rows.readline, b""):
            begins += 1
            if line.startswith(_BEGIN):
                break
            lines.append(line)
        else:
            raise ValueError(
                f"{request.function}: {path} has no line {_BEGIN.decode()}, after which a GEO "
                "series matrix has its table"
            )
        kept = [line.decode("utf-8") for line in lines if line.startswith(_SAMPLE.encode())]
        described = list(csv.reader(map(_one_line, kept), delimiter="\t"))
    table = replace(text, skip_rows=text.skipped + begins, until=_END)
    return GeoInput(table, request, described)


def _one_line(line: str) -> str:
    """Return a line without its end, and without ends of other systems within it."""
    return " ".join(line.splitlines())


class GeoInput(TransposedTextInput):
    """Series matrix: features as columns, and what is known of the samples."""

    def __init__(self, text: TextFile, request: Request, described: list[list[str]]) -> None:
        super().__init__(text, request)
        self._described = described  # fields of the lines about samples

    def _no_rows(self) -> ValueError:
        return ValueError(
            f"{self._function}: the table of {self._path} is empty: the values of this series are "
            "in other files of its page at GEO, such as a matrix of counts; give that one, with "
            "--transpose and --samples"
        )

    def samples(self) -> pa.Table:
        """Return what the file says of the samples: a column a line, or a characteristic."""
        n = len(self._rows)
        texts: dict[str, list[str | None]] = {"sample": list(self._rows)}
        for key, *values in self._described:
            if len(values) != n:
                continue
            title = key.removeprefix(_SAMPLE)
            for row, value in enumerate(values):
                trait, _, told = value.partition(": ")
                named = trait if title.startswith(_TRAIT) and told else title
                column = texts.setdefault(named, [None] * n)
                column[row] = (told if named == trait else value).strip()
        columns = {name: pa.array(values, pa.string()) for name, values in texts.items()}
        return named_rows(pa.table({name: _typed(one) for name, one in columns.items()}), "sample")


def _typed(column: Any) -> Any:
    """Return a column of text as numbers if it holds them, with missing values as such."""
    known = pc.if_else(pc.is_in(column, pa.array(_MISSING)), pa.scalar(None, pa.string()), column)
    for kind in (pa.int64(), pa.float64()):
        try:
            return known.cast(kind)
        except pa.ArrowInvalid:
            continue
    return known


GEO = Format(
    "geo",
    "GEO",
    (".txt",),
    groups=open_geo,
    text=True,
    separator="\t",
    begins=b"!Series_",
)
