"""Time of reading and writing files: stores, archives of forests, tables.

``python -m benchmarks.speed.files --dir DIR`` times each operation below once it has been run once,
and prints the medians. With ``--against SRC``, the folder ``src`` of another checkout with its
kernel compiled, it runs both versions in pairs (`benchmarks.speed.pairs`) and prints the ratios;
exit status 1 where one is more than 5 % above 1 in processor time. All processes have one thread;
wall-clock time includes waiting for the disk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed import pairs
from benchmarks.speed.pairs import Operation

ROWS, COLUMNS, TEXT_COLUMNS = 500, 50_000, 5_000
LONG_ROWS, LONG_COLUMNS = 200_000, 20


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
    from duramen.cli.app import run

    words = [
        str(store),
        "--target",
        "class",
        "--trees",
        "200",
        "--n-subspace-features",
        "50",
        "--jobs",
        "1",
    ]
    words += ["--out", str(out), "--quiet"]
    return lambda: run(["select", *words])


def operations(inputs: Path, own: Path) -> dict[str, Operation]:
    """Return the timed operations by name; the running version makes its files in `own`."""
    import duramen as dm
    from duramen.forests import Forest
    from duramen.io import read_table

    random = np.random.default_rng(1)
    rows = {"class": random.choice(["ill", "well"], ROWS), "age": random.normal(size=ROWS)}
    wide, long = own / "wide.store", own / "long.store"
    dm.pack(inputs / "wide.npy", wide, samples=_table(rows), overwrite=True)
    annotations = {f"s{j}": random.normal(size=LONG_ROWS) for j in range(LONG_COLUMNS)}
    annotations["name"] = np.array([f"row{i}" for i in range(LONG_ROWS)])
    dm.pack(random.normal(size=(LONG_ROWS, 2)), long, samples=_table(annotations), overwrite=True)
    X, y = random.normal(size=(5000, 20)), random.integers(0, 2, 5000)
    large = dm.RandomForestClassifier(200, random_state=0).fit(X, y).forest_
    many = dm.ExtraTreesClassifier(20_000, random_state=0).fit(X[:60], y[:60]).forest_
    store, everything = dm.open_store(wide), np.arange(COLUMNS)
    by_name: dict[str, Operation] = {
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
        by_name[f"save {name}"] = _saving(forest, path)
        by_name[f"load {name}"] = _loading(Forest, path)
    for kind in ("arrow", "feather", "parquet"):
        path = inputs / f"long.{kind}"
        by_name[f"read .{kind} of {LONG_ROWS:,} x {LONG_COLUMNS}"] = _reading(read_table, path)
    return by_name


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


if __name__ == "__main__":
    sys.exit(pairs.run("benchmarks.speed.files", __doc__ or "", operations, make_inputs))
