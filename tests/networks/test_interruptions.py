"""Networks after a run was killed: the bytes of an undisturbed one."""

import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import duramen as dm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here"),
]

EXPRESSION = np.random.default_rng(0).standard_normal((60, 24))
FOREST = dm.RandomForestRegressor(200, max_features="sqrt")
SETTINGS = {"estimator": FOREST, "n_permutations": 2, "random_state": 5}

CHILD = """
import sys
import numpy as np
import duramen as dm
from duramen.jobs import replicates
replicates._INTERVAL = 0.0  # a checkpoint after each target
EXPRESSION = np.random.default_rng(0).standard_normal((60, 24))
print("ready", flush=True)
checkpoint, result, jobs = sys.argv[1:]
network = dm.genie3(
    EXPRESSION, estimator=dm.RandomForestRegressor(200, max_features="sqrt"), n_permutations=2,
    random_state=5, n_jobs=int(jobs), checkpoint=checkpoint,
)
network.save(result)
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Bytes of the network of one thread."""
    path = tmp_path_factory.mktemp("undisturbed") / "network"
    dm.genie3(EXPRESSION, **SETTINGS).save(path)
    return path.read_bytes()


def child(script, *words):
    """Start the script, and wait until it is about to infer the network."""
    command = [sys.executable, str(script), *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_run_is_killed_and_resumed(tmp_path, undisturbed):
    script, checkpoint = tmp_path / "child.py", tmp_path / "checkpoint"
    script.write_text(textwrap.dedent(CHILD))
    sizes = []
    for jobs in (1, 2):
        before = checkpoint.stat().st_size if checkpoint.exists() else 0
        process = child(script, checkpoint, tmp_path / "network", jobs)
        while not checkpoint.exists() or checkpoint.stat().st_size == before:
            assert process.poll() is None  # killed before it is done
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.stdout.close()
        sizes.append(checkpoint.stat().st_size)
        assert not (tmp_path / "network").exists()
    assert sizes[0] < sizes[1]
    dm.genie3(EXPRESSION, **SETTINGS, n_jobs=2, checkpoint=checkpoint).save(tmp_path / "network")
    assert (tmp_path / "network").read_bytes() == undisturbed
