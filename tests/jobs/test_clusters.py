"""Results on the workers of a Dask cluster equal results on threads, byte for byte."""

import os
import threading
import time

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen import importances, significance
from duramen.jobs import workers
from duramen.jobs.replicates import Plan, run_jobs, run_replicates
from duramen.jobs.workers import Cluster, running

distributed = pytest.importorskip("distributed")

RANDOM = np.random.default_rng(3)
X = RANDOM.integers(0, 5, (48, 4)).astype(float)
Y = np.where(X[:, 0] + RANDOM.normal(size=48) > 2, "a", "b")
CONTEXT = np.where(X[:, 1] > 2, "high", "low")
FOREST = dm.RandomForestClassifier(5, max_depth=3, random_state=0)
RANDOM_TREES = dm.TotallyRandomizedTreesClassifier(5, splits="auto")
MORE_TREES = dm.RandomForestClassifier(40, max_depth=3)  # each row is out of the bag of one


@pytest.fixture(scope="module")
def client():
    """Two workers that are threads of this process."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(processes=False, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def processes():
    """A worker that is a process, with two threads."""
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def own(forest, X, y):
    """A measure of a user."""
    return importances.mdi(forest).values ** 2


def of_function(X, y, seed):
    """An importance of a user."""
    return np.abs(X[y == "a"].mean(axis=0) - X.mean(axis=0)) + seed / 2**40


def call_of(function, **options):
    """A call that is done with and without a client."""
    return lambda **way: function(FOREST, X, Y, random_state=1, **options, **way)


CALLS = {
    "altmann, own measure": call_of(significance.altmann, n_permutations=4, measure=own),
    "max_t": call_of(significance.max_t, n_permutations=7),
    "hapfelmeier": call_of(significance.hapfelmeier, n_permutations=4),
    "conditional_error_rate": call_of(
        significance.conditional_error_rate, n_permutations=5, stop_at=0.5
    ),
    "frequency_control": call_of(significance.frequency_control, n_permutations=5, null="permuted"),
    "conditional": lambda **way: significance.conditional(
        MORE_TREES, X, Y, n_folds=2, random_state=1, **way
    ),
    "conditional, forests without a feature": lambda **way: significance.conditional(
        MORE_TREES, X, Y, n_folds=2, method="loco", random_state=1, **way
    ),
    "multiple_probes": call_of(significance.multiple_probes, n_permutations=5),
    "forest_probe_ranking": call_of(significance.forest_probe_ranking, n_permutations=4),
    "mean_rank_test": call_of(significance.mean_rank_test, n_resamples=3, n_permutations=3),
    "confidence_intervals": call_of(significance.confidence_intervals, n_resamples=8),
    "ranking_stability": call_of(significance.ranking_stability, k=2, n_resamples=6),
    "permutation_test": lambda **way: significance.permutation_test(
        of_function, X, Y, n_permutations=6, random_state=1, **way
    ),
    "holdout_mda": call_of(importances.holdout_mda),
    "sandri": lambda client=None, n_jobs=None: importances.sandri(
        FOREST, X, Y, n_repeats=4, random_state=1, client=client
    ),
    "mcfs": lambda **way: importances.mcfs(
        X, Y, n_subsets=12, n_splits=2, n_permutations=2, random_state=1, **way
    ),
    "context_importances": lambda **way: dm.contexts.context_importances(
        X,
        Y,
        CONTEXT,
        estimator=RANDOM_TREES,
        n_permutations=40,
        plain="p_values",
        random_state=1,
        **way,
    ),
    "context_network": lambda **way: dm.contexts.context_network(
        X, CONTEXT, targets=["x0"], estimator=RANDOM_TREES, n_permutations=40, random_state=1, **way
    ),
}


def saved(result, path):
    """Return the saved bytes of a result."""
    result.save(path)
    return path.read_bytes()


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("name", CALLS)
def test_same_bytes_on_a_cluster(processes, tmp_path, monkeypatch, name):
    call = CALLS[name]
    expected = saved(call(), tmp_path / "here")
    sent = []
    original = processes.submit

    def submit(*arguments, **choices):
        sent.append(arguments)
        return original(*arguments, **choices)

    monkeypatch.setattr(processes, "submit", submit)
    assert saved(call(client=processes, n_jobs=2), tmp_path / "there") == expected
    assert sent


@pytest.mark.parametrize("function", [significance.max_t, significance.ranking_stability])
def test_what_is_no_client_is_refused(function):
    more = {"k": 2} if function is significance.ranking_stability else {}
    with pytest.raises(ValueError, match=rf"{function.__name__}: client must be"):
        function(FOREST, X, Y, client="scheduler:8786", **more)


# --- the engine ---------------------------------------------------------------------------------


def ways(client):
    return [Plan(), Plan(3), Plan(cluster=Cluster(client))]


def test_stopping_early_cancels_the_rest(client):
    def task(b, seed):
        time.sleep(0.01)
        return np.array([b, seed % 2**20], dtype=float)

    def run(plan):
        rest = {"seed": 5, "identity": {}, "plan": plan, "function": "test"}
        return run_replicates(task, 500, 2, decided=lambda values: len(values) == 9, **rest)

    expected = run(Plan())
    for plan in ways(client):
        np.testing.assert_array_equal(run(plan), expected)


def test_arguments_of_waves_are_worked_out_here(client):
    for plan in ways(client):
        sums = []

        def ready(values, sums=sums):
            sums.append(float(values.sum()))
            return min(6, len(values) + 2)

        result = run_replicates(
            lambda b, seed, total: np.array([b + total]),
            6,
            1,
            seed=0,
            identity={},
            plan=plan,
            function="test",
            ready=ready,
            arguments=lambda b, sums=sums: (sums[-1],),
        )
        assert result.ravel().tolist() == [0, 1, 3, 4, 12, 13]


def shaped(b, seed):
    """Arrays whose shapes depend on the job."""
    random = np.random.default_rng(seed)
    return {"links": random.random((b, 3)), "count": np.int64(b), "targets": np.arange(2 * b)}


@pytest.mark.smoke
def test_results_of_any_shapes(client, tmp_path):
    options = {"seed": 4, "identity": {"method": "test"}, "function": "test"}
    expected = run_jobs(shaped, 5, plan=Plan(), **options)
    assert [record["links"].shape for record in expected] == [(b, 3) for b in range(5)]
    assert [int(record["count"]) for record in expected] == [0, 1, 2, 3, 4]
    for i, plan in enumerate(ways(client)):
        path = tmp_path / f"kept{i}"
        assert_same(run_jobs(shaped, 3, plan=Plan(checkpoint=path), **options), expected[:3])
        on = Plan(plan.n_threads, path, 0, plan.cluster)
        assert_same(run_jobs(shaped, 5, plan=on, **options), expected)
        assert_same(run_jobs(_never, 5, plan=on, **options), expected)
        assert_same(run_jobs(_never, 2, plan=on, **options), expected[:2])
    assert (tmp_path / "kept0").read_bytes() == (tmp_path / "kept2").read_bytes()


def _never(b, seed):
    raise AssertionError("it is done")


def assert_same(result, expected):
    assert len(result) == len(expected)
    for first, other in zip(result, expected, strict=True):
        assert list(first) == list(other)
        for name, array in first.items():
            assert (array.dtype, array.shape) == (other[name].dtype, other[name].shape)
            np.testing.assert_array_equal(array, other[name])


def test_threads_that_are_left_cancel_what_waits():
    started = []
    open_ = threading.Event()

    def task(b):
        started.append(b)
        open_.wait(5)

    with running(task, 2) as run:
        results = run((b,) for b in range(100))
        threading.Timer(0.1, open_.set).start()
        next(results)
        open_.clear()
        threading.Timer(0.1, open_.set).start()
    assert len(started) <= 5


@pytest.mark.slow
def test_jobs_that_end_their_workers_are_reported(monkeypatch):
    monkeypatch.setattr(workers, "_RETRIES", 0)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(processes=True, silence_logs=50, **options) as cluster,
        distributed.Client(cluster) as client,
        Cluster(client).running(os._exit) as run,
        pytest.raises(ConnectionError, match="workers ended while they ran the same jobs"),
    ):
        list(run([(1,)]))


@pytest.mark.slow
def test_analyses(client):
    forest = dm.RandomForestClassifier(10)

    def tables(**options):
        reports = [
            dm.rank(X, Y, estimator=forest, test="altmann", n_permutations=5, **options),
            dm.rank(X, Y, estimator=forest, test=False, stability=1, **options),
            dm.rank(X, Y, estimator=forest, test=False, **options),
            dm.select(X, Y, selector="boruta", n_estimators=20, max_rounds=5, **options),
            dm.compare(X, Y, methods="mdi", n_features=1, n_resamples=3, n_estimators=5, **options),
        ]
        return [
            {name: list(map(str, report.table[name])) for name in report.table if name != "seconds"}
            for report in reports
        ]

    assert tables(client=client) == tables()
    with pytest.raises(ValueError, match="client does not apply"):
        dm.select(X, Y, selector="mrmr", client=client)
    with pytest.raises((TypeError, ValueError), match="client"):
        dm.rank(X, Y, client="cluster")
