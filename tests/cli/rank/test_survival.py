"""`duramen rank` on survival."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done, duramen
from tests.estimators.test_survival import drawn
from tests.io.store.stores import write_bed

import duramen as dm


@pytest.fixture
def file(tmp_path):
    """Write times and events beside four features, of which x0 matters."""
    # With 120 rows, some forests have effects of x0 that rise too little for a direction.
    X, time, event = drawn(0, 160, 4, distinct=30, values=30)
    columns = {f"x{j}": X[:, j] for j in range(4)}
    months = time + np.linspace(0, 0.4, 160)
    path = tmp_path / "patients.parquet"
    pq.write_table(pa.table({**columns, "months": months, "died": event.astype(int)}), path)
    return path


def test_ranks_what_the_hazard_depends_on(file, tmp_path):
    """By MDA and MDI, with a workbook and a test."""
    words = "--target", "months", "--event", "died", "--trees", 60, "--xlsx"
    result, run = done(tmp_path / "out", "rank", "--test", "none", *words, file)
    ranked = pq.read_table(tmp_path / "out" / "result.parquet")
    assert ranked["name"][0].as_py() == "x0"
    assert "1 - concordance" in result.stdout
    assert run["task"] == "survival"
    assert run["settings"]["measures"] == ["mda", "mdi"]
    assert run["settings"]["criterion"] == "log_rank"
    assert "--event died" in run["command"]
    assert 0 < run["results"]["oob_error"] < 0.5
    assert (tmp_path / "out" / "result.xlsx").stat().st_size > 0
    report = (tmp_path / "out" / "report.html").read_text()
    assert "sum of the log-rank statistics" in report
    assert "Kaplan-Meier" in report
    assert ranked["direction"][0].as_py().startswith("risk ")
    assert 0 < ranked["concordance"][0].as_py() < 1
    done(tmp_path / "out", "rank", "--test", "none", *words[:-1], file)
    assert not (tmp_path / "out" / "result.xlsx").exists()  # it would be of another run


def test_noise_columns_of_many_values_do_not_outrank_a_binary_feature():
    """Hazard ratio 2.7 of a binary feature, beside five noise columns; MDI prefers these."""
    random = np.random.default_rng(0)
    sex, noise = random.integers(0, 2, 200), random.normal(size=(200, 5))
    time, end = random.exponential(np.exp(sex)), random.exponential(4, 200)
    table = pd.DataFrame(noise).add_prefix("noise").assign(sex=sex)
    y = np.column_stack([np.minimum(time, end), time <= end])
    data = dm.learning_set(table, y, task="survival")
    forest = dm.RandomSurvivalForest(100, random_state=0)
    report = dm.rank(data, estimator=forest, test=False, random_state=0)
    result = pd.DataFrame(report.table)
    assert list(report.importances) == ["mda", "mdi"]
    assert result["name"][0] == "sex"
    assert result.loc[result["name"] == "sex", "mdi"].item() == result["mdi"].min()


def test_a_test_permutes_times_with_events(file, tmp_path):
    """The default one, with few rounds."""
    words = "--target", "months", "--event", "died", "--trees", 30
    test = "--test", "max-t", "--permutations", 19
    _, run = done(tmp_path / "out", "rank", *words, *test, "--estimator", "extra-trees", file)
    assert run["results"]["significance"]["confirmed"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--task", "survival"], "--task survival needs --event"),
        (["--event", "died", "--task", "regression"], "--event is for --task survival"),
        (["--event", "dead"], "--event 'dead' is not a column of the table"),
        (["--event", "months"], "--event 'months' is the target"),
        (["--event", "x1"], "events must be booleans, 0 and 1, or 1 and 2"),
        (["--event", "died", "--measure", "vote-change"], "is not defined for survival"),
        (["--event", "died", "--estimator", "pert"], "must be one of random-forest, extra-trees"),
        (["--event", "died", "--criterion", "gini"], "must be auto for survival"),
        (["--event", "died", "--class-weight", "balanced"], "is for classes"),
    ],
)
def test_what_does_not_go_together_is_refused(file, tmp_path, words, said):
    """With the option to change."""
    options = file, "--target", "months", *words, "--test", "none"
    assert_refused("rank", tmp_path / "out", options, said)


def test_missing_events_are_found_by_the_look(file, tmp_path):
    """And left out with --drop-missing-target."""
    table = pq.read_table(file)
    died = [None, *table["died"].to_pylist()[1:]]
    pq.write_table(table.set_column(5, "died", pa.array(died)), file)
    words = "rank", file, "--target", "months", "--event", "died", "--test", "none", "--trees", 5
    result = duramen(*words, "--out", tmp_path / "out")
    assert result.exit_code != 0
    assert "--drop-missing-target" in result.stderr
    _, run = done(tmp_path / "out", *words, "--drop-missing-target")
    assert run["n_rows"] == 159
    assert json.dumps(run)


@pytest.mark.parametrize("kind", ["store", "bed", "annotations"])
def test_events_of_stores_and_sample_annotations(kind, tmp_path):
    """Times and events are columns of a store, or of the annotations of a .bed or other file."""
    X, time, event = drawn(0, 80, 3, distinct=30, values=3)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    clinic = pd.DataFrame({"months": time, "died": pd.array(event, dtype="Int64")})
    clinic.loc[3, "died"] = pd.NA
    words = ["--samples", tmp_path / "s.csv"]
    if kind == "store":
        file, words = tmp_path / "store", []
        dm.pack(pd.concat([frame, clinic], axis=1), file)
    elif kind == "bed":
        file = write_bed(tmp_path / "a.bed", X.astype(int), names=["x0", "x1", "x2"])
        clinic.insert(0, "id", [f"I{i}" for i in range(80)])
    else:
        file = tmp_path / "a.csv"
        frame.to_csv(file, index=False)
        words += ["--samples-match", "position"]
    clinic.to_csv(tmp_path / "s.csv", index=False)
    words = "rank", file, *words, "--target", "months", "--event", "died", "--test", "none"
    result = duramen(*words, "--out", tmp_path / "out")
    assert "target 'died' is missing in 1 of 80 rows" in result.stderr
    assert "--drop-missing-target" in result.stderr
    _, run = done(tmp_path / "out", *words, "--drop-missing-target", "--trees", 20)
    assert (run["task"], run["n_rows"], run["n_features"]) == ("survival", 79, 3)
