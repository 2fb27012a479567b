"""`duramen compare`."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from tests.cli.commands import assert_refused, done, duramen
from tests.grid import one_test

from duramen.evaluation import EvaluationInterrupted

QUICK = ["--n-resamples", "4", "--trees", "10"]


@pytest.fixture
def file(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 6))
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=np.where(X[:, 0] > 0, "u", "v"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


@pytest.mark.smoke
def test_results(file, tmp_path):
    out = tmp_path / "out"
    words = ["compare", file, "--target", "y", "--score", "auc"]
    words += ["--n-features", 1, "--n-features", 3]
    said, run = done(out, *words, *QUICK)
    assert "best score of a ranking: 1 by mdi (95% interval 1 to 1)" in said.stdout
    assert "4 splits into 54 training and 6 test rows" in " ".join(said.stdout.split())
    table = pd.read_csv(out / "result.csv")
    assert table["method"].tolist() == ["mdi", "mdi", "mda", "mda", "all-features"]
    assert table["auc"][0] > 0.9
    assert run["results"]["enough"]["mdi"] == [1, 1, 1]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Area under the ROC curve against the number of features" in page
    assert page.count("<svg") >= 2
    pairs = [["mdi", "mda"], ["mdi", "all-features"], ["mda", "all-features"]]
    assert [pair["methods"] for pair in run["results"]["differences"]] == pairs
    assert all(pair["adjusted"] >= pair["p_value"] for pair in run["results"]["differences"])
    assert "mdi less all-features" in page
    done(tmp_path / "again", *run["command"].replace("t.csv", str(file)).split()[1:])
    assert (tmp_path / "again" / "result.csv").read_bytes() == (out / "result.csv").read_bytes()


def test_interrupted(file, tmp_path):
    """The results of the splits that were done are written."""
    from duramen.evaluation import evaluate_selection

    def stopped(**options):
        raise EvaluationInterrupted(evaluate_selection(**{**options, "n_resamples": 2}))

    with patch("duramen.analyses.compare.evaluate_selection", stopped):
        result = duramen(
            "compare", file, "--target", "y", "--methods", "mdi", *QUICK, "--out", tmp_path / "out"
        )
    assert result.exit_code == 130
    assert (tmp_path / "out" / "result.csv").exists()
    assert "interrupted; the results are those after 2 splits" in result.stderr
    assert "The comparison was stopped early, after 2 splits." in result.stdout


@one_test
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--methods", "mdi", "--methods", "mdi"], "methods must have different names"),
        (["--test-size", "2.5"], "--test-size must be 1 to 58 of the 60 rows, or a fraction"),
        (["--test-size", "59"], "--test-size must be 1 to 58"),
        (["--n-features", "7"], "--n-features must be different numbers in 1..6"),
        (["--score", "r2"], "--score must be one of"),
        (["--learner", "ridge-regression"], "--learner must be one of"),
    ],
)
def test_bad_input(words, message, file, tmp_path):
    options = [file, "--target", "y", *words]
    assert_refused("compare", tmp_path / "out", options, message)
