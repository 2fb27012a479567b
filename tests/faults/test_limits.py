"""Limits of the system: fewer threads than were asked for change nothing but the time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from duramen import cli

resource = pytest.importorskip("resource")

SCRIPT = """
import resource, sys, threading
import numpy as np
import duramen as dm

random = np.random.default_rng(0)
X = random.normal(size=(300, 20))
y = random.integers(0, 3, 300)
def everything(n_jobs):
    forest = dm.RandomForestClassifier(40, random_state=0, n_jobs=n_jobs).fit(X, y)
    mda = dm.importances.mda(forest, X, y, n_jobs=n_jobs)
    table = dm.encode(np.tile(X, (1, 20)), n_jobs=n_jobs)
    return [forest.feature_importances_, mda.values, forest.predict_proba(X), table.fingerprint()]

alone = everything(1)
from duramen.support.threads import Pool
highest = resource.getrlimit(resource.RLIMIT_AS)[1]
for room in map(int, sys.argv[1:]):
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + room * 2**20, highest))
    with Pool(64) as pool:
        assert list(pool.map(abs, range(-500, 0))) == list(range(500, 0, -1))
        assert threading.active_count() < 64
    many = everything(64)
    assert all(np.array_equal(a, b) for a, b in zip(alone, many, strict=True))
    print("equal", room)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_threads_that_cannot_start_leave_their_work_to_others() -> None:
    """A thread takes some 8 MB of addresses: 64 of them do not fit in 24, 64 or 160 MB."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "24", "64", "160"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["equal 24", "equal 64", "equal 160"]


@pytest.mark.parametrize(("left", "n_threads"), [(1 << 28, "1"), (None, None)])
def test_openblas_gets_one_thread_where_few_addresses_are_left(left, n_threads, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "")  # so that it is removed at the end
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    monkeypatch.setattr("duramen.cli.addresses_left", lambda: left)
    monkeypatch.setattr(sys, "argv", ["duramen", "--version"])
    cli.main()
    assert os.environ.get("OPENBLAS_NUM_THREADS") == n_threads
