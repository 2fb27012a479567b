"""Genotypes of PLINK: .bed files, used in place or packed.

A column is a variant: the number of copies of its first allele, A1.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.memory import require_memory
from duramen.data.schema import Schema
from duramen.io.formats.format import Format, Input, Request, explained, named_rows
from duramen.io.formats.text import typed
from duramen.io.store import layout
from duramen.support.arrays import IntArray
from duramen.support.arrow import pa
from duramen.support.checks import extra_package

_MAGIC = b"\x6c\x1b"
_MISSING = 129  # of bed-reader's -127, as a byte
_GROUP_BYTES = 1 << 22  # codes that are looked at together where all of them are
_LINES = 1 << 12  # variants that are described together
_FAM = ("FID", "IID", "father", "mother", "sex", "phenotype")
_CODES = {"0": None, "1": "control", "2": "case"}  # of a phenotype that some sample has as 2
_MISSING_WORDS = ("NA", "nan", "-9", "NONE", ".")
_BIM = ("chromosome", "name", "cM", "position", "allele_1", "allele_2")


def _described(bed: Path, suffix: str, function: str) -> Iterator[dict[str, tuple[str, ...]]]:
    """Yield the lines of a .bim or .fam file beside a .bed file as columns, some at a time."""
    path = bed.with_suffix(suffix)
    titles, what = (_BIM, "variant") if suffix == ".bim" else (_FAM, "sample")
    if not path.is_file():
        raise FileNotFoundError(
            f"{function}: there is no file {path}; a .bed file needs the .bim and .fam files of "
            "the same name in its folder"
        )
    if not path.stat().st_size:
        raise ValueError(f"{function}: {path} is empty; it must have one line per {what}")
    try:
        with open(path, encoding="utf-8") as file:
            rows = (words for line in file if (words := line.split()))
            begin = 1
            while part := list(islice(rows, _LINES)):
                for number, words in enumerate(part, start=begin):
                    if len(words) != len(titles) or (suffix == ".bim" and not _is_place(words[3])):
                        raise ValueError(
                            f"{function}: {path} must have {len(titles)} words per line: "
                            f"{', '.join(titles)}, the position in base pairs; {what} {number} has "
                            f"{len(words)}: {' '.join(words)[:99]!r}"
                        )
                begin += len(part)
                yield dict(zip(titles, zip(*part, strict=True), strict=True))
    except UnicodeDecodeError:
        raise ValueError(f"{function}: {path} is not UTF-8 text") from None


def _is_place(word: str) -> bool:
    return word.lstrip("-").isdecimal() and len(word) < 19


def _names(bed: Path, function: str) -> layout.Names:
    """Return the names of the variants; one without is called by its place and alleles."""
    return layout.names_of(
        name if name != "." else ":".join((chromosome, position, other, first))
        for part in _described(bed, ".bim", function)
        for chromosome, name, _, position, first, other in zip(*part.values(), strict=True)
    )


def _variants(bed: Path, function: str) -> Iterator[pa.Table]:
    """Yield chromosome, position and alleles of the variants, some at a time."""
    schema = layout.variants_schema()
    for part in _described(bed, ".bim", function):
        columns = {**part, "position": list(map(int, part["position"]))}
        yield pa.table({name: columns[name] for name in schema.names}, schema=schema)


def _samples(bed: Path, function: str) -> pa.Table:
    """Return the .fam file as a table; IID, or FID and IID, name the samples.

    As in PLINK, -9 is a missing phenotype; of 0, 1 and 2 alone, 0 is missing, too, 1 is a control
    and 2 a case. A sex of 0 is unknown.
    """
    columns: dict[str, list[str]] = {title: [] for title in _FAM}
    for part in _described(bed, ".fam", function):
        for title, words in part.items():
            columns[title] += words
    names = {title: pa.array(columns[title], pa.string()) for title in _FAM[:4]}
    statuses = set(columns["phenotype"]) - {*_MISSING_WORDS}
    if "2" in statuses and statuses <= _CODES.keys():
        phenotype = pa.array([_CODES.get(word) for word in columns["phenotype"]], pa.string())
    else:
        phenotype = typed(columns["phenotype"], _MISSING_WORDS)
    sex = typed(columns["sex"], ("0", *_MISSING_WORDS))
    table = pa.table({**names, "sex": sex, "phenotype": phenotype})
    unique = len(set(columns["IID"])) == table.num_rows
    return named_rows(table, *(("IID",) if unique else ("FID", "IID")))


class BedColumns:
    """The variants of a PLINK file as columns: copies of the first allele (A1), 0, 1 or 2.

    A million variants take some 15 to 30 MB: their names.
    """

    named = True
    sparse = False
    dates: ClassVar[dict[str, Any]] = {}

    def __init__(self, path: Path, function: str) -> None:
        self.where, self._path, self._function = path.name, path, function
        subject = f"{function}: reading {path.name}"
        bed_reader: Any = extra_package("bed_reader", subject, "genotypes")
        self._samples = _samples(path, function)
        self.n_rows = self._samples.num_rows
        self.all_names = _names(path, function)
        self.n_columns = len(self.all_names)
        self.verify()
        sizes = {"iid_count": self.n_rows, "sid_count": self.n_columns}
        self._bed = bed_reader.open_bed(path, **sizes, num_threads=1)

    def verify(self) -> None:
        """Check begin and size of the file: it has no checksums."""
        with open(self._path, "rb") as file:
            start = file.read(3)
        if start[:2] != _MAGIC:
            raise ValueError(
                f"{self._function}: {self.where} is not a PLINK 1 binary file: it begins with "
                f"{start[:2].hex(' ') or 'nothing'}, not with {_MAGIC.hex(' ')}. Hint: plink "
                "--make-bed writes one"
            )
        if start[2:] != b"\x01":
            raise ValueError(
                f"{self._function}: {self.where} is ordered by samples, an old format; convert it "
                "with plink --make-bed, which orders it by variants"
            )
        size = self._path.stat().st_size
        wanted = 3 + self.n_columns * -(-self.n_rows // 4)
        if size != wanted:
            raise ValueError(
                f"{self._function}: {self.where} has {size} bytes, but {self.n_columns} variants "
                f"(.bim) of {self.n_rows} samples (.fam) need {wanted}; the file is "
                f"{'truncated' if size < wanted else 'too long'}, or the three files do not "
                "belong together"
            )

    def kind_codes(self) -> NDArray[np.uint8]:
        """Return the kind of each column: all are numeric."""
        return np.zeros(self.n_columns, dtype=np.uint8)

    def names(self, chosen: IntArray) -> list[str]:
        """Return the names of the variants with these numbers."""
        names: list[str] = self.all_names[chosen]
        return names

    def find(self, name: str) -> int | None:
        """Return the number of the variant of that name."""
        return self.all_names.find(name)

    def copies(self, chosen: IntArray, kind: str) -> NDArray[Any]:
        """Return copies of the first allele, NaN or -127 where missing; shape (n, len(chosen))."""
        self.verify()
        copies: NDArray[Any] = self._bed.read(np.s_[:, chosen], dtype=kind)
        return copies

    def take(self, chosen: IntArray) -> EncodedTable:
        """Return the variants with these numbers, in that order, in memory."""
        copies = self.copies(chosen, "int8").T.view(np.uint8)
        where = [copies == value for value in (0, 1, 2, _MISSING)]
        occurs = np.stack([rows.any(axis=1) for rows in where], axis=1)
        rank = (np.cumsum(occurs, axis=1) - occurs).astype(np.uint8)
        codes = np.zeros_like(copies, order="C")
        for value in (1, 2, 3):
            codes += where[value] * rank[:, value : value + 1]
        here = occurs[:, :3]
        return EncodedTable(
            n_rows=self.n_rows,
            names=tuple(self.names(chosen)),
            kinds=("numeric",) * len(chosen),
            blocks=(
                codes,
                np.empty((0, self.n_rows), dtype=np.uint16),
                np.empty((0, self.n_rows), dtype=np.uint32),
            ),
            block_of=np.zeros(len(chosen), dtype=np.uint8),
            slot=np.arange(len(chosen)),
            cut_values=np.broadcast_to(np.arange(3.0), here.shape)[here],
            value_offsets=np.concatenate([[0], np.cumsum(here.sum(axis=1))]).astype(np.int64),
            labels={},
            missing=occurs[:, 3].astype(np.uint8),
            named=True,
        )

    def codes(self, j: int, begin: int, end: int) -> NDArray[Any]:
        """Return the codes of some rows of a variant."""
        return self.take(np.array([j])).blocks[0][0, begin:end]

    def _groups(self) -> Iterator[EncodedTable]:
        """Yield all variants, some at a time."""
        width = max(1, _GROUP_BYTES // self.n_rows)
        for begin in range(0, self.n_columns, width):
            yield self.take(np.arange(begin, min(begin + width, self.n_columns)))

    def schema(self) -> Schema:
        """Return the variants without their rows; reads everything."""
        return reduce(Schema.followed_by, [group.schema for group in self._groups()])

    def table(self) -> EncodedTable:
        """Return all variants, in memory."""
        require_memory(
            self.n_rows * self.n_columns,
            what=f"a table of {self.n_rows} x {self.n_columns} codes",
            function=self._function,
            hint="pack the file: a packed store is mapped into memory; or take some columns",
        )
        return self.take(np.arange(self.n_columns))

    def records(self) -> NDArray[Any]:
        """Return the records of the columns, as a packed store would have them."""
        return np.concatenate([layout.columns_of(g)[layout.COLUMNS] for g in self._groups()])

    def fingerprint(self) -> str:
        """Return the fingerprint of `layout.fingerprint_of`; all data are read."""
        return layout.fingerprint_of(self.n_rows, True, self.records())

    def samples(self) -> pa.Table:
        """Return the .fam file as a table."""
        return self._samples

    def variants(self) -> pa.Table:
        """Return chromosome, position and alleles of the .bim file."""
        return pa.concat_tables(_variants(self._path, self._function))


class BedInput(Input):
    """A .bed file with its neighbors."""

    def __init__(self, path: Path, request: Request) -> None:
        function = request.function
        if request.transpose:
            raise ValueError(
                f"{function}: transpose=True is not for .bed files: their variants are columns, "
                "their samples rows"
            )
        self._path, self._function, self.budget = path, function, request.budget
        self.where = str(path.with_suffix(".bim"))
        self.files = (path, path.with_suffix(".bim"), path.with_suffix(".fam"))
        with explained(path, function, "a PLINK"):
            self._columns = BedColumns(path, function)
        self.n_rows, self.n_columns = self._columns.n_rows, self._columns.n_columns
        self.names = self._columns.all_names

    @property
    def cell_bytes(self) -> float:  # type: ignore[override]
        """Bytes of memory for a number, or for a code with copies and checks."""
        return 40 if self.kinds_chosen else 12

    def part(self, begin: int, end: int) -> Any:
        """Return neighboring variants, as codes unless kinds are asked for."""
        chosen = np.arange(begin, end)
        with explained(self._path, self._function, "a PLINK"):
            if self.kinds_chosen:
                return self._columns.copies(chosen, "float32")
            return self._columns.take(chosen)

    def variants(self) -> Iterator[pa.Table]:
        """Yield chromosome, position and alleles, A1 first."""
        return _variants(self._path, self._function)

    def samples(self) -> pa.Table:
        """Return the .fam file."""
        return self._columns.samples()


def _in_place(path: Path, function: str) -> BedColumns:
    """Open a .bed file as a store; the names of its variants must be unique."""
    with explained(path, function, "a PLINK"):
        columns = BedColumns(path, function)
    if repeated := columns.all_names.repeated():
        raise ValueError(
            f"{function}: {path.with_suffix('.bim')} has more than one column named "
            f"{', '.join(map(repr, repeated[:5]))}; column names must be unique. Hint: plink2 "
            "--set-all-var-ids '@:#:$r:$a' makes unique ones (in Python also names=... of pack)"
        )
    return columns


_MAKES_BED = "plink2 {} --make-bed makes a .bed file, --export A a table of dosages"
PLINK = Format(
    "plink",
    "PLINK",
    (".bed",),
    groups=BedInput,
    columns=_in_place,
    others={
        ".bim": "give the .bed file",
        ".fam": "give the .bed file",
        ".pgen": _MAKES_BED.format("--pfile NAME"),
        ".bgen": _MAKES_BED.format("--bgen FILE ref-first"),
        ".vcf": _MAKES_BED.format("--vcf FILE"),
        ".bcf": _MAKES_BED.format("--bcf FILE"),
    },
)
