"""Saved forests whose arrays and header were altered, under a digest that fits."""

from __future__ import annotations

import copy
import functools
from pathlib import Path
from typing import Any

import numpy as np
from tests.faults.batches import READ

import duramen as dm
from duramen.forests import Forest
from duramen.forests.prediction import predict, rows_of
from duramen.results.archive import read_archive, write_archive

N_ROWS = 40
ODD = [0, -1, 1, 2, 3, 2**31, 2**44, 2**63, 2**64, 2**80, None, "x", [], {}, True, 1.5, "\x1b[2J"]


@functools.cache
def sound() -> tuple[list[tuple[type[Any], dict[str, Any], dict[str, Any]]], Any]:
    """Class, header and arrays of forests of each family of splits and of estimators, and rows."""
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
    of_numbers = random.normal(size=N_ROWS)
    pairs = zip(random.random(N_ROWS) < 0.5, random.integers(1, 9, N_ROWS), strict=True)
    times = np.array(list(pairs), dtype=[("event", bool), ("time", float)])
    fitted: list[Any] = [
        *(
            dm.RandomForestClassifier(4, splits=splits, random_state=0).fit(X, y).forest_
            for splits in ("ordered", "multiway", "any", "one-vs-rest")
        ),
        dm.RandomForestClassifier(9, oob_score=True, random_state=0).fit(X, y),
        dm.RandomPatchesRegressor(4, random_state=0).fit(X, of_numbers),
        dm.RandomSurvivalForest(4, random_state=0).fit(X, times),
    ]
    path = Path(tempfile.mkdtemp()) / "forest.npz"
    made = []
    for one in fitted:
        one.save(path)
        made.append((type(one), *read_archive(path, what=None, newest=9, function="sound")))
    return made, X


def attempt(number: int, folder: Path) -> str:
    """Alter some of the arrays or the header under a digest that fits, load the forest, use it."""
    random = np.random.default_rng(number)
    forests, X = sound()
    kind, header, arrays = copy.deepcopy(forests[number % len(forests)])
    for _ in range(int(random.integers(1, 3))):
        if random.random() < 0.3:
            _alter_header(header, random)
        else:
            alter_array(arrays, random)
    write_archive(folder / "forest.npz", header, arrays)
    loaded = kind.load(folder / "forest.npz")
    forest = loaded if kind is Forest else loaded.forest_
    if not forest.target_class.censored:
        dm.importances.mdi(forest, by_degree=True)
    dm.importances.frequency(forest)
    for tree in forest:
        assert tree.depth.max() < 10**6
    predict(forest, rows_of(forest, X, "attempt", "attempt"))
    if kind is not Forest:
        loaded.predict(X)
        repr(loaded)
    return READ


def alter_array(arrays: dict[str, Any], random: np.random.Generator) -> None:
    """Cut, repeat, recast, remove or exchange an array, or put odd numbers into it."""
    name, other = (str(one) for one in random.choice(sorted(arrays), size=2))
    array = arrays[name]
    how = random.integers(9) if array.ndim else 2
    if how == 8:
        arrays[name], arrays[other] = arrays[other], arrays[name]
    elif how == 0:
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
