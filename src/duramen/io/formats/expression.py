"""Gene expression: series matrices of GEO; files of GenePattern and GSEA (.gct, .cls)."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from duramen.io.formats.format import Format, Input, Request
from duramen.io.formats.text import TransposedTextInput
from duramen.io.formats.text_file import TextFile, explained
from duramen.support.arrow import pa
from duramen.support.text import as_number, read_utf8
from duramen.support.warning import warn

_HEAD = 1 << 12
_SIZES = {"#1.2": 2, "#1.3": 4}  # versions, and the numbers in the second line


@dataclass(frozen=True)
class _Size:
    """Numbers of a .gct file, as its second line has them."""

    genes: int
    samples: int
    of_genes: int = 1  # fields that describe a gene, after its name
    of_samples: int = 0  # lines that describe the samples, before the genes


def open_gct(path: Path, request: Request) -> Input:
    """Open a matrix of genes by samples; its genes become columns, whether asked for or not."""
    text = replace(TextFile.of(path, "\t", request), separator="\t")
    head = text.head(_HEAD).decode("utf-8-sig", "replace").splitlines()[text.skip_rows :]
    first, second = [*head, "", ""][:2]
    count = _SIZES.get(first.strip(), 0)
    numbers = [int(size) for size in second.split()[:count] if size.isdecimal()]
    if not count or len(numbers) < count:
        raise ValueError(
            f"{request.function}: {path} does not begin as a .gct file, with a line '#1.2' or "
            "'#1.3' and one with its numbers of genes and samples. Hint: if it is a table of "
            f"another kind, call it {path.stem}.txt"
        )
    return GctInput(replace(text, skip_rows=text.skip_rows + 2), request, _Size(*numbers))


class GctInput(TransposedTextInput):
    """Genes as columns, and what version 1.3 says of the samples."""

    def __init__(self, text: TextFile, request: Request, size: _Size) -> None:
        self._holds = size
        self._above = 1 + size.of_samples
        super().__init__(text, request)
        for what, there, wanted in (
            ("genes", self.n_columns, size.genes),
            ("samples", len(self._rows), size.samples),
        ):
            if there != wanted:
                raise ValueError(
                    f"{self._function}: {self._path} has {there} {what}, but its second line says "
                    f"{wanted}: the file was cut short, or that line is wrong"
                )

    def _n_describing(self) -> int:
        return self._holds.of_genes

    def samples(self) -> pa.Table:
        """Return the names of the samples, and a column for each line that describes them."""
        texts: dict[str, list[str]] = {}
        wanted = 1 + self._before + len(self._rows)
        for line in self._first(self._above)[1:]:
            if len(line) != wanted:
                raise self._ragged(len(line), wanted)
            texts[line[0]] = line[1 + self._before :]
        return self._annotated(texts)


GCT = Format("gct", "GCT", (".gct",), groups=open_gct, text=True, separator="\t")


def read_cls(path: Path, request: Request) -> pa.Table:
    """Read the classes of samples as a column ``class``, or each quantity as a column."""
    text = read_utf8(path, request.function)
    lines = [line.split() for line in text.splitlines() if line.strip()]
    quantities = bool(lines) and lines[0] == ["#numeric"]
    columns = _quantities(lines[1:]) if quantities else _classes(lines, path, request)
    if not columns or len(set(map(len, columns.values()))) > 1:
        raise ValueError(
            f"{request.function}: {path} is not a .cls file: a line such as '72 2 1' (samples, "
            "classes, 1), one with the names of the classes after '#', and one with as many labels "
            "as samples; or a line '#numeric', and for each quantity one with its name after '#' "
            "and one with a number for each sample"
        )
    return pa.table(columns)


def _quantities(lines: list[list[str]]) -> dict[str, Any]:
    columns: dict[str, list[float]] = {}
    name = ""
    for line in lines:
        if line[0].startswith("#"):
            name = " ".join(line).removeprefix("#").strip()
            columns[name] = []
            continue
        numbers = [as_number(field) for field in line]
        if not name or None in numbers:
            return {}
        columns[name] += [number for number in numbers if number is not None]
    return columns


def _classes(lines: list[list[str]], path: Path, request: Request) -> dict[str, Any]:
    if len(lines) < 3 or len(lines[0]) < 2 or not lines[1][0].startswith("#"):
        return {}
    names = " ".join(lines[1]).removeprefix("#").split()
    labels = [label for line in lines[2:] for label in line]
    if [f"{len(labels)}", f"{len(names)}"] != lines[0][:2]:
        return {}
    if set(labels) <= set(names):
        return {"class": labels}
    # The first label in the file stands for the first name, the next other one for the second.
    seen = list(dict.fromkeys(labels))
    if len(seen) > len(names):
        return {}
    if seen != sorted(seen):
        meant = ", ".join(f"{label} is {name}" for label, name in zip(seen, names, strict=False))
        warn(
            f"{request.function}: labels of {path.name} stand for names of classes in the order in "
            f"which they come in the file, as GenePattern reads them: {meant}"
        )
    return {"class": [names[seen.index(label)] for label in labels]}


CLS = Format("cls", "Classes of GenePattern", (".cls",), read=read_cls)


_BEGIN, _END = b"!series_matrix_table_begin", b"!series_matrix_table_end"
_SAMPLE, _TRAIT = "!Sample_", "characteristics"


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
        sample_lines = [line.decode("utf-8") for line in lines if line.startswith(_SAMPLE.encode())]
        described = list(csv.reader(map(_one_line, sample_lines), delimiter="\t"))
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
        texts: dict[str, list[str | None]] = {}
        for key, *values in self._described:
            if len(values) != n:
                continue
            title = key.removeprefix(_SAMPLE)
            for row, value in enumerate(values):
                trait, _, description = value.partition(": ")
                named = trait if title.startswith(_TRAIT) and description else title
                column = texts.setdefault(named, [None] * n)
                column[row] = (description if named == trait else value).strip()
        return self._annotated(texts)


GEO = Format(
    "geo",
    "GEO",
    (".txt",),
    groups=open_geo,
    text=True,
    separator="\t",
    begins=b"!Series_",
)
