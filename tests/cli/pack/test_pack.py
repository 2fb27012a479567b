import signal

import numpy as np
import pandas as pd
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import FILES, assert_refused, assert_stops, done, duramen

from duramen import pack
from duramen.data import encode
from duramen.io import open_store, read_table
from duramen.io.store import layout


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 4, (30, 14)), columns=[f"g{j}" for j in range(14)])
    frame["word"] = rng.choice(["u", "v", None], 30)
    frame.to_csv(tmp_path / "genes.csv", index=False)
    return tmp_path / "genes.csv"


@pytest.mark.smoke
def test_makes_a_store_with_a_record(out, table):
    result, run = done(out, "pack", table)
    expected = encode(read_table(table))
    store = open_store(out)
    store.verify()
    assert store.as_table().fingerprint() == expected.fingerprint()
    names = {path.name for path in out.iterdir()}
    assert names == {*FILES, layout.HEADER, *layout.NEEDED}
    shown = pq.read_table(out / "result.parquet").to_pydict()
    assert shown == pa_csv.read_csv(out / "result.csv").to_pydict()
    assert shown["name"] == list(expected.names)
    assert shown["kind"] == list(expected.kinds)
    assert shown["values"] == np.diff(expected.value_offsets).tolist()
    assert run["command"] == "duramen pack genes.csv"
    assert (run["n_rows"], run["n_features"], run["file"]) == (30, 15, "genes.csv")
    assert run["fingerprint"] == store.fingerprint()
    assert "Packed 30 rows, 15 columns, 14 numeric columns, 1 nominal column;" in result.stdout
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "genes.csv, packed" in report
    assert "open_store" in report


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["genes.csv", "--layer", "raw"], "--layer raw is for .h5ad files"),
        (["genes.csv", "--samples", "genes.tsv"], "there is no file"),
        (["genes.csv", "--categorical", "g99"], "holds 'g99', which is none of the"),
    ],
)
def test_bad_input(out, table, monkeypatch, words, message):
    monkeypatch.chdir(table.parent)
    assert_refused("pack", out, words, message)


def test_places_that_are_taken(out, table):
    out.mkdir()
    (out / "mine").touch()
    result = duramen("pack", table, "--out", out, "--overwrite")
    assert result.exit_code == 2
    assert "is a folder that is not a column store and was left unchanged" in result.stderr
    pack(np.eye(3), out.parent / "s")
    result = duramen("pack", table, "--out", out.parent / "s")
    assert result.exit_code == 2
    assert "is a column store already" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="sends signals")
def test_ctrl_c_leaves_nothing(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).random((2000, 2000)))
    words = ["pack", "a.npy", "--memory", "1MB"]
    assert_stops(tmp_path, words, after=0, begun="codes.u1")
