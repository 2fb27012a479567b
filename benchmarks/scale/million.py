"""Sequential random subspace over a million columns, from a generated PLINK file.

``python -m benchmarks.scale.million --dir DIR --trees 10000`` writes a .bed file of 500 rows and a
million columns of two or three values to DIR (125 MB), packs it (148 MB, names and
positions included), searches both with 1000
columns a tree. Each step runs in a process of its own, whose peak of resident memory is told beyond
that of the imports.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.measuring import peak

ROWS, COLUMNS, SUBSPACE = 500, 1_000_000, 1000
RELEVANT = (7, 500_000, 999_999)


def write_bed(folder: Path, n_rows: int, n_columns: int) -> None:
    """Random genotypes; columns of two values where homozygotes of one kind do not occur."""
    random = np.random.default_rng(0)
    (folder / "wide.fam").write_text("".join(f"f{i} i{i} 0 0 0 -9\n" for i in range(n_rows)))
    with (folder / "wide.bim").open("w") as names:
        for j in range(n_columns):
            names.write(f"1 v{j} 0 {j + 1} A C\n")
    codes = np.array([3, 2, 0], dtype=np.uint8)  # no, one, two copies of the first allele
    shifts = np.array([0, 2, 4, 6], dtype=np.uint8)
    with (folder / "wide.bed").open("wb") as file:
        file.write(b"\x6c\x1b\x01")
        for begin in range(0, n_columns, 10_000):
            count = min(10_000, n_columns - begin)
            copies = random.integers(0, 3, (count, n_rows), dtype=np.uint8)
            copies[::2] = np.minimum(copies[::2], 1)
            quarters = codes[np.pad(copies, ((0, 0), (0, -n_rows % 4)))].reshape(count, -1, 4)
            quarters[:, -1, n_rows % 4 or 4 :] = 0
            file.write((quarters << shifts).sum(axis=2, dtype=np.uint8).tobytes())


def pack(folder: Path) -> dict[str, float]:
    import duramen as dm

    dm.pack(np.zeros((2, 2)), folder / "warm.store", overwrite=True)
    before, start = peak(), time.perf_counter()
    dm.pack(folder / "wide.bed", folder / "wide.store", memory="64MB", overwrite=True)
    return {"seconds": time.perf_counter() - start, "peak": peak() - before}


def search(
    folder: Path, where: str, n_trees: int, relevance: str, threads: int
) -> dict[str, float]:
    import duramen as dm

    random = np.random.default_rng(1)
    small = random.normal(size=(50, 60))
    dm.SequentialRandomSubspace(n_estimators=3, relevance=relevance).fit(small, small[:, 0] > 0)
    before, start = peak(), time.perf_counter()
    store = dm.open_store(folder / where)
    table = store.take_columns(list(RELEVANT))
    said = sum(np.asarray(table.codes(j), dtype=float) for j in range(len(RELEVANT)))
    y = said + random.normal(scale=0.5, size=len(said)) > np.median(said)
    reading = 0.0
    take = store.take_columns

    def timed(index: object) -> object:
        nonlocal reading
        begin = time.perf_counter()
        taken = take(index)
        reading += time.perf_counter() - begin
        return taken

    store.take_columns = timed  # type: ignore[method-assign]
    begin = time.perf_counter()
    model = dm.SequentialRandomSubspace(
        n_estimators=n_trees,
        n_subspace_features=SUBSPACE,
        relevance=relevance,
        batch_size=threads,
        n_jobs=threads,
        random_state=0,
    ).fit(store, y)
    seconds = time.perf_counter() - begin
    return {
        "seconds": seconds,
        "per second": n_trees / seconds,
        "fraction reading": reading / seconds / threads,
        "peak": peak() - before,
        "found": len(model.selected_),
        "relevant": sum(int(model.support_[j]) for j in RELEVANT),
        "start": begin - start,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.scale.million", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--trees", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--step", choices=["pack", "wide.store", "wide.bed"])
    parser.add_argument("--relevance", default="probe")
    options = parser.parse_args()
    if options.step == "pack":
        print(json.dumps(pack(options.dir)))
        return 0
    if options.step:
        result = search(
            options.dir, options.step, options.trees, options.relevance, options.threads
        )
        print(json.dumps(result))
        return 0
    options.dir.mkdir(parents=True, exist_ok=True)
    if not (options.dir / "wide.bed").exists():
        write_bed(options.dir, ROWS, options.columns)
    steps = [("pack", "probe")]
    steps += [(where, test) for where in ("wide.store", "wide.bed") for test in ("probe", "decoy")]
    for step, relevance in steps:
        words = [sys.executable, "-m", "benchmarks.scale.million", "--dir", str(options.dir)]
        words += ["--step", step, "--relevance", relevance, "--trees", str(options.trees)]
        words += ["--threads", str(options.threads)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        figures = json.loads(done.stdout)
        figures["peak"] = round(figures["peak"] / 1e6)
        print(step, relevance, {name: round(value, 3) for name, value in figures.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
