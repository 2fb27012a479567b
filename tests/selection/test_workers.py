"""Trees that the workers of a Dask cluster grow."""

import os
import pickle
import shutil
import signal
import time

import numpy as np
import pytest
from sklearn.base import clone
from tests.selection.test_sequential_random_subspace import everything, problem, selector

import duramen as dm
from duramen.jobs import workers

distributed = pytest.importorskip("distributed")


def cluster_of(**options):
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", **options
    )


@pytest.fixture(scope="module")
def client():
    """Two workers that are threads of this process."""
    with cluster_of(processes=False) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def processes():
    """Two workers that are processes, and are started again when they die."""
    with cluster_of(processes=True) as cluster, distributed.Client(cluster) as client:
        yield client


def at_tree(client, monkeypatch, number, action):
    """Do something when a tree is about to be sent to the workers; list all that were sent."""
    original, sent = client.submit, []

    def submit(*arguments, **choices):
        if len(sent) + 1 == number:
            action()
        sent.append(original(*arguments, **choices))
        return sent[-1]

    monkeypatch.setattr(client, "submit", submit)
    return sent


# --- workers in this process ------------------------------------------------------------------


def test_the_workers_grow_all_trees_and_forget_them(client, monkeypatch):
    X, y = problem()
    sent = at_tree(client, monkeypatch, 0, None)
    model = selector(22, batch_size=4, client=client).fit(X, y)  # it keeps none of it either
    assert len(sent) == 22
    sent.clear()
    end = time.monotonic() + 20  # they hear so a moment later
    while held := [key for keys in client.has_what().values() for key in keys]:
        assert time.monotonic() < end, held
        time.sleep(0.02)
    assert model.n_estimators_ == 22


# --- among scikit-learn's tools ---------------------------------------------------------------


def test_clones_keep_the_client_and_pickles_do_not(client):
    X, y = problem()
    model = selector(8, client=client, batch_size=2).set_output(transform="pandas").fit(X, y)
    copied = clone(model)
    assert copied.client is model.get_params()["client"] is model.client is client
    assert not hasattr(copied, "support_")
    assert hasattr(copied.fit(X, y).transform(X), "columns")  # clones keep that setting, too
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert everything(again) == everything(model) == everything(copied)
    model.set_params(client=None)
    assert everything(model.fit(X, y)) == everything(again)


def test_closed_and_asynchronous_clients_are_refused(client, monkeypatch):
    with distributed.Client(client.cluster) as other:
        pass
    with pytest.raises(ValueError, match=r"must be connected to a scheduler.*it was closed"):
        selector(8, client=other).fit(*problem())
    monkeypatch.setattr(type(client), "asynchronous", property(lambda self: True))
    with pytest.raises(ValueError, match="must be a client that is not asynchronous"):
        selector(8, client=client).fit(*problem())


# --- what the workers are given ---------------------------------------------------------------


def grower_of(source, y):
    model = selector(2).fit(source, y)
    return model._ensemble._grower


def test_a_task_is_unpickled_when_it_is_opened_and_can_be_sent_on(tmp_path):
    X, y = problem()
    grower = grower_of(dm.pack(X, tmp_path / "s"), y)
    sent = pickle.loads(pickle.dumps(workers.PickledTask.of(grower.grow)))
    sent_on = pickle.loads(pickle.dumps(sent))
    assert sent.open() == sent.open()
    from_there = pickle.loads(pickle.dumps(sent))
    columns, result = np.arange(0, 20, 3), np.zeros(7, dtype=bool)
    expected = pickle.dumps(grower.grow(5, columns, result))
    for copy in (sent, sent_on, from_there):
        assert workers.run_there(copy, 5, columns, result) == expected


def test_a_store_that_a_worker_does_not_see(tmp_path):
    X, y = problem()
    sent = workers.PickledTask.of(grower_of(dm.pack(X, tmp_path / "s"), y).grow)
    shutil.move(tmp_path / "s", tmp_path / "elsewhere")
    with pytest.raises(FileNotFoundError, match="open_store: there is no folder") as caught:
        sent.open()
    assert "each worker reads the store at this path" in caught.value.__notes__[0]
    shutil.move(tmp_path / "elsewhere", tmp_path / "s")
    assert sent.open().__self__.data.table.shape == X.shape


def test_workers_of_other_versions_are_refused(monkeypatch):
    packed = workers.PickledTask.of(grower_of(*problem()).grow)
    here = {**workers.versions(), "numpy": "1.0", "scipy": "0"}
    monkeypatch.setattr(workers, "versions", lambda: here)
    with pytest.raises(ConnectionError, match=r"a worker has numpy 1\.0, its client numpy .*Hint"):
        packed.open()


# --- workers that are processes ---------------------------------------------------------------


@pytest.mark.slow
def test_processes_read_the_store(processes, tmp_path, monkeypatch):
    """By its path, also one from the folder of this process, or by a URL; without a column."""
    from duramen.io.store.column_store import without

    X, y = problem()
    monkeypatch.chdir(tmp_path)
    store = dm.pack(X, "s")
    expected = everything(selector(22, batch_size=4).fit(X[:, :-1], y))
    options = {"batch_size": 4, "client": processes}
    for path in ("s", f"file://{tmp_path}/s"):
        view = without(dm.open_store(path), [19])
        assert everything(selector(22, **options).fit(view, y)) == expected
    (tmp_path / "s").rename(tmp_path / "elsewhere")  # it is open here still, but not there
    with pytest.raises(FileNotFoundError, match="open_store: there is no folder"):
        selector(22, **options).fit(store, y)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
@pytest.mark.parametrize("count", [1, 2])  # with both, what was given to them is lost, too
def test_workers_that_are_killed_change_nothing(processes, tmp_path, monkeypatch, count):
    X, y = problem(n=600, p=60)
    source = X if count == 2 else dm.pack(X, tmp_path / "s")
    options = {"n_subspace_features": 30, "batch_size": 8}
    expected = everything(selector(40, **options).fit(X, y))
    dying = list(processes.run(os.getpid).values())[:count]
    kill = lambda: [os.kill(pid, signal.SIGKILL) for pid in dying]  # noqa: E731
    sent = at_tree(processes, monkeypatch, 20, kill)
    model = selector(40, client=processes, **options).fit(source, y)
    assert everything(model) == expected
    # Dask had the others grow the trees of one; when both were gone, all was sent again.
    assert len(sent) == 40 if count == 1 else len(sent) > 40
    processes.wait_for_workers(2, timeout=60)
    assert not set(processes.run(os.getpid).values()) & set(dying)
