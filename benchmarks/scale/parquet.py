"""Memory of packing a tall Parquet file: ``python -m benchmarks.scale.parquet``."""

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
import pyarrow as pa
import pyarrow.parquet as pq

import duramen as dm
from benchmarks.measuring import peak

AT_A_TIME = 500_000  # rows of a row group


def write(path: Path, n_rows: int, n_columns: int) -> None:
    """Write numbers of three decimals, whole numbers and letters, a row group at a time."""
    random, letters = np.random.default_rng(0), np.array(list("abcdefgh"))
    writer = None
    for begin in range(0, n_rows, AT_A_TIME):
        n = min(AT_A_TIME, n_rows - begin)
        columns = {}
        for j in range(n_columns):
            kind = j % 4
            if kind < 2:
                columns[f"number{j}"] = random.standard_normal(n).round(3)
            elif kind == 2:
                columns[f"count{j}"] = random.integers(0, 20 * (j + 1), n)
            else:
                columns[f"letter{j}"] = letters[random.integers(0, 8, n)]
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def child(source: str, store: str) -> None:
    """Pack a file with default options, and print time and memory."""
    start = time.perf_counter()
    dm.pack(source, store)
    codes = sum(file.stat().st_size for file in Path(store).glob("codes.*"))
    print(
        json.dumps(
            {
                "seconds": round(time.perf_counter() - start, 1),
                "codes_MB": round(codes / 1e6),
                "peak_MB": round(peak() / 1e6),
                "bar_MB": round(1.2 * codes / 1e6 + 300),
            }
        )
    )


def main() -> None:
    """Write the file and pack it in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.parquet", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=50)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, store = Path(folder) / "tall.parquet", Path(folder) / "tall.store"
        write(path, asked.rows, asked.columns)
        words = [str(path), str(store)]
        line = f"from benchmarks.scale.parquet import child; child(*{words!r})"
        subprocess.run([sys.executable, "-c", line], check=True)
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    print(
        f"{asked.rows:,} rows x {asked.columns} columns; {os.cpu_count()} processors, load {load}"
    )


if __name__ == "__main__":
    main()
