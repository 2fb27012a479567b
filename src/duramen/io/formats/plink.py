"""PLINK 1 binary files, read in place.

A .bed file holds two bits a genotype, the samples of a variant one after the other, four in a byte;
beside it lie the variants (.bim) and the samples (.fam).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.memory import require_memory
from duramen.data.schema import Schema
from duramen.io.formats.format import Footprint, Format, Input, Request, named_rows
from duramen.io.store import layout
from duramen.io.store.reader import (
    LocalFile,
    Repeats,
    Runs,
    columns_within,
    offsets_of,
    read_rows,
    repetition,
)
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.arrow import pa

MAGIC = b"\x6c\x1b"
FAM_COLUMNS = ("FID", "IID", "father", "mother", "sex", "phenotype")
_CELL_BYTES = 8  # codes, checks, and what stands behind the bits
_NUMBER_BYTES = 40  # of a genotype that is encoded as a number
_GROUP_BYTES = 1 << 22  # codes that are looked at together where all of them are

# What a pair of bits means: the number of copies of the first allele, 3 where it is missing.
_MISSING = 3
_COPIES = np.array([2, _MISSING, 1, 0], dtype=np.uint8)


def _tables() -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return what the four genotypes of each byte are.

    ``seen``, of shape (5, 256): bit v is set where one of the first r genotypes of the byte is v.
    ``codes``, of shape (16 * 256,): their codes, a byte each, where bit v of ``i >> 8`` says
    whether v occurs in the column.
    """
    pairs = np.arange(256)[:, np.newaxis] >> 2 * np.arange(4) & 3
    copies = _COPIES[pairs]
    seen = np.zeros((5, 256), dtype=np.uint8)
    for r in range(4):
        seen[r + 1] = seen[r] | 1 << copies[:, r]
    occurs = np.arange(16)[:, np.newaxis] >> np.arange(4) & 1
    rank = np.cumsum(occurs[:, :3], axis=1) - occurs[:, :3]
    code = np.column_stack([rank, occurs[:, :3].sum(axis=1)]).astype(np.uint8)
    return seen, np.ascontiguousarray(code[:, copies]).view(np.uint32).reshape(-1)


_SEEN, _CODES = _tables()
_OCCURS = (np.arange(8)[:, np.newaxis] >> np.arange(3) & 1).astype(bool)


class BedColumns:
    """The variants of a PLINK file as columns: copies of the first allele (A1), 0, 1 or 2.

    A million variants take some 15 to 30 MB: their names.
    """

    named = True
    sparse = False

    def __init__(self, path: Path, function: str) -> None:
        self.where = path.name
        self._function = function
        self._path = path
        self._samples = read_fam(beside(path, ".fam", function), function)
        self.n_rows = len(self._samples)
        self._names = read_bim(beside(path, ".bim", function), function)
        self.n_columns = len(self._names)
        self._bytes = -(-self.n_rows // 4)
        self._file = LocalFile(path)
        self._check_file()

    def _check_file(self) -> None:
        size = self._path.stat().st_size
        start = self._file.read(0, min(3, size))
        if start[:2] != MAGIC:
            raise ValueError(
                f"{self._function}: {self.where} is not a PLINK 1 binary file: it begins with "
                f"{start[:2].hex(' ') or 'nothing'}, not with {MAGIC.hex(' ')}. Hint: plink "
                "--make-bed writes one"
            )
        if start[2:] != b"\x01":
            raise ValueError(
                f"{self._function}: {self.where} is ordered by samples, an old format; convert it "
                "with plink --make-bed, which orders it by variants"
            )
        wanted = 3 + self.n_columns * self._bytes
        if size != wanted:
            raise ValueError(
                f"{self._function}: {self.where} has {size} bytes, but {self.n_columns} variants "
                f"(.bim) of {self.n_rows} samples (.fam) need {wanted}; the file is "
                f"{'truncated' if size < wanted else 'too long'}, or the three files do not "
                "belong together"
            )

    def check_names(self) -> None:
        """Raise ValueError where variants share a name."""
        repeats = Repeats()
        for names in self._names.chunks():
            repeats.see(names)
        repeated = repeats.among(name for names in self._names.chunks() for name in names)
        if repeated:
            raise repetition(
                repeated,
                str(self._path.with_suffix(".bim")),
                self._function,
                "plink2 --set-all-var-ids '@:#:$r:$a' makes unique ones, or give pack other names=",
            )

    def kind_codes(self) -> NDArray[np.uint8]:
        """Return the kind of each column: all are numeric."""
        return np.zeros(self.n_columns, dtype=np.uint8)

    def names(self, chosen: IntArray) -> list[str]:
        """Return the names of the variants with these numbers."""
        return [layout.name_of_bytes(name) for name in self._names.take(chosen)]

    def find(self, name: str) -> int | None:
        """Return the number of the variant of that name."""
        return self._names.find(layout.name_bytes(name))

    def take(self, chosen: IntArray) -> EncodedTable:
        """Return the variants with these numbers, in that order, in memory."""
        raw, seen = self._read(chosen)
        places = (seen.astype(np.intp) << 8)[:, np.newaxis] + raw
        codes = _CODES.take(places).view(np.uint8)[:, : self.n_rows]
        here = _OCCURS[seen & 7]
        counts = here.sum(axis=1)
        values = np.broadcast_to(np.arange(3.0), here.shape)[here]
        return EncodedTable(
            n_rows=self.n_rows,
            names=tuple(self.names(chosen)),
            kinds=("numeric",) * len(chosen),
            blocks=(
                np.ascontiguousarray(codes),
                np.empty((0, self.n_rows), dtype=np.uint16),
                np.empty((0, self.n_rows), dtype=np.uint32),
            ),
            block_of=np.zeros(len(chosen), dtype=np.uint8),
            slot=np.arange(len(chosen)),
            cut_values=values,
            value_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            labels={},
            missing=np.asarray(seen >> _MISSING & 1, dtype=np.uint8),
            named=True,
        )

    def _read(self, chosen: IntArray) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return bytes of variants, and the genotypes of each: bit v for v copies, 3 if missing."""
        data = read_rows(self._file, chosen, self._bytes, base=3)
        raw = data.reshape(len(chosen), self._bytes)
        whole, rest = divmod(self.n_rows, 4)
        seen = np.bitwise_or.reduce(_SEEN[4].take(raw[:, :whole]), axis=1)
        if rest:  # the last byte is filled up with zeros, which are no genotypes
            seen |= _SEEN[rest].take(raw[:, whole])
        return raw, seen

    def numbers(self, chosen: IntArray) -> FloatArray:
        """Copies of the first allele, NaN where missing; shape (n, len(chosen))."""
        table = self.take(chosen)
        counts = np.diff(table.value_offsets)
        of_code = np.full((len(chosen), 4), np.nan)
        of_code[np.arange(4) < counts[:, np.newaxis]] = table.cut_values
        values: FloatArray = np.take_along_axis(of_code, table.blocks[0], axis=1)
        return values.T

    def groups(self, start: int = 0, width: int | None = None) -> Iterator[EncodedTable]:
        """Yield the variants from `start` on, in groups of `width`."""
        width = width or max(1, _GROUP_BYTES // max(1, self.n_rows))
        for begin in range(start, self.n_columns, width):
            yield self.take(np.arange(begin, min(begin + width, self.n_columns)))

    def codes(self, j: int, begin: int, end: int) -> NDArray[Any]:
        """Return the codes of some rows of a variant."""
        return self.take(np.array([j])).blocks[0][0, begin:end]

    def schema(self) -> Schema:
        """Return the variants without their rows; reads everything."""
        return reduce(Schema.followed_by, [group.schema for group in self.groups()])

    def table(self) -> EncodedTable:
        """Return all variants, in memory."""
        require_memory(
            self.n_rows * self.n_columns,
            what=f"a table of {self.n_rows} x {self.n_columns} codes",
            function=self._function,
            hint="pack the file: a packed store is mapped into memory; or take some columns",
        )
        return self.take(np.arange(self.n_columns))

    def records(self) -> Iterator[NDArray[Any]]:
        """Yield the records of the columns, as a packed store would have them."""
        for group in self.groups():
            yield layout.columns_of(group).records

    def fingerprint(self) -> str:
        """As `layout.fingerprint_of`; reads everything."""
        return layout.fingerprint_of(self.n_rows, self.n_columns, True, self.records())

    def verify(self) -> None:
        """Check begin and size of the file: it has no checksums."""
        self._check_file()

    def samples(self) -> pa.Table:
        """Return the .fam file as a table."""
        return samples_of_fam(self._samples)

    def variants(self) -> pa.Table:
        """Return chromosome, position and alleles of the .bim file."""
        return pa.concat_tables(self.variant_parts())

    def variant_parts(self) -> Iterator[pa.Table]:
        """Yield chromosome, position and alleles of the .bim file, some variants at a time."""
        return variants_of_bim(beside(self._path, ".bim", self._function), self._function)


def beside(path: Path, suffix: str, function: str) -> Path:
    """Return the file with a suffix beside a .bed file."""
    other = path.with_suffix(suffix)
    if not other.is_file():
        raise FileNotFoundError(
            f"{function}: there is no file {other}; a .bed file needs the .bim and .fam files of "
            "the same name in its folder"
        )
    return other


def read_bim(path: Path, function: str) -> Runs:
    """Return the names of the variants: the second word of every line."""
    sizes, data, line = array("I"), bytearray(), 0
    with open(path, "rb") as file:
        while lines := file.readlines(1 << 20):
            try:
                names = [text.split(None, 2)[1] for text in lines if not text.isspace()]
                b"\n".join(names).decode("utf-8")
            except (IndexError, UnicodeDecodeError) as error:
                what = "not UTF-8 text" if isinstance(error, UnicodeError) else "cut short"
                raise ValueError(
                    f"{function}: {path} is {what} near line {line + 1}; each line must have six "
                    "words, the second one the name of the variant"
                ) from None
            line += len(lines)
            sizes.extend(map(len, names))
            data += b"".join(names)
    if not sizes:
        raise ValueError(f"{function}: {path} is empty; it must have one line per variant")
    return Runs(offsets_of(np.frombuffer(sizes, dtype=np.uint32)), data=bytes(data))


def variants_of_bim(path: Path, function: str) -> Iterator[pa.Table]:
    """Yield chromosome, position and alleles of the variants, some lines at a time."""
    schema, line = layout.variants_schema(), 0
    with open(path, "rb") as file:
        while lines := file.readlines(1 << 17):
            words = [text.split() for text in lines if not text.isspace()]
            try:
                chromosome, _, _, place, first, second = (
                    zip(*words, strict=True) if words else [()] * 6
                )
                columns = [chromosome, tuple(map(int, place)), first, second]
                yield pa.table(
                    [
                        pa.array(column, field.type)
                        for column, field in zip(columns, schema, strict=True)
                    ],
                    schema=schema,
                )
            except (ValueError, OverflowError):
                raise ValueError(
                    f"{function}: {path} must have six words per line, the fourth one a position "
                    f"in base pairs; it has another line near line {line + 1}"
                ) from None
            line += len(lines)


def read_fam(path: Path, function: str) -> list[list[str]]:
    """Return the six words of every sample."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{function}: {path} is not UTF-8 text") from None
    samples = [line.split() for line in text.splitlines() if line.strip()]
    for number, words in enumerate(samples, start=1):
        if len(words) != len(FAM_COLUMNS):
            raise ValueError(
                f"{function}: {path} has {len(words)} words in line {number}, not "
                f"{len(FAM_COLUMNS)}: {', '.join(FAM_COLUMNS)}"
            )
    if not samples:
        raise ValueError(f"{function}: {path} is empty; it must have one line per sample")
    return samples


def samples_of_fam(samples: list[list[str]]) -> pa.Table:
    """Return the samples as a table: sex and phenotype as numbers, -9 missing, where they all are.

    IID names the rows; FID and IID do where IID alone is not unique.
    """
    columns: dict[str, Any] = {}
    for name, words in zip(FAM_COLUMNS, zip(*samples, strict=True), strict=True):
        columns[name] = pa.array(words, pa.string())
        if name in ("sex", "phenotype"):
            columns[name] = numbers_of_words(words, ("-9",))
    people = columns["IID"].to_pylist()
    named = ("IID",) if len(set(people)) == len(people) else ("FID", "IID")
    return named_rows(pa.table(columns), *named)


def numbers_of_words(words: Sequence[str], missing: Sequence[str]) -> pa.Array:
    """Return words as numbers where all are, else as text; some stand for a missing value."""
    values = [None if word in missing else word for word in words]
    for kind in (int, float):
        try:
            return pa.array([None if value is None else kind(value) for value in values])
        except ValueError:
            continue
    return pa.array(values, pa.string())


class Names(Sequence[str]):
    """Names that stay in their bytes until they are asked for."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, index: Any) -> Any:
        chosen = np.arange(len(self._runs))[index]
        if chosen.ndim:
            return [layout.name_of_bytes(name) for name in self._runs.take(chosen)]
        return layout.name_of_bytes(self._runs.take(chosen.reshape(1))[0])

    def __iter__(self) -> Iterator[str]:
        for names in self._runs.chunks():
            yield from map(layout.name_of_bytes, names)


class BedInput(Input):
    """A .bed file with its neighbors."""

    def __init__(self, path: Path, request: Request) -> None:
        if request.transpose:
            raise ValueError(
                f"{request.function}: transpose=True is not for .bed files: their variants are "
                "columns, their samples rows"
            )
        self.where = str(path.with_suffix(".bim"))
        self.files = (path, path.with_suffix(".bim"), path.with_suffix(".fam"))
        self._columns = BedColumns(path, request.function)
        self.n_columns = self._columns.n_columns
        self.names = Names(self._columns._names)
        self._budget = request.budget

    def samples(self) -> pa.Table:
        """Return the .fam file."""
        return self._columns.samples()

    def variants(self) -> Iterator[pa.Table]:
        """Yield chromosome, position and alleles of the .bim file."""
        return self._columns.variant_parts()

    def footprint(self) -> Footprint:
        """Return the size of the table: three genotypes, and missing ones."""
        cell = _NUMBER_BYTES if self.kinds_chosen else _CELL_BYTES
        return Footprint(self._columns.n_rows, self._columns.n_rows * cell, 4)

    def groups(self, start: int, work: Path) -> Iterator[Any]:
        """Yield neighboring variants."""
        cell = _NUMBER_BYTES if self.kinds_chosen else _CELL_BYTES
        width = columns_within(self._budget, self._columns.n_rows, cell)
        if not self.kinds_chosen:
            yield from self._columns.groups(start, width)
            return
        for begin in range(start, self.n_columns, width):
            chosen = np.arange(begin, min(begin + width, self.n_columns))
            yield self._columns.numbers(chosen)


def _in_place(path: Path, function: str) -> BedColumns:
    """Open a .bed file as a store, which needs unique names."""
    columns = BedColumns(path, function)
    columns.check_names()
    return columns


PLINK = Format(
    "plink",
    "PLINK",
    (".bed",),
    groups=BedInput,
    columns=_in_place,
    others=dict.fromkeys((".bim", ".fam"), "give the .bed file"),
)
