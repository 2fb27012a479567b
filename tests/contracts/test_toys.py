"""A measure and a test, each registered from one file, are found wherever there is a choice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import duramen
from tests.contracts.toys import toy_measure, toy_significance

import duramen as dm
from duramen.reports import Report
from duramen.reports.report import Chart, Plot
from duramen.results.result import FIGURES

P = 5


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    dm.importances.catalogue.register(toy_measure.TOY)
    dm.significance.catalogue.register(toy_significance.TOY)
    from tests.contracts.toys import toy_figure  # registers its figure when it is first imported

    FIGURES.register(toy_figure.TOY, replace=True)
    yield
    FIGURES.remove("toy_points")
    dm.importances.catalogue.remove("toy_correlation")
    dm.significance.catalogue.remove("toy_ranks")


def rows() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(80, P)).round(2)
    return X, (X[:, 1] + X[:, 3] > 0).astype(int)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    X, y = rows()
    columns = {f"x{j}": X[:, j] for j in range(P)}
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def rank(file: Path, *words: str) -> tuple[str, dict[str, list[float]], str]:
    """Run the command; return what it printed, its table and the words of its report."""
    out = file.parent / "out"
    line = ["rank", str(file), "--target", "y", "--trees", "20", "--out", str(out), *words]
    done = duramen(*line)
    assert done.exit_code == 0, done.output
    html = " ".join((out / "report.html").read_text(encoding="utf-8").split())
    return " ".join(done.stdout.split()), pq.read_table(out / "result.parquet").to_pydict(), html


@pytest.mark.slow
def test_toy_measure_ranks_and_stands_in_the_report(file: Path) -> None:
    printed, table, html = rank(file, "--measure", "toy-correlation", "--test", "none")
    X, y = rows()
    data = dm.learning_set(X, y)
    wanted = sorted(toy_measure.correlation(dm.importances.Inputs(None, data)), reverse=True)
    assert table["importance"] == wanted
    assert set(table["name"][:2]) == {"x1", "x3"}
    record = json.loads((file.parent / "out" / "run.json").read_text(encoding="utf-8"))
    assert "--measure toy-correlation" in record["command"]
    for words in ("Toy correlation is the absolute", "sees no interaction", "A. Toy (2020)"):
        assert words in html
    printed, table, html = rank(file, "--measure", "mdi", "--measure", "toy-correlation")
    assert "toy correlation" in printed
    assert sorted(table["toy_correlation"], reverse=True) == wanted
    assert "Ranking by toy correlation" in html


def test_toy_test_runs_and_stands_in_the_report(file: Path) -> None:
    words = ("--measure", "mdi", "--test", "toy-ranks", "--permutations", "3")
    printed, table, html = rank(file, *words)
    X, y = rows()
    forest = dm.RandomForestClassifier(20, criterion="entropy", random_state=0)
    wanted = toy_significance.toy_ranks(forest, X, y, n_rounds=3)
    result = dict(zip(table["name"], table["toy_ranks_p_value"], strict=True))
    assert [result[f"x{j}"] for j in range(P)] == wanted.p_values.tolist()
    assert "by toy ranks of MDI" in printed
    for words_ in ("Significance by toy ranks", "promised at the level 0.05", "A. Toy (2021)"):
        assert words_ in html


@pytest.mark.parametrize("words", [["--permutations", "1"], ["--checkpoint", "kept"]])
def test_toy_test_refuses_what_it_does_not_take(words: list[str], file: Path) -> None:
    line = ["rank", str(file), "--target", "y", "--test", "toy-ranks", *words]
    done = duramen(*line)
    assert done.exit_code == 2
    assert "--test toy-ranks" in done.stderr


@pytest.mark.filterwarnings("ignore:confidence_intervals")
def test_toy_measure_is_a_measure_of_the_tests() -> None:
    X, y = rows()
    forest = dm.RandomForestClassifier(5)
    choices = {"measure": "toy_correlation", "random_state": 0}
    wanted = toy_measure.correlation(dm.importances.Inputs(None, dm.learning_set(X, y)))
    for name in ("altmann", "max_t"):
        result = getattr(dm.significance, name)(forest, X, y, n_permutations=19, **choices)
        np.testing.assert_array_equal(result.scores, wanted)
        assert result.p_values[[1, 3]].max() <= 0.05
        assert result.metadata["measure"] == "toy_correlation"
    intervals = dm.significance.confidence_intervals(forest, X, y, n_resamples=20, **choices)
    np.testing.assert_array_equal(intervals.values, wanted)
    assert intervals.p_values is None  # irrelevant features have more than 0
    needed = dm.significance.trees_needed(
        dm.RandomForestClassifier(20).fit(X, y), X, y, measure="toy_correlation", k=2
    )
    assert needed.agreement.min() == 1
    with pytest.raises(ValueError, match=r"measure must be one of .*'toy_correlation'"):
        dm.significance.altmann(forest, X, y, measure="toy")


def test_toy_figure_draws_a_result_and_stands_in_a_report() -> None:
    result = dm.Importances(("a", "b", "c"), [0.3, 0.2, 0.1], "mdi", "bits")
    ax = result.plot("toy_points", size=5.0)
    assert ax.get_ylabel() == "toy importance"
    assert ax.lines[0].get_ydata().tolist() == [0.3, 0.2, 0.1]
    chart = Chart("Points", Plot(FIGURES["toy_points"], result), "Three points.", "Importances.")
    run = dm.reports.Run(command="duramen toy", settings={}, versions={})
    html = dm.reports.render(Report(kind="toy", title="A toy", run=run, sections=(chart,)))
    assert "toy importance" in html
    assert 'aria-label="Three points."' in html


def test_catalogues_are_ordered_and_refuse_what_is_there() -> None:
    catalogue = dm.importances.catalogue
    assert [entry.name for entry in catalogue][-1] == "toy_correlation"
    assert len(catalogue) == len(list(catalogue))
    assert "toy_correlation" in catalogue
    assert catalogue["holdout_mda"].option == "holdout-mda"
    with pytest.raises(ValueError, match="name must be new, but there is a measure named 'toy_"):
        catalogue.register(toy_measure.TOY)
    assert catalogue.register(toy_measure.TOY, replace=True) is toy_measure.TOY
    with pytest.raises(KeyError, match="no measure named 'gain'; known: mdi, mdi_oob, mda"):
        catalogue["gain"]
    wrong = dm.importances.Measure("Toy!", toy_measure.correlation, "toy")
    with pytest.raises(ValueError, match="lower-case words joined by underscores, got 'Toy!'"):
        catalogue.register(wrong)


@pytest.mark.parametrize("package", ["importances", "significance"])
def test_guide_and_api_have_all_records(package: str, root: Path) -> None:
    page = {"importances": "rank-measures.md", "significance": "rank-tests.md"}[package]
    guide = (root / "docs" / "how-to" / "ranking" / page).read_text(encoding="utf-8")
    api = (root / "docs" / "api.md").read_text(encoding="utf-8")
    for entry in getattr(dm, package).catalogue:
        if entry.name.startswith("toy_"):
            continue
        assert f"\n| `{entry.option}` |" in guide
        if hasattr(getattr(dm, package), entry.name):
            assert f"dm.{package}.{entry.name}(" in api
