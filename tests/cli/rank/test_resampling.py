"""`duramen rank --intervals`, `--stability`, and the sentence on the number of trees."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done, duramen
from tests.cli.rank.tables import write_sum
from tests.estimators.test_survival import drawn

import duramen as dm
from duramen.analyses.ranking.precision import trees_words
from duramen.significance import TreesNeeded

N, P, TREES = 80, 6, 20


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Write six features, of which two matter, batches and persons of two rows each."""
    more = {"batch": np.arange(N) // 2 % 2, "person": np.arange(N) // 2}
    return write_sum(tmp_path_factory.mktemp("tables") / "t.parquet", N, P, more)


def ranked(file, out, *words, rows=("--drop", "batch", "--drop", "person")):
    test = [] if "--permutations" in words else ["--test", "none"]
    options = ["--target", "y", *rows, "--trees", TREES, *test]
    result, record = done(out, "rank", file, *options, *words)
    return result, record, pq.read_table(out / "result.parquet").to_pydict()


def forest_and_rows(file):
    table = pq.read_table(file)
    y = np.array(table["y"].to_pylist())
    forest = dm.RandomForestClassifier(TREES, criterion="entropy", random_state=0)
    return forest, table.drop_columns(["y", "batch", "person"]), y


def page(out):
    return " ".join((out / "report.html").read_text(encoding="utf-8").split())


def test_intervals_lie_around_the_importances(file, tmp_path):
    words = ["--measure", "mda", "--intervals", "--n-resamples", 6, "--confidence-level", 0.9]
    result, record, actual = ranked(file, tmp_path / "out", *words)
    forest, X, y = forest_and_rows(file)
    grown = forest.fit(X, y)
    wanted = dm.significance.confidence_intervals(
        *(forest, X, y),
        measure=dm.importances.mda(grown, X, y),
        n_resamples=6,
        confidence_level=0.9,
        random_state=0,
    )
    columns = wanted.top(P).columns()
    assert actual["name"] == columns["name"]
    for name in ("low", "high", "standard_error", "p_value"):
        assert actual[f"interval_{name}"] == columns[name].tolist()
    assert (np.array(actual["interval_low"]) <= actual["importance"]).all()
    assert (np.array(actual["interval_high"]) >= actual["importance"]).all()
    assert "90% interval" in result.stdout
    shown = page(tmp_path / "out")
    assert "lines: 90% confidence intervals" in shown
    assert "6 forests on 60 random rows each" in shown
    assert record["settings"]["intervals"]["n_resamples"] == 6
    above = record["results"]["intervals"]["features_with_interval_above_0"]
    assert above == len(wanted.above())
    assert "--intervals --confidence-level 0.9 --n-resamples 6" in record["command"]
    assert any(source.startswith("Confidence intervals: ") for source in record["references"])


def test_mdi_has_intervals_and_no_p_values(file, tmp_path):
    _, record, result = ranked(
        file, tmp_path / "out", "--measure", "mdi", "--intervals", "--n-resamples", 3
    )
    assert "interval_p_value" not in result
    assert "features_with_interval_above_0" not in record["results"]["intervals"]
    assert "an interval above 0 is no evidence of relevance" in page(tmp_path / "out")


def test_stability_is_that_of_python(file, tmp_path):
    words = ["--stability", 2, "--n-resamples", 8]
    result, record, actual = ranked(file, tmp_path / "out", *words)
    wanted = dm.significance.ranking_stability(
        *forest_and_rows(file), measure="mdi_oob", k=2, n_resamples=8, random_state=0
    )
    assert actual["selection_frequency"] == [wanted[name] for name in actual["name"]]
    said = f"over 8 random halves of the rows: {wanted.nogueira:.2f} (95% interval "
    assert f"Stability of the first 2 features by MDI-oob {said}" in " ".join(result.stdout.split())
    assert record["results"]["stability"]["stability"] == wanted.nogueira
    assert record["settings"]["stability"]["k"] == 2
    assert "Correlated features can replace each other" in page(tmp_path / "out")


@pytest.mark.slow
def test_blocks_are_drawn_as_a_whole_and_strata_are_for_the_test(file, tmp_path):
    words = ["--intervals", "--stability", 2, "--n-resamples", 3]
    _, plain, _ = ranked(
        *(file, tmp_path / "groups", *words), rows=["--groups", "person", "--drop", "batch"]
    )
    rows, words = ["--strata", "batch", "--groups", "person"], [*words, "--permutations", 19]
    _, record, _ = ranked(file, tmp_path / "out", *words, rows=rows)
    assert record["settings"]["intervals"]["subsample"] == 30  # of 40 persons
    assert "3 forests on 30 random groups each" in page(tmp_path / "out")
    assert plain["results"]["intervals"] == record["results"]["intervals"]
    assert "with 40 groups the coverage of the intervals may be below" in " ".join(
        record["results"]["intervals"]["notes"]
    )


def test_survival_numbers_and_stores(file, tmp_path):
    """The options go with every task and every table that can be ranked."""
    words = ["--intervals", "--stability", 2, "--n-resamples", 3, "--test", "none", "--trees", 10]
    X, time, event = drawn(0, 60, 4, distinct=30, values=30)
    columns = {f"x{j}": X[:, j] for j in range(4)} | {"months": time, "died": event.astype(int)}
    pq.write_table(pa.table(columns), tmp_path / "s.parquet")
    options = ["--target", "months", "--event", "died", *words]
    done(tmp_path / "survival", "rank", tmp_path / "s.parquet", *options)
    numbers = ["--target", "x0", "--drop", "y", *words]
    done(tmp_path / "numbers", "rank", file, *numbers)
    dm.pack(pq.read_table(file), tmp_path / "store")
    done(tmp_path / "packed", "rank", tmp_path / "store", *numbers)
    plain, packed = (
        (tmp_path / name / "result.csv").read_bytes() for name in ("numbers", "packed")
    )
    assert plain == packed


def test_work_is_kept_and_announced(file, tmp_path, monkeypatch):
    monkeypatch.setattr("duramen.analyses.ranking.significance.LONG", 0.0)
    words = ["--intervals", "--stability", 2, "--n-resamples", 4, "--checkpoint", tmp_path / "kept"]
    result, _, _ = ranked(file, tmp_path / "out", *words)
    for what in ("intervals", "stability"):
        assert re.search(
            rf"note: {what} of MDI-oob: 4 forests, \d+ at a time: about ", result.stderr
        )
        assert (tmp_path / f"kept-{what}").is_file()

    def fail(*_, **__):
        raise AssertionError("a forest was resampled")

    monkeypatch.setattr("duramen.significance.measured.Measured.importances", fail)
    monkeypatch.setattr(
        "duramen.analyses.ranking.significance.estimate_cost",
        lambda *_, **__: SimpleNamespace(seconds=-1.0),
    )
    ranked(file, tmp_path / "again", *words)
    first, again = ((tmp_path / name / "result.csv").read_bytes() for name in ("out", "again"))
    assert first == again


def test_what_is_kept_is_said_when_the_work_is_stopped(file, tmp_path, monkeypatch):
    (tmp_path / "kept-intervals").touch()

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("duramen.analyses.rank.confidence_intervals", stop)
    words = ["--target", "y", "--test", "none", "--intervals", "--checkpoint", tmp_path / "kept"]
    rows = ["--drop", "batch", "--drop", "person", "--trees", 5, "--out", tmp_path / "out"]
    result = duramen("rank", file, *words, *rows)
    assert result.exit_code == 130
    assert "kept-intervals holds the work done so far" in " ".join(result.stderr.split())
    assert "left out of the results: confidence intervals" in " ".join(result.stderr.split())
    assert "interval_low" not in pq.read_schema(tmp_path / "out" / "result.parquet").names


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--confidence-level", 0.9, "--n-resamples", 5],
            "--confidence-level has no effect without --intervals or --stability K",
        ),
        (
            ["--intervals", "--confidence-level", 95],
            "--confidence-level must be a number in (0, 1), got 95",
        ),
        (["--stability", 8], "--stability must be less than the number of features, 8, got 8"),
        (
            ["--intervals", "--measure", "vote-change"],
            "--intervals needs a first measure that is one of mdi, ",
        ),
        (["--checkpoint", "kept"], "--checkpoint has no effect with --test none"),
    ],
)
def test_what_does_not_go_together_is_refused(words, message, file, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("a forest grew")

    monkeypatch.setattr("duramen.estimators.base.BaseForest.fit", fail)
    options = [file, "--target", "y", "--test", "none", *words]
    assert_refused("rank", tmp_path / "out", options, message)


def needed(to_rank, *, k=10, to_see=5.0, agreed=0.7):
    return TreesNeeded(
        *(100, "mdi", k, 0.9, np.array([50]), np.array([agreed]), 0.8, to_rank, True),
        *(20, 4, 12.0, 0.05, 0.99, to_see, 0),
    )


def test_whether_the_trees_suffice():
    agreement = "100 trees are sufficient for an average agreement of 90% on the first"
    assert trees_words(needed(80.0), "MDI") == (
        f"{agreement} 10 features by MDI: two forests of 50 trees on these rows have 70% of them "
        "in common on average, and a new pair 40% to 90% (95% prediction interval); 80% are "
        "expected of 100 trees."
    )
    assert trees_words(needed(321.0), "MDI").endswith("; about 330 trees are needed for 90%.")
    assert "400 trees would not suffice for 90%" in trees_words(needed(math.inf), "MDI")
    assert trees_words(needed(80.0, k=1, agreed=0.98), "MDI") == (
        f"{agreement} feature by MDI: two forests of 50 trees on these rows have the same first "
        "feature with an estimated probability of 0.98."
    )
    assert trees_words(needed(80.0, to_see=250.0), "MDI").endswith(
        "; 250 trees have every feature as a candidate at some node with a probability of 0.95."
    )


def test_the_number_of_trees_is_judged_after_each_run(file, tmp_path, monkeypatch):
    monkeypatch.setattr("duramen.analyses.ranking.precision._LEAST_TREES", 16)
    result, record, _ = ranked(file, tmp_path / "out")
    forest, X, y = forest_and_rows(file)
    wanted = dm.significance.trees_needed(forest.fit(X, y), X, y, measure="mdi_oob", k=3)
    assert trees_words(wanted, "MDI-oob") in " ".join(result.stdout.split())
    assert record["results"]["trees_needed"]["first_features"] == 3
    assert "Number of trees" in page(tmp_path / "out")
    *_, record = done(
        tmp_path / "few", "rank", file, "--target", "y", "--test", "none", "--trees", 15
    )
    assert "trees_needed" not in record["results"]
    _, record, _ = ranked(file, tmp_path / "air", "--measure", "air")
    assert "trees_needed" not in record["results"]
