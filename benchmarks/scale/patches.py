"""Memory and time of random patches on a store: ``python -m benchmarks.scale.patches``."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import duramen as dm
from benchmarks.measuring import peak


def write(folder: Path, n_rows: int, n_columns: int, n_values: int) -> Path:
    """Pack a table of whole numbers up to `n_values`, and of a target that depends on two."""
    random = np.random.default_rng(0)
    table = np.lib.format.open_memmap(folder / "table.npy", "w+", np.float32, (n_rows, n_columns))
    step = max(1, 10**7 // n_columns)
    for begin in range(0, n_rows, step):
        part = table[begin : begin + step]
        part[:] = random.integers(0, n_values, part.shape)
    signal = table[:, 0] + table[:, 1] + n_values / 4 * random.standard_normal(n_rows)
    np.save(folder / "y.npy", (signal > np.median(signal)).astype(np.int64))
    del table
    dm.pack(folder / "table.npy", folder / "table.store", memory="512MB")
    (folder / "table.npy").unlink()
    return folder / "table.store"


def child(store: str, target: str, asked: str) -> None:
    """Fit a forest in a separate process, and print time and memory."""
    options = json.loads(asked)
    in_memory = options.pop("in_memory")
    table, y = dm.open_store(store), np.load(target)
    forest = dm.RandomPatchesClassifier(random_state=0, max_features="sqrt", **options)
    settings = forest.growth_settings(*table.shape)
    estimate = dm.forests.patch_memory(table, settings, options["n_jobs"])
    before, start = peak(), time.perf_counter()
    forest.fit(table.as_table() if in_memory else table, y)
    seconds = time.perf_counter() - start
    mdi = forest.feature_importances_
    print(
        json.dumps(
            {
                "seconds": round(seconds, 1),
                "before_MB": round(before / 1e6),
                "peak_MB": round(peak() / 1e6),
                "estimate_MB": round(estimate / 1e6),
                "trees_MB": round(forest.forest_.nbytes / 1e6),
                "digest": float(mdi @ np.arange(len(mdi))).hex(),
            }
        )
    )


def run(function: str, words: list[str]) -> str:
    """Run a function in a separate process, and return its output."""
    line = f"from benchmarks.scale.patches import {function}; {function}(*{words!r})"
    ran = subprocess.run([sys.executable, "-c", line], check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def main() -> None:
    """Fit random patches on a store and in memory, and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.patches", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--values", type=int, default=200)
    parser.add_argument("--max-samples", type=float, default=0.1)
    parser.add_argument("--subspace", type=float, default=0.3)
    parser.add_argument("--trees", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    options = {
        "n_estimators": asked.trees,
        "max_samples": asked.max_samples,
        "n_subspace_features": asked.subspace,
        "min_samples_leaf": 100,
        "n_jobs": asked.jobs,
    }
    with tempfile.TemporaryDirectory() as folder:
        store = write(Path(folder), asked.rows, asked.columns, asked.values)
        files = [str(store), str(Path(folder) / "y.npy")]
        for in_memory in (False, True):
            words = [*files, json.dumps({**options, "in_memory": in_memory})]
            print("in memory" if in_memory else "store    ", run("child", words), flush=True)
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    print(f"{os.cpu_count()} processors, load {load}")


if __name__ == "__main__":
    main()
