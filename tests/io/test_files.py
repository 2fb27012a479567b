"""Files are read whole with their types, or refused with the place of what is wrong."""

import gzip
import os
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from tests.grid import one_test

from duramen import pack
from duramen.io import Request, read_table, write_table
from duramen.io.formats.text_file import TextFile

TABLE = pa.table({"gene": ["g,1", 'say "b"', None], "x": [1.5, None, -2.0], "n": [1, 2, 3]})
TEXT = 'gene,x,n\n"g,1",1.5,1\n"say ""b""",NA,2\n,-2.0,3\n'


def write_text(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_csv_tsv_and_compressed(tmp_path: Path) -> None:
    plain = write_text(tmp_path / "a.csv", TEXT)
    with gzip.open(tmp_path / "b.CSV.gz", "wt") as file:
        file.write(TEXT)
    marked = write_text(tmp_path / "c.csv", "\ufeff" + TEXT)
    tabs = write_text(tmp_path / "d.tsv", 'gene\tx\tn\ng,1\t1.5\t1\n"say ""b"""\tNA\t2\n\t-2\t3\n')
    windows = write_text(tmp_path / "e.csv", TEXT.replace("\n", "\r\n"))
    for path in (plain, tmp_path / "b.CSV.gz", marked, tabs, windows, str(plain)):
        assert read_table(path).equals(TABLE)


@pytest.mark.smoke
def test_parquet_and_arrow(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pyarrow.feather.write_feather(TABLE, tmp_path / "b.feather")
    for name, writer_of in (("c.arrow", pa.ipc.new_file), ("d.arrow", pa.ipc.new_stream)):
        with pa.OSFile(str(tmp_path / name), "wb") as file, writer_of(file, TABLE.schema) as writer:
            writer.write_table(TABLE)
    for name in ("a.parquet", "b.feather", "c.arrow", "d.arrow"):
        assert read_table(tmp_path / name).equals(TABLE)


def test_values_within_quotes(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a.csv", 'w,n\n"NA",1\nNA,2\n"two\nlines",3\n')
    assert read_table(path).column("w").to_pylist() == ["NA", None, "two\nlines"]


@pytest.mark.smoke
def test_types_are_inferred_over_the_whole_file(tmp_path: Path) -> None:
    lines = ["x"] + ["1"] * 400_000 + ["1.5"] + ["a"]
    table = read_table(write_text(tmp_path / "a.csv", "\n".join(lines)))
    assert table.num_rows == 400_002
    assert pa.types.is_string(table.schema.field("x").type)


@one_test
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "x,y\n", "has column names but no rows"),
        ("a.csv", "x,y,x,y,z\n1,2,3,4,5\n", "has more than one column named 'x', 'y'; rename"),
        ("a.csv", "0,5,0.5,0\n1,2,3,4\n", "no line of names, write one above its first line"),
        ("a.csv", "x,y\n1,2\n\n3\n4,5\n", "has 1 field in line 4, but its header has 2"),
        ("a.csv", 'x,y\n"1\n1",2\n3,4,5\n', "has 3 fields in line 4, but its header has 2"),
        ("a.csv", b"x,y\na,b\nc,d\xe9\n", "byte 0xe9 at offset 11 .line 3.*--encoding latin-1"),
        ("a.csv", "x,y\n1,2\n".encode("utf-16"), r"UTF-16 text.*\(--encoding utf-16\)"),
        ("a.tsv", "x\ty\n1\t2\n".encode("utf-16-be"), "--encoding utf-16-be"),
        ("a.csv", gzip.compress(b"x,y\n1,2\n"), r"it is gzip .*or give it that extension"),
        (
            "a.csv.gz",
            gzip.compress(gzip.compress(b"x,y\n1,2\n")),
            "decompressed content is gzip.*decompress it once",
        ),
        ("a.cls", b"4 2 1\n# a b\n\xff b b a\n", r"byte 0xff at offset 12 \(line 3\).*UTF-8"),
        ("a.csv.gz", b"no gzip", "cannot read"),
        ("a.parquet", b"no parquet", "is not a Parquet file, or is damaged"),
        ("a.arrow", b"no arrow at all", "is not an Arrow file, or is damaged"),
        ("a.docx", "x", "the extension '.docx' of 'a.docx' is not known; files may be CSV"),
        ("a.dta", "x", r"Hint: in Python pandas\.read_stata reads it, and dm\.rank"),
        ("a.RDS", "x", r"Hint: write\.csv of R makes a \.csv file"),
        ("table", "x", "'table', no extension, is not known"),
        ("a.h5ad", "x", r"\.ods\)\. Hint: duramen pack makes a store of it"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    path = write_text(tmp_path / name, content)
    with pytest.raises(ValueError, match=r"(?s)rank: .*" + message):
        read_table(path, function="rank")


def test_lines_longer_than_a_block_of_arrow(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a.csv", f"x,y\n{'é' * 1_000_000},1\na,2\n")
    assert read_table(path).column("y").to_pylist() == [1, 2]
    names = [f"x{'y' * 1000}{j}" for j in range(1200)]
    path = write_text(tmp_path / "a.csv", f"{','.join(names)}\n{','.join('7' * 1200)}\n")
    table = read_table(path)
    assert table.column_names == names
    assert set(table.schema.types) == {pa.int64()}


def test_wide_tables_of_r_lack_a_name_above_those_of_the_rows(tmp_path: Path) -> None:
    names = [f"gene{j:06d}" for j in range(9000)]  # beyond the first bytes that are looked at
    rows = [f'"s{i}" ' + " ".join(["0.5"] * 9000) for i in range(3)]
    header = " ".join(f'"{name}"' for name in names)
    path = write_text(tmp_path / "a.txt", "\n".join([header, *rows, ""]))
    table = read_table(path)
    assert table.column_names == ["", *names]
    assert table.column(0).to_pylist() == ["s0", "s1", "s2"]


def test_a_bad_byte_far_into_the_file(tmp_path: Path) -> None:
    line = "é,1\n".encode() * 400_000  # two-byte characters that fall on the ends of blocks
    path = write_text(tmp_path / "a.csv", b"x,y\n" + b"z" + line + b"\xff,1\n")
    with pytest.raises(ValueError, match=rf"0xff at offset {5 + len(line)} \(line 400002\)"):
        read_table(path)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    write_text(tmp_path / "genes.csv", TEXT)
    with pytest.raises(FileNotFoundError, match=r"no file .*gene\.csv; did you mean 'genes\.csv'"):
        read_table(tmp_path / "gene.csv")
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist"):
        read_table(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(IsADirectoryError, match="is a directory; give a file"):
        read_table(tmp_path)


@one_test
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet"])
def test_what_is_written_can_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("older")
    for failure in (KeyboardInterrupt, OSError):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "replace", Mock(side_effect=failure))
            with pytest.raises(failure):
                write_table(TABLE, path)
        assert path.read_text() == "older"
    write_table(TABLE, path)
    assert read_table(path).equals(TABLE)
    assert os.listdir(tmp_path) == [name]
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o044 == 0o044 & ~mask


def test_other_formats_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot write 'a\.npy'; files may be CSV \(\.csv\)"):
        write_table(TABLE, tmp_path / "a.npy")


@one_test
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.tsv"])
def test_a_quote_that_is_not_closed_does_not_swallow_the_rest(tmp_path: Path, name: str) -> None:
    path = tmp_path / name

    def read(text: str) -> pa.Table:
        data = text.replace(",", "\t" if ".tsv" in name else ",").encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return read_table(path)

    for text in ('a,b\n1,x\n2,"y\n3,z\n', 'b\nx\n"y', 'a,b\n1,\n2,"', 'a,b\n"1","2"\n"2","NA'):
        with pytest.raises(ValueError, match=r"read_table: cannot read .* \(a quote is not closed"):
            read(text)
        with pytest.raises(ValueError, match=r"pack: cannot read .* \(a quote is not closed"):
            pack(path, tmp_path / "s")
    for text in ('a,b\n1,"x\ny"\n2,""y', 'b\nx\n"""y"', 'a,b\n1,2\n2,"3\n"', 'b\n"\n"\n'):
        assert read(text).num_rows >= 1
        pack(path, tmp_path / "s", overwrite=True)


@pytest.mark.parametrize("end", ["", "\n"])
def test_an_empty_last_field_is_missing_with_and_without_a_line_end(
    tmp_path: Path, end: str
) -> None:
    table = read_table(write_text(tmp_path / "a.csv", 'a,b\n1,2\n"3",' + end))
    assert table.column("b").to_pylist() == [2, None]
    quoted = read_table(write_text(tmp_path / "b.csv", 'a,b\n1,2\n"3",""' + end))
    assert quoted.column("b").to_pylist() == ["2", ""]


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_text_that_a_spreadsheet_would_evaluate(tmp_path: Path, kind: str) -> None:
    plain = ["age", "-1", "+1.5e-3", "-.5", "a-b", "'quoted", None, "", "x = 1"]
    begin = ("=1+1", "+a", "-x", "-1+cmd", "@s", "\tx", "\rx", "  =1", "\u200b=1", "\uff1d1")
    guarded = {text: f"'{text}" for text in begin}
    guarded |= {"a;=1": "a;'=1", "a\n@b": "a\n'@b", 'say "=1"': 'say "\'=1"'}
    names = [*plain, *guarded]
    for kind_of_column in (pa.string(), pa.dictionary(pa.int32(), pa.string())):
        column = pa.array(names, pa.string()).cast(kind_of_column)
        table = pa.table({"=name": column, "value": [-1.5] * len(names)})
        options = pa_csv.ParseOptions(
            delimiter="," if kind == "csv" else "\t", newlines_in_values=True
        )
        convert = pa_csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
        for safe, name, wanted in (
            (False, "=name", names),
            (True, "'=name", [*plain, *guarded.values()]),
        ):
            write_table(table, tmp_path / f"a.{kind}", spreadsheet_safe=safe)
            read = pa_csv.read_csv(tmp_path / f"a.{kind}", None, options, convert)
            assert read.column_names == [name, "value"]
            assert read[name].to_pylist() == wanted
            assert read["value"].to_pylist() == [-1.5] * len(names)
    write_table(table, tmp_path / "a.parquet", spreadsheet_safe=True)
    assert read_table(tmp_path / "a.parquet").column_names == ["=name", "value"]


@pytest.mark.limits_memory  # of the process that reads a workbook
def test_a_workbook_holds_text_as_text(tmp_path: Path) -> None:
    """Text that begins like a formula stays text; characters illegal in a cell are left out."""
    openpyxl = pytest.importorskip("openpyxl")
    names = ["=1+1", "@s", "a\x01b", None]
    table = pa.table({"=name": names, "value": [1.5, float("nan"), None, -2.0], "rank": range(4)})
    write_table(table, tmp_path / "a.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert [cell.data_type for cell in sheet["A"]] == ["s", "s", "s", "s", "n"]
    read = read_table(tmp_path / "a.xlsx")
    assert read["=name"].to_pylist() == ["=1+1", "@s", "a\ufffdb", None]
    assert read["value"].to_pylist() == [1.5, None, None, -2.0]
    assert read["rank"].to_pylist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match=r"cannot write 'a\.ods'"):
        write_table(table, tmp_path / "a.ods")
    wide = pa.table({f"c{j}": [0] for j in range(16_385)})
    with pytest.raises(ValueError, match="a sheet holds"):
        write_table(wide, tmp_path / "b.xlsx")


@pytest.mark.parametrize(
    ("lines", "commas"),
    [
        (
            ["a;b", "1,5;2", ",25;3", "-3,75;4", "4,5;x", "1,0;y"],
            ["1,5", ",25", "-3,75", "4,5", "1,0"],
        ),
        (["a\tb", "1,5\t2", "1,25\t3", "3,75\t4", "4,5\tx"], []),  # four numbers
        (["a;b", *(f"{i},500;x" for i in range(1, 9))], []),  # thousands
        (["a;b", *(f"{i},5;{i}.5" for i in range(9))], []),  # points too
        (["a,b", *(f'"{i},5",x' for i in range(9))], []),  # commas between fields
        (["1,5;2,5", *(f"{i};x" for i in range(9))], []),  # names of columns
    ],
)
def test_decimal_commas_are_detected_by_the_first_lines(
    tmp_path: Path, lines: list[str], commas: list[str]
) -> None:
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    text = TextFile.of(tmp_path / "a.csv", ",", Request("read_table"))
    assert list(text.decimal_commas) == commas


def test_spaces_separate_where_no_other_sign_does_and_each_line_has_a_number(
    tmp_path: Path,
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("age sex\n31 f\n47 m\n")
    with pytest.warns(UserWarning, match=r"scores.csv is separated by ' ', not by ','"):
        assert read_table(path).to_pydict() == {"age": [31, 47], "sex": ["f", "m"]}
    path.write_text("name\nAda Lovelace\nAlan Turing\n")
    assert read_table(path).to_pydict() == {"name": ["Ada Lovelace", "Alan Turing"]}
    path.write_text("name role\nAda Lovelace\nAlan Turing\n")
    assert read_table(path).column_names == ["name role"]


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_compressed_text_that_outgrows_memory_is_refused(compression, tmp_path, monkeypatch):
    from duramen.data import memory
    from duramen.io.formats import text_file

    path = tmp_path / {"gzip": "t.csv.gz", "zstd": "t.csv.zst"}[compression]
    with pa.CompressedOutputStream(str(path), compression) as file:
        file.write(b"a,b\n" + b"1,2\n" * (1 << 18))
    assert read_table(path).num_rows == 1 << 18
    monkeypatch.setattr(text_file, "_METERED", 1 << 20)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 20)
    with pytest.raises(MemoryError, match=rf"the text of .*{path.name}, of which .* are read"):
        read_table(path)
