"""`duramen rank --measure`."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done

pytestmark = pytest.mark.filterwarnings("ignore:vote_change. p-values shrink")

TREES = 40
N, P = 90, 6


@pytest.fixture(scope="module")
def numbers():
    random = np.random.default_rng(5)
    X = random.normal(size=(N, P)).round(2)
    return X, X[:, 2] + X[:, 4]


@pytest.fixture(scope="module")
def file(numbers, tmp_path_factory):
    """Classes in one file, numbers in the other, both of x2 and x4."""
    X, score = numbers
    folder = tmp_path_factory.mktemp("tables")
    columns = {f"x{j}": X[:, j] for j in range(P)}
    classes = np.where(score > 0, "ill", "well")
    pq.write_table(pa.table({**columns, "state": classes}), folder / "classes.parquet")
    pq.write_table(pa.table({**columns, "score": score}), folder / "numbers.parquet")
    return folder / "classes.parquet"


def asked(*names):
    return [word for name in names for word in ("--measure", name)]


def run(file, out, *words, trees=TREES):
    words = ("--test", "none", *words)
    if file.name.startswith("classes"):
        words = ("--target", "state", *words)
    else:
        words = ("--target", "score", *words)
    return done(out, "rank", file, "--trees", trees, *words)


# --- every measure -------------------------------------------------------------------------------


# --- by default ----------------------------------------------------------------------------------


def test_without_bootstrap_a_random_forest_has_no_rows_out_of_bag(file, tmp_path):
    _, record = run(file, tmp_path / "out", "--no-bootstrap")
    assert record["settings"]["measures"] == ["mdi"]
    assert record["results"]["oob_error"] is None
    assert "--no-bootstrap" in record["command"]
    other = file.with_name("numbers.parquet")
    result, _ = run(other, tmp_path / "out", "--no-bootstrap")
    assert result.stderr.startswith("note: mdi-oob and mda left out:")
    silent, _ = run(other, tmp_path / "out", "--no-bootstrap", "--quiet")
    assert silent.output == ""


# --- what it refuses -----------------------------------------------------------------------------


def test_what_a_measure_that_was_asked_for_says_is_the_users_error(tmp_path):
    columns = {"x": list(range(8)), "y": ["a"] * 7 + ["b"]}
    pq.write_table(pa.table(columns), tmp_path / "few.parquet")
    words = [tmp_path / "few.parquet", "--target", "y", *asked("mdi", "holdout-mda")]
    assert_refused("rank", tmp_path / "out", words, "class 'b' has 1 row,")
