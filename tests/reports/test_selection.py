import numpy as np
import pytest

import duramen as dm
from duramen.reports import Run, render
from duramen.reports.selection import Selection, found_words, summarise_selection

SETTINGS = {
    "n_subspace_features": 40,
    "alpha": 0.5,
    "sampling": "hard",
    "relevance": "decoy",
    "level": 0.05,
}


@pytest.fixture(scope="module")
def search():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 80))
    y = X[:, 3] + X[:, 5] > 0
    return dm.SequentialRandomSubspace(100, n_subspace_features=40, random_state=0).fit(X, y)


def a_run(**settings):
    return Run(
        command="duramen select t.csv --target y",
        target="y",
        file="t.csv",
        n_rows=200,
        n_features=80,
        settings={**SETTINGS, **settings},
        versions={},
    )


def made(names, entered, wins=None, n_trees=10):
    n = len(entered)
    sizes = np.searchsorted(entered, np.arange(n_trees + 1), side="right")
    return Selection(
        names=names,
        n_found=n,
        entered=np.array(entered, dtype=np.int64),
        draws=np.arange(len(names)) + 1000,
        wins=wins,
        importances=np.linspace(0.5, 0, len(names)),
        unit="gini",
        sizes=sizes,
        mean_draws=3.26,
    )


def test_the_selection_of_a_search(search):
    one = Selection.of(search)
    assert {"x3", "x5"} <= set(one.names[: one.n_found])
    assert one.names[: one.n_found] == tuple(f"x{j}" for j in search.selected_)
    assert sorted(one.names) == sorted(search.importances_.names)
    assert (one.n_trees, len(one.sizes)) == (100, 101)
    assert one.sizes[0] == 0
    assert one.sizes[-1] == one.n_found
    assert one.mean_draws == 100 * 40 / 80
    assert (np.diff(one.importances[one.n_found :]) <= 0).all()
    place = {name: j for j, name in enumerate(search.importances_.names)}
    assert one.draws.tolist() == [search.draws_[place[name]] for name in one.names]
    assert one.wins is None


def test_of_many_only_those_found_are_listed(search):
    one = Selection.of(search, most=79)
    assert one.names == Selection.of(search, most=80).names[: one.n_found]
    report = summarise_selection(one, a_run())
    assert "hold all that were found" in report.section("Features found").note
    assert "hold all features" in (
        summarise_selection(Selection.of(search), a_run()).section("Features found").note
    )


def test_columns_and_table():
    one = made(("a", "b", "c"), [2, 7], wins=np.array([5, 4, 0]))
    columns = {name: list(values) for name, values in one.columns().items()}
    assert [value.as_py() for value in columns["found"]] == [True, True, False]
    assert [value.as_py() for value in columns["entered"]] == [2, 7, None]
    assert columns["wins"] == [5, 4, 0]
    titles = [column.title for column, _ in one.table(5)]
    assert titles == [
        *("feature", "found at tree", "given to trees", "beat the probes in", "importance")
    ]
    assert [texts for _, texts in one.table(1)] == [["a"], ["2"], ["1,000"], ["5"], ["0.50000"]]
    assert "wins" not in made(("a",), [1]).columns()


@pytest.mark.parametrize(("entered", "words"), [([2], "1 feature found"), ([2, 7], "2 features")])
def test_found_in_words(entered, words):
    assert found_words(made(("a", "b"), entered)).startswith(words)


def test_nothing_found():
    one = made(("a", "b"), [])
    words = "No feature was found; each was given to 3.3 of 10 trees on average"
    assert found_words(one) == words
    report = summarise_selection(one, a_run())
    assert report.section("Features found").lines == (f"{words}.",)
    assert "0 after 5 trees, 0 after 10." in report.section("Features found, tree by tree").text
    assert words in render(report)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "false discovery rate of 0.05. This is asked again and again"),
        (
            {"relevance": "probe", "confidence": 0.95, "min_draws": 10, "n_probes": 1},
            "in 0.95 or more of the trees that were given it, and these are more than 10",
        ),
        ({"relevance": "binomial", "n_probes": 3}, "1 in 4, at a false discovery rate of 0.05"),
        ({"alpha": 0.0}, "Each tree is given 40 of the 80 features, drawn at random, so"),
        ({"sampling": "soft"}, "up to a share of 0.5 of them features by importance"),
    ],
)
def test_what_it_means(settings, words):
    report = summarise_selection(made(("a", "b"), [2, 7]), a_run(**settings))
    assert words in " ".join(report.section("How to read it").lines)


def test_the_page(search):
    one = Selection.of(search)
    report = summarise_selection(one, a_run())
    facts = {fact.name: fact.value for fact in report.headline}
    assert facts["features found"] == str(one.n_found)
    assert facts["features a tree"] == "40"
    chart = report.section("Features found, tree by tree")
    assert chart.plot.curves["alpha = 0.5"].tolist() == one.sizes.tolist()
    html = render(report)
    assert "alpha = 0.5" in html
    assert "<svg" in html
    assert report.section("Features found").column("feature")[0] == one.names[0]
    assert len(summarise_selection(one, a_run(), n_rows=1).section("Features found").rows) == 1
