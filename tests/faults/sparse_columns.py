"""Sparse columns, the same columns dense, and several threads: forests and measures alike, in bits.

Under the sanitizers (`tools/sanitize`), one attempt calls most of what the kernel has.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from tests.faults.batches import READ, REFUSED
from tests.faults.problems import draw_estimator, draw_weights, unrefused
from tests.faults.threads import equal

import duramen as dm
from duramen.forests.structure import ARRAY_NAMES


def draw_table(random: np.random.Generator, n: int, p: int) -> tuple[Any, Any]:
    """A dense matrix, and the same as a sparse one that stores some zeros explicitly."""
    kind = random.choice(["counts", "reals", "signed", "many values", "missing", "truth"])
    density = random.uniform(0.0, 0.45, p)
    held = random.random((n, p)) < density
    values = {
        "counts": lambda: random.poisson(2, (n, p)).astype(np.float32),
        "reals": lambda: random.normal(size=(n, p)).round(1),
        "signed": lambda: random.integers(-3, 4, (n, p)).astype(np.int16),
        "many values": lambda: random.normal(size=(n, p)),
        "missing": lambda: random.choice([np.nan, 0.0, 1.5, 2.5], (n, p)),
        "truth": lambda: random.random((n, p)) < 0.7,
    }[kind]()
    X = np.where(held, values, np.zeros((), dtype=values.dtype))
    if kind == "reals":
        X[:, 0] = np.where(held[:, 0], X[:, 0], 1.0)  # the most frequent value is stored
        X[:, 1] = np.where(held[:, 1], 1.0 + 1e-9 * X[:, 1], 1.0)  # equal in single precision
    stored = held | (X != 0)  # NaN differs from 0
    rows, columns = np.nonzero(stored)
    matrix = sparse.coo_array((X[rows, columns], (rows, columns)), shape=(n, p))
    return X, matrix.asformat(str(random.choice(["csr", "csc", "coo"])))


def draw_target(random: np.random.Generator, X: Any, n_classes: int) -> Any:
    """Draw classes, or numbers where there are none, that depend on the first three columns."""
    signal = np.nan_to_num(X[:, :3].astype(float)).sum(axis=1) + random.normal(size=len(X))
    if n_classes == 0:
        return signal.round(1)
    return np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)


def same_tables(table: Any, dense: Any) -> None:
    """Check that two tables have the same codes and values, in bytes."""
    assert table.fingerprint() == dense.fingerprint() == table.dense().fingerprint()
    assert table.value_offsets.tobytes() == dense.value_offsets.tobytes()
    assert table.cut_values.tobytes() == dense.cut_values.tobytes()
    assert table.missing.tobytes() == dense.missing.tobytes()
    for j in range(table.n_columns):
        assert table.codes(j).dtype == dense.codes(j).dtype
        assert table.codes(j).tobytes() == dense.codes(j).tobytes(), j


def same_forests(forest: Any, other: Any) -> None:
    """Check that two forests have the same arrays, in bytes."""
    for name in ARRAY_NAMES:
        assert getattr(forest, name).tobytes() == getattr(other, name).tobytes(), name


def _importances(measure: str, **options: Any) -> Callable[..., Any]:
    def values(fitted: Any, X: Any, y: Any, **threads: Any) -> Any:
        result = getattr(dm.importances, measure)(fitted, X, y, **options, **threads)
        return [getattr(result, "values", getattr(result, "scores", None))]

    return values


MEASURES: dict[str, Callable[..., Any]] = {
    "mda": _importances("mda"),
    "mda of groups": _importances("mda", feature_groups={"a": [0, 1], "b": [2]}),
    "repeated mda": _importances("mda", n_repeats=2, scaled=True),
    "conditional mda": _importances("conditional_mda"),
    "mdi of rows": lambda fitted, X, y, **_: [dm.importances.mdi(fitted, X, y, rows=None).values],
    "local mdi": lambda fitted, X, y, **threads: [
        np.asarray(dm.importances.local_mdi(fitted, X, y, rows=None, **threads).values)
    ],
    "noising": lambda fitted, X, y, **_: [dm.importances.noising(fitted, X, y).values],
    "vote change": _importances("vote_change"),
    "proximity": lambda fitted, X, y, **_: [fitted.proximity(X)],
    "interactions": lambda fitted, X, y, **threads: [
        dm.importances.interactions(fitted, X, **threads).values
    ],
}


@unrefused
def attempt(number: int, folder: Path) -> str:
    """Draw a table, a target and an estimator; grow and measure in all forms."""
    random = np.random.default_rng(number)
    n, p = int(random.integers(257, 500)), int(random.integers(3, 14))
    X, matrix = draw_table(random, n, p)
    n_classes = int(random.choice([0, 2, 3, 5]))
    y = draw_target(random, X, n_classes)
    table, dense = dm.encode(matrix), dm.encode(X)
    same_tables(table, dense)
    weights = draw_weights(random, n)
    estimator = draw_estimator(random, n_classes, y.tolist(), n_trees=3)
    measure = str(random.choice(list(MEASURES)))
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for form, rows, n_jobs in ((table, matrix, None), (dense, X, None), (table, matrix, 4)):
            own = type(estimator)(**{**estimator.get_params(), "n_jobs": n_jobs})
            results.append(_results(own, form, rows, y, weights, MEASURES[measure]))
    first, *others = results
    for other in others:
        assert type(first) is type(other), f"{first!r} but {other!r}"
        if isinstance(first, str):
            assert first == other
        else:
            assert equal(first, other), measure
    return REFUSED if isinstance(first, str) else READ


def _results(
    estimator: Any, form: Any, rows: Any, y: Any, weights: Any, measure: Callable[..., Any]
) -> Any:
    """Return the arrays of a forest, its predictions and a measure; or why there are none."""
    try:
        estimator.fit(form, y, sample_weight=weights)
    except ValueError as error:
        return str(error)
    arrays = [getattr(estimator.forest_, name) for name in ARRAY_NAMES]
    arrays += [estimator.predict(rows), estimator.apply(rows), estimator.feature_importances_]
    arrays += [estimator.oob_error_curve_] if hasattr(estimator, "oob_error_curve_") else []
    try:
        threads = {} if estimator.n_jobs is None else {"n_jobs": estimator.n_jobs}
        measured = measure(estimator, form, y, **threads)
    except ValueError as error:
        return [*arrays, np.array([str(error)])]
    return [*arrays, *measured]
