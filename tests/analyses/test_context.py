"""Reports of features that depend on a context."""

import numpy as np
import pandas as pd
import pytest
from tests.grid import one_test
from tests.plots.test_context import P_VALUES, result
from tests.reports.test_reports import Page, a_run

import duramen as dm
from duramen.analyses.context import effect_columns, report_of
from duramen.reports import render
from duramen.results.adjustment import adjusted

SETTINGS = {"n_estimators": 100, "n_permutations": 999}


def run(**changes):
    return a_run(settings=SETTINGS, **changes)


def example(p=P_VALUES, **changes):
    options = {
        "relevance_p_value": 0.004,
        "n_permutations": 999,
        "within": np.ones((2, 3)) / 4,
        "plain": np.zeros((2, 3)),
        "metadata": {
            "context": {"name": "time", "cuts": [12.5]},
            "n_rows": 50,
            "forest": {"splits": "multiway"},
        },
    }
    return result(p=p, **{**options, **changes})


def reported(contextual, alpha=0.05, control="fdr", run_of=None, **options):
    """Return the report of a context."""
    columns = effect_columns(contextual, alpha, control)
    return report_of(contextual, columns, run_of or run(), alpha, control, **options)


def words(report, title):
    return " ".join(report.section(title).lines)


# --- verdicts at a level -------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("control", ["fdr", "fwer", "none"])
def test_columns_are_those_of_the_result_in_its_order(control):
    contextual = example()
    columns = effect_columns(contextual, 0.05, control)
    assert next(iter(columns)) == "context_name"
    names = [contextual.names[j] for j in contextual.order()]
    assert columns["name"].tolist() == [name for name in names for _ in range(2)]
    assert columns["context"].tolist() == ["day", "night"] * 3
    at = [contextual.names.index(name) for name in names]
    assert columns["absolute"].tolist() == contextual.absolute[:, at].T.ravel().tolist()
    verdicts = contextual.verdicts(0.05, control)[:, at].T.ravel()
    assert columns["kind"].tolist() == verdicts.tolist()
    level = adjusted(P_VALUES, control)[:, at].T.ravel()
    if control == "fdr":
        assert columns["absolute_q_value"].tolist() == level.tolist()
    assert ("absolute_holm_p_value" in columns) == (control == "fwer")


# --- the report ----------------------------------------------------------------------------------


def test_report_of_features():
    contextual = example()
    report = reported(contextual)
    said = words(report, "The context time itself")
    assert "time itself has an importance of 0.3 bits of information (p = 0.004)" in said
    assert report.conclusion == (
        "The importance of 2 of 3 features depends on time: a matters less where time is day than "
        "overall (q = 0.006); b matters less where time is night than overall (q = 0.006). Of "
        "findings like these, about 5% may be false alarms."
    )
    facts = dict(report.headline)
    assert (facts["p of time itself"], facts["depend on time"]) == ("0.004", "2")
    assert (facts["trees"], facts["permutations"]) == ("100", "999")
    table = report.main
    names = [contextual.names[j] for j in contextual.order() for _ in range(2)]
    assert table.column("feature") == tuple(names)
    assert table.column("time") == ("day", "night") * 3
    assert (table.column("p")[:2], table.column("q")[0]) == (("0.001", "0.6"), "0.006")
    bare = reported(contextual, control="none").main
    assert "q" not in [column.title for column in bare.columns]


def test_without_p_values_and_with_many_contexts():
    contextual = example(p=None, relevance_p_value=None, n_permutations=0)
    report = reported(contextual)
    assert "p" not in [column.title for column in report.main.columns]
    assert "p of time itself" not in dict(report.headline)
    assert "nan" not in Page(render(report)).words
    many = tuple(f"v{i}" for i in range(12))
    contextual = example(contexts=many, p=np.ones((12, 3)), within=None, plain=None)
    charts = [s for s in reported(contextual).sections if getattr(s, "figure", None)]
    assert len(charts) == 8


# --- the function --------------------------------------------------------------------------------


def switched(n=80):
    """`y` is of `x0` by day and of `x1` by night."""
    X = np.random.default_rng(0).integers(0, 2, (n, 3))
    night = np.arange(n) % 2
    return X, np.where(night, X[:, 0], X[:, 1]), night


FEW = {"n_permutations": 99, "n_jobs": 1}


def test_effects_are_those_of_context_importances():
    X, y, night = switched()
    trees = dm.TotallyRandomizedTreesClassifier(20)
    report = dm.context(X, y, {"night": night}, estimator=trees, **FEW)
    wanted = dm.contexts.context_importances(
        X, y, {"night": night}, estimator=trees, random_state=0, **FEW
    )
    assert report.effects.equals(wanted)
    assert report.conclusion.startswith(
        "The importance of 2 of 3 features depends on night: x1 matters more where night is 0 than "
        "overall (q = "
    )
    assert report.run.settings["n_estimators"] == 20
    assert dm.context(X, y, {"night": night}, n_estimators=20, **FEW).effects.equals(wanted)


def test_context_is_a_column_an_array_or_a_table():
    X, y, night = switched()
    names = ["x0", "x1", "x2"]
    frame = pd.DataFrame(X, columns=names).assign(night=night)
    by_name = dm.context(frame, y, "night", n_estimators=5, **FEW).effects
    assert (by_name.context_name, by_name.names) == ("night", tuple(names))
    table = dm.context(frame[names], y, frame[["night"]], n_estimators=5, **FEW).effects
    array = dm.context(frame[names], y, night, n_estimators=5, **FEW).effects
    assert array.context_name == "Xc"
    assert (table.absolute_p_values == by_name.absolute_p_values).all()
    assert (array.absolute == by_name.absolute).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"context": None}, "context is missing: which column has the contexts"),
        ({"context": "nigth"}, "did you mean 'night'"),
        ({"context": "day"}, "keep_identifiers=True keeps it"),
        ({"context": "holes"}, "is missing in 1 of 80 rows"),
        (
            {"estimator": dm.ExtraTreesClassifier(3), "n_estimators": 5},
            "no effect beside estimator",
        ),
        ({"criterion": "variance"}, "must be auto or gini or entropy for classification"),
        ({"y": None}, "target is missing"),
        ({"plain": "p_values", "n_permutations": 0}, "needs n_permutations of at least 1"),
        ({"context": ["night", "day"]}, "must be a single column, got 2"),
    ],
)
def test_bad_arguments_are_named(options, message):
    X, y, night = switched()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(night=night, day=np.arange(80))
    frame["holes"] = np.where(np.arange(80) == 3, None, "u")
    arguments = {"y": y, "context": "night", "n_estimators": 3, "n_jobs": 1, **options}
    if "estimator" not in options:
        arguments |= {"n_permutations": options.get("n_permutations", 9)}
    with pytest.raises(ValueError, match=message):
        dm.context(frame, **arguments)
