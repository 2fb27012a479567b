"""Saved forests whose arrays and header were altered, in archives that are otherwise sound."""

from __future__ import annotations

import copy
import functools
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.faults.batches import READ

import duramen as dm
from duramen.forests import Forest
from duramen.forests.prediction import predict, rows_of
from duramen.results.archive import read_archive

N_ROWS = 40
ODD = [0, -1, 1, 2, 3, 2**31, 2**44, 2**63, 2**64, 2**80, None, "x", [], {}, True, 1.5, "\x1b[2J"]


@functools.cache
def sound() -> tuple[list[tuple[dict[str, Any], dict[str, Any]]], Any]:
    """Header and arrays of a forest of each family of splits, and the rows they were grown on."""
    import tempfile

    import pandas as pd

    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "number": random.normal(size=N_ROWS),
            "gaps": np.where(random.random(N_ROWS) < 0.2, np.nan, random.integers(0, 5, N_ROWS)),
            "text": random.choice(["a", "bc", "def"], N_ROWS),
        }
    )
    y = random.choice(["yes", "no"], N_ROWS)
    forests = []
    for splits in ("ordered", "multiway", "any", "one-vs-rest"):
        path = Path(tempfile.mkdtemp()) / "forest.npz"
        dm.RandomForestClassifier(4, splits=splits, random_state=0).fit(X, y).forest_.save(path)
        forests.append(read_archive(path, what=None, newest=9, function="sound"))
    return forests, X


def attempt(number: int, folder: Path) -> str:
    """Alter some of the arrays or the header, load the forest, and use it."""
    random = np.random.default_rng(number)
    forests, X = sound()
    header, arrays = copy.deepcopy(forests[number % len(forests)])
    for _ in range(int(random.integers(1, 3))):
        if random.random() < 0.3:
            _alter_header(header, random)
        else:
            _alter_array(arrays, random)
    path = folder / "forest.npz"
    _write(path, header, arrays, compressed=random.random() < 0.05)
    forest = Forest.load(path)
    dm.importances.mdi(forest, by_degree=True)
    dm.importances.frequency(forest)
    for tree in forest:
        assert tree.depth.max() < 10**6
    predict(forest, rows_of(forest, X, "attempt", "attempt"))
    return READ


def _alter_array(arrays: dict[str, Any], random: np.random.Generator) -> None:
    name = str(random.choice(sorted(name for name in arrays if name != "json")))
    array = arrays[name]
    how = random.integers(8)
    if how == 0:
        arrays[name] = array[: int(random.integers(0, len(array) + 1))]
    elif how == 1:
        arrays[name] = np.concatenate([array, array[:1]])
    elif how == 2:
        arrays[name] = array.astype(random.choice(["f4", "i8", "u1", "U3"]))
    elif how == 3:
        del arrays[name]
    elif len(array) and array.dtype.kind in "iuf":
        arrays[name] = array = array.copy()
        flat = array.reshape(-1)
        info = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.finfo(array.dtype)
        odd = [0, 1, 2, -1, info.max, info.min, 2**20, 2**30, 2**44]
        if array.dtype.kind == "f":
            odd += [np.nan, np.inf, -0.5]
        for place in random.integers(len(flat), size=int(random.integers(1, 4))):
            value = odd[int(random.integers(len(odd)))]
            if array.dtype.kind != "f":
                value = min(max(int(value), info.min), info.max)
            flat[place] = value


def _alter_header(header: dict[str, Any], random: np.random.Generator) -> None:
    inner = header.get("forest")
    parts = [header, inner, inner.get("settings") if isinstance(inner, dict) else None]
    part = parts[int(random.choice(3, p=[0.1, 0.5, 0.4]))]
    if not isinstance(part, dict) or not part:
        part = header
    key = str(random.choice(sorted(part)))
    if random.random() < 0.2:
        del part[key]
    else:
        part[key] = ODD[int(random.integers(len(ODD)))]


def _write(path: Path, header: dict[str, Any], arrays: dict[str, Any], compressed: bool) -> None:
    text = np.frombuffer(json.dumps(header).encode("ascii"), dtype=np.uint8)
    save = np.savez_compressed if compressed else np.savez
    with open(path, "wb") as file:
        save(file, json=text, **arrays)
    assert zipfile.is_zipfile(path)
