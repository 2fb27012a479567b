import os

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import (
    FILES,
    assert_refused,
    assert_stops,
    done,
    duramen,
)

FEW = ["--trees", 30, "--permutations", 99, "--jobs", 2]


def written(out):
    return pq.read_table(out / "result.parquet").to_pydict()


def by_cell(out, column="kind", feature="name"):
    table = written(out)
    return dict(zip(zip(table[feature], table["context"], strict=True), table[column], strict=True))


def page(out):
    return (out / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def gates(tmp_path):
    """Problem 1 of the thesis, twelve times: y is of `left` by day, of `right` by night.

    `coin` has nothing to do with anything, `hour` says what `time` says in numbers.
    """
    cells = [(a, b, c, t) for a in (0, 1) for b in (0, 1) for c in (0, 1) for t in (0, 1)] * 12
    gate, left, right, time = np.array(cells).T
    random = np.random.default_rng(1)
    table = {
        "gate": gate,
        "left": left,
        "right": right,
        "time": np.where(time == 0, "day", "night"),
        "coin": random.integers(0, 2, len(cells)),
        "hour": time * 12 + random.uniform(0, 12, len(cells)).round(2),
        "y": np.where(gate == 0, 2, np.where(time == 0, left, right)),
        "amount": np.where(time == 0, left, right) + random.normal(0, 0.1, len(cells)),
    }
    pa_csv.write_csv(pa.table(table), tmp_path / "gates.csv")
    return tmp_path / "gates.csv"


def by_time(gates, *others):
    words = ["context", gates, "--target", "y", "--context", "time"]
    return [*words, "--drop", "coin", "--drop", "hour", "--drop", "amount", *FEW, *others]


@pytest.fixture
def holes(tmp_path):
    """A context and a column with missing values."""
    random = np.random.default_rng(0)
    table = {
        "a": random.integers(0, 2, 60),
        "b": [None if k % 10 == 0 else k % 3 for k in range(60)],
        "c": [None if k % 15 == 1 else "xz"[k % 2] for k in range(60)],
        "y": random.integers(0, 2, 60),
    }
    pq.write_table(pa.table(table), tmp_path / "holes.parquet")
    return tmp_path / "holes.parquet"


# --- what it finds -------------------------------------------------------------------------------


def test_problem_1_of_the_thesis(gates, out, tmp_path):
    result, run = done(out, *by_time(gates, "--trees", 200))
    assert sorted(path.name for path in out.iterdir()) == FILES
    assert by_cell(out) == {
        **{("gate", time): "independent" for time in ("day", "night")},
        **{("left", "day"): "complementary", ("left", "night"): "irrelevant"},
        **{("right", "day"): "irrelevant", ("right", "night"): "complementary"},
    }
    expected = {"gate": (0, 0), "left": (-0.375, 0.125), "right": (0.125, -0.375)}
    signed = by_cell(out, "signed")
    for name, (day, night) in expected.items():
        assert signed[name, "day"] == pytest.approx(day, abs=0.05)
        assert signed[name, "night"] == pytest.approx(night, abs=0.05)
    assert run["settings"]["permute"] == "conditional"
    assert run["paths"]["file"].startswith(str(tmp_path))
    assert str(tmp_path) not in (out / "report.html").read_text(encoding="utf-8")
    assert tuple(run["timings"]) == ("read", "analyze", "write", "report")
    lines = result.stdout.splitlines()
    own = next(i for i, line in enumerate(lines) if line.startswith("time itself has"))
    depend = next(i for i, line in enumerate(lines) if "of 2 of 3 features depends on time" in line)
    table = next(i for i, line in enumerate(lines) if line.startswith(" left"))
    assert 0 == depend < table < own
    assert result.stderr.startswith("note: With 99 permutations no p-value is below 0.01")


@pytest.mark.slow
def test_the_primary_tumor_set(out):
    """Of 32 tests none holds within the sites; among all rows two did, as sex shifts the sites."""
    words = ["--demo", "--trees", 100, "--permutations", 399]
    result, run = done(out, "context", *words)
    assert set(by_cell(out).values()) == {"independent"}
    p_values = by_cell(out, "absolute_p_value")
    assert len(p_values) == 32
    assert p_values["histologic-type", "female"] <= 0.1
    assert "The importance of none of 16 features was found to depend on sex." in result.stdout
    assert (run["n_rows"], run["settings"]["incomplete_rows_dropped"]) == (132, 207)
    assert "207 of 339 rows are incomplete" in result.stderr
    for words in ("Zwitter", "207 of 339 rows", "The context sex itself", "sex = female"):
        assert words in page(out)


# --- contexts ------------------------------------------------------------------------------------


def test_missing_values(holes, out):
    words = ["context", holes, "--target", "y", "--context", "c", *FEW]
    assert_refused("context", out, words[1:], "--context 'c' is missing in 4 of 60 rows")
    result, run = done(out, *words, "--missing", "drop")
    assert (run["n_rows"], run["settings"]["incomplete_rows_dropped"]) == (50, 10)
    assert "10 of 60 rows are incomplete" in result.stderr
    words[5] = "a"
    _, run = done(out, *words, "--drop", "c")
    assert run["n_rows"] == 60


# --- as it should be -----------------------------------------------------------------------------


def test_ctrl_c_says_what_is_kept(gates, out, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    (tmp_path / "kept.npz").touch()
    monkeypatch.setattr("duramen.analyses.context.context_importances", stop)
    result = duramen(*by_time(gates, "--checkpoint", tmp_path / "kept.npz"), "--out", out)
    assert result.exit_code == 130
    assert "note: kept.npz holds the work done so far" in result.stderr
    assert result.stderr.endswith("duramen context: interrupted, nothing was written\n")
    assert not out.exists()


# --- what it refuses -----------------------------------------------------------------------------


REFUSED = {
    "FILE --target y": "--context is missing",
    "FILE --target y --context y": "--context 'y' is also --target y",
    "FILE --target y --context time --covariates time": "must not name a context",
    "FILE --target y --context time --drop time": "--context 'time' is also --drop time",
    "FILE --target y --context time --criterion variance": "must be auto or gini",
    "--demo --plain p-values --permutations 0": "--plain p-values needs --n-permutations of at",
}


@pytest.mark.parametrize("line", REFUSED)
def test_mistakes_of_the_user(line, gates, out):
    words = [str(gates) if word == "FILE" else word for word in line.split()]
    assert_refused("context", out, words, REFUSED[line])


# --- all or nothing ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_while_permuting_stops_within_a_second(tmp_path):
    random = np.random.default_rng(0)
    columns = {f"x{j}": random.normal(size=1000) for j in range(60)}
    columns |= {"c": random.integers(0, 3, 1000), "y": random.integers(0, 3, 1000)}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    words = ["context", "t.parquet", "--target", "y", "--context", "c", "--jobs", 1]
    assert_stops(tmp_path, [*words, "--permutations", 100000], after=3)
