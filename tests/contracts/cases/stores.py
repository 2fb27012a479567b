"""Column stores: packed from files of all formats, opened, and used like tables."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import NAMES, classes, estimator, features, jobs, mixed
from tests.contracts.registry import case

import duramen as dm
from duramen import importances


def write_bed(folder: Path, n: int = 12, p: int = 6) -> Path:
    """Write a PLINK file with its two companions."""
    copies = (np.add.outer(np.arange(n) * 5, np.arange(p) * 3) + np.arange(n)[:, None] ** 2) % 4
    pairs = np.array([3, 2, 0, 1], dtype=np.uint8)[copies]  # the last is missing
    quads = np.pad(pairs.T, ((0, 0), (0, -n % 4))).reshape(p, -1, 4)
    packed = quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6
    path = folder / "g.bed"
    path.write_bytes(b"\x6c\x1b\x01" + packed.astype(np.uint8).tobytes())
    path.with_suffix(".bim").write_text("".join(f"1\trs{j}\t0\t{j + 1}\tA\tC\n" for j in range(p)))
    rows = (f"F{i} I{i} 0 0 {1 + i % 2} {1 + i % 2}\n" for i in range(n))
    path.with_suffix(".fam").write_text("".join(rows))
    return path


def write_samples(folder: Path, names: list[str]) -> Path:
    """Write annotations of samples, in another order than that of the table."""
    path = folder / "samples.csv"
    lines = [f"{name},{'case' if i % 3 else 'control'},{i}\n" for i, name in enumerate(names)]
    path.write_text("id,state,age\n" + "".join(reversed(lines)), encoding="utf-8")
    return path


def stored(store: Any) -> Any:
    """What a store holds, the samples included."""
    samples = store.samples
    annotations = (
        None
        if samples is None
        else [[str(x) for x in samples[name].to_pylist()] for name in samples.column_names]
    )
    rows = None if store.row_names is None else [str(name) for name in store.row_names]
    store.verify()
    return (extracts.encoded(store.as_table()), annotations, rows, store.shape)


def in_folder(key: str, *covers: Any) -> Callable[[Callable[[Path], Any]], Any]:
    """Add a case that is given a folder."""

    def register(compute: Callable[[Path], Any]) -> Any:
        def run() -> Any:
            with tempfile.TemporaryDirectory() as folder:
                return compute(Path(folder))

        case(key, *covers)(run)
        return compute

    return register


@in_folder("pack/table in memory", dm.pack)
def _memory(folder: Path) -> Any:
    return stored(dm.pack(mixed(), folder / "s", kinds={"count": "nominal"}, n_jobs=jobs()))


@in_folder("pack/bed and open_store", dm.pack, dm.open_store)
def _bed(folder: Path) -> Any:
    path = write_bed(folder)
    samples = write_samples(folder, [f"I{i}" for i in range(12)])
    opened = dm.open_store(path)
    annotated = dm.open_store(path, samples, samples_id="id")
    state = [str(x) for x in annotated.samples["state"].to_pylist()]
    return (stored(dm.pack(path, folder / "s")), stored(opened), state)


@in_folder("ColumnStore/methods", dm.ColumnStore, dm.open_store)
def _methods(folder: Path) -> Any:
    dm.pack(mixed(), folder / "s")
    store = dm.open_store(folder / "s")
    held = store.to_table()
    return (
        extracts.encoded(store.take_columns(np.array([2, 0]))),
        store.find("flag"),
        [str(name) for name in store.names_of(np.array([1, 3]))],
        np.asarray(store.n_codes()),
        {name: held[name].to_pylist() for name in held.column_names},
        store.fingerprint() == dm.encode(mixed()).fingerprint(),
    )


@in_folder("ColumnStore/forest and importances", dm.ColumnStore, importances.mdi)
def _forest(folder: Path) -> Any:
    store = dm.pack(features(), folder / "s", names=NAMES)
    model = estimator().fit(store, classes())
    return (
        extracts.importances(importances.mdi(model)),
        extracts.importances(importances.mda(model, store, classes(), random_state=2)),
        model.predict_proba(store),
    )


@in_folder("ColumnStore/target", dm.ColumnStore)
def _target(folder: Path) -> Any:
    result = dm.pack(mixed(), folder / "s").target("count")
    parts = result if isinstance(result, tuple) else (result,)
    return [getattr(part, "shape", None) or len(part) for part in parts]
