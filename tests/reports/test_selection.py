import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.reports import Run, render
from duramen.reports.selection import Selection, found_words, summarize_selection
from duramen.selection import Account, Column, catalogue

RECORD = catalogue["sequential_random_subspace"]


def searched(**options):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 80))
    y = X[:, 3] + X[:, 5] > 0
    options = {"n_subspace_features": 40, "random_state": 0, **options}
    return dm.SequentialRandomSubspace(**{"n_estimators": 100, **options}).fit(X, y)


@pytest.fixture(scope="module")
def search():
    return searched()


def a_run():
    return Run(
        command="duramen select t.csv --target y",
        target="y",
        file="t.csv",
        n_rows=200,
        n_features=80,
        settings={},
        versions={},
    )


def made(names, entered, wins=None, n_trees=10):
    n = len(entered)
    sizes = np.searchsorted(entered, np.arange(n_trees + 1), side="right")
    trees = np.concatenate([entered, np.zeros(len(names) - n)]).astype(np.int64)
    columns = [
        Column("found at tree", name="entered", numbers=np.ma.array(trees, mask=trees == 0)),
        Column("given to trees", name="draws", numbers=np.arange(len(names)) + 1000),
    ]
    if wins is not None:
        columns.append(Column("beat the probes in", name="wins", numbers=wins))
    return Selection(
        names=names,
        n_found=n,
        details=tuple(columns),
        importances=np.linspace(0.5, 0, len(names)),
        unit="gini",
        sizes=sizes,
        account=Account(run="", step="tree", nothing="Nothing found"),
    )


def test_the_selection_of_a_search(search):
    values = Selection.of(search, RECORD)
    assert {"x3", "x5"} <= set(values.names[: values.n_found])
    assert values.names[: values.n_found] == tuple(f"x{j}" for j in search.selected_)
    assert sorted(values.names) == sorted(search.importances_.names)
    assert len(values.sizes) == 101
    assert values.sizes[0] == 0
    assert values.sizes[-1] == values.n_found
    assert values.account.results == {"trees": 100, "mean_draws": 100 * 40 / 80}
    assert (np.diff(values.importances[values.n_found :]) <= 0).all()
    place = {name: j for j, name in enumerate(search.importances_.names)}
    draws = [search.draws_[place[name]] for name in values.names]
    assert values.columns()["draws"].to_pylist() == draws
    assert "wins" not in values.columns()


def test_of_many_only_those_found_are_listed(search):
    selection = Selection.of(search, RECORD, most=79)
    assert selection.names == Selection.of(search, RECORD, most=80).names[: selection.n_found]
    report = summarize_selection(selection, a_run())
    assert "hold all that were found" in report.section("Features found").note
    assert "hold all features" in (
        summarize_selection(Selection.of(search, RECORD), a_run()).section("Features found").note
    )


def test_details_where_all_features_are_found():
    options = {"relevance": "probe", "min_draws": 1, "min_win_rate": 0.0}
    search = searched(n_estimators=40, n_subspace_features=60, **options)
    assert search.support_.all()
    columns = Selection.of(search, RECORD).columns()
    assert columns["entered"].to_pylist() == search.entered_.tolist()
    assert columns["wins"].to_pylist() == search.wins_[search.selected_].tolist()


def test_columns_and_table():
    selection = made(("a", "b", "c"), [2, 7], wins=np.array([5, 4, 0]))
    columns = {name: list(values) for name, values in selection.columns().items()}
    assert [value.as_py() for value in columns["found"]] == [True, True, False]
    assert [value.as_py() for value in columns["entered"]] == [2, 7, None]
    assert [value.as_py() for value in columns["wins"]] == [5, 4, 0]
    titles = [column.title for column in selection.table(5)]
    assert titles == [
        *("feature", "found at tree", "given to trees", "beat the probes in", "importance")
    ]
    assert [column.cells for column in selection.table(1)] == [
        ["a"],
        ["2"],
        ["1,000"],
        ["5"],
        ["0.50000"],
    ]
    assert "wins" not in made(("a",), [1]).columns()


@pytest.mark.parametrize(("entered", "words"), [([2], "1 feature found"), ([2, 7], "2 features")])
def test_found_in_words(entered, words):
    assert found_words(made(("a", "b"), entered)).startswith(words)


def test_nothing_found():
    selection = made(("a", "b"), [])
    assert found_words(selection) == "Nothing found"
    report = summarize_selection(selection, a_run())
    lines = report.section("Features found").lines
    assert lines[0] == "Nothing found."
    assert lines[1].startswith("duramen rank tests every feature")
    assert "0 after 5 trees, 0 after 10." in report.section("Features found, tree by tree").text
    assert "Nothing found" in render(report)
    search = searched(n_estimators=10, alpha=0.0)
    words = "No feature was found; each was given to 5.0 of 10 trees on average"
    assert search.account(RECORD).nothing == words


@one_test
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "false discovery rate of 0.05. The test is repeated while"),
        (
            {"relevance": "probe", "min_win_rate": 0.95, "min_draws": 10, "n_probes": 1},
            "when more than 10 trees were given it and, in a fraction of 0.95 or more of them",
        ),
        ({"relevance": "binomial", "n_probes": 3}, "1 in 4, at a false discovery rate of 0.05"),
        ({"keep": 0.0}, "Each tree is given 40 of the 80 features, drawn at random, so"),
        ({"sampling": "soft"}, "up to a fraction of 0.5 of them features by importance"),
    ],
)
def test_what_it_means(settings, words):
    search = searched(n_estimators=2, **settings)
    report = summarize_selection(Selection.of(search, RECORD), a_run())
    assert words in " ".join(report.section("Interpretation").lines)


def test_the_page(search):
    selection = Selection.of(search, RECORD)
    report = summarize_selection(selection, a_run())
    facts = {fact.name: fact.value for fact in report.headline}
    assert facts["features found"] == str(selection.n_found)
    assert facts["features a tree"] == "40"
    chart = report.section("Features found, tree by tree")
    assert chart.plot.of["keep = 0.5"].tolist() == selection.sizes.tolist()
    html = render(report)
    assert "keep = 0.5" in html
    assert "<svg" in html
    assert report.section("Features found").column("feature")[0] == selection.names[0]
    assert (
        len(summarize_selection(selection, a_run(), n_rows=1).section("Features found").rows) == 1
    )


def test_the_report_opens_with_what_was_found(search):
    selection = Selection.of(search, RECORD)
    said = summarize_selection(selection, a_run()).conclusion
    assert said.startswith(f"{selection.n_found} of 80 features were found (selection in random")
    nothing = summarize_selection(made(("a", "b"), []), a_run()).conclusion
    assert nothing.startswith("Nothing found (")
    assert f'<p class="conclusion">{said}</p>' in render(summarize_selection(selection, a_run()))
