"""A file format written and registered in one file is everywhere at once."""

import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import duramen
from tests.contracts.toys.toy_format import TOY

import duramen as dm
from duramen.data.routing import routing_values
from duramen.io import catalogue, read_table

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "data" / "file-formats.md"


@pytest.fixture
def toy(tmp_path):
    catalogue.register(TOY)
    random = np.random.default_rng(0)
    X = random.integers(0, 5, (60, 4)).astype(float)
    X[:, 3] = X[:, 0] > 2
    file = tmp_path / "a.toy"
    file.write_text("a b c y\n" + "\n".join(" ".join(map(str, row)) for row in X) + "\n")
    yield file, X
    catalogue.remove("toy")


def test_toy_is_read_packed_and_named_in_errors(toy, tmp_path):
    file, X = toy
    table = read_table(file)
    assert table.column_names == ["a", "b", "c", "y"]
    store = dm.pack(file, tmp_path / "s")
    assert store.fingerprint() == dm.pack(table, tmp_path / "t").fingerprint()
    np.testing.assert_array_equal(routing_values(store.as_table(), table), X)
    for use in (read_table, lambda path: dm.pack(path, tmp_path / "u")):
        with pytest.raises(ValueError, match=r"is not known; files may be .*Toy \(\.toy, \.play"):
            use(_written(tmp_path / "a.docx", "a\n1\n"))
        with pytest.raises(ValueError, match=r": .*b\.plaything is not a toy file"):
            use(_written(tmp_path / "b.plaything", "a b\n1\n"))
    refused = r"decimal must not be given for a\.toy, whose values have types; it is for CSV"
    with pytest.raises(ValueError, match=refused):
        read_table(file, decimal=",")
    with pytest.raises(ValueError, match="decimal is for CSV and TSV files"):
        dm.pack(file, tmp_path / "u", decimal=",")
    missing = read_table(file, na_values=["4.0"])
    assert missing["a"].null_count == (X[:, 0] == 4).sum()
    packed = dm.pack(file, tmp_path / "v", na_values=["4.0"])
    assert packed.fingerprint() == dm.pack(missing, tmp_path / "w").fingerprint()
    with pytest.raises(TypeError, match=r"first column of .*a\.toy, 'a', is of type double"):
        dm.pack(file, tmp_path / "u", transpose=True)
    with pytest.raises(ValueError, match=r"layer='x' is for \.h5ad, \.zarr and \.vcz files"):
        dm.pack(file, tmp_path / "u", layer="x")
    with pytest.raises(ValueError, match=r"cannot write 'c\.toy'; files may be CSV"):
        dm.io.write_table(table, tmp_path / "c.toy")


def _written(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize("command", ["rank", "select", "context", "exact", "pack"])
def test_toy_is_in_the_help(toy, command):
    words = " ".join(duramen(command, "--help").output.split())
    assert "Toy (.toy, .plaything)" in words
    assert "PLINK (.bed)" in words


def test_toy_is_taken_by_commands(toy, tmp_path):
    file, _ = toy
    out = tmp_path / "ranked"
    words = ("--target", "y", "--task", "classification", "--trees", "20", "--quiet")
    done = duramen("rank", str(file), *words, "--test", "none", "--out", str(out))
    assert done.exit_code == 0, done.output
    assert pq.read_table(out / "result.parquet").column("name")[0].as_py() == "a"
    done = duramen("pack", str(file), "--out", str(tmp_path / "packed"), "--quiet")
    assert done.exit_code == 0, done.output


def test_the_guide_lists_all_formats():
    rows = re.findall(
        r"^\| ([^|]+?) \| ([^|]*) \| (\w*) *\| (\w*) *\| (\w*) *\|", GUIDE.read_text(), re.M
    )
    listed = [
        (title, tuple(re.findall(r"`(\.\w+)`", suffixes)), *map(bool, can))
        for title, suffixes, *can in rows
    ]
    expected = [
        (entry.title, entry.suffixes, bool(entry.read), bool(entry.groups), bool(entry.columns))
        for entry in catalogue
    ]
    assert [row for row in listed if row[1]] == expected
