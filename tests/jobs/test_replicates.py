import random
import runpy
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from duramen.jobs import replicates
from duramen.jobs.replicates import OBSERVED, Plan, replicate_seed, run_replicates
from duramen.results import archive
from duramen.results.archive import read_archive, write_archive


def drawn(b, seed):
    """Return the result of replicate b: three numbers from its seed."""
    return np.random.default_rng(seed).random(3) + b


def run(n, *, task=drawn, width=3, seed=5, identity=None, plan=None, **rest):
    identity = {"method": "test", "data": "abc"} if identity is None else identity
    return run_replicates(
        task,
        n,
        width,
        seed=seed,
        identity=identity,
        plan=Plan() if plan is None else plan,
        function="test",
        **rest,
    )


def failing_at(b_bad, error):
    def task(b, seed):
        if b == b_bad:
            raise error
        return drawn(b, seed)

    return task


# --- seeds and order -----------------------------------------------------------------------


def test_seeds_differ_between_numbers_and_runs():
    seeds = {replicate_seed(seed, b) for seed in (0, 1, 2**64 - 1) for b in [*range(200), OBSERVED]}
    assert len(seeds) == 603
    assert all(0 <= seed < 2**64 for seed in seeds)
    assert replicate_seed(3, 7) == replicate_seed(3, 7)


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_any_number_of_threads_gives_the_same_in_the_same_order(n_threads):
    def late(b, seed):
        time.sleep((7 * b) % 5 * 0.001)
        return drawn(b, seed)

    np.testing.assert_array_equal(run(25, task=late, plan=Plan(n_threads)), run(25))


# --- stopping early ------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 4])
def test_decided_sees_every_beginning_once_and_stops_the_run(n_threads):
    seen = []

    def decided(values):
        seen.append(values.copy())
        return len(values) == 6

    result = run(50, decided=decided, plan=Plan(n_threads))
    np.testing.assert_array_equal(result, run(6))
    assert [len(values) for values in seen] == [1, 2, 3, 4, 5, 6]
    np.testing.assert_array_equal(seen[3], run(4))


# --- progress and memory -------------------------------------------------------------------


def test_what_does_not_fit_is_refused(leave_memory):
    leave_memory(1000)
    with pytest.raises(MemoryError, match=r"test: 100 replicates of 3 numbers needs.*fewer"):
        run(100)


# --- checkpoints ---------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.checkpoint"


def stored_values(path):
    return read_archive(path, what="replicates", newest=1, function="test")[1]["values"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_interrupted_run_goes_on_where_it_was(path, error, n_threads):
    plan = Plan(n_threads, path)
    with pytest.raises(error):
        run(20, task=failing_at(9, error()), plan=plan)
    np.testing.assert_array_equal(stored_values(path), run(9))
    calls = []

    def counted(b, seed):
        calls.append(b)
        return drawn(b, seed)

    np.testing.assert_array_equal(run(20, task=counted, plan=plan), run(20))
    assert sorted(calls) == list(range(9, 20))
    np.testing.assert_array_equal(run(20, task=failing_at(0, error()), plan=plan), run(20))
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_resumed_file_holds_the_same_bytes(path, tmp_path):
    with pytest.raises(ValueError):
        run(20, task=failing_at(9, ValueError()), plan=Plan(1, path))
    run(20, plan=Plan(2, path))
    other = tmp_path / "other"
    run(20, plan=Plan(1, other))
    assert path.read_bytes() == other.read_bytes()


def test_finished_run_is_extended_and_a_shorter_one_reads_its_beginning(path):
    run(8, plan=Plan(1, path))
    np.testing.assert_array_equal(run(12, plan=Plan(1, path)), run(12))
    np.testing.assert_array_equal(run(5, plan=Plan(1, path)), run(5))
    np.testing.assert_array_equal(stored_values(path), run(12))


def test_resumed_run_stops_where_the_undisturbed_one_does(path):
    run(9, plan=Plan(1, path))
    for stop in (4, 9, 12):
        result = run(30, decided=lambda values, s=stop: len(values) == s, plan=Plan(1, path))
        np.testing.assert_array_equal(result, run(stop))


def test_resumed_run_is_ready_for_the_same(path):
    def ready(values):
        return {0: 4, 4: 10, 10: 10}[4 * (len(values) >= 4) + 6 * (len(values) >= 10)]

    with pytest.raises(ValueError):
        run(50, task=failing_at(7, ValueError()), ready=ready, plan=Plan(1, path))
    np.testing.assert_array_equal(run(50, ready=ready, plan=Plan(1, path)), run(10))


def test_written_now_and_then(path, monkeypatch):
    lengths = []

    def task(b, seed):
        lengths.append(len(stored_values(path)) if path.exists() else 0)
        return drawn(b, seed)

    monkeypatch.setattr(replicates, "_INTERVAL", 0.0)
    monkeypatch.setattr(archive, "_PATIENCE", 0.0)
    run(5, task=task, plan=Plan(1, path))
    assert lengths == [0, 1, 2, 3, 4]
    lengths.clear()
    path.unlink()
    monkeypatch.setattr(replicates, "_INTERVAL", 5.0)
    run(5, task=task, plan=Plan(1, path))
    assert lengths == [0, 0, 0, 0, 0]
    assert len(stored_values(path)) == 5


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 6},
        {"identity": {"method": "test", "data": "abd"}},
        {"identity": {"method": "test", "data": "abc", "parameters": {"max_depth": "3"}}},
        {"width": 4},
    ],
)
def test_checkpoint_of_another_run_is_refused_and_kept(path, changes):
    run(4, plan=Plan(1, path))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"test: the checkpoint .* is of another run.*Hint"):
        run(8, plan=Plan(1, path), **changes)
    assert path.read_bytes() == before


def test_checkpoint_of_another_version_is_refused(path, monkeypatch):
    run(4, plan=Plan(1, path))
    monkeypatch.setattr(archive, "versions", lambda: {"duramen": "0.0.1"})
    with pytest.raises(ValueError, match=r"other data, settings, seed or version"):
        run(8, plan=Plan(1, path))


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5, 0.99])
def test_truncated_checkpoint_is_refused(path, fraction):
    run(40, plan=Plan(1, path))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(fraction * len(whole))])
    with pytest.raises(ValueError, match=r"test: .*run\.checkpoint is not a file saved by duramen"):
        run(40, plan=Plan(1, path))


def test_other_files_and_folders_are_refused_before_any_work(path):
    write_archive(path, {"what": "Importances", "format": 1}, {"values": np.zeros(3)})
    refuse = failing_at(0, AssertionError("a task was run"))
    with pytest.raises(ValueError, match=r"test: .* holds a Importances, not replicates"):
        run(4, task=refuse, plan=Plan(1, path))
    with pytest.raises(ValueError, match=r"test: the folder of the checkpoint .* does not exist"):
        run(4, task=refuse, plan=Plan(1, path.parent / "missing" / "x"))


CHILD = """
    import sys

    import numpy as np

    import duramen as dm
    from duramen.results import archive
    from duramen.jobs import replicates
    from duramen.significance.permutation_tests import altmann

    replicates._INTERVAL = archive._PATIENCE = float(sys.argv[3])
    random = np.random.default_rng(0)
    X, y = random.normal(size=(100, 30)), random.integers(0, 2, 100)
    forest = dm.RandomForestClassifier(250)  # some 20 ms
    print("ready", flush=True)
    result = altmann(
        forest, X, y, n_permutations=100, random_state=1, n_jobs=2, checkpoint=sys.argv[1]
    )
    result.save(sys.argv[2])
"""


def stamp(file: Path) -> int:
    """When a file was written, 0 where there is none."""
    return file.stat().st_mtime_ns if file.exists() else 0


def child(script: Path, checkpoint: Path, result: Path, interval: float) -> subprocess.Popen[str]:
    command = [sys.executable, script, checkpoint, result, str(interval)]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_killed_at_two_random_moments_it_ends_with_the_same_bytes(tmp_path, monkeypatch):
    """Kills at random moments (seed 0) after a write, which come seldom or after each replicate."""
    script = tmp_path / "child.py"
    script.write_text(textwrap.dedent(CHILD))
    moments = random.Random(0)
    checkpoint, lengths = tmp_path / "checkpoint", []
    for k in range(2):
        before = stamp(checkpoint)
        process = child(script, checkpoint, tmp_path / "result", 0.0 if k % 2 else 0.05)
        deadline = time.monotonic() + 60
        while stamp(checkpoint) == before and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(moments.uniform(0.0, 0.1))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.stdout.close()
        lengths.append(len(stored_values(checkpoint)))
    assert lengths == sorted(lengths)
    assert 0 < lengths[-1] < 100  # killed on the way, every time
    assert len(set(lengths)) >= 2
    assert not (tmp_path / "result").exists()
    for module, name in ((replicates, "_INTERVAL"), (archive, "_PATIENCE")):
        monkeypatch.setattr(module, name, getattr(module, name))  # which the script changes
    for file, result in ((checkpoint, "result"), (tmp_path / "fresh", "undisturbed")):
        monkeypatch.setattr(sys, "argv", list(map(str, (script, file, tmp_path / result, 5.0))))
        runpy.run_path(str(script))
    assert (tmp_path / "result").read_bytes() == (tmp_path / "undisturbed").read_bytes()
    assert checkpoint.read_bytes() == (tmp_path / "fresh").read_bytes()
