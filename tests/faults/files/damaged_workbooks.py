"""Workbooks (.xlsx, .xls, .ods) with altered cells, references, parts and bytes."""

from __future__ import annotations

import datetime
import functools
import io
import warnings
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import xlwt
from tests.faults.batches import READ
from tests.faults.fuzzing import altered

import duramen as dm
from duramen.io import read_table

KINDS = ("xlsx", "xls", "ods")
ROWS = [
    ["a", "b", "c", "day", "y"],
    *([j, j / 4, f"t{j % 3}", datetime.date(2020, 1, 1 + j), bool(j % 2)] for j in range(20)),
]
# Parts that are altered whole: small numbers are places and lengths, large ones overflow.
WORDS = [
    *(b"XFD1048576", b"ZZZZ9", b"A0", b"A99999999999", b"A1:XFD1048576", b"1048576", b"16384"),
    *(b"9223372036854775808", b"1e308", b"-1", b"nan", b"</row>", b"<v/>", b"</c>", b"<c/>"),
    *(b't="s"', b't="d"', b't="e"', b"&#0;", b"&lt;", b"<!--", b"\xff\xfe", b'r="A1"', b"\x00"),
    *(b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x00\x00\x01\x00", b"2020-13-45T99:00:00"),
    *(b'table:number-columns-repeated="16384"', b'table:number-rows-repeated="1048576"'),
]


@functools.cache
def sound(kind: str) -> bytes:
    """A workbook of one sheet."""
    file = io.BytesIO()
    if kind == "xlsx":
        book = openpyxl.Workbook()
        for row in ROWS:
            book.active.append(row)
        book.save(file)
    elif kind == "xls":
        old = xlwt.Workbook()
        sheet = old.add_sheet("a")
        for i, row in enumerate(ROWS):
            for j, value in enumerate(row):
                sheet.write(i, j, str(value) if isinstance(value, datetime.date) else value)
        old.save(file)
    else:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in _open_document().items():
                archive.writestr(name, part)
    return file.getvalue()


def _open_document() -> dict[str, bytes]:
    name = "urn:oasis:names:tc:opendocument:xmlns"
    cells = []
    for row in ROWS:
        cells.append("<table:table-row>")
        for value in row:
            kind = "float" if isinstance(value, float) else "string"
            more = f' office:value="{value}"' if kind == "float" else ""
            cells.append(f'<table:table-cell office:value-type="{kind}"{more}>')
            cells.append(f"<text:p>{value}</text:p></table:table-cell>")
        cells.append("</table:table-row>")
    spaces = " ".join(
        f'xmlns:{prefix}="{name}:{prefix}:1.0"' for prefix in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0"?><office:document-content {spaces}><office:body><office:spreadsheet>'
        f'<table:table table:name="a">{"".join(cells)}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    listed = (
        f'<?xml version="1.0"?><m:manifest xmlns:m="{name}:manifest:1.0"><m:file-entry '
        f'm:full-path="/" m:media-type="{kind}"/></m:manifest>'
    )
    parts = {"mimetype": kind, "META-INF/manifest.xml": listed, "content.xml": content}
    return {part: text.encode() for part, text in parts.items()}


def changed(random: np.random.Generator, data: bytes) -> bytes:
    """Alter the bytes of a file, or those of a part of an archive, whose checksums then fit."""
    if random.random() < 0.15 or not zipfile.is_zipfile(io.BytesIO(data)):
        return altered(random, [data], WORDS)
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        names = old.namelist()
        sheets = [name for name in names if "sheet" in name or name == "content.xml"]
        chosen = str(random.choice(sheets if random.random() < 0.7 else names))
        for name in names:
            part = old.read(name)
            if name == chosen and random.random() < 0.05:
                continue
            new.writestr(name, altered(random, [part], WORDS) if name == chosen else part)
    return file.getvalue()


def attempt(number: int, folder: Path) -> str:
    """Alter a workbook, and read and encode it."""
    random = np.random.default_rng(number)
    kind = KINDS[number % len(KINDS)]
    path = folder / f"t.{kind}"
    path.write_bytes(changed(random, sound(kind)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on the choice of a sheet, and odd columns
        table = read_table(path)
        table.to_pylist()
        dates = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
        dm.encode(table.drop_columns(dates))
    return READ
