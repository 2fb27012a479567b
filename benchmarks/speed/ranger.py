"""ranger as one more peer, where R and its package are installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed import cases

SCRIPT = Path(__file__).with_name("ranger.R")


def version() -> str | None:
    """The version of ranger, None where it cannot be called."""
    if shutil.which("Rscript") is None:
        return None
    code = 'cat(as.character(packageVersion("ranger")))'
    done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def seconds(case: cases.Case, n_trees: int, seed: int) -> float:
    """Time a fit after a warm-up in a separate process."""
    X, y = cases.load(case.data)
    target = y if case.regression else np.unique(y, return_inverse=True)[1]
    k = case.max_features(X.shape[1])
    return seconds_of(X, target, case.forest, k, n_trees, case.regression, seed)


def seconds_of(
    X: NDArray[np.float64],
    y: NDArray[Any],
    forest: str,
    max_features: int,
    n_trees: int,
    regression: bool,
    seed: int,
) -> float:
    """Time a fit on a table of shape (n, p) with a target of class codes or numbers."""
    with tempfile.TemporaryDirectory() as folder:
        table, labels = Path(folder) / "X.bin", Path(folder) / "y.bin"
        X.ravel(order="F").tofile(table)
        y.astype(np.float64).tofile(labels)
        command = ["Rscript", str(SCRIPT), str(table), str(labels)]
        command += [str(X.shape[0]), str(X.shape[1]), forest, str(max_features), str(n_trees)]
        command += ["regression" if regression else "classification", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])
