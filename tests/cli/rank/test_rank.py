import os

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import FILES, assert_refused, assert_stops, done

from duramen import __version__, datasets


@pytest.fixture(scope="module")
def madelon():
    """An exclusive or of three bits in clouds, its copies, and probes."""
    return datasets.madelon_like(
        600, n_informative=3, n_redundant=3, n_repeated=0, n_probes=14, flip=0.0, random_state=0
    )


@pytest.fixture
def table(madelon):
    columns = dict(zip(madelon.names, madelon.X.T, strict=True))
    classes = np.where(madelon.y == 1, "sick", "healthy")
    return pa.table({**columns, "state": classes, "number": madelon.X @ np.arange(20)})


@pytest.fixture
def file(table, tmp_path):
    path = tmp_path / "cells.parquet"
    pq.write_table(table, path)
    return path


def run_in(tmp_path, *words):
    return done(tmp_path / "out", "rank", "--test", "none", *words)


# --- what it writes and says ---------------------------------------------------------------------


def test_ranks_the_relevant_features_first(file, madelon, tmp_path):
    run_in(tmp_path, file, "--target", "state", "--drop", "number", "--trees", 300)
    ranked = pq.read_table(tmp_path / "out" / "result.parquet")
    assert set(ranked["name"].to_pylist()[:6]) == set(madelon.relevant)
    assert ranked["rank"].to_pylist() == list(range(1, 21))


@pytest.mark.smoke
def test_writes_four_files(file, tmp_path):
    result, run = run_in(
        tmp_path, file, "--target", "state", "--drop", "number", "--trees", 40, "--seed", 7
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES
    ranked = pq.read_table(tmp_path / "out" / "result.parquet")
    again = pa_csv.read_csv(tmp_path / "out" / "result.csv")
    assert again.column_names == ranked.column_names
    assert ranked.column_names[:4] == ["name", "rank", "importance", "standard_error"]
    degrees = [name for name in ranked.column_names if name.startswith("degree_")]
    values = np.asarray(ranked["importance"])
    np.testing.assert_array_equal(np.asarray(again["importance"]), values)
    np.testing.assert_allclose(sum(np.asarray(ranked[name]) for name in degrees), values)
    assert np.all(np.diff(values) <= 0)
    assert run["seed"] == 7
    assert run["versions"]["duramen"] == __version__
    measured = [f"measure {name}" for name in ("mdi_oob", "mdi", "mda")]
    assert list(run["timings"]) == [
        "read",
        "grow",
        *measured,
        "effects",
        "trees needed",
        "write",
        "report",
    ]
    assert len(run["fingerprint"]) == 64
    assert run["paths"]["file"].startswith(str(tmp_path))
    assert any("Louppe" in reference for reference in run["references"])
    assert str(tmp_path) not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "cells.parquet: 600 rows x 20 features" in result.stdout
    assert "... and" not in result.stdout
    assert result.stderr == ""


@pytest.mark.smoke
def test_formats_give_the_same_ranking(table, tmp_path):
    exact = table.select(["f1", "f2", "state"]).set_column(
        0, "f1", pa.array(np.arange(600) % 50, pa.int64())
    )
    exact = exact.set_column(1, "f2", pa.array(np.arange(600)[::-1] // 7, pa.int64()))
    pa_csv.write_csv(exact, tmp_path / "t.csv")
    pa_csv.write_csv(exact, tmp_path / "t.tsv", pa_csv.WriteOptions(delimiter="\t"))
    pq.write_table(exact, tmp_path / "t.parquet")
    feather.write_feather(exact, str(tmp_path / "t.arrow"))
    result = set()
    for name in ("t.csv", "t.tsv", "t.parquet", "t.arrow"):
        _, run = run_in(tmp_path, tmp_path / name, "--target", "state", "--trees", 9)
        result.add(((tmp_path / "out/result.csv").read_bytes(), run["fingerprint"]))
    assert len(result) == 1


def test_other_files_in_the_folder_stay(file, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "out" / "run.json").write_text("old", encoding="utf-8")
    run_in(tmp_path, file, "--target", "state", "--trees", 5)
    assert (tmp_path / "out" / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        [*FILES, "notes.txt"]
    )


# --- what it refuses -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "empty"),
        (b"a,y\n", "no rows"),
        (b"a,a,y\n1,2,3\n", "more than one column named 'a'"),
        (b"a,y\n1\xff,2\n", "not UTF-8"),
        (b"a,y\n1,x\n2,\n3,z\n", "y"),
        (b"a,y\n1,x\n2,x\n", "one class"),
        (b"a,y\n1,x\n", "one class only, 'x', in the only row"),
        (b"a,b,y\n1,z,0\n1,z,1\n", "every column is constant"),
        (b"a,y\ninf,x\n2,z\n", "'a'"),
        (b"y\n1\n2\n", "no column besides the target"),
    ],
)
def test_mistakes_in_the_file(content, message, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert_refused("rank", tmp_path / "out", [path, "--target", "y"], message)


# --- all or nothing ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_while_growing_stops_within_a_second(tmp_path):
    words = ["rank", "--demo", "--trees", "200000", "--max-features", "all"]
    assert_stops(tmp_path, words, after=2.5)  # past reading and encoding
