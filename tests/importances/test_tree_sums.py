"""Measures of forests whose trees are let go against those of forests that are kept."""

import resource
import subprocess
import sys
from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.estimators import base
from duramen.estimators.base import fit_by_parts
from duramen.forests import grow
from duramen.forests.forest import TreeStream
from duramen.importances import Inputs, catalogue, measure

pytestmark = pytest.mark.filterwarnings(
    "ignore:vote_change. p-values shrink", "ignore:.*are in the bag of every tree"
)
TREES = 23
SUMMED = [record for record in catalogue if record.over_trees]
CHEAP = [record for record in SUMMED if record.name != "mdi_plus"]  # which fits many regressions


def learning_set(task, *, weighted=False):
    """Numbers with missing values, and a nominal column."""
    random = np.random.default_rng(4)
    n = 150
    X = random.normal(size=(n, 5)).round(1)
    X[:, 4] = random.integers(0, 4, n)
    signal = X[:, 0] + 0.5 * X[:, 1] + random.normal(size=n)
    X[random.random((n, 5)) < 0.1] = np.nan
    y = {"two": signal > 0, "three": np.digitize(signal, [-0.7, 0.7]), "numbers": 1e6 + signal}
    weights = random.integers(0, 4, n) / 2 if weighted else None
    kinds = ["numeric"] * 4 + ["nominal"]
    table = dm.encode(X, kinds=kinds)
    return dm.learning_set(table, y[task] * 1, sample_weight=weights)


def estimator(data, n_jobs=1, **parameters):
    numbers = data.task == "regression"
    kind = dm.RandomForestRegressor if numbers else dm.RandomForestClassifier
    options = {"random_state": 3, "n_jobs": n_jobs, **parameters}
    forest = kind(TREES, **options)
    leaves_out = forest.bootstrap or forest.max_samples is not None
    return forest.set_params(oob_score=leaves_out)


def stream_of(data, model, first, size, **parameters):
    """The forest of an estimator, in parts."""
    model_of_parts = estimator(data, **parameters)
    _, settings = model_of_parts._prepare(data)
    trees = partial(grow, data, settings, seed=model.forest_.seed, n_threads=model_of_parts.n_jobs)
    schema = data.table.schema
    return TreeStream.after(model.forest_.part(0, first), TREES, size, trees, schema)


def assert_same(first, other):
    """Same bits, same metadata."""
    assert type(first) is type(other)
    for name in [field.name for field in fields(first)]:
        a, b = getattr(first, name), getattr(other, name)
        if isinstance(a, np.ndarray):
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), name
        else:
            assert a == b, name


GROWTHS = {
    "bootstrap": {},
    "some rows": {"bootstrap": False, "max_samples": 0.6},
    "all rows": {"bootstrap": False},
    "multiway": {"splits": "multiway", "categorical_features": None},
    "one-vs-rest": {"splits": "one-vs-rest"},
}
STREAMS = [(1, 1, 1), (2, 4, 3), (3, 2, 30)]  # threads, trees of the first part and of others


@pytest.mark.slow
@one_test
@pytest.mark.parametrize(("nth_task", "task"), enumerate(["two", "three", "numbers"]))
@pytest.mark.parametrize(("nth_way", "way"), enumerate(GROWTHS))
def test_same_bits_whatever_the_growth(nth_task, task, nth_way, way, monkeypatch):
    """Each task with each growth, and each of both with weights and without, and in each stream."""
    number = nth_task + nth_way
    stream = STREAMS[number % len(STREAMS)]
    same_bits(CHEAP, task, number % 2 == 1, way, monkeypatch, [stream])


def same_bits(measures, task, weighted, way, monkeypatch, streams=STREAMS):
    data = learning_set(task, weighted=weighted)
    parameters = GROWTHS[way]
    criteria = ["squared_error"] if task == "numbers" else ["gini", "entropy"]
    for criterion in criteria[: 1 + (way == "bootstrap")]:
        made = {**parameters, "criterion": criterion}
        model = estimator(data, **made).fit(data)
        whole = Inputs(model, data, 7, 1, by_degree=True)
        # Runs of few trees, which begin and end within parts.
        monkeypatch.setattr(measure, "_RUN", 3_000)
        for name in measures:
            if name.classes and task == "numbers":
                continue
            if name.rows == "out-of-bag" and way == "all rows":
                continue
            if name.name == "mdi_plus" and way == "multiway":  # binary splits only
                continue
            expected = name(whole)
            for n_jobs, first, size in streams:
                options = replace(
                    whole,
                    estimator=stream_of(data, model, first, size, n_jobs=n_jobs, **made),
                    n_jobs=n_jobs,
                )
                assert_same(name(options), expected)


@one_test
@pytest.mark.parametrize("task", ["two", "three", "numbers"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_out_of_bag_attributes_are_those_of_fit(task, weighted, n_jobs, monkeypatch):
    data = learning_set(task, weighted=weighted)
    model = estimator(data).fit(data)
    trees = []
    monkeypatch.setattr(base, "PILOT_TREES", 3)
    monkeypatch.setattr(base, "_MOST_TREES", 4)
    let_go = estimator(data, n_jobs)
    assert fit_by_parts(let_go, data, lambda: [trees.append], most_bytes=0)
    assert isinstance(let_go.forest_, TreeStream)
    sizes = [part.n_trees for part in trees]  # as few trees as there are threads
    assert sum(sizes) == model.forest_.n_trees
    assert set(sizes[:-1]) == {n_jobs}
    for name in ("oob_score_", "oob_error_curve_", "oob_decision_function_", "oob_prediction_"):
        assert hasattr(model, name) == hasattr(let_go, name)
        if hasattr(model, name):
            np.testing.assert_array_equal(getattr(let_go, name), getattr(model, name))
    joined = {name: [] for name in ("feature", "impurity", "rows")}
    for part in trees:
        for name, arrays in joined.items():
            arrays.append(getattr(part, name))
    for name, arrays in joined.items():
        np.testing.assert_array_equal(np.concatenate(arrays), getattr(model.forest_, name))


def test_forests_that_fit_are_kept():
    data = learning_set("two")
    forest = estimator(data)
    assert not fit_by_parts(forest, data, lambda: pytest.fail("trees are kept"), most_bytes=1 << 30)
    forest_alone, usual = forest.forest_, estimator(data).fit(data).forest_
    assert forest_alone.node_weight.tobytes() == usual.node_weight.tobytes()


def test_functions_of_whole_forests_say_so():
    data = learning_set("two")
    stream = stream_of(data, estimator(data).fit(data), 2, 5)
    with pytest.raises(TypeError, match="forest must be in memory as a whole"):
        dm.effects.describe_effects(stream, data, ["x0"])


MEMORY = """
import resource
import numpy as np
import duramen as dm
from duramen.estimators import base
from duramen.estimators.base import fit_by_parts
from duramen.importances import Inputs, catalogue
from duramen.importances import measure

measure._RUN = 500_000  # temporary arrays of two trees
random = np.random.default_rng(0)
data = dm.learning_set(random.normal(size=(20_000, 4)), random.normal(size=20_000))
def sums(forest):
    given = Inputs(forest, data, n_jobs=1)
    return [catalogue[name].compute(given) for name in ("mdi", "frequency")]
few = dm.RandomForestRegressor(4, random_state=0, n_jobs=1).fit(data)
for one in ("mdi", "frequency"):
    catalogue[one](Inputs(few, data, n_jobs=1))
base._PART = 3 * few.forest_.nbytes // 4
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
forest = dm.RandomForestRegressor(120, random_state=0, n_jobs=1, oob_score=True)
found = []
def takers():
    found.extend(sums(forest))
    return [one.add for one in found]
assert fit_by_parts(forest, data, takers, most_bytes=1 << 20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 30 * few.forest_.nbytes // 1024)
"""


@pytest.mark.slow
def test_memory_is_that_of_a_few_trees():
    run = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, timeout=600
    )
    more, whole = map(int, run.stdout.split())
    assert resource.RUSAGE_SELF == 0  # kilobytes, as Linux counts
    assert whole > 100_000
    assert more < whole / 3
