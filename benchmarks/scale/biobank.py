"""Rates of a search over genotypes of a biobank: reading columns of a store, and growing trees.

``python -m benchmarks.scale.biobank --dir DIR`` writes a .bed file of 100,000 rows and 4,000
columns to DIR (100 MB), packs it, and measures, on one thread and in processor time: columns packed
a second, columns read a second, in two bits each, and seconds of a tree on 1,000 columns,
Extra-Trees and random forests of depth 6 with K = 100. The million of trees and columns in
docs/explanation/experiments/scale.md follow from these.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.scale.million import write_bed

N_ROWS, N_COLUMNS, SUBSPACE, N_TREES = 100_000, 4_000, 1_000, 3


def main() -> None:
    """Write the file, and measure the rates."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.biobank", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True)
    folder = parser.parse_args().dir
    import duramen as dm

    write_bed(folder, N_ROWS, N_COLUMNS)
    start = time.process_time()
    store = dm.pack(folder / "wide.bed", folder / "wide.store", memory="256MB", overwrite=True)
    print(f"packed: {N_COLUMNS / (time.process_time() - start):.0f} columns a second")
    size = sum(path.stat().st_size for path in (folder / "wide.store").rglob("*"))
    print(f"on disk: {size / N_COLUMNS / 1000:.1f} kB a column")
    random = np.random.default_rng(0)
    chosen = np.sort(random.choice(N_COLUMNS, SUBSPACE, replace=False))
    start = time.process_time()
    table = store.take_columns(chosen)
    print(f"read: {SUBSPACE / (time.process_time() - start):.0f} columns a second")
    signal = sum(np.asarray(table.codes(j), dtype=float) for j in range(5))
    y = signal + random.normal(size=N_ROWS) > np.median(signal)
    for name in ("ExtraTreesClassifier", "RandomForestClassifier"):
        forest = getattr(dm, name)(N_TREES, max_features=100, max_depth=6, random_state=0)
        start = time.process_time()
        forest.fit(table, y)
        print(f"{name}: {(time.process_time() - start) / N_TREES:.2f} s a tree")


if __name__ == "__main__":
    main()
