"""Genotypes of PLINK (.bed and .pgen), VCF-Zarr (.vcz) and BGEN files.

A column is a variant: the number of copies of its alleles other than the reference, or the expected
number where the file has dosages or probabilities. This is A1 of the .bed file that PLINK 2 makes.
A .bed file can be used in place.
"""

from __future__ import annotations

import io
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial, reduce
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable
from duramen.data.memory import available_bytes, require_memory
from duramen.data.schema import Schema
from duramen.io.formats import libraries
from duramen.io.formats.format import (
    Format,
    Input,
    Request,
    explained,
    files_of,
    named_rows,
)
from duramen.io.formats.native_reader import NativeReader
from duramen.io.formats.text import typed
from duramen.io.store import layout
from duramen.io.store.layout import Names
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.arrow import pa
from duramen.support.checks import extra_package
from duramen.support.text import escaped

_EXTRA = "genotypes"
_CELL_BYTES = 40  # of a dosage: as read, as a number, its code, and room to sort
_LINES = 1 << 12  # variants that are described together
_LONGEST_LINE = 1 << 24  # characters
_MISSING_WORDS = ("NA", "nan", "-9", "NONE", ".")


class VariantInput(Input):
    """A file of variants, which gives neighboring ones together.

    A subclass sets `n_rows`, `n_columns`, `files` and `where`, and describes its variants. The
    descriptions are read once, and take about 50 bytes a variant.
    """

    n_rows: int
    title: str
    cell_bytes: float = _CELL_BYTES

    def __init__(self, path: Path, request: Request) -> None:
        self.path, self.function, self.budget = path, request.function, request.budget
        if request.transpose:
            raise ValueError(
                f"{self.function}: transpose=True is not for {path.suffix} files: their variants "
                "are columns, their samples rows"
            )
        with explained(path, self.function, f"a {self.title}"):
            self._open(request)
            self.names, self._variants = self._descriptions
            if len(self.names) != self.n_columns:
                raise ValueError(
                    f"{len(self.names)} variants are described, but it has {self.n_columns}"
                )
        if not (self.n_columns and self.n_rows):
            raise ValueError(f"{self.function}: {path} is empty: it has no variants or no samples")

    @abstractmethod
    def _open(self, request: Request) -> None:
        """Open the file, and set what tells its size."""

    @abstractmethod
    def _described(self) -> Iterator[dict[str, list[Any]]]:
        """Yield name, chromosome, position and alleles of the variants, some at a time."""

    @abstractmethod
    def _dosages(self, begin: int, end: int) -> FloatArray:
        """Return the copies of other alleles, NaN where missing; shape (end - begin, n_rows)."""

    @cached_property
    def _descriptions(self) -> tuple[Names, list[pa.Table]]:
        """Names of the variants, and the tables that :meth:`variants` yields."""
        tables: list[pa.Table] = []

        def described() -> Iterator[dict[str, list[Any]]]:
            for table in self._described():
                tables.append(_places(table))
                yield table

        return _names(described()), tables

    def variants(self) -> Iterator[pa.Table]:
        """Yield chromosome, position and alleles, the alternative one first, as in .bim files."""
        yield from self._variants

    def part(self, begin: int, end: int) -> Any:
        """Return neighboring variants."""
        with explained(self.path, self.function, f"a {self.title}"):
            return self._dosages(begin, end).T


def _names(tables: Iterable[dict[str, list[Any]]]) -> Names:
    """Return the names in tables of variants."""
    return layout.names_of(name for table in tables for name in table["name"])


def _places(table: dict[str, list[Any]]) -> pa.Table:
    """Return chromosome, position and alleles of variants."""
    schema = layout.variants_schema()
    return pa.table({name: table[name] for name in schema.names}, schema=schema)


def _named(name: str, chromosome: str, position: int, alleles: Sequence[str]) -> str:
    """Return the name of a variant: one without is called by its place and alleles."""
    return name if name not in ("", ".") else ":".join((chromosome, str(position), *alleles))


def _table(variants: Iterable[tuple[str, str, int, Sequence[str]]]) -> dict[str, list[Any]]:
    """Return variants as columns, from name, chromosome, position and alleles of each."""
    table: dict[str, list[Any]] = {
        name: [] for name in ("name", "chromosome", "position", "allele_1", "allele_2")
    }
    for name, chromosome, position, alleles in variants:
        reference, *others = alleles
        row = (
            _named(name, chromosome, position, alleles),
            chromosome,
            position,
            ",".join(others),
            reference,
        )
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    return table


def _beside(path: Path, function: str, *suffixes: str) -> Path:
    """Return the file with one of some suffixes beside a file of genotypes."""
    for place in map(path.with_suffix, suffixes):
        if place.is_file() and not place.stat().st_size:
            what = "variant" if place.suffix == ".bim" else "sample"
            raise ValueError(f"{function}: {place} is empty; it must have one line per {what}")
        if place.is_file():
            return place
    neighbors = {".bed": ".bim and .fam", ".pgen": ".pvar and .psam"}[path.suffix.lower()]
    raise FileNotFoundError(
        f"{function}: there is no file {path.with_suffix(suffixes[0])}; a {path.suffix} file needs "
        f"the {neighbors} files of the same name in its folder"
    )


# --- PLINK 1 --------------------------------------------------------------------------------------

_MAGIC = b"\x6c\x1b"
_MISSING = 129  # of bed-reader's -127, as a byte
_GROUP_BYTES = 1 << 22  # codes that are looked at together where all of them are


class BedColumns:
    """The variants of a PLINK file as columns: copies of the first allele (A1), 0, 1 or 2.

    A million variants take some 15 to 30 MB: their names.
    """

    named = True
    sparse = False

    def __init__(self, path: Path, function: str) -> None:
        self.where, self._path, self._function = path.name, path, function
        subject = f"{function}: reading {path.name}"
        bed_reader: Any = extra_package("bed_reader", subject, _EXTRA)
        self._samples = read_psam(_beside(path, function, ".fam"), function)
        self.n_rows = self._samples.num_rows
        self._bim = _beside(path, function, ".bim")
        self.all_names = _names(read_pvar(self._bim, function))
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
        """As `layout.fingerprint_of`; reads everything."""
        return layout.fingerprint_of(self.n_rows, True, self.records())

    def samples(self) -> pa.Table:
        """Return the .fam file as a table."""
        return self._samples

    def variants(self) -> pa.Table:
        """Return chromosome, position and alleles of the .bim file."""
        with explained(self._path, self._function, "a PLINK"):
            return pa.concat_tables(map(_places, read_pvar(self._bim, self._function)))


class BedInput(VariantInput):
    """A .bed file with its neighbors."""

    title = "PLINK"
    most_values = 4  # three genotypes, and missing ones

    @property
    def cell_bytes(self) -> float:  # type: ignore[override]
        """Bytes of a number; or of a code with the copies, which of them occur, and its checks."""
        return _CELL_BYTES if self.kinds_chosen else 12

    def _open(self, request: Request) -> None:
        self.where = str(self.path.with_suffix(".bim"))
        self.files = (self.path, self.path.with_suffix(".bim"), self.path.with_suffix(".fam"))
        self._columns = BedColumns(self.path, self.function)
        self.n_rows, self.n_columns = self._columns.n_rows, self._columns.n_columns

    @property
    def _descriptions(self) -> tuple[Names, list[pa.Table]]:
        """Names of the variants, whose places are read when they are asked for."""
        return self._columns.all_names, []

    def variants(self) -> Iterator[pa.Table]:
        """Yield chromosome, position and alleles, A1 first."""
        with explained(self.path, self.function, f"a {self.title}"):
            yield from map(_places, self._described())

    def _described(self) -> Iterator[dict[str, list[Any]]]:
        return read_pvar(self.path.with_suffix(".bim"), self.function)

    def _dosages(self, begin: int, end: int) -> FloatArray:
        return self._columns.copies(np.arange(begin, end), "float32").T

    def part(self, begin: int, end: int) -> Any:
        """Return neighboring variants, as codes unless kinds are asked for."""
        if self.kinds_chosen:
            return super().part(begin, end)
        return self._columns.take(np.arange(begin, end))

    def samples(self) -> pa.Table:
        """Return the .fam file."""
        return self._columns.samples()


def _in_place(path: Path, function: str) -> BedColumns:
    """Open a .bed file as a store, which needs unique names."""
    with explained(path, function, "a PLINK"):
        columns = BedColumns(path, function)
    if repeated := columns.all_names.repeated():
        raise ValueError(
            f"{function}: {path.with_suffix('.bim')} has more than one column named "
            f"{', '.join(map(repr, repeated[:5]))}; column names must be unique. Hint: plink2 "
            "--set-all-var-ids '@:#:$r:$a' makes unique ones, or give pack other names="
        )
    return columns


# --- PLINK 2 --------------------------------------------------------------------------------------


class PgenInput(VariantInput):
    """A .pgen file, with the .pvar (or .pvar.zst, .bim) and .psam (or .fam) beside it."""

    title = "PLINK 2 .pgen"

    def _open(self, request: Request) -> None:
        extra_package("pgenlib", f"{self.function}: reading {self.path.name}", _EXTRA)
        self._pvar = _beside(self.path, self.function, ".pvar", ".pvar.zst", ".bim")
        psam = _beside(self.path, self.function, ".psam", ".fam")
        self.where, self.files = str(self._pvar), (self.path, self._pvar, psam)
        _, tables = self._descriptions
        counts = array("Q", [0])
        for table in tables:
            counts.extend(2 + others.count(",") for others in table["allele_1"].to_pylist())
        self._samples = read_psam(psam, self.function)
        self.n_rows = self._samples.num_rows
        offsets = np.cumsum(np.frombuffer(counts, dtype=np.uint64), dtype=np.uintp)
        self._reader = NativeReader(libraries.Pgen, self.path, available_bytes())
        several = offsets if max(counts) > 2 else None
        self.n_columns = self._reader.answer("open", self.n_rows, several)

    def _described(self) -> Iterator[dict[str, list[Any]]]:
        """Yield the variants, which a small .pvar.zst may describe without end."""
        index = self.path.with_name(f"{self.path.name}.pgi")
        sizes = [path.stat().st_size for path in (self.path, index) if path.is_file()]
        n_variants, most = 0, 8 * sum(sizes)  # a variant takes a bit at least
        for table in read_pvar(self._pvar, self.function):
            n_variants += len(table["name"])
            if n_variants > most:
                raise ValueError(f"{self._pvar.name} describes more variants than it can have")
            yield table

    def _dosages(self, begin: int, end: int) -> FloatArray:
        shape = (end - begin, self.n_rows)
        copies = self._reader.block(shape, np.float32, "copies", begin, end)
        missing = copies < 0
        # Of the other alleles together, be it one or several.
        dosages: FloatArray = np.subtract(2.0, copies, dtype=np.float64)
        dosages[missing] = np.nan
        return dosages

    def samples(self) -> pa.Table:
        """Return the .psam file as a table."""
        return self._samples


@contextmanager
def _text(path: Path, function: str) -> Iterator[Iterator[list[str]]]:
    """Open a file of words, compressed or not; give its lines without comments, as words."""
    with (
        pa.input_stream(str(path), compression="detect") as stream,
        io.TextIOWrapper(io.BufferedReader(stream), encoding="utf-8") as text,
    ):
        lines = iter(partial(text.readline, _LONGEST_LINE), "")
        try:
            yield (
                line.split()
                for line in map(_checked, lines)
                if line.strip() and not line.startswith("##")
            )
        except UnicodeDecodeError:
            raise ValueError(f"{function}: {path} is not UTF-8 text") from None


def _checked(line: str) -> str:
    """Return a line; a small file that is compressed may hold one that fills the memory."""
    if len(line) == _LONGEST_LINE:
        raise ValueError(f"a line of text has {_LONGEST_LINE:,} characters or more")
    return line


def _after_header(
    lines: Iterator[list[str]], otherwise: dict[int, tuple[str, ...]]
) -> tuple[tuple[str, ...], Iterator[list[str]]]:
    """Return the names of the columns, and the lines below; without a header, by their number."""
    first = next(lines, None)
    if first is None:
        return (), iter(())
    if first[0].startswith("#"):
        return (first[0][1:], *first[1:]), lines
    names = otherwise.get(len(first), ())
    return names, (line for part in ([first], lines) for line in part)


_FAM = ("FID", "IID", "father", "mother", "sex", "phenotype")
_BIM = ("CHROM", "ID", "CM", "POS", "ALT", "REF")
_PVAR = {6: _BIM, 5: tuple(name for name in _BIM if name != "CM")}


def read_pvar(path: Path, function: str) -> Iterator[dict[str, list[Any]]]:
    """Yield the variants of a .pvar or .bim file, some at a time."""
    with _text(path, function) as words:
        names, lines = _after_header(words, _PVAR)
        needed = ("ID", "CHROM", "POS", "REF", "ALT")
        if not set(needed) <= set(names):
            raise ValueError(
                f"{function}: {path} must have the columns #CHROM, POS, ID, REF and ALT; got "
                f"{escaped(', '.join(names)) or 'a first line of other words'}"
            )
        places = [names.index(name) for name in needed]
        line = 0
        while part := list(islice(lines, _LINES)):
            try:
                rows = [[row[place] for place in places] for row in part]
                yield _table(
                    (name, chromosome, int(position), (reference, *others.split(",")))
                    for name, chromosome, position, reference, others in rows
                )
            except (IndexError, ValueError):
                raise ValueError(
                    f"{function}: {path} must have {len(names)} words per line, POS a position in "
                    f"base pairs; it has another line near variant {line + 1}"
                ) from None
            line += len(part)


def read_psam(path: Path, function: str) -> pa.Table:
    """Return the samples of a .psam or .fam file, their IID (or FID and IID) as names."""
    with _text(path, function) as words:
        names, lines = _after_header(words, {})
        names = names or (_FAM if path.suffix == ".fam" else ())
        rows = list(lines)
    if "IID" not in names or not rows:
        raise ValueError(
            f"{function}: {path} must begin with a line of names, #IID or #FID and IID among them, "
            "and have a line per sample"
        )
    return _samples(path, function, names, rows, "FID", "IID")


def _samples(
    path: Path, function: str, names: Sequence[str], rows: list[list[str]], family: str, person: str
) -> pa.Table:
    """Return lines of words as sample annotations."""
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise ValueError(
                f"{function}: {path} has {len(row)} words for sample {number}, not {len(names)}: "
                f"{', '.join(names)}"
            )
    words = dict(zip(names, zip(*rows, strict=True), strict=True))
    table = pa.table(
        {
            name: pa.array(column, pa.string())
            if name in (family, person, "father", "mother")
            else typed(column, _MISSING_WORDS)
            for name, column in words.items()
        }
    )
    unique = len(set(words[person])) == len(rows) or family not in words
    return named_rows(table, *((person,) if unique else (family, person)))


# --- VCF-Zarr -------------------------------------------------------------------------------------


class VczInput(VariantInput):
    """A folder in the VCF-Zarr layout, as bio2zarr makes it; `layer` names a FORMAT field."""

    title = "VCF-Zarr"

    def _open(self, request: Request) -> None:
        zarr = extra_package("zarr", f"{self.function}: reading {self.path.name}", _EXTRA)
        self._root = root = zarr.open_group(str(self.path), mode="r")
        self._calls = root["call_genotype"] if request.layer is None else self._field(request.layer)
        n_variants, n_samples = self._calls.shape[:2]
        self.n_columns, self.n_rows = int(n_variants), int(n_samples)
        self.where = str(self.path)
        self.files = files_of(self.path)
        self._contigs = [str(name) for name in root["contig_id"][:]]

    def _field(self, layer: str) -> Any:
        names = [name[5:] for name, array in self._root.arrays() if name.startswith("call_")]
        numbers = [
            name
            for name in names
            if self._root[f"call_{name}"].ndim in (2, 3)
            and self._root[f"call_{name}"].dtype.kind in "iuf"
        ]
        if layer not in numbers:
            raise ValueError(
                f"{self.function}: {self.path} has no layer {layer!r}; its layers are "
                f"{', '.join(sorted(numbers))}"
            )
        return self._root[f"call_{layer}"]

    def _described(self) -> Iterator[dict[str, list[Any]]]:
        root = self._root
        for begin in range(0, self.n_columns, _LINES):
            part = slice(begin, min(begin + _LINES, self.n_columns))
            names = [str(name) for name in root["variant_id"][part]] if "variant_id" in root else []
            chromosomes = root["variant_contig"][part].tolist()
            positions = root["variant_position"][part].tolist()
            yield _table(
                (name, self._contigs[contig], position, [str(a) for a in alleles if a])
                for name, contig, position, alleles in zip(
                    names or [""] * len(positions),
                    chromosomes,
                    positions,
                    root["variant_allele"][part],
                    strict=True,
                )
            )

    def _dosages(self, begin: int, end: int) -> FloatArray:
        calls = np.asarray(self._calls[begin:end])
        if calls.ndim == 2:
            return np.where(calls < 0, np.nan, calls).astype(float)
        if self._calls.name.rpartition("/")[2] != "call_genotype":
            values = calls.astype(float)  # one value for each other allele
            values[calls < 0] = np.nan
            return np.asarray(np.nansum(values, axis=2) + 0 * values[:, :, 0])
        missing = (calls == -1).any(axis=2) | (calls < 0).all(axis=2)  # -2 fills up smaller ploidy
        dosages: FloatArray = (calls > 0).sum(axis=2).astype(float)
        dosages[missing] = np.nan
        return dosages

    def samples(self) -> pa.Table:
        """Return the names of the samples."""
        with explained(self.path, self.function, f"a {self.title}"):
            names = [str(name) for name in self._root["sample_id"][:]]
        return named_rows(pa.table({"sample_id": pa.array(names, pa.string())}), "sample_id")


# --- BGEN -----------------------------------------------------------------------------------------


class BgenInput(VariantInput):
    """A .bgen file; a .sample file beside it has the annotations."""

    title = "BGEN"

    def _open(self, request: Request) -> None:
        extra_package("bgen", f"{self.function}: reading {self.path.name}", _EXTRA)
        n_bytes = self.path.stat().st_size  # the variants are searched for when it is opened
        self._reader = NativeReader(libraries.Bgen, self.path, available_bytes(), n_bytes)
        beside = self.path.with_suffix(".sample")
        self.where = str(self.path)
        self.files = (self.path, beside) if beside.is_file() else (self.path,)
        self.n_columns, self.n_rows = self._reader.answer("size")
        self._samples = self._people(beside)

    def _people(self, beside: Path) -> pa.Table | None:
        if beside.is_file():
            samples = read_sample(beside, self.function)
            if samples.num_rows != self.n_rows:
                raise ValueError(
                    f"{self.function}: {beside} has {samples.num_rows} samples, but {self.path} "
                    f"has {self.n_rows}; they do not belong together"
                )
            return samples
        names = self._reader.answer("samples")
        if names is None:
            return None
        return named_rows(pa.table({"sample_id": pa.array(names, pa.string())}), "sample_id")

    def _described(self) -> Iterator[dict[str, list[Any]]]:
        yield from map(_table, self._reader.parts("variants"))

    def _dosages(self, begin: int, end: int) -> FloatArray:
        shape = (end - begin, self.n_rows)
        return self._reader.block(shape, np.float64, "copies", begin, end)

    def samples(self) -> pa.Table | None:
        """Return the .sample file, or the names in the .bgen file; None without either."""
        return self._samples


def read_sample(path: Path, function: str) -> pa.Table:
    """Return the samples of an Oxford .sample file: names, types, then a line per sample."""
    with _text(path, function) as words:
        names, rows = next(words, []), list(words)
    if len(names) < 2 or len(rows) < 2 or not set(rows[0]) <= set("0DCPB"):
        raise ValueError(
            f"{function}: {path} must have a line of names, one of types (0, D, C, P or B), and a "
            "line per sample"
        )
    return _samples(path, function, names, rows[1:], names[0], names[1])


PLINK = Format(
    "plink",
    "PLINK",
    (".bed",),
    groups=BedInput,
    columns=_in_place,
    others=dict.fromkeys((".bim", ".fam"), "give the .bed file"),
)
PGEN = Format(
    "pgen",
    "PLINK 2",
    (".pgen",),
    groups=PgenInput,
    others=dict.fromkeys((".pvar", ".psam"), "give the .pgen file"),
)
VCZ = Format(
    "vcz",
    "VCF-Zarr",
    (".vcz",),
    groups=VczInput,
    layers=True,
    folder=True,
    others=dict.fromkeys(
        (".vcf", ".bcf"),
        "vcf2zarr convert, of the package bio2zarr, makes a .vcz folder; plink2 --vcf --make-bed "
        "makes a .bed file",
    ),
)
BGEN = Format(
    "bgen", "BGEN", (".bgen",), groups=BgenInput, others={".sample": "give the .bgen file"}
)
