"""Workbooks: what their cells become, and sheets whose extent no reader should try to hold."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

import duramen as dm
from duramen.io import read_table
from duramen.io.formats import reader_process

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")
pytestmark = pytest.mark.limits_memory  # of the process that reads a workbook
BASE = {"A1": "a", "B1": "b", "A2": 1, "B2": 2, "A3": 3, "B3": 9.5}


def workbook(path: Path, cells: dict[str, object]) -> Path:
    book = openpyxl.Workbook()
    for place, value in cells.items():
        book.active[place] = value
    book.save(path)
    return path


def altered(path: Path, part: str, old: bytes, new: bytes) -> Path:
    """Replace bytes in a part of a workbook."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def test_a_sheet_that_does_not_fit_into_memory_is_refused(tmp_path: Path) -> None:
    """The reader would ask for 512 GB."""
    path = workbook(tmp_path / "t.xlsx", {**BASE, "XFD1048576": 1})
    assert path.stat().st_size < 8000
    with pytest.raises(ValueError, match=r"its reader has ended: too large.*far beyond the table"):
        read_table(path)


def test_rows_become_columns(tmp_path: Path) -> None:
    cells = {"A1": "gene", "B1": "s1", "C1": "s2", "A2": "g", "B2": 1, "C2": 2}
    cells |= {"A3": "h", "C3": 0.5}
    path = workbook(tmp_path / "genes.xlsx", cells)
    text = tmp_path / "genes.csv"
    text.write_text("gene,s1,s2\ng,1,2\nh,,0.5\n", encoding="utf-8")
    stores = [
        dm.pack(file, tmp_path / f"{file.name}.store", transpose=True, na_values=["2"])
        for file in (path, text)
    ]
    assert stores[0].row_names == ("s1", "s2")
    assert stores[0].fingerprint() == stores[1].fingerprint()


@pytest.mark.smoke
def test_whole_numbers_beyond_64_bits_are_floats(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", {**BASE, "A2": 2**63, "B2": -(2**63), "B3": 1e300})
    table = read_table(path)
    assert table["a"].to_pylist() == [2.0**63, 3.0]
    assert table["b"].to_pylist() == [-(2.0**63), 1e300]
    path = workbook(tmp_path / "u.xlsx", {**BASE, "A2": 2**53, "B3": 7})
    assert [str(kind) for kind in read_table(path).schema.types] == ["int64", "int64"]


def test_empty_rows_and_columns_around_and_within_are_left_out(tmp_path: Path) -> None:
    cells = {"C3": "a", "D3": "b", "C4": 1, "D4": "x", "D9": "y"}
    table = read_table(workbook(tmp_path / "t.xlsx", cells))
    assert table.to_pydict() == {"a": [1, None], "b": ["x", "y"]}


def test_a_reader_that_ends_its_process_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os\nos.abort()\n")
    path = workbook(tmp_path / "t.xlsx", BASE)
    monkeypatch.setattr(reader_process, "__file__", str(program))
    with pytest.raises(ValueError, match="its reader has ended: too large, or damaged"):
        read_table(path)


@pytest.mark.smoke
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit on memory")
def test_repeated_cells_of_an_open_document_end_no_process(tmp_path: Path) -> None:
    """17 billion cells in a kilobyte: the reader may take memory in proportion to the file."""
    import tests.faults.files.damaged_workbooks as made

    path = tmp_path / "t.ods"
    path.write_bytes(made.sound("ods"))
    assert read_table(path).num_rows == len(made.ROWS) - 1
    repeated = b'<table:table-row table:number-rows-repeated="1048576">'
    altered(path, "content.xml", b"<table:table-row>", repeated)
    cell = b'<table:table-cell table:number-columns-repeated="16384" office'
    altered(path, "content.xml", b"<table:table-cell office", cell)
    with pytest.raises(ValueError, match=r"t\.ods is not a workbook file, or is damaged"):
        read_table(path)


@pytest.mark.parametrize(("skipped", "names"), [(0, ["Study"]), (2, ["a", "b"]), (3, ["a", "b"])])
def test_skipped_rows_are_those_of_the_sheet(skipped, names, tmp_path):
    """Empty rows count, also those before the first that is used."""
    book = openpyxl.Workbook()
    book.active["B2"] = "Study"
    for row in ((4, "a", "b"), (6, 1, 2), (7, 3, 4)):
        for column, value in enumerate(row[1:], 2):
            book.active.cell(row[0], column, value)
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx", skip_rows=skipped)
    assert [name for name in table.column_names if name] == names
    if skipped:
        assert table.to_pydict() == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("suffix", [".xlsx", ".ods"])
def test_a_part_that_does_not_fit_its_checksum_is_refused(suffix: str, tmp_path: Path) -> None:
    from tests.faults.files import damaged_workbooks

    path = tmp_path / f"t{suffix}"
    whole = bytearray(damaged_workbooks.sound(suffix[1:]))
    path.write_bytes(whole)
    with zipfile.ZipFile(path) as archive:
        part = max(archive.infolist(), key=lambda part: part.file_size)
    noted = part.CRC.to_bytes(4, "little")
    assert whole.count(noted) >= 1
    path.write_bytes(whole.replace(noted, (part.CRC ^ 1).to_bytes(4, "little")))
    with pytest.raises(ValueError, match="is not a workbook file, or is damaged"):
        read_table(path)
