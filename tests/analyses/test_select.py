import numpy as np
import pytest

import duramen as dm
from duramen.reports import render


def searched(**options):
    """Return the report of a search, and the fitted selector."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 80))
    y = X[:, 3] + X[:, 5] > 0
    options = {"n_estimators": 100, "n_subspace_features": 40, "patience": 0, **options}
    report = dm.select(X, y, n_jobs=1, **options)
    return report, report.selector


@pytest.fixture(scope="module")
def search():
    return searched()


def test_the_table_of_a_search(search):
    report, search = search
    names, found = (report.table[name].to_pylist() for name in ("name", "found"))
    n_found = len(search.selected_)
    assert {"x3", "x5"} <= set(names[:n_found])
    assert names[:n_found] == [f"x{j}" for j in search.selected_]
    assert sorted(names) == sorted(search.importances_.names)
    assert found == [True] * n_found + [False] * (80 - n_found)
    assert search.summary().results == {"trees": 100, "mean_draws": 100 * 40 / 80}
    assert (np.diff(report.table["importance"][n_found:]) <= 0).all()
    place = {name: j for j, name in enumerate(search.importances_.names)}
    draws = [search.draws_[place[name]] for name in names]
    assert report.table["draws"].to_pylist() == draws
    entered = report.table["entered"].to_pylist()
    assert entered == search.entered_.tolist() + [None] * (80 - n_found)
    assert "wins" not in report.table
    shown = report.section("Features found")
    best = sorted(range(n_found), key=lambda i: -report.table["importance"][i])
    assert list(shown.column("feature")) == [names[i] for i in best]
    assert list(shown.column("given to trees")) == [str(draws[i]) for i in best]


def test_details_where_all_features_are_found():
    options = {"relevance": "probe", "min_draws": 1, "min_win_rate": 0.0}
    report, search = searched(n_estimators=40, n_subspace_features=60, **options)
    assert search.support_.all()
    columns = report.table
    assert columns["entered"].to_pylist() == search.entered_.tolist()
    assert columns["wins"].to_pylist() == search.wins_[search.selected_].tolist()


def test_the_page(search):
    (report, search), n_found = search, len(search[1].selected_)
    assert dict(report.headline)["features found"] == str(n_found)
    chart = report.section("Features found, tree by tree")
    assert chart.figure[1]["features found"].tolist() == [0, *search.history_["n_selected"]]
    assert f'<p class="conclusion">{report.conclusion}</p>' in render(report)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selector": "boruta", "keep": 0.5}, "keep does not apply to selector='boruta'"),
        ({"min_draws": 5}, "min_draws is for the relevance test probe, not for decoy"),
        ({"distance": 5}, "distance needs clusters"),
        ({"clusters": 1.5}, "clusters must be a number in"),
        ({"estimator": "random", "max_features": 3}, "max_features must be 1 with estimator='rand"),
        ({"estimator": dm.ExtraTreesClassifier(), "max_features": 3}, "None beside an estimator"),
        ({"memory": "1kB"}, "memory must be at least 1MB"),
    ],
)
def test_wrong_parameters(options, message):
    X = np.random.default_rng(0).normal(size=(60, 5))
    with pytest.raises(ValueError, match=message):
        dm.select(X, X[:, 0] > 0, n_jobs=1, **options)


def test_kinds_of_trees_are_those_of_their_estimators():
    X = np.random.default_rng(0).normal(size=(80, 6))
    y = np.where(X[:, 1] > 0, "a", "b")
    estimators = {
        "extra": dm.ExtraTreesClassifier(max_features="sqrt"),
        "cart": dm.RandomForestClassifier(bootstrap=False, max_features="sqrt"),
        "random": dm.ExtraTreesClassifier(max_features=1),
    }
    for name, estimator in estimators.items():
        K = {} if name == "random" else {"max_features": "sqrt"}
        options = {"n_estimators": 10, "n_subspace_features": 4, "random_state": 0}
        named = dm.SequentialRandomSubspace(name, **K, **options).fit(X, y)
        given = dm.SequentialRandomSubspace(estimator, **options).fit(X, y)
        np.testing.assert_array_equal(named.importances_.values, given.importances_.values)
