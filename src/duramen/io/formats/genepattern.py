"""Files of GenePattern and GSEA: genes by samples (.gct), and the classes of samples (.cls)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from duramen.io.formats.format import Format, Input, Request
from duramen.io.formats.text import TransposedTextInput
from duramen.io.formats.text_file import TextFile
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
