"""`duramen rank` on survival."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import done
from tests.estimators.test_survival import drawn

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
