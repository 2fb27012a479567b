"""Records of file formats, and requests to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from duramen.catalogue import Entry
from duramen.io.formats.columns import Columns
from duramen.io.formats.input import Input

if TYPE_CHECKING:
    import pyarrow as pa


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
    >>> Request("read_table", na_values=["?"]).of_text
    'na_values'
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
    def of_text(self) -> str | None:
        """Name of an option that is for text and was given; None where none was."""
        given = {
            "separator": self.separator is not None,
            "encoding": self.encoding != "utf-8",
            "member": self.member is not None,
            "decimal": self.decimal != ".",
            "skip_rows": self.skip_rows != 0,
            "na_values": len(self.na_values) > 0,
        }
        return next((name for name in given if given[name]), None)


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
        ``columns(path, function)`` returns the `Columns` of a file that `open_store` uses in place.
    write : callable, optional
        ``write(table, file)`` writes a pyarrow table to an open binary file.
    written : tuple of str
        Endings of the files that `write` makes; by default all of `suffixes`.
    n_bytes : callable, optional
        ``n_bytes(path, request)`` returns the bytes of memory that the whole table takes at least,
        told before it is read; without it, the size of the file.
    text : bool
        Whether values are text: `na_values`, `decimal`, `separator`, `encoding`, `skip_rows` and
        `member` apply, and files may be compressed.
    separator : str
        Of text, what lies between two fields; "" where the first lines tell it.
    layers : bool
        Whether a file holds several matrices, of which `layer` names one.
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
    columns: Callable[[Path, str], Columns] | None = None
    write: Callable[[Any, IO[bytes]], None] | None = None
    written: tuple[str, ...] = ()
    n_bytes: Callable[[Path, Request], int] | None = None
    text: bool = False
    separator: str = ""
    layers: bool = False
    sheets: bool = False
    begins: bytes = b""
