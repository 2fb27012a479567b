"""File formats of tables: one record a format, found by the ending of a file's name.

Whatever reads, packs, opens or writes files goes by `catalogue`, and so do help texts and messages.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from duramen.catalogue import Catalogue
from duramen.io.formats.anndata import ANNDATA, ANNDATA_ZARR
from duramen.io.formats.arrow import ARROW, PARQUET, is_folder
from duramen.io.formats.excel import EXCEL
from duramen.io.formats.expression import CLS, GCT, GEO
from duramen.io.formats.format import Format, Request
from duramen.io.formats.genotypes import PLINK
from duramen.io.formats.npy import NPY
from duramen.io.formats.text import CSV, TEXT, TSV
from duramen.io.formats.text_file import COMPRESSIONS, TextFile
from duramen.support.arrow import pa

catalogue = Catalogue(
    "file format",
    (
        *(CSV, TSV, TEXT, GEO, GCT, CLS, PARQUET, ARROW, EXCEL, NPY),
        *(ANNDATA, ANNDATA_ZARR, PLINK),
    ),
)
"""All file formats; ``register`` adds one."""


_HEAD = 64  # bytes that tell formats with the same ending
_TEXT = 1 << 16  # bytes that tell whether a file is text
_PACKED = ((b"\x1f\x8b", ".txt.gz"), (b"BZh", ".txt.bz2"), (b"\x28\xb5\x2f\xfd", ".txt.zst"))


def able(format_: Format, *uses: str) -> bool:
    """Return whether a format has one of some functions: "read", "groups", "columns", "write"."""
    return any(getattr(format_, use) is not None for use in uses)


def listed(*uses: str) -> str:
    """Name the formats that have one of some functions, with the endings of their files."""
    chosen = [format_ for format_ in catalogue if able(format_, *uses)]
    written = uses == ("write",)
    endings = [(format_.written if written else ()) or format_.suffixes for format_ in chosen]
    names = [
        f"{format_.title} ({', '.join(own)})" for format_, own in zip(chosen, endings, strict=True)
    ]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def layered() -> str:
    """Name the files that hold several matrices, by the endings of their names."""
    suffixes = [format_.suffixes[0] for format_ in catalogue if format_.layers]
    return f"{', '.join(suffixes[:-1])} and {suffixes[-1]} files"


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
        head = _head(Path(path))
        alike.sort(key=lambda format_: not (format_.begins and head.startswith(format_.begins)))
        alike = [
            format_ for format_ in alike if not format_.begins or head.startswith(format_.begins)
        ]
    return alike[0] if alike else None


def _head(path: Path) -> bytes:
    """Return the first bytes of a file of text; none where they cannot be read."""
    try:
        with TextFile(path).decoded() as stream:
            return bytes(stream.read(_HEAD))
    except (OSError, EOFError, ValueError):
        return b""


def suffix_of(head: bytes) -> str:
    """Return the ending of the name of a file that begins with some bytes; text if not known."""
    marked = [(format_.begins, format_.suffixes[0]) for format_ in catalogue if format_.begins]
    suffixes = [suffix for mark, suffix in (*marked, *_PACKED) if head.startswith(mark)]
    return suffixes[0] if suffixes else TEXT.suffixes[0]


def checked_file(path: Path, function: str, *uses: str) -> Format:
    """Return the format of a file that is to be read, which has one of the functions in `uses`."""
    if not path.exists():
        raise FileNotFoundError(f"{function}: there is no file {path}{_similar_file(path)}")
    format_ = format_of(path)
    if path.is_dir() and not (is_folder(path) or (format_ is not None and format_.folder)):
        raise IsADirectoryError(f"{function}: {path} is a directory; give a file: {listed(*uses)}")
    last = path.suffix.lower()
    if format_ is None or not able(format_, *uses):
        what = f"the extension {last!r} of {path.name!r}"
        takers = "duramen rank, select and context"
        hint = "" if format_ is None else f". Hint: duramen pack makes a store of it, for {takers}"
        instead = _instead(path)
        if instead:
            hint = f". Hint: {instead}"
        elif format_ is None and _is_text(path):
            hint = f". Hint: it begins as text; call it {path.stem}.txt"
        raise ValueError(
            f"{function}: {what if last else f'{path.name!r}, no extension,'} is not known; files "
            f"may be {listed(*uses)}{hint}"
        )
    if not (path.is_file() or path.is_dir()):
        raise ValueError(f"{function}: {path} must be a file, such as a copy of what a pipe gives")
    if path.stat().st_size == 0 and path.is_file():
        raise ValueError(f"{function}: {path} is empty (0 bytes)")
    return format_


def text_of(path: Path, request: Request) -> TextFile | None:
    """Return the text of a file as it is asked for; None where its format is not one of text."""
    format_ = format_of(path)
    return (
        None
        if format_ is None or not format_.text
        else TextFile.of(path, format_.separator, request)
    )


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
    """Raise ValueError where options of text, or a sheet, are given for what holds none."""
    allowed = frozenset[str]() if format_ is None else format_.options
    if format_ is not None and format_.groups is not None and request.transpose:
        # Rows that become columns keep the values of their file, unless they are text.
        allowed = allowed if format_.text else frozenset()
    for option in request.options:
        if option not in allowed:
            titles = " and ".join(other.title for other in catalogue if other.text)
            why = f"whose values have types; it is for {titles} files"
            why = "which is not a workbook" if option == "sheet" else why
            raise ValueError(f"{request.function}: {option} must not be given for {name}, {why}.")


def _instead(path: Path) -> str:
    """Return what to do instead with a file of another ending; "" where nothing is known."""
    endings = {suffix.lower() for suffix in path.suffixes[-2:]}
    return next(
        (
            format_.others[ending]
            for format_ in catalogue
            for ending in format_.others
            if ending in endings
        ),
        "",
    )


def _is_text(path: Path) -> bool:
    """Tell whether a file begins as text of several lines."""
    try:
        with open(path, "rb") as file:
            whole, _, _ = file.read(_TEXT).rpartition(b"\n")
        return bool(whole) and all(
            character.isprintable() or character in "\t\r\n" for character in whole.decode()
        )
    except (OSError, UnicodeDecodeError):
        return False


def _similar_file(path: Path) -> str:
    try:
        others = [other.name for other in path.parent.iterdir()]
    except OSError:
        return f": the folder {path.parent} does not exist"
    close = difflib.get_close_matches(path.name, others, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
