"""File formats of tables: one record a format, found by the ending of a file's name.

Whatever reads, packs, opens or writes files goes by `catalogue`, and so do help texts and messages.
"""

from __future__ import annotations

import difflib
import os
from contextlib import suppress
from pathlib import Path

from duramen.catalogue import Catalogue
from duramen.io.formats.arff import ARFF
from duramen.io.formats.arrow import ARROW, PARQUET, is_folder
from duramen.io.formats.excel import EXCEL
from duramen.io.formats.expression import CLS, GCT, GEO
from duramen.io.formats.format import Format, Request
from duramen.io.formats.genotypes import PLINK
from duramen.io.formats.matrices import ANNDATA, NPY
from duramen.io.formats.text import CSV, TEXT, TSV
from duramen.io.formats.text_file import COMPRESSIONS, TextFile
from duramen.support.arrow import pa

catalogue = Catalogue(
    "file format",
    (
        *(CSV, TSV, TEXT, GEO, GCT, CLS, PARQUET, ARROW, ARFF, EXCEL, NPY),
        *(ANNDATA, PLINK),
    ),
)
"""All file formats; ``register`` adds one."""


_PACKED = {b"\x1f\x8b": ".txt.gz", b"BZh": ".txt.bz2", b"\x28\xb5\x2f\xfd": ".txt.zst"}


def listed(*uses: str) -> str:
    """List the formats with one of some functions, and their file extensions.

    Functions are "read", "groups", "columns" and "write".
    """
    names = []
    for format_ in catalogue:
        if any(getattr(format_, use) for use in uses):
            suffixes = format_.written if uses == ("write",) else ()
            names.append(f"{format_.title} ({', '.join(suffixes or format_.suffixes)})")
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def format_of(path: str | os.PathLike[str]) -> Format | None:
    """Return the format of a file by the ending of its name; None where it is not known.

    Of several with that ending, the one whose files begin as this one does; a folder of Parquet
    files is a table of that format.
    """
    if is_folder(path):
        return PARQUET
    suffixes = [suffix.lower() for suffix in Path(path).suffixes] or [""]
    compressed = len(suffixes) > 1 and suffixes[-1] in COMPRESSIONS
    wanted = suffixes[-2] if compressed else suffixes[-1]
    alike = [
        format_
        for format_ in catalogue
        if wanted in format_.suffixes and (format_.text or not compressed)
    ]
    if len(alike) > 1:
        head = b""
        with suppress(OSError, EOFError, ValueError), TextFile(Path(path)).decoded() as stream:
            head = stream.read(64)
        marked = [one for one in alike if one.begins and head.startswith(one.begins)]
        alike = marked or [one for one in alike if not one.begins]
    return alike[0] if alike else None


def suffix_of(head: bytes) -> str:
    """Return the ending of the name of a file that begins with some bytes; text if not known."""
    marks = {format_.begins: format_.suffixes[0] for format_ in catalogue if format_.begins}
    suffixes = [suffix for mark, suffix in (marks | _PACKED).items() if head.startswith(mark)]
    return suffixes[0] if suffixes else TEXT.suffixes[0]


def checked_file(path: Path, function: str, *uses: str) -> Format:
    """Return the format of a file to read; it must have one of the functions in `uses`."""
    if not path.exists():
        try:
            close = difflib.get_close_matches(path.name, [o.name for o in path.parent.iterdir()], 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
        except OSError:
            hint = f": the folder {path.parent} does not exist"
        raise FileNotFoundError(f"{function}: there is no file {path}{hint}")
    format_ = format_of(path)
    if path.is_dir() and not is_folder(path):
        raise IsADirectoryError(f"{function}: {path} is a directory; give a file: {listed(*uses)}")
    if format_ is None or not any(getattr(format_, use) for use in uses):
        endings = {suffix.lower() for suffix in path.suffixes[-2:]}
        others = [of for other in catalogue for end, of in other.others.items() if end in endings]
        hint = others[0] if others else f"if it holds text, call it {path.stem}.txt"
        if not others and format_ is not None:
            hint = "duramen pack makes a store of it, for duramen rank, select and context"
        last = path.suffix.lower()
        what = (
            f"the extension {last!r} of {path.name!r}" if last else f"{path.name!r}, no extension,"
        )
        raise ValueError(
            f"{function}: {what} is not known; files may be {listed(*uses)}. Hint: {hint}"
        )
    if not (path.is_file() or path.is_dir()):
        raise ValueError(f"{function}: {path} must be a file; save the output of a pipe to a file")
    if path.stat().st_size == 0 and path.is_file():
        raise ValueError(f"{function}: {path} is empty (0 bytes)")
    return format_


def text_of(path: Path, request: Request) -> TextFile | None:
    """Return a text file with the options of a request; None for formats without text."""
    format_ = format_of(path)
    if format_ is None or not format_.text:
        return None
    return TextFile.of(path, format_.separator, request)


def whole(path: Path, format_: Format, request: Request) -> pa.Table:
    """Read a table whole, by a format that can be read.

    Raises
    ------
    ValueError
        If options of text are given for a file that holds none, or the file cannot be read.
    """
    refuse_text_options(path.name, format_, request)
    assert format_.read is not None
    return format_.read(path, request)


def refuse_text_options(name: str, format_: Format | None, request: Request) -> None:
    """Raise ValueError for options of text or sheets that the format of a file does not have."""
    allowed = frozenset[str]() if format_ is None else format_.options
    if format_ is not None and format_.groups and request.transpose and not format_.text:
        allowed = frozenset()  # rows that become columns keep the values of their file
    for option in request.options:
        if option not in allowed:
            titles = " and ".join(other.title for other in catalogue if other.text)
            why = f"whose values have types; it is for {titles} files"
            why = "which is not a workbook" if option == "sheet" else why
            raise ValueError(f"{request.function}: {option} must not be given for {name}, {why}.")
