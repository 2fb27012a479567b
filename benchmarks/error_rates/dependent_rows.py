"""Dependent rows: frequency of their notes, and features that `max_t` confirms.

``python -m benchmarks.error_rates.dependent_rows --out DIR --data-sets 40`` draws thirteen kinds of
dependent rows in which no feature has an effect on the target, which depends from row to row as the
features do. It counts the data sets in which a look at the data notes that, and those in which
`max_t` confirms any feature at .05, with the rows exchanged, and with the right groups: the
originals of copies, persons, families and plates, squares of a map, blocks of a series.

``--independent 2000`` draws independent rows of twelve kinds that resemble dependent ones, and
counts false alarms. Exit status 1 where a bar is missed: a kind is noted in less than .9 of the
data sets and `max_t` with groups exceeds .05 by more than 3.3 standard errors; or more than 1 in
1000 looks at independent rows is a false alarm, beyond the 99 % band.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom

import duramen as dm
from benchmarks.error_rates.rejections import Data, Run, refitted, report
from duramen.findings.rows import dependence

RUNS = 19
N_FEATURES = 8
VARIANTS = {"rows exchanged": {}, "with groups": {"groups": "groups"}}
Random = np.random.Generator
Array = NDArray[Any]


def _named(X: Array, **columns: Any) -> pd.DataFrame:
    """Features, with further columns before them."""
    return pd.DataFrame(columns | {f"g{j}": X[:, j] for j in range(X.shape[1])})


def _data(X: Any, y: Array, groups: Array, order: Array | None = None) -> Data:
    """Rows in a new order; columns that name groups are no features of the test."""
    order = np.arange(len(y)) if order is None else order
    frame = X if isinstance(X, pd.DataFrame) else _named(X)
    kinds = np.where([name.startswith("g") for name in frame], "features", "names")
    return Data(frame.iloc[order], y[order], kinds, {"groups": groups[order]})


def _alike(group: Array, within: float, random: Random, p: int = N_FEATURES) -> Array:
    """Normal columns with a correlation of the rows of a group."""
    shared = random.normal(size=(int(group.max()) + 1, p))[group]
    return np.sqrt(within) * shared + np.sqrt(1 - within) * random.normal(size=(len(group), p))


def _autoregressive(n: int, p: int, coefficient: float, random: Random) -> Array:
    noise = random.normal(size=(n, p)) * np.sqrt(1 - coefficient**2)
    values = np.empty((n, p))
    values[0] = random.normal(size=p)
    for i in range(1, n):
        values[i] = coefficient * values[i - 1] + noise[i]
    return values


def _copies(random: Random, jitter: float) -> Data:
    original = np.tile(np.arange(30), 10)
    X = random.normal(size=(30, N_FEATURES))[original] + jitter * random.normal(
        size=(300, N_FEATURES)
    )
    return _data(X, random.integers(0, 2, 30)[original], original, random.permutation(300))


def _series(random: Random, coefficient: float, block: int, n: int) -> Data:
    values = _autoregressive(n, N_FEATURES + 1, coefficient, random)
    return _data(values[:, 1:], values[:, 0], np.arange(n) // block)


def _walk(random: Random) -> Data:
    values = np.cumsum(random.normal(size=(300, N_FEATURES + 1)), axis=0)
    return _data(values[:, 1:], values[:, 0], np.arange(300) // 30)


def _clusters(random: Random) -> Data:
    cluster = np.repeat(np.arange(30), 5)
    y = _alike(cluster, 0.7, random, 1)[:, 0]
    return _data(_alike(cluster, 0.7, random), y, cluster)


def _persons(random: Random, label: Callable[[Array], Array], name: str) -> Data:
    person = np.repeat(np.arange(40), 5)
    ill = random.permutation(np.arange(40) % 2)[person]
    X = _named(_alike(person, 0.7, random), **{name: label(random.permutation(40)[person])})
    return _data(X, ill, person, random.permutation(200))


def _text(person: Array) -> Array:
    return np.array([f"P{k:03}" for k in person], dtype=object)


def _plates(random: Random) -> Data:
    plate = np.repeat(np.arange(12), 12)
    y = _alike(plate, 0.4, random, 1)[:, 0]
    X = _named(_alike(plate, 0.4, random), plate=_text(plate))
    return _data(X, y, plate, random.permutation(144))


def _families(random: Random) -> Data:
    family = np.repeat(np.arange(40), 4)
    y = _alike(family, 0.5, random, 1)[:, 0]
    X = _named(_alike(family, 0.5, random), family=family * 7919 % 40)
    return _data(X, y, family, random.permutation(160))


def _map(random: Random) -> Data:
    """Cells of a map, row by row; groups are squares of 4 x 4 cells."""
    side = 16
    places = np.stack(np.divmod(np.arange(side**2), side), axis=1)
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    root = np.linalg.cholesky(np.exp(-distances / 2) + 1e-9 * np.eye(side**2))
    values = root @ random.normal(size=(side**2, N_FEATURES + 1))
    return _data(values[:, 1:], values[:, 0], places[:, 0] // 4 * 4 + places[:, 1] // 4)


def _season(random: Random) -> Data:
    """Twenty years of twelve months each; groups are years."""
    month = 2 * np.pi * np.arange(240) / 12
    phases = random.uniform(0, 2 * np.pi, N_FEATURES + 1)
    values = np.sin(month[:, None] + phases) + random.normal(size=(240, N_FEATURES + 1))
    return _data(values[:, 1:], values[:, 0], np.arange(240) // 12)


DEPENDENT: dict[str, Callable[[Random], Data]] = {
    "10 copies of 30 rows": lambda random: _copies(random, 0.0),
    "10 near copies of 30 rows": lambda random: _copies(random, 0.05),
    "AR(.5), 150 rows": lambda random: _series(random, 0.5, 10, 150),
    "AR(.9), 300 rows": lambda random: _series(random, 0.9, 30, 300),
    "random walk, 300 rows": _walk,
    "30 clusters of 5, in order, no column": _clusters,
    "40 persons x 5, id of text": lambda random: _persons(random, _text, "id"),
    "40 persons x 5, id of numbers": lambda random: _persons(random, np.asarray, "patient_id"),
    "40 persons x 5, another name": lambda random: _persons(random, np.asarray, "code"),
    "12 plates of 12": _plates,
    "40 families of 4": _families,
    "map of 16 x 16, row by row": _map,
    "season of 12, 240 rows": _season,
}


def _effects(random: Random, X: Array, *, classes: bool = True) -> Array:
    """A target that depends on the first three columns."""
    score = X[:, :3].sum(axis=1) + random.normal(size=len(X))
    return (score > np.median(score)).astype(int) if classes else score


def independent(random: Random, kind: str, n: int = 200) -> tuple[Any, Array]:
    """Draw independent rows with effects of features, of a kind in `INDEPENDENT`."""
    X: Any = random.normal(size=(n, N_FEATURES)) + 0.7 * random.normal(size=(n, 1))
    if kind == "correlated normals":
        return X, _effects(random, X)
    if kind == "0/1":
        X = (X > 0).astype(int)
        return X, _effects(random, X)
    if kind == "counts of alleles":
        X = random.binomial(2, random.uniform(0.05, 0.5, 60), (n, 60))
        return X, _effects(random, X, classes=False)
    if kind == "sparse counts":
        X = random.poisson(random.gamma(0.3, 1.0, (n, 40)))
        return X, _effects(random, X)
    if kind == "small integers":
        X = random.poisson(np.exp(1 + 0.5 * X))
        return X, _effects(random, X, classes=False)
    if kind == "one-hot":
        X = np.eye(30)[random.integers(0, 30, n)]
        return X, _effects(random, X)
    if kind == "sorted by the target":
        y = _effects(random, X, classes=False)
        order = np.argsort(y)
        return X[order], y[order]
    if kind == "sorted by classes twice":
        y = _effects(random, X)
        order = np.lexsort((y, np.arange(n) < n // 3))
        return X[order], y[order]
    if kind == "sorted by a column":
        X = X[np.argsort(X[:, 0])]
        return X, _effects(random, X, classes=False)
    if kind == "rounded":
        return X.round(1), _effects(random, X, classes=False).round(1)
    if kind == "age":  # whole numbers on which columns and target depend
        age = np.round(50 + 12 * random.normal(size=n))
        X += (age[:, None] - 50) / 12
        return _named(X, age=age), _effects(random, X)
    center = random.integers(0, 12, n)  # categories on which columns depend
    X += 0.5 * random.normal(size=(12, N_FEATURES))[center]
    return _named(X, center=_text(center)), _effects(random, X - X.mean(axis=0))


INDEPENDENT = (
    "correlated normals",
    "0/1",
    "counts of alleles",
    "sparse counts",
    "small integers",
    "one-hot",
    "sorted by the target",
    "sorted by classes twice",
    "sorted by a column",
    "rounded",
    "age",
    "12 categories",
)


def noted(X: Any, y: Array, groups: Array | None = None) -> str:
    """Kind of the finding about the rows; "" for none."""
    task = "regression" if np.asarray(y).dtype.kind == "f" else "classification"
    finding = dependence(dm.encode(X), y, "y", task, groups)
    return "" if finding is None else finding.kind


def looks(draw: Callable[[Random], Data], n_data_sets: int) -> tuple[Counter[str], Counter[str]]:
    """Kinds of findings without groups, and with them."""
    found: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for b in range(n_data_sets):
        data = draw(np.random.default_rng([7, b]))
        found[0][noted(data.X, data.y)] += 1
        found[1][noted(data.X, data.y, data.rows["groups"])] += 1
    return found


def tests(trees: int, *, classes: bool) -> dict[str, Run]:
    kind = dm.RandomForestClassifier if classes else dm.RandomForestRegressor
    forest = kind(trees, n_jobs=1)
    return {"max_t": refitted("max_t", forest, n_permutations=RUNS, n_jobs=1)}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=40)
    parser.add_argument("--independent", type=int, default=0, metavar="N")
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--kinds", nargs="*", choices=DEPENDENT, default=list(DEPENDENT))
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    missed = []
    for name in chosen.kinds:
        missed += _dependent(name, chosen)
    for kind in INDEPENDENT if chosen.independent else ():
        found = Counter(
            noted(*independent(np.random.default_rng([8, b]), kind))
            for b in range(chosen.independent)
        )
        alarms = chosen.independent - found[""]
        print(f"independent, {kind}: {alarms} false alarms in {chosen.independent:,} {dict(found)}")
        if alarms > binom.ppf(0.99, chosen.independent, 1e-3):
            missed.append(f"{kind}: {alarms} false alarms")
    for line in missed:
        print(f"missed: {line}")
    return int(bool(missed))


def _dependent(name: str, chosen: argparse.Namespace) -> list[str]:
    draw = DEPENDENT[name]
    found, found_in_groups = looks(draw, chosen.data_sets)
    of_test = report(
        name,
        tests(chosen.trees, classes=draw(np.random.default_rng(0)).y.dtype.kind != "f"),
        _features_alone(draw),
        chosen.data_sets,
        variants=VARIANTS,
        seed=1,
        checkpoint=chosen.out / f"{'-'.join(name.split())}-{chosen.trees}.npz",
        families=("max_t",),
        adjusted=("max_t",),
    )
    share = 1 - found[""] / chosen.data_sets
    print(f"noted: {share:.2f} {dict(found)}; with groups {dict(found_in_groups)}", flush=True)
    rate, error = of_test["max_t", "with groups"]["any"]
    if share < 0.9 and rate > 0.05 + 3.3 * max(error, 0.01):
        return [f"{name}: noted in {share:.2f}, with groups {rate:.3f}"]
    return []


def _features_alone(draw: Callable[[Random], Data]) -> Callable[[Random], Data]:
    """Leave out the column that names the groups."""

    def without(random: Random) -> Data:
        data = draw(random)
        chosen = data.kinds == "features"
        return Data(data.X.loc[:, chosen], data.y, data.kinds[chosen], data.rows)

    return without


if __name__ == "__main__":
    sys.exit(main())
