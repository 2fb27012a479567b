"""Encoding takes little memory beyond what it returns, and can be stopped."""

import subprocess
import sys

import pytest

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and sends signals")

PEAK = """
import re, numpy as np
from duramen.data import encode
X = np.random.default_rng(0).random((1_000_000, 20))
encode(X[:1000])
status = lambda: open("/proc/self/status").read()
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", status())[1]) * 1024
before = peak()
table = encode({table})
kept = table.nbytes()
print((peak() - before - kept) / X.nbytes)
"""

STOP = """
import _thread, threading, time, numpy as np, signal, os
from duramen.data import encode
X = np.random.default_rng(0).random((1_000_000, 3))
X = np.lib.stride_tricks.as_strided(X, (1_000_000, 600), (24, 0))
threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    encode(X, n_jobs={n_jobs})
except KeyboardInterrupt:
    print(time.perf_counter() - start)
"""


def run(code: str) -> float:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("table", ["X", "np.asfortranarray(X)[:]"])
def test_peak_memory_is_the_table_and_one_column(table: str) -> None:
    copies = 1 if "fortran" in table else 0
    assert run(PEAK.format(table=table)) - copies < 0.5  # of X: ten columns' worth of workspace


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_within_a_second(n_jobs: int) -> None:
    assert run(STOP.format(n_jobs=n_jobs)) < 1.4
