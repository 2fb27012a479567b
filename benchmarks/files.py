"""Time of reading and writing files: stores, archives of forests, tables.

``python -m benchmarks.files --dir DIR`` times each operation below once it has been run once, and
prints the medians of 15 rounds. With ``--against SRC``, the folder ``src`` of another checkout with
its kernel compiled, each round runs an operation in both versions right after one another, in an
order that alternates, and the medians of the ratios are printed; exit status 1 where one is more
than 5 % above 1 in processor time. Both versions are warm processes with one thread; wall-clock
time includes waiting for the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LIMIT = 1.05
ROWS, COLUMNS, TEXT_COLUMNS = 500, 50_000, 5_000
LONG_ROWS, LONG_COLUMNS = 200_000, 20

Operation = Callable[[], Any]


def make_inputs(folder: Path) -> None:
    """Write the tables that both versions read."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    random = np.random.default_rng(0)
    wide = random.normal(size=(ROWS, COLUMNS)).round(2)
    np.save(folder / "wide.npy", wide)
    y = np.where(wide[:, 0] + wide[:, 1] > 0, "ill", "well")
    columns = {f"gene{j}": wide[:, j] for j in range(TEXT_COLUMNS)}
    pa_csv.write_csv(pa.table({**columns, "y": y}), folder / "wide.csv")
    long = {f"v{j}": random.normal(size=LONG_ROWS) for j in range(LONG_COLUMNS)}
    words = np.array(["north", "south", "east", "west"])
    table = pa.table({**long, "ward": words[random.integers(0, 4, LONG_ROWS)]})
    with pa.ipc.new_file(str(folder / "long.arrow"), table.schema) as file:
        file.write_table(table)
    feather.write_feather(table, str(folder / "long.feather"))
    pq.write_table(table, folder / "long.parquet")


def _search(store: Path, out: Path) -> Operation:
    from duramen.cli.app import app

    words = [str(store), "--target", "class", "--trees", "200", "--subspace", "50", "--jobs", "1"]
    words += ["--out", str(out), "--quiet"]
    return lambda: app(["select", *words], standalone_mode=False)


def operations(inputs: Path, own: Path) -> dict[str, Operation]:
    """What is timed, by name; stores and archives are made in `own` by the version that runs."""
    import duramen as dm
    from duramen.forests.forest import Forest
    from duramen.tables import read_table

    random = np.random.default_rng(1)
    rows = {"class": random.choice(["ill", "well"], ROWS), "age": random.normal(size=ROWS)}
    wide, long = own / "wide.store", own / "long.store"
    dm.pack(inputs / "wide.npy", wide, samples=_table(rows), overwrite=True)
    known = {f"s{j}": random.normal(size=LONG_ROWS) for j in range(LONG_COLUMNS)}
    known["name"] = np.array([f"row{i}" for i in range(LONG_ROWS)])
    dm.pack(random.normal(size=(LONG_ROWS, 2)), long, samples=_table(known), overwrite=True)
    X, y = random.normal(size=(5000, 20)), random.integers(0, 2, 5000)
    large = dm.RandomForestClassifier(200, random_state=0).fit(X, y).forest_
    many = dm.ExtraTreesClassifier(20_000, random_state=0).fit(X[:60], y[:60]).forest_
    store, everything = dm.open_store(wide), np.arange(COLUMNS)
    found: dict[str, Operation] = {
        f"pack a CSV of {ROWS} x {TEXT_COLUMNS:,}": _pack(inputs / "wide.csv", own),
        f"pack an .npy of {ROWS} x {COLUMNS:,}": _pack(inputs / "wide.npy", own),
        f"pack an .arrow of {LONG_ROWS:,} x {LONG_COLUMNS}": _pack(inputs / "long.arrow", own),
        f"open a store of {ROWS} x {COLUMNS:,}": lambda: dm.open_store(wide),
        "take all its columns": lambda: store.take_columns(everything),
        "take 1000 of its columns, 50 times": _parts(store),
        "map the store whole": lambda: dm.open_store(wide).as_table(),
        "duramen select on it, 200 trees": _search(wide, own / "found"),
        f"samples.arrow of {LONG_ROWS:,} rows": lambda: dm.open_store(long).samples,
    }
    for name, forest in {"200 trees of 5000 rows": large, "20,000 trees of 60 rows": many}.items():
        path = own / f"{name[:6].strip()}.npz"
        forest.save(path)
        found[f"save {name}"] = _saving(forest, path)
        found[f"load {name}"] = _loading(Forest, path)
    for kind in ("arrow", "feather", "parquet"):
        path = inputs / f"long.{kind}"
        found[f"read .{kind} of {LONG_ROWS:,} x {LONG_COLUMNS}"] = _reading(read_table, path)
    return found


def _table(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table(columns)


def _pack(source: Path, own: Path) -> Operation:
    import duramen as dm

    return lambda: dm.pack(source, own / "packed.store", overwrite=True, n_jobs=1)


def _parts(store: Any) -> Operation:
    draws = np.random.default_rng(2).integers(0, COLUMNS, (50, 1000))
    return lambda: [store.take_columns(np.unique(columns)) for columns in draws]


def _saving(forest: Any, path: Path) -> Operation:
    return lambda: forest.save(path)


def _loading(kind: Any, path: Path) -> Operation:
    return lambda: kind.load(path)


def _reading(read: Callable[[Path], Any], path: Path) -> Operation:
    return lambda: read(path)


def serve(inputs: Path, own: Path) -> None:
    """Run the operations that are named on standard input, one a line, and print their times."""
    import warnings

    warnings.simplefilter("ignore")
    own.mkdir(exist_ok=True)
    known = operations(inputs, own)
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        run = known[line.strip()]
        cpu, wall = time.process_time(), time.perf_counter()
        run()
        taken = [time.process_time() - cpu, time.perf_counter() - wall]
        print(json.dumps(taken), flush=True)


class Version:
    """A process that runs operations with the package in the folder `src`."""

    def __init__(self, src: Path, inputs: Path, own: Path) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "ARROW_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--dir", str(inputs), "--serve", str(own)],
            env={**os.environ, **threads, "PYTHONPATH": str(src)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names: list[str] = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"benchmarks.files: the timed process ended ({self._process.wait()})"
            )
        return json.loads(line)

    def run(self, name: str) -> list[float]:
        """Processor and wall-clock seconds of an operation."""
        assert self._process.stdin is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        taken: list[float] = self._answer()
        return taken

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compare(versions: list[Version], names: list[str], rounds: int) -> int:
    """Time, print, and count what is slower than the limit."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {rounds} rounds\n")
    ratios = " | ratio, processor | ratio, wall" if len(versions) > 1 else ""
    print(f"| operation | processor, s | wall, s{ratios} |")
    print("| --- | --- | ---" + " | --- | ---" * (len(versions) > 1) + " |")
    slower = 0
    for name in names:
        taken = np.empty((rounds, len(versions), 2))
        for version in versions:
            version.run(name)
        for k in range(rounds):
            order = range(len(versions)) if k % 2 else reversed(range(len(versions)))
            for i in order:
                taken[k, i] = versions[i].run(name)
        cells = [f"{statistics.median(taken[:, 0, c]):.3g}" for c in range(2)]
        if len(versions) > 1:
            pairs = np.median(taken[:, 0] / taken[:, 1], axis=0)
            cells += [f"{ratio:.3f}" for ratio in pairs]
            slower += bool(pairs[0] > LIMIT)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return slower


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.files", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="place for about 1 GB of files")
    parser.add_argument("--against", type=Path, help="folder src of another version")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument(
        "--only", default="", help="operations whose names match this regular expression"
    )
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.dir, options.serve)
        return 0
    folder = options.dir.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "long.parquet").exists():
        make_inputs(folder)
    sources = [Path(__file__).resolve().parents[1] / "src"]
    sources += [] if options.against is None else [options.against.resolve()]
    versions = [Version(src, folder, folder / f"version{i}") for i, src in enumerate(sources)]
    names = [name for name in versions[0].names if re.search(options.only, name)]
    try:
        return int(compare(versions, names, options.rounds) > 0)
    finally:
        for version in versions:
            version.close()


if __name__ == "__main__":
    sys.exit(main())
