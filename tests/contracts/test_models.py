"""Common behavior of all estimators and selectors, over one list of models."""

import copy
import inspect
import io
import pickle
import zipfile

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator
from tests.contracts.models import MODELS, RECORDS, RESULTS, SELECTORS, WITHOUT_ROWS, selector

import duramen as dm
from duramen import selection
from duramen.results.archive import Saved

N = 60


def test_every_public_class_is_in_the_list():
    public = {getattr(module, name) for module in (dm, selection) for name in module.__all__}
    public = {kind for kind in public if inspect.isclass(kind) and issubclass(kind, BaseEstimator)}
    listed = {type(model.made) for model in MODELS.values()}
    assert public - {selection.BaseSelector} == listed
    assert len(listed) >= 30


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_checks_of_scikit_learn(name):
    model = MODELS[name]
    results = check_estimator(
        model.checked, expected_failed_checks=model.expected_failures, on_skip=None, on_fail=None
    )
    assert len(results) >= 40
    assert [result for result in results if result["status"] == "failed"] == []


# --- copies, and what they hold of the training data ----------------------------------------------


def numbers(name):
    """Features of which the first two matter: numbers that differ in all rows."""
    X = np.random.default_rng(3).normal(size=(N, 6))
    return np.where(X > 0, np.pi, np.e) if name == "markov_boundary" else X


def target(task, X):
    signal = X[:, 0] + X[:, 1]
    if task == "classification":
        return np.where(signal > np.median(signal), "yes", "no")
    if task == "regression":
        return signal + np.random.default_rng(4).normal(scale=0.1, size=N)
    return np.column_stack([np.exp(signal), np.arange(N) % 3 > 0])  # a third is censored


@pytest.fixture(scope="module")
def fitted():
    """Return a function that fits a model of the list once."""
    done = {}

    def fit(name):
        if name not in done:
            X = numbers(name)
            made = copy.deepcopy(MODELS[name].made)
            done[name] = made.fit(X, target(MODELS[name].task, X))
        return done[name]

    return fit


def says(model, X):
    """Return the outputs of a fitted model for rows."""
    methods = ("predict", "predict_proba", "transform", "apply")
    return {
        method: getattr(model, method)(X).tolist() for method in methods if hasattr(model, method)
    }


def through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


COPIES = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
    "joblib": through_joblib,
}


@pytest.mark.parametrize("name", MODELS)
def test_copies_are_fitted_alike(name, fitted):
    model, X = fitted(name), numbers(name)
    for way, copied in COPIES.items():
        again = copied(model)
        assert repr(again) == repr(model), way
        assert vars(again).keys() == vars(model).keys(), way
        assert says(again, X) == says(model, X), way
        if hasattr(model, "selected_"):
            assert again.selected_.tolist() == model.selected_.tolist(), way


def saved(model, folder):
    """Bytes of the copies of a model: its pickle, and the members of its file."""
    contents = [pickle.dumps(model)]
    if hasattr(model, "save"):
        model.save(folder / "model")
        with zipfile.ZipFile(folder / "model") as archive:
            contents += [archive.read(member) for member in archive.namelist()]
    return contents


def held(values, contents):
    """Values whose eight bytes, or decimal digits, occur in some content, at any place."""
    values = np.unique(np.asarray(values, dtype="<f8"))
    wanted, found = np.sort(values.view("<u8")), set()
    for content in contents:
        found.update(v for v in values.tolist() if repr(v).encode() in content)
        for start in range(8):
            words = np.frombuffer(content, "<u8", count=(len(content) - start) // 8, offset=start)
            found.update(np.intersect1d(wanted, words).view("<f8").tolist())
    return found


def test_values_are_seen_in_bytes():
    contents = [b"ab" + np.float64(0.1).tobytes() + b"c", b'{"origin": 0.3}']
    assert held([0.1, 0.2, 0.3], contents) == {0.1, 0.3}


@pytest.mark.parametrize("name", MODELS)
def test_copies_hold_no_training_row(name, fitted, tmp_path):
    """Neither features nor targets, but for the median of a regression and times of events."""
    model, X = fitted(name), numbers(name)
    contents = saved(model, tmp_path)
    assert held(X.ravel(), contents) == set()
    y, task = target(MODELS[name].task, X), MODELS[name].task
    if task == "regression":
        assert held(y, contents) <= {np.sort(y)[(N - 1) // 2]}
    if task == "survival":
        assert held(y[y[:, 1] == 0, 0], contents) == set()


OF_NUMBERS = [
    record
    for record in RECORDS
    if "regression" in record.tasks and "estimator" not in SELECTORS[record.name]
]


@pytest.mark.parametrize("record", OF_NUMBERS, ids=lambda record: record.name)
def test_selectors_hold_no_number_of_a_regression(record):
    X = numbers(record.name)
    y = target("regression", X)
    contents = [pickle.dumps(selector(record).fit(X, y))]
    assert held(X.ravel(), contents) == set()
    assert held(y, contents) <= {np.sort(y)[(N - 1) // 2]}


TEXT = [name for name, model in MODELS.items() if hasattr(model.made, "categorical_features")]


@pytest.mark.parametrize("name", TEXT)
def test_copies_hold_no_label_that_no_tree_needs(name, tmp_path):
    """The labels of a column that the trees do not split on, and those of groups."""
    import pandas as pd

    X = pd.DataFrame(numbers(name), columns=list("abcdef")).assign(place="Rue de la Paix 7")
    people = np.array([f"Person {i:03}" for i in range(N)], dtype=object)
    model = copy.deepcopy(MODELS[name].made)
    model.fit(X, target(MODELS[name].task, X.to_numpy()[:, :6].astype(float)), groups=people)
    for content in saved(model, tmp_path):
        assert b"place" in content or len(content) < 10**5  # names are kept
        assert not any(text in content for text in (b"Rue de", b"Person"))


# --- results --------------------------------------------------------------------------------------


def test_every_public_result_is_in_the_list():
    modules = [
        dm,
        *(getattr(dm, name) for name in dm.__all__ if inspect.ismodule(getattr(dm, name))),
    ]
    public = {getattr(module, name) for module in modules for name in module.__all__}
    public = {kind.__name__ for kind in public if inspect.isclass(kind) and issubclass(kind, Saved)}
    assert public == RESULTS.keys() | WITHOUT_ROWS.keys()


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_copied_and_hold_no_training_row(name, tmp_path):
    X = numbers(name)
    y = target("classification", X)
    result = RESULTS[name](X, y)
    assert type(result).__name__ == name
    for way, copied in COPIES.items():
        again = copied(result)
        assert repr(again) == repr(result), way
        assert not hasattr(result, "equals") or again.equals(result), way
    assert held(X.ravel(), saved(result, tmp_path)) == set()
    if hasattr(result, "save"):
        loaded = type(result).load(tmp_path / "model")
        assert repr(loaded) == repr(result)
        assert loaded.equals(result)


def test_results_of_networks_effects_and_theory_come_back(tmp_path):
    X = numbers("")
    forest = dm.RandomForestClassifier(8, random_state=0).fit(X, target("classification", X))
    network = dm.Network(tuple("abcd"), np.triu(np.ones((4, 4)), 1))
    xor = dm.theory.examples.xor()
    for result in (
        network.score([("a", "b")]),
        network.orientation([("a", "b")]),
        dm.effects.partial_dependence(forest, X, "x1"),
        dm.theory.population.conditioning_terms(xor, "X1"),
        dm.theory.properties(xor),
        dm.theory.redundancy(dm.theory.examples.correlated_xor()),
    ):
        result.save(tmp_path / "result")
        loaded = type(result).load(tmp_path / "result")
        assert loaded.equals(result)
        assert repr(loaded) == repr(result)
