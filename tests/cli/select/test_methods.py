"""Methods of `duramen select` on rows with strata, and on targets that they do not take."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from tests.cli.commands import assert_refused, duramen

from duramen.selection import catalogue


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A feature of the batch, one of the class, and the column of the batch."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    batch = np.repeat(["one", "two"], 30)
    dose = random.normal(size=60)
    columns = {"dose": dose, "marker": (batch == "two") + random.normal(size=60), "batch": batch}
    ill = np.where(dose + random.normal(size=60) > 0, "yes", "no")
    pa_csv.write_csv(pa.table({**columns, "ill": ill}), "table.csv")
    return ["table.csv", "--target", "ill"]


@pytest.mark.slow
def test_methods_that_permute_rows_take_strata_and_others_refuse_them(table, tmp_path):
    few = {
        "knock-out": ["--permutations", "19"],
        "artificial-contrasts": ["--max-rounds", "1"],
        "sequential-random-subspace": [],
        "stability-selection": ["--n-draws", "4"],
    }
    for record in catalogue:
        words = [*table, "--selector", record.option, "--strata", "batch"]
        out = tmp_path / record.option
        if record.kind.exchanges:
            more = ["--trees", 5, *few.get(record.option, ["--max-rounds", "12"])]
            done = duramen("select", *words, *more, "--quiet", "--out", out)
            assert done.exit_code == 0, done.output
            words = [*table, "--selector", record.option, "--groups", "batch"]
            if not record.kind.exchanges_groups:
                message = f"--groups has no effect with --selector {record.option}, which"
                assert_refused("select", tmp_path / "no", words, message)
        else:
            message = f"--strata has no effect with --selector {record.option}, which"
            assert_refused("select", out, words, message)


def test_numbers_are_refused_where_classes_are_sought(table, tmp_path):
    words = ["table.csv", "--target", "dose", "--selector", "markov-boundary"]
    assert_refused("select", tmp_path / "out", words, "is for classes, the target holds numbers")
    words = ["table.csv", "--target", "dose", "--methods", "markov-boundary"]
    assert_refused("compare", tmp_path / "out", words, "'markov_boundary' is for classes")
