import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import (
    assert_refused,
    assert_stops,
    done,
)

from duramen.theory.dependence import relevant_features

# The exact importances of the primary tumor set, from the thesis; and their sum.
KNOWN = {
    "age": 0.2958,
    "histologic-type": 0.3522,
    "degree-of-diffe": 0.4413,
    "bone": 0.2430,
    "abdominal": 0.2553,
}
TOTAL = 3.2915


def written(out):
    return pq.read_table(out / "result.parquet").to_pydict()


def by_name(out, column="importance"):
    table = written(out)
    return dict(zip(table["name"], table[column], strict=True))


def page(out):
    return (out / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def copied(tmp_path):
    """y = X1 xor X2; X3 is a copy of X1, X4 has nothing to say."""
    bits = np.array([[a, b, a, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    columns = {f"X{j + 1}": bits[:, j] for j in range(4)}
    pq.write_table(pa.table({**columns, "y": bits[:, 0] ^ bits[:, 1]}), tmp_path / "xor.parquet")
    return tmp_path / "xor.parquet"


@pytest.fixture
def patients(tmp_path):
    """Numbers, categories, missing values, names of rows; two targets."""
    random = np.random.default_rng(0)
    n = 120
    age = random.normal(50, 10, n).round(1)
    sex = random.choice(["m", "f"], n)
    blood = [None if k < 0.25 else "A" if k < 0.6 else "B" for k in random.random(n)]
    columns = {
        "age": age,
        "dose": random.integers(0, 8, n),
        "sex": sex,
        "blood": blood,
        "patient": [f"p{i}" for i in range(n)],
        "risk": np.where((age > 50) ^ (sex == "m"), "high", "low"),
        "score": np.where(sex == "m", 1.5, 0.0) + random.normal(0, 0.1, n),
    }
    pa_csv.write_csv(pa.table(columns), tmp_path / "patients.csv")
    return tmp_path / "patients.csv"


# --- what it finds -------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_primary_tumor_set(out):
    result, run = done(out, "exact", "--demo")
    importance = by_name(out)
    assert len(importance) == 16
    assert "sex" not in importance
    for name, value in KNOWN.items():
        assert importance[name] == pytest.approx(value, abs=5e-5)
    assert run["results"]["importance_sum"] == pytest.approx(TOTAL, abs=5e-5)
    assert run["results"]["information"] == pytest.approx(
        run["results"]["importance_sum"], abs=1e-12
    )
    assert (run["n_rows"], run["settings"]["incomplete_rows_dropped"]) == (132, 207)
    assert run["results"]["relevance"] == {"strong": 14, "weak": 2, "irrelevant": 0, "unknown": 0}
    (boundary,) = run["results"]["markov_boundaries"]
    assert {"bone-marrow", "brain"} == set(importance) - set(boundary)
    assert result.stdout.startswith("All 16 features are relevant for y in these rows, taken as")
    assert "in these rows, taken as the whole population" in page(out)
    assert "132 rows x 16 features" in result.stdout
    assert "account for 3.2915 of 3.6060 bits of y" in result.stdout
    assert "207 of 339 rows are incomplete" in result.stderr
    for words in ("Zwitter", "207 of 339 rows", "Markov boundaries", "By interaction degree"):
        assert words in page(out)


def test_relevance_and_boundaries_of_an_exclusive_or(copied, out):
    result, run = done(out, "exact", copied, "--target", "y")
    kinds = by_name(out, "relevance")
    assert kinds == {"X1": "weak", "X2": "strong", "X3": "weak", "X4": "irrelevant"}
    assert by_name(out, "degree") == {"X1": 1, "X2": 1, "X3": 1, "X4": None}
    options = {name: json.loads(sets) for name, sets in by_name(out, "conditionings").items()}
    assert options == {"X1": [["X2"]], "X2": [["X1"], ["X3"]], "X3": [["X2"]], "X4": []}
    assert by_name(out)["X4"] == 0
    assert run["results"]["markov_boundaries"] == [["X1", "X2"], ["X2", "X3"]]
    assert run["results"]["n_markov_boundaries"] == 2
    assert "2 Markov boundaries" in result.stdout
    assert "X1; X3" in result.stdout
    assert "<li>X1, X2</li>" in page(out)
    assert "X1; X3" in page(out)


def test_too_many_boundaries_are_left_out(copied, out, monkeypatch):
    monkeypatch.setattr(relevant_features, "MOST_SETS", 2)
    result, run = done(out, "exact", copied, "--target", "y")
    assert run["results"]["markov_boundaries"] is None
    assert "Markov boundaries are not listed" in result.stdout
    assert "Not computed" in page(out)
    assert "<h2>Markov boundaries</h2>" not in page(out)


# --- what it refuses -----------------------------------------------------------------------------


REFUSED = {
    "": "give a FILE and --target NAME, or --demo for the primary tumor set",
    "FILE --target risk --criterion variance": "must be auto or gini",
    "FILE --target score --criterion gini": "must be auto or variance",
    "FILE --target risk --cut best": "cut must be 'random'",
    "FILE --target risk --splits any": "'patient'",
    "--demo --n-bins 1": "--n-bins must be",
    "--demo --level -1": "--level must be",
}


@pytest.mark.parametrize("line", REFUSED)
def test_mistakes_of_the_user(line, patients, out):
    words = [str(patients) if word == "FILE" else word for word in line.split()]
    assert_refused("exact", out, words, REFUSED[line])


def test_what_is_hopeless_is_refused(tmp_path, out):
    random = np.random.default_rng(0)
    columns = {f"x{j}": random.integers(0, 4, 400) for j in range(60)}
    pq.write_table(pa.table({**columns, "y": random.integers(0, 3, 400)}), tmp_path / "t.parquet")
    words = [tmp_path / "t.parquet", "--target", "y", "--max-hours", "0.0001", "--quiet"]
    assert_refused("exact", out, words, "--max-depth ")


# --- all or nothing ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_while_computing_stops_within_a_second(tmp_path):
    random = np.random.default_rng(0)
    columns = {f"x{j}": random.integers(0, 3, 500) for j in range(80)}
    pq.write_table(pa.table({**columns, "y": random.integers(0, 3, 500)}), tmp_path / "t.parquet")
    assert_stops(tmp_path, ["exact", "t.parquet", "--target", "y", "--max-hours", "99"], after=2.5)
