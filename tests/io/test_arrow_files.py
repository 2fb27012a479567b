"""Damaged Arrow files are refused, plain ones are taken; folders of partitions."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from duramen import pack
from duramen.data import encode
from duramen.io import read_table, write_table
from duramen.io.formats.arrow import validated

PLAIN = b"northsoutheast"


def batch(places, text, kind):
    width = np.int32 if kind == pa.string() else np.int64
    buffers = [None, pa.py_buffer(np.array(places, dtype=width)), pa.py_buffer(text)]
    column = pa.Array.from_buffers(kind, len(places) - 1, buffers)
    return pa.RecordBatch.from_arrays([column, pa.array(range(len(places) - 1))], ["a", "b"])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    ("places", "text"),
    [
        ([0, 5, 3, 14], PLAIN),  # descending
        ([-1, 5, 10, 14], PLAIN),
        ([0, 5, 10, 99], PLAIN),  # beyond the text
        ([0, 99, 10, 14], PLAIN),
        ([0, 5, 10, 14], b"north\xffoutheast"),  # not UTF-8
        ([0, 1, 2, 3], "é€"[:1].encode() + b"x"),  # cut within a character
    ],
)
def test_damaged_text_is_refused(kind, places, text):
    with pytest.raises(pa.ArrowInvalid):
        validated(batch(places, text, kind))


def test_other_types_are_looked_at_by_arrow():
    codes = pa.Array.from_buffers(pa.int32(), 2, [None, pa.py_buffer(np.array([0, 7], np.int32))])
    damaged = pa.DictionaryArray.from_arrays(codes, pa.array(["a"]), safe=False)
    with pytest.raises(pa.ArrowInvalid):
        validated(pa.table({"a": damaged}))


def partitioned(folder, *places):
    """A folder of files in folders such as "site=A"; each has two rows of the columns a and b."""
    for number, place in enumerate(places):
        (folder / place).mkdir(parents=True)
        table = pa.table({"a": [2 * number, 2 * number + 1], "b": ["x", "y"]})
        pq.write_table(table, folder / place / "part.parquet")
    return folder


def test_names_of_folders_are_columns(tmp_path):
    places = ("year=2024/site=A", "year=2024/site=B%20C", "year=2025/site=A")
    folder = partitioned(tmp_path / "t", *places, "year=2025/site=__HIVE_DEFAULT_PARTITION__")
    (folder / "_SUCCESS").touch()
    table = read_table(folder)
    assert table.to_pydict() == {
        "a": list(range(8)),
        "b": ["x", "y"] * 4,
        "year": [2024] * 4 + [2025] * 4,
        "site": ["A", "A", "B C", "B C", "A", "A", None, None],
    }
    store = pack(folder, tmp_path / "s", memory="1MB")
    assert store.as_table().fingerprint() == encode(table).fingerprint()
    assert store.target("site")[1].tolist()[:4] == ["A", "A", "B C", "B C"]


def test_folders_that_are_no_partitions(tmp_path):
    folder = partitioned(tmp_path / "twice", "b=1")
    with pytest.raises(ValueError, match="has 'b' both in the names of its folders and as a"):
        read_table(folder)
    folder = partitioned(tmp_path / "other", "site=A")
    (folder / "site=A" / "notes.txt").write_text("no table")
    with pytest.raises(IsADirectoryError, match="other is a directory; give a file"):
        read_table(folder)


@pytest.mark.parametrize("kind", ["file", "folder", "packed"])
def test_checksums_of_parquet_pages_are_read_and_written(tmp_path, kind):
    """Without them most changes of a byte become other values."""
    values = np.random.default_rng(0).normal(size=2000)
    path = tmp_path / "t" / "part.parquet"
    path.parent.mkdir()
    write_table(pa.table({"a": values, "b": values[::-1]}), path)
    read = {
        "file": lambda: read_table(path),
        "folder": lambda: read_table(path.parent),
        "packed": lambda: pack(path, tmp_path / "s", overwrite=True),
    }[kind]
    read()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"is not a Parquet file, or is damaged .*CRC"):
        read()


def test_text_of_a_parquet_file_that_does_not_fit_is_refused_unread(tmp_path, leave_memory):
    path = tmp_path / "t.parquet"
    table = pa.table({"a": [f"{i}" + "a" * 10**5 for i in range(20)]})
    pq.write_table(table, path, compression="zstd", use_dictionary=False, write_statistics=False)
    assert path.stat().st_size < 10**5
    leave_memory(10**6)
    with pytest.raises(MemoryError, match=r"the table in .*t\.parquet needs at least 2 MB"):
        read_table(path)
