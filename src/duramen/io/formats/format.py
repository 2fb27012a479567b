"""Records of file formats, requests to them, and the interface of inputs."""

from __future__ import annotations

import json
import re
import shlex
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from duramen.catalogue import Entry
from duramen.data.memory import require_memory
from duramen.io.store.reader import columns_within
from duramen.support.arrow import pa
from duramen.support.checks import warn
from duramen.support.text import first_line, quoted


class Input:
    """A table that gives its columns in groups, in their order.

    Attributes
    ----------
    where : str
        How errors call it.
    files : sequence of Path
        What it is read from: where one of them changed, it is another input.
    n_columns : int
    n_rows : int or None
        None where it is known once the table is read.
    cell_bytes, extra_bytes : float
        Bytes of memory that a cell takes while it is packed, and a column beside its cells.
    budget : int
        Bytes of memory for a group of columns.
    names : sequence of str or None
        Names that the input itself gives; None where it gives none.
    encoded : bool
        Whether the groups are encoded already, so that kinds cannot be chosen.
    sparse : bool
        Whether it is a sparse matrix, which a store's table has sparse again.
    kinds_chosen : bool
        Whether kinds are asked for, so that groups cannot be codes; set before the first group.
    """

    where: str
    files: Sequence[Path] = ()
    n_columns: int
    n_rows: int | None = None
    cell_bytes: float = 0
    extra_bytes: float = 0
    budget: int
    names: Sequence[str] | None = None
    encoded: bool = False
    sparse: bool = False
    kinds_chosen: bool = False

    @property
    def column_bytes(self) -> float:
        """Bytes of memory that a column takes while it is packed."""
        assert self.n_rows is not None
        return self.n_rows * self.cell_bytes + self.extra_bytes

    @property
    def width(self) -> int:
        """Number of columns of a group."""
        assert self.n_rows is not None
        return columns_within(self.budget, self.n_rows, self.cell_bytes, self.extra_bytes)

    def samples(self) -> pa.Table | None:
        """Return the sample annotations, or None."""
        return None

    def variants(self) -> Iterator[pa.Table] | None:
        """Yield the genomic positions of the columns, as in `layout.variants_schema`, in parts."""
        return None

    def groups(self, work: Path) -> Iterator[Any]:
        """Yield the columns in groups: tables that `encode` takes, or sources.

        `work` is a folder for what does not fit into memory.
        """
        width = self.width
        for begin in range(0, self.n_columns, width):
            yield self.part(begin, min(begin + width, self.n_columns))

    def part(self, begin: int, end: int) -> Any:
        """Return neighboring columns."""
        raise NotImplementedError


SPOOL = "spool.bin"


class Spool:
    """Pieces of tiles in a file, for tables that do not fit into memory as rows become columns.

    A table that comes in rows is cut into tiles, groups of neighboring columns. The pieces of the
    tiles are appended to one file as they come; afterwards the pieces of a tile are read together.
    """

    def __init__(self, folder: Path, n_tiles: int) -> None:
        self._path, self._n_tiles = folder / SPOOL, n_tiles
        self._sizes = array("q")
        self._path.write_bytes(b"")

    def add(self, pieces: list[bytes]) -> None:
        """Append a piece for each tile, in their order."""
        with open(self._path, "ab") as file:
            file.writelines(pieces)
        self._sizes.extend(map(len, pieces))

    def read(self, tile: int) -> bytearray:
        """Return the concatenated pieces of a tile."""
        sizes = np.frombuffer(self._sizes, dtype=np.int64)
        begins = (np.cumsum(sizes) - sizes)[tile :: self._n_tiles]
        data, at = bytearray(int(sizes[tile :: self._n_tiles].sum())), 0
        view = memoryview(data)
        with open(self._path, "rb") as file:
            for begin, size in zip(
                begins.tolist(), sizes[tile :: self._n_tiles].tolist(), strict=True
            ):
                file.seek(begin)
                if file.readinto(view[at : at + size]) < size:
                    raise ValueError(f"{self._path} was truncated; pack again")
                at += size
        return data

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink(missing_ok=True)


@contextmanager
def explained(
    path: Path,
    function: str,
    what: str,
    hint: str = "check its extension, or copy it again from its source",
) -> Iterator[None]:
    """Turn any error of a reader into a ValueError that names the file.

    A damaged file can raise errors of nearly any kind. Errors that begin with the name of the
    function pass, and so does a package that is not installed.
    """
    try:
        yield
    except ModuleNotFoundError:
        raise
    except Exception as error:
        if str(error).startswith(f"{function}: "):
            raise
        raise ValueError(
            f"{function}: {path} is not {what} file, or is damaged ({first_line(error)}); {hint}"
        ) from None


def require_room(n_bytes: int, path: Path, function: str) -> None:
    """Raise MemoryError if a table of `n_bytes` bytes does not fit into memory."""
    require_memory(
        n_bytes,
        what=f"the table in {path}",
        function=function,
        hint=f"duramen pack {shlex.quote(path.name)} --out STORE makes a store of it in little "
        "memory, of which duramen rank STORE --max-rows N and others read what they need",
    )


ROW_NAMES = b"duramen.row_names"  # of the schema's metadata: the columns that name the rows


def named_rows(samples: pa.Table, *columns: str) -> pa.Table:
    """Mark the columns of annotations that name the rows."""
    metadata = {k: v for k, v in (samples.schema.metadata or {}).items() if k != b"pandas"}
    return samples.replace_schema_metadata({**metadata, ROW_NAMES: json.dumps(columns).encode()})


@dataclass(frozen=True)
class Request:
    """Function that asks for a file, and the options it was given.

    Attributes
    ----------
    function : str
        The function or command that the user called, for errors.
    na_values : sequence of str
        Further words that are missing values, in text.
    decimal : str
        Decimal point of the numbers in text: "." or ",".
    separator : str or None
        What lies between two fields of text; None for that of the format, or the one that its first
        lines have in its place.
    transpose : bool
        Whether rows of the file are columns of the table.
    layer : str or None
        Matrix to take, in a file that holds several.
    budget : int
        Bytes of memory to use, where columns come in groups.
    sheet : str or None
        Sheet to take, in a workbook; None for the first.
    n_threads : int
        Threads to use.
    encoding : str
        Encoding of text, such as "latin-1".
    skip_rows : int
        Lines of text, or rows of a sheet, before the one that names the columns.
    member : str or None
        File to take, in a .zip archive of several.

    Examples
    --------
    >>> from duramen.io import Request
    >>> Request("read_table", na_values=["?"]).options
    ['na_values']
    """

    function: str
    na_values: Sequence[str] = ()
    decimal: str = "."
    transpose: bool = False
    layer: str | None = None
    budget: int = 0
    n_threads: int = 1
    separator: str | None = None
    sheet: str | None = None
    encoding: str = "utf-8"
    skip_rows: int = 0
    member: str | None = None

    def __post_init__(self) -> None:
        """Check that words for missing values are several."""
        if isinstance(self.na_values, str):
            raise TypeError(
                f"{self.function}: na_values must be a list of words, got {self.na_values!r}. "
                f"Hint: na_values=[{self.na_values!r}]"
            )

    @property
    def options(self) -> list[str]:
        """Parameters of reading that differ from their defaults."""
        asked = {name: getattr(self, name) for name in READING if name != "as_text"}
        return [name for name, value in asked.items() if value and value != READING[name]]


_OF_READING = ("separator", "encoding", "member", "decimal", "skip_rows", "na_values", "sheet")
READING: dict[str, Any] = {name: getattr(Request, name) for name in _OF_READING} | {"as_text": ()}
"""Parameters of `read_table`, which are the keys of `reading` of `pack`, with their defaults."""


@dataclass(frozen=True, eq=False)
class Format(Entry):
    """Record of a file format.

    Attributes
    ----------
    name : str
        Name in the catalogue.
    title : str
        Name of the format, as messages and the help have it.
    suffixes : tuple of str
        Endings of the names of files, in lower case, the usual one first.
    read : callable, optional
        ``read(path, request)`` returns the whole table, a pyarrow table; a file that cannot be
        read raises ValueError. Without it, the format is for `pack` and `open_store`.
    groups : callable, optional
        ``groups(path, request)`` returns an `Input`, whose columns come in groups that fit into
        memory. Without it, `pack` takes the table that `read` returns.
    columns : callable, optional
        ``columns(path, function)`` returns the columns of a file that `open_store` uses in place.
    write : callable, optional
        ``write(table, file)`` writes a pyarrow table to an open binary file.
    written : tuple of str
        Endings of the files that `write` makes; by default all of `suffixes`.
    text : bool
        Whether values are text: `na_values`, `decimal`, `separator`, `encoding`, `skip_rows` and
        `member` apply, and files may be compressed.
    separator : str
        Of text, what lies between two fields; "" where the first lines tell it.
    layers : bool
        Whether a file holds several matrices, of which `layer` names one.
    others : mapping
        What to do instead with files of other endings that hold such tables, or belong to one.
    sheets : bool
        Whether a file holds several sheets, of which `sheet` names one; `na_values` and
        `skip_rows` apply.
    begins : bytes
        How the files begin: tells a format among those with the same ending, and what comes
        without a name.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pathlib import Path
    >>> from duramen.io import Format, catalogue, read_table
    >>> def read_words(path, request):
    ...     return pa.table({"word": path.read_text().split()})
    >>> _ = catalogue.register(Format("words", "Words", (".words",), read=read_words))
    >>> _ = Path("few.words").write_text("to be or not")
    >>> read_table("few.words").num_rows
    4
    >>> catalogue.remove("words")
    """

    title: str
    suffixes: tuple[str, ...]
    _: KW_ONLY
    read: Callable[[Path, Request], pa.Table] | None = None
    groups: Callable[[Path, Request], Input] | None = None
    columns: Callable[[Path, str], Any] | None = None
    write: Callable[[Any, IO[bytes]], None] | None = None
    written: tuple[str, ...] = ()
    text: bool = False
    separator: str = ""
    layers: bool = False
    others: Mapping[str, str] = field(default_factory=dict)
    sheets: bool = False
    begins: bytes = b""

    @property
    def options(self) -> frozenset[str]:
        """Parameters of reading that apply to its files."""
        if self.text:
            return frozenset(READING) - {"sheet", "as_text"}
        if self.sheets:
            return frozenset({"na_values", "skip_rows", "sheet"})
        return frozenset({"na_values"} if self.read is not None else ())


_SIGNS = re.compile(r"[^a-z0-9]")
# Names without case and signs: of featureCounts, HTSeq, RSEM, GCT files, biomaRt and the like.
_DESCRIBING = re.compile(
    "chr|chrom|chromosome|seqnames?|start|end|stop|strand|width|(effective|gene)?length|"
    "(gene|hgnc)?symbol|(gene)?name|genes?|geneid|(gene)?biotype|genetype|(gene)?description|desc|"
    "entrez((gene)?id)?|ensembl((gene)?id)?|transcriptids?|refseq|unigene|probeid|cytoband|locus"
)


def describing(names: Sequence[str]) -> int:
    """Return the number of descriptive columns after the column of names.

    Examples
    --------
    >>> from duramen.io.formats.format import describing
    >>> describing(["Chr", "Start", "End", "Strand", "Length", "a.bam", "b.bam"])
    5
    """
    count = 0
    while count < len(names) and _DESCRIBING.fullmatch(_SIGNS.sub("", names[count].lower())):
        count += 1
    return count if count < len(names) else 0


def warn_of(names: Sequence[str], file: str, function: str) -> None:
    """Warn about columns that were left out, if any."""
    if names:
        what = "describes the rows and was" if len(names) == 1 else "describe the rows and were"
        warn(f"{function}: {', '.join(map(quoted, names))} of {file} {what} left out")
