"""Reports of analyses, saved to a folder and loaded from it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import duramen as dm
from duramen.analyses.ranking.report import summarize
from duramen.reports import Report


def table():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(120, 5)), columns=list("abcde"))
    target = np.where(frame["a"] + frame["b"] > 0, "ill", "well")
    return frame.assign(kind=random.choice(["u", "v", "w"], 120)), target


def loaded(report: Report, folder: Path) -> Report:
    """Save and load a report, and compare the files of both, and what they show."""
    report.save(folder / "first")
    again = type(report).load(folder / "first")
    again.save(folder / "second")
    names = sorted(path.name for path in (folder / "first").iterdir())
    assert names == sorted(path.name for path in (folder / "second").iterdir())
    for name in names:
        assert (folder / "first" / name).read_bytes() == (folder / "second" / name).read_bytes()
    assert repr(again) == repr(report)
    assert again._repr_html_() == report._repr_html_()
    assert again.run.to_json() == report.run.to_json()
    pd.testing.assert_frame_equal(again.to_frame(), report.to_frame())
    return again


@pytest.mark.slow
def test_rankings(tmp_path):
    X, y = table()
    report = dm.rank(
        X,
        y,
        estimator=dm.RandomForestClassifier(30, criterion="entropy"),
        direct=True,
        interactions=True,
        explain=["0", "3"],
        clusters=0.8,
    )
    again = loaded(report, tmp_path)
    assert again.selected == report.selected
    assert again.verdicts == report.verdicts
    assert again.directions == report.directions
    assert list(again.importances) == list(report.importances)
    for name, importances in report.importances.items():
        assert again.importances[name].equals(importances)
    assert again.significance.equals(report.significance)
    assert again.direct.equals(report.direct)
    assert again.direct_clusters == report.direct_clusters
    assert again.interactions.tested.equals(report.interactions.tested)
    (row,), (same,) = report.rows, again.rows
    assert same.prediction.equals(row.prediction)
    assert same.table.fingerprint() == row.table.fingerprint()


def test_selections_are_loaded_without_the_selector(tmp_path):
    X, y = table()
    report = dm.select(X, y)
    again = loaded(report, tmp_path)
    assert again.selected == report.selected
    assert again.importances.equals(report.importances)
    assert report.selector is not None
    assert again.selector is None


def test_comparisons(tmp_path):
    X, y = table()
    report = dm.compare(X, y, methods="mdi", n_features=[1, 2], n_resamples=4, n_estimators=10)
    again = loaded(report, tmp_path)
    assert again.evaluation.equals(report.evaluation)
    assert report.subject[0].startswith("120 rows x 6 features, target ")  # a table without a file
    assert " were compared in 4 random splits: " in report.methods


def test_networks_and_connectomes(tmp_path):
    made = dm.datasets.gene_network(30, 5, n_links=4, random_state=3)
    report = dm.network(made.expression, n_estimators=5, gold=made.links)
    again = loaded(report, tmp_path / "genes")
    assert again.network.equals(report.network)
    assert again.scores.aupr == report.scores.aupr
    calcium = 0.3 * np.cumsum(np.random.default_rng(0).random((300, 4)) < 0.1, axis=0)
    report = dm.connectome(calcium, method="pearson", gold=[("N1", "N2")])
    assert loaded(report, tmp_path / "neurons").ceiling.aupr == report.ceiling.aupr


def test_exact_importances_and_plans(tmp_path):
    digits = dm.datasets.digits7()
    report = dm.exact(digits.X, digits.y)
    again = loaded(report, tmp_path / "exact")
    assert again.relevance == report.relevance
    assert again.boundaries == report.boundaries
    report = dm.plan(n_rows=1000, n_features=10_000, memory="1MB", relevant={0: 5, 2: 3})
    assert loaded(report, tmp_path / "plan").plan == report.plan


def test_reports_of_the_parts_of_an_analysis(tmp_path):
    X, y = table()
    run = dm.reports.Run(command="", target="y", settings={}, versions={})
    importances = dm.importances.mdi(dm.RandomForestClassifier(10, random_state=0).fit(X, y))
    loaded(summarize({"mdi": importances}, run), tmp_path)


def test_what_is_no_report(tmp_path):
    X, y = table()
    with pytest.raises(FileNotFoundError):
        dm.RankingReport.load(tmp_path)
    dm.compare(X, y, methods="mdi", n_features=2, n_resamples=4, n_estimators=5).save(tmp_path)
    with pytest.raises(ValueError, match="holds a ComparisonReport, not RankingReport"):
        dm.RankingReport.load(tmp_path)
