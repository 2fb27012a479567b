"""Option --scheduler: the bytes of threads, and what a user is told."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.commands import assert_refused, done

distributed = pytest.importorskip("distributed")

QUIET = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of two classes."""
    folder = tmp_path_factory.mktemp("cluster")
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(80, 6)).round(2), columns=list("abcdef"))
    table["y"] = np.where(table["a"] + random.normal(size=80) > 0, "yes", "no")
    table.to_csv(folder / "table.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def address():
    """Scheduler of two workers that are threads of this process."""
    with distributed.LocalCluster(n_workers=2, processes=False, **QUIET) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def _there(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.mark.slow
@pytest.mark.usefixtures("_there")
def test_same_bytes_with_a_scheduler(address, tmp_path, monkeypatch):
    """Other commands pass the same client to functions that tests/jobs/test_clusters.py calls."""
    sent = []
    submit = distributed.Client.submit
    monkeypatch.setattr(
        distributed.Client,
        "submit",
        lambda client, *job, **choices: sent.append(job) or submit(client, *job, **choices),
    )
    words = ["rank", "table.csv", "--target", "y", "--trees", "40", "--permutations", "19"]
    done(tmp_path / "here", *words)
    result, _ = done(tmp_path / "there", *words, "--scheduler", address)
    assert sent
    assert f"scheduler {address}: 2 workers, 2 threads in all" in result.stderr
    here, there = ((tmp_path / out / "result.csv").read_bytes() for out in ("here", "there"))
    assert there == here


@pytest.mark.usefixtures("_there")
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers there within"),
        (["--scheduler", "nowhere"], "--scheduler nowhere: no Dask scheduler answers"),
        (["--scheduler", "none.json"], "--scheduler none.json does not exist"),
    ],
)
def test_refused(more, message, tmp_path, monkeypatch):
    monkeypatch.setattr("duramen.cli.command._TIMEOUT", 0.3)
    words = ["table.csv", "--target", "y", "--trees", 20, *more]
    assert_refused("rank", tmp_path / "out", words, message)


@pytest.mark.usefixtures("_there")
@pytest.mark.slow
def test_a_method_without_repeated_work_has_no_workers(address, tmp_path):
    words = ["table.csv", "--target", "y", "--selector", "mrmr", "--scheduler", address]
    message = "--scheduler does not apply to --selector mrmr; leave it out"
    assert_refused("select", tmp_path / "out", words, message)


@pytest.mark.usefixtures("_there")
def test_the_extra_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ["table.csv", "--target", "y", "--scheduler", "tcp://127.0.0.1:9"]
    assert_refused("rank", tmp_path / "out", words, "pip install duramen[distributed]")


# --- programs, some of which are killed ----------------------------------------------------------

LINE = "rank table.csv --target y --trees 40 --permutations 100 --quiet --seed 3"
LONG = LINE.split(" ")


KEEPING = """
from duramen.cli import main
from duramen.jobs import replicates
replicates._INTERVAL = 0.0  # a checkpoint after each job
main()
"""


def program(*words):
    """Start a program whose errors can be read."""
    return subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True)


def dask(*words):
    """Start a program of Dask."""
    return program(Path(sys.executable).with_name("dask"), *words)


@pytest.fixture
def undisturbed(folder, tmp_path, monkeypatch):
    """Result of the long command on threads."""
    monkeypatch.chdir(folder)
    done(tmp_path / "undisturbed", *LONG)
    return (tmp_path / "undisturbed" / "result.csv").read_bytes()


@pytest.fixture
def crew(tmp_path):
    """Scheduler that writes a file, and a worker: programs, as on a cluster."""
    file = tmp_path / "scheduler.json"
    alone = ["--no-dashboard", "--scheduler-file", file]
    started = [dask("scheduler", "--port", "0", *alone)]
    while not file.exists():
        time.sleep(0.05)
    started.append(dask("worker", *alone, "--nthreads", "2"))
    with distributed.Client(scheduler_file=str(file)) as client:
        client.wait_for_workers(1, timeout=60)
    yield file, started
    for member in started:
        member.kill()
        member.communicate()


@pytest.mark.slow
@pytest.mark.usefixtures("_there")
def test_a_scheduler_that_is_killed_costs_no_result(tmp_path, undisturbed, crew):
    """Killed workers are the matter of tests/selection/test_workers.py."""
    file, (scheduler, _) = crew
    checkpoint, out = tmp_path / "kept.npz", tmp_path / "out"
    words = [*LONG, "--checkpoint", checkpoint]
    options = [*words, "--scheduler", file, "--out", out]
    running = program(sys.executable, "-c", KEEPING, *options)
    while not checkpoint.exists() and running.poll() is None:
        time.sleep(0.01)
    assert running.poll() is None, running.stderr.read()
    scheduler.kill()
    _, said = running.communicate(timeout=120)
    assert (running.returncode, out.exists()) == (2, False)
    assert "duramen rank: client: the connection to the scheduler was lost" in said
    assert "Traceback" not in said
    done(out, *words)
    assert (out / "result.csv").read_bytes() == undisturbed
