"""The contract of selectors, over the catalogue: scikit-learn's tools, workers, copies."""

import inspect
import re
from itertools import count
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from tests.contracts.models import RECORDS, SELECTORS, takes
from tests.contracts.models import selector as quick
from tests.grid import one_test
from tests.significance.noise import Interrupted

import duramen as dm
from duramen.selection import catalogue
from duramen.selection.nested_sets import standard_error
from duramen.selection.selector import folds_of

NAMES = list("abcdef")


def problem(record, n=60):
    """Two features that make up two classes, among six."""
    X = np.random.default_rng(3).normal(size=(n, 6))
    if record.name == "markov_boundary":
        X = (X > 0).astype(float)
        return X, np.where((X[:, 0] > 0) ^ (X[:, 1] > 0), "yes", "no")
    return X, np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


def everything(model):
    return (
        model.selected_.tolist(),
        model.ranking_.tolist(),
        model.importances_.values.tolist(),
        {name: np.nan_to_num(entry, nan=-9).tolist() for name, entry in model.history_.items()},
    )


def test_every_selector_is_tested():
    assert SELECTORS.keys() == {entry.name for entry in catalogue}


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("record", RECORDS, ids=lambda entry: entry.name)
def test_results(record, tmp_path):
    X, y = problem(record)
    frame = pd.DataFrame(X, columns=NAMES)
    line = make_pipeline(quick(record), DecisionTreeClassifier(random_state=0)).fit(frame, y)
    model = line[0]
    chosen = model.get_support(indices=True)
    assert sorted(model.selected_.tolist()) == chosen.tolist()
    assert len(chosen) > 0
    assert (model.ranking_[chosen] == 1).all()
    others = sorted(model.ranking_[~model.support_].tolist())
    assert others == list(range(2, 2 + len(others)))
    assert model.feature_names_in_.tolist() == NAMES
    assert model.classes_.tolist() == ["no", "yes"]
    assert len(line.predict(frame)) == len(y)
    names = [NAMES[j] for j in chosen]
    assert model.get_feature_names_out().tolist() == names
    assert model.transform(dm.encode(frame)).names == tuple(names)
    assert list(model.set_output(transform="pandas").transform(frame)) == names
    assert not hasattr(clone(model), "support_")
    assert record.title not in model.summary().run  # the report names the selector beside it
    stored = dm.learning_set(dm.pack(frame, tmp_path / "s"), y)
    assert everything(quick(record).fit(stored)) == everything(model)


@one_test
@pytest.mark.parametrize("options", ["strata", "groups"])
@pytest.mark.parametrize("record", RECORDS, ids=lambda entry: entry.name)
def test_strata_and_blocks_are_used_or_refused(record, options):
    X, y = problem(record)
    data = dm.learning_set(X, y, **{options: np.arange(60) // 2})
    if record.kind.exchanges if options == "strata" else record.kind.exchanges_groups:
        more = {"relevance": "decoy"} if takes(record, "relevance") else {}
        models = [quick(record, **more).fit(*rows) for rows in ((data,), (X, y))]
        assert everything(models[0]) != everything(models[1])
        return
    with pytest.raises(ValueError, match=f"without {options}, got 'one with {options}'"):
        quick(record).fit(data)


def test_groups_lie_in_one_fold():
    random = np.random.default_rng(0)
    groups = random.permutation(np.repeat(np.arange(20), 3))
    y = groups % 2
    data = dm.learning_set(random.normal(size=(60, 2)), y, groups=groups)
    folds = folds_of(data, 5, np.random.default_rng(1))
    by_group = {(group, fold) for group, fold in zip(groups.tolist(), folds.tolist(), strict=True)}
    assert len(by_group) == 20
    counts = np.bincount(2 * folds + y)
    assert counts.tolist() == [6] * 10  # two groups of each class a fold


def test_standard_error_of_rows_that_are_groups():
    losses = np.random.default_rng(0).exponential(size=30)
    alone = standard_error(losses, None)
    assert standard_error(losses, np.arange(30)) == pytest.approx(alone)
    tripled = standard_error(np.repeat(losses, 3), np.repeat(np.arange(30), 3))
    assert tripled == pytest.approx(alone)


LONG = [entry for entry in RECORDS if takes(entry, "client")]


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("record", LONG, ids=lambda entry: entry.name)
def test_threads_change_nothing(record):
    X, y = problem(record)
    entry, two = (quick(record, n_jobs=n).fit(X, y) for n in (1, 2))
    assert everything(entry) == everything(two)


@one_test
@pytest.mark.parametrize("record", RECORDS, ids=lambda entry: entry.name)
def test_numbers_as_target(record):
    if "regression" not in record.tasks or record.name == "backward_selection":
        return
    X, _ = problem(record)
    tree = {"estimator": None, "max_features": 2} if takes(record, "floating") else {}
    model = quick(record, **tree).fit(X, 3 * X[:, 2] + 0.1 * X[:, 1])
    assert model.support_[2]
    assert not hasattr(model, "classes_")


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("record", LONG, ids=lambda entry: entry.name)
def test_interrupted_runs_resume(record, tmp_path, monkeypatch):
    X, y = problem(record)
    whole = everything(quick(record).fit(X, y))
    from duramen.jobs import replicates

    calls = count()

    def killing(seed, number):
        if next(calls) == 5:
            raise Interrupted
        return seed_of(seed, number)

    seed_of = replicates.replicate_seed
    path = tmp_path / "kept"
    with monkeypatch.context() as patched:
        patched.setattr(replicates, "replicate_seed", killing)
        with pytest.raises(Interrupted):
            quick(record, checkpoint=path).fit(X, y)
    assert path.exists()
    assert everything(quick(record, checkpoint=path).fit(X, y)) == whole
    with pytest.raises(ValueError, match="another run"):
        quick(record, checkpoint=path).fit(X[:, ::-1], y)


@pytest.mark.slow
def test_clusters_change_nothing():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        for record in LONG:
            X, y = problem(record)
            far = quick(record, client=client).fit(X, y)
            assert everything(far) == everything(quick(record).fit(X, y)), record.name


# --- what methods claim of identical columns ----------------------------------------------------

LEAVES = dm.RandomForestClassifier(30, min_samples_leaf=10, max_features=None)
FULLER = {
    "boruta": {"n_estimators": 40, "max_rounds": 25},
    "knock_out": {"n_estimators": 40},
    "artificial_contrasts": {"n_estimators": 40, "n_permutations": 6, "remove_masked": False},
    "sequential_random_subspace": {"n_estimators": 150},
    "backward_elimination": {"n_estimators": 30, "min_features": 1, "nested_folds": None},
    "vsurf": {"n_estimators": 30},
    "regularized_forest": {"estimator": LEAVES, "n_estimators": None, "penalty": 0.2},
    "guided_regularized_forest": {"estimator": LEAVES, "n_estimators": None, "penalty": 0.2},
}


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("record", RECORDS, ids=lambda entry: entry.name)
def test_identical_columns(record):
    """All are kept by what looks for all relevant features, one by what looks for few.

    Of the orders, mRMR and CMIM put copies last, JMI claims nothing. The coefficients of Lasso
    are not unique: any part of the copies may have one, and at least one has.
    """
    X, _ = problem(record, 120)
    X[:, 4:] = X[:, [0]]
    options = FULLER.get(record.name, {})
    copies = {0, 4, 5} & set(quick(record, **options).fit(X, X[:, 0] > 0).selected_.tolist())
    if record.name == "lasso":
        assert copies
        return
    if record.goal == "all-relevant" or record.name == "relieff":
        assert copies == {0, 4, 5}
    elif record.goal == "minimal" or record.name in ("mrmr", "cmim"):  # copies come last
        assert len(copies) == 1


CHOICES = [
    (record, name, get_args(hint))
    for record in {entry.kind: entry for entry in catalogue}.values()
    for name, hint in get_type_hints(record.kind).items()
    if get_origin(hint) is Literal
]


@one_test
@pytest.mark.parametrize(("record", "name", "choices"), CHOICES)
def test_choices_of_the_command_line_are_those_of_the_class(record, name, choices):
    X, y = np.random.default_rng(0).normal(size=(30, 5)), np.arange(30) % 2
    with pytest.raises(ValueError, match=f"{name} must be") as caught:
        record.make(**{name: "none"}).fit(X, y)
    allowed = str(caught.value).partition(", got ")[0]
    assert re.findall(r"'([\w-]+)'", allowed) == list(choices)


WRONG = {
    **dict.fromkeys(("estimator", "checkpoint"), 3),
    **dict.fromkeys(("measure", "criterion", "sampling"), "none"),
    **dict.fromkeys(("n_estimators", "n_jobs", "n_permutations", "max_rounds", "n_per_draw"), 0),
    **dict.fromkeys(("n_prediction", "min_features", "drop", "n_features", "max_step"), 0),
    **dict.fromkeys(("n_neighbors", "batch_size", "n_subspace_features", "n_probes"), 0),
    **dict.fromkeys(("n_thresholding", "n_interpretation", "nested_folds", "n_draws", "cv"), 1),
    **dict.fromkeys(("rough_fix", "remove_masked", "recompute", "n_bins"), 1),
    **dict.fromkeys(("alpha", "guidance", "keep", "min_win_rate", "penalty"), 2.0),
    **dict.fromkeys(("percentile", "standard_errors", "patience", "min_draws", "verbose"), -1),
    **dict.fromkeys(("threshold_factor", "standard_deviations", "jump_factor"), -1),
    "subsample": 1.5,
}


@pytest.mark.parametrize("kind", {entry.kind: None for entry in catalogue})
def test_wrong_parameters_are_named(kind):
    X = np.random.default_rng(0).normal(size=(30, 4))
    for parameter in WRONG.keys() & inspect.signature(kind).parameters.keys():
        options = {"relevance": "probe"} if parameter in ("min_draws", "min_win_rate") else {}
        with pytest.raises((ValueError, TypeError), match=f"{kind.__name__}: {parameter} must"):
            kind(**{**options, parameter: WRONG[parameter]}).fit(X, X[:, 0] > 0)
