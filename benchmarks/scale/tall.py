"""Time and memory of `duramen rank` on a tall Parquet file: ``python -m benchmarks.scale.tall``."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# Of 30 columns: numbers, whole numbers of few values, and categories.
NUMBERS, COUNTS, CATEGORIES = 20, 5, 5


def write(path: Path, n_rows: int, task: str) -> None:
    """Write a table whose target depends on num0, num1, num2, num3 and int0."""
    random = np.random.default_rng(0)
    columns = {f"num{j}": random.standard_normal(n_rows) for j in range(NUMBERS)}
    columns |= {f"int{j}": random.integers(0, 50 * (j + 1), n_rows) for j in range(COUNTS)}
    words = np.array(list("abcdefghij"))
    columns |= {f"cat{j}": words[random.integers(0, 5 + j, n_rows)] for j in range(CATEGORIES)}
    signal = columns["num0"] + 0.7 * columns["num1"] * (columns["num2"] > 0)
    signal = signal + 0.5 * np.sin(columns["num3"]) + 0.02 * columns["int0"]
    signal = signal + 0.9 * random.standard_normal(n_rows)
    classes = np.where(signal > np.quantile(signal, 0.7), "case", "control")
    columns["outcome"] = classes if task == "classification" else signal
    pq.write_table(pa.table(columns), path)


def main() -> None:
    """Write the table, rank its columns, and print time and memory."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.tall", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument(
        "--task", choices=("classification", "regression"), default="classification"
    )
    parser.add_argument("options", nargs="*", help="options of duramen rank, after --")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "tall.parquet", Path(folder) / "out"
        write(path, asked.rows, asked.task)
        words = [sys.executable, "-m", "duramen", "rank", path, "--target", "outcome"]
        start = time.perf_counter()
        subprocess.run([*words, "--out", out, *asked.options], check=True)
        wall = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    processor = used.ru_utime + used.ru_stime
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    print(f"steps (s): {json.dumps(record['timings'])}")
    print(
        f"{asked.rows:,} rows, {record['settings']['n_estimators']} trees: {wall:.0f} s, "
        f"{processor:.0f} s of a processor, peak {used.ru_maxrss / 1e6:.2f} GB; "
        f"{os.cpu_count()} processors, load {load}"
    )


if __name__ == "__main__":
    main()
