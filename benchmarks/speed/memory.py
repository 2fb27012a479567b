"""Peak memory of one fit in a process of its own.

``python -m benchmarks.speed.memory SIDE CASE_INDEX N_TREES DATA.npz`` prints two numbers of bytes
as JSON: the peak of the whole process, and how far the fit alone went above what stood before it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.measuring import peak, status
from benchmarks.speed import cases


@dataclass(frozen=True)
class Memory:
    """Bytes: of the whole process at its peak, and of the fit alone."""

    peak: int
    growth: int


def of_fit(side: str, case: cases.Case, n_trees: int) -> Memory:
    """Measure a fit in a fresh process, which reads the data from a file."""
    X, y = cases.load(case.data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y)
        index = str(cases.CASES.index(case))
        command = [
            sys.executable,
            "-m",
            "benchmarks.speed.memory",
            side,
            index,
            str(n_trees),
            str(path),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Memory(**json.loads(done.stdout))


def main(side: str, index: str, n_trees: str, path: str) -> None:
    case = cases.CASES[int(index)]
    with np.load(path) as archive:
        data = archive["X"], archive["y"]
    cases.DATA[case.data] = lambda: data
    cases.forest_class(side, case)  # the imports
    before = status("VmRSS") or peak()
    imports = peak()
    cases.fit(side, case, int(n_trees), seed=0)
    whole = peak()
    # Where importing went higher than the fit, the fit's own growth is not seen: zero then.
    growth = whole - before if whole > imports else 0
    sys.stdout.write(json.dumps({"peak": whole, "growth": growth}))


if __name__ == "__main__":
    main(*sys.argv[1:])
