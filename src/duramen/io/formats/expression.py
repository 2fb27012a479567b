"""Gene expression: series matrices of GEO; files of GenePattern and GSEA (.gct, .cls)."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from duramen.io.formats.format import Format, Request
from duramen.io.formats.text import TransposedTextInput
from duramen.io.formats.text_file import TextFile
from duramen.support.arrow import pa
from duramen.support.checks import warn
from duramen.support.text import read_utf8


class GctInput(TransposedTextInput):
    """Genes as columns, and the sample annotations of version 1.3 of .gct files.

    The second line has the numbers of genes and samples; of version 1.3 also of the fields that
    describe a gene, after its name, and of the lines that describe the samples, before the genes.
    """

    def __init__(self, path: Path, request: Request) -> None:
        text = replace(TextFile.of(path, "\t", request), separator="\t")
        with text.explained(), text.decoded() as stream:
            lines = [stream.readline() for _ in range(text.skip_rows + 2)][text.skip_rows :]
        first, second = (line.decode("utf-8-sig", "replace").strip() for line in lines)
        count = {"#1.2": 2, "#1.3": 4}.get(first, 0)
        sizes = [int(size) for size in second.split()[:count] if size.isdecimal()]
        if not count or len(sizes) < count:
            raise ValueError(
                f"{request.function}: {path} does not begin as a .gct file, with a line '#1.2' or "
                "'#1.3' and one with its numbers of genes and samples. Hint: if it is a table of "
                f"another kind, call it {path.stem}.txt"
            )
        n_genes, n_samples, self._n_fields, self._above = (*sizes, 1, 0)[:4]
        super().__init__(replace(text, skip_rows=text.skip_rows + 2), request)
        for what, there, wanted in (
            ("genes", self.n_columns, n_genes),
            ("samples", len(self._rows), n_samples),
        ):
            if there != wanted:
                raise ValueError(
                    f"{request.function}: {path} has {there} {what}, but its second line says "
                    f"{wanted}: the file was cut short, or that line is wrong"
                )

    def _n_describing(self) -> int:
        return self._n_fields

    def samples(self) -> pa.Table:
        """Return the names of the samples, and a column for each line that describes them."""
        lines: list[tuple[str, ...]] = []
        for block in self._blocks(missing=False):
            more = block.slice(0, self._above - len(lines))
            lines += zip(*(column.to_pylist() for column in more.columns), strict=True)
            if len(lines) == self._above:
                break
        return self._annotated({line[0]: line[1 + self._before :] for line in lines})


GCT = Format("gct", "GCT", (".gct",), groups=GctInput, text=True, separator="\t")


class GeoInput(TransposedTextInput):
    """Series matrix of GEO: features as columns, and sample annotations."""

    def __init__(self, path: Path, request: Request) -> None:
        text = replace(TextFile.of(path, "\t", request), separator="\t")
        lines: list[bytes] = []
        with text.explained(), text.decoded() as stream:
            for line in stream:
                lines.append(line)
                if line.startswith(b"!series_matrix_table_begin"):
                    break
            else:
                raise ValueError(
                    f"{request.function}: {path} has no line !series_matrix_table_begin, after "
                    "which a GEO series matrix has its table"
                )
            described = [line.decode() for line in lines if line.startswith(b"!Sample_")]
        table = replace(text, skip_rows=len(lines), until=b"!series_matrix_table_end")
        super().__init__(table, request)
        # Ends of other systems within a line are no line ends.
        whole = (" ".join(line.splitlines()) for line in described)
        self._described = list(csv.reader(whole, delimiter="\t"))

    def _no_rows(self) -> ValueError:
        return ValueError(
            f"{self._function}: the table of {self.where} is empty: the values of this series are "
            "in other files of its page at GEO, such as a matrix of counts; name that file, with "
            "--transpose and --samples"
        )

    def samples(self) -> pa.Table:
        """Return the sample annotations: a column for each line or characteristic."""
        n = len(self._rows)
        texts: dict[str, list[str | None]] = {}
        for key, *values in self._described:
            if len(values) != n:
                continue
            title = key.removeprefix("!Sample_")
            for row, value in enumerate(values):
                trait, _, description = value.partition(": ")
                is_trait = title.startswith("characteristics") and bool(description)
                column = texts.setdefault(trait if is_trait else title, [None] * n)
                column[row] = (description if is_trait else value).strip()
        return self._annotated(texts)


GEO = Format(
    "geo", "GEO", (".txt",), groups=GeoInput, text=True, separator="\t", begins=b"!Series_"
)


def read_cls(path: Path, request: Request) -> pa.Table:
    """Read the classes of samples as a column ``class``.

    Labels that are no names of classes stand for them in the order in which they come.
    """
    lines = [line.split() for line in read_utf8(path, request.function).splitlines()]
    lines = [*(line for line in lines if line), [], []]
    first, second = lines[:2]
    names = " ".join(second).removeprefix("#").split()
    labels = [label for line in lines[2:] for label in line]
    seen = list(dict.fromkeys(labels))
    named = set(labels) <= set(names)
    counts = [f"{len(labels)}", f"{len(names)}"]
    if not labels or first[:2] != counts or second[0][0] != "#" or len(seen) > len(names):
        raise ValueError(
            f"{request.function}: {path} is not a .cls file of classes: a line such as '72 2 1' "
            "(samples, classes, 1), one with the names of the classes after '#', and one with as "
            "many labels as samples"
        )
    if not named and seen != sorted(seen):
        meant = ", ".join(f"{label} is {name}" for label, name in zip(seen, names, strict=False))
        warn(
            f"{request.function}: labels of {path.name} stand for names of classes in the order in "
            f"which they come in the file, as GenePattern reads them: {meant}"
        )
    return pa.table({"class": labels if named else [names[seen.index(label)] for label in labels]})


CLS = Format("cls", "Classes of GenePattern", (".cls",), read=read_cls)
