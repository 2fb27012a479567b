"""Rejection rates of tests by kind of feature, over many data sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.measuring import timed
from duramen.data import EncodedTable
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray

LEVEL = 0.05
RELEVANT, FALSE = "relevant", "fraction false"
# Rate and standard error of each kind of features, by test and variant.
Rates = dict[tuple[str, str], dict[str, tuple[float, float]]]
# The test has no such parameter; or no importance is negative, which `janitza` needs.
REFUSALS = ("unexpected keyword argument", "importances is negative")
Run = Callable[[EncodedTable, NDArray[Any], int, Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Data:
    """A table whose features are of known kinds."""

    X: Any
    y: NDArray[Any]
    kinds: NDArray[Any]
    """Name of the kind of each feature."""
    rows: Mapping[str, Any] = field(default_factory=dict)
    """Strata and groups, by any name."""


def refitted(method: str, estimator: Any, **options: Any) -> Run:
    """A function of `dm.significance` that grows forests."""

    def run(X: EncodedTable, y: NDArray[Any], seed: int, rows: Mapping[str, Any]) -> Any:
        test = getattr(dm.significance, method)
        return test(estimator, X, y, random_state=seed, **options, **rows)

    return run


def correlation(X: EncodedTable, y: NDArray[Any], seed: int) -> FloatArray:
    """Absolute correlation of every column with the target."""
    columns = np.stack([X.values(j)[X.codes(j)] for j in range(X.n_columns)])
    columns = columns - columns.mean(axis=1, keepdims=True)
    target = y - y.mean()
    sizes = np.linalg.norm(columns, axis=1) * np.linalg.norm(target)
    return np.abs(columns @ target) / np.where(sizes > 0, sizes, 1.0)


def taken(result: Any, names: Sequence[str], each: bool) -> FloatArray:
    """1 for each feature that is taken, 0 for others, NaN where it was not tested; shape (p,)."""
    if isinstance(result, dm.SequentialRandomSubspace):
        return result.get_support().astype(np.float64)
    if isinstance(result, dm.significance.ErrorRates):
        return np.isin(names, result.selected(LEVEL)).astype(np.float64)
    if isinstance(result, dm.significance.AdjustedSignificance):
        below = result.p_adjusted <= LEVEL
    else:
        below = (result.p_values if each else result.q_values) <= LEVEL
    place = dict(zip(result.names, below.astype(np.float64).tolist(), strict=True))
    return np.array([place.get(name, np.nan) for name in names])


def rates(
    tests: Mapping[str, Run],
    draw: Callable[[np.random.Generator], Data],
    n_data_sets: int,
    *,
    variants: Mapping[str, Mapping[str, str]],
    seed: int,
    checkpoint: Path | None = None,
    adjusted: Sequence[str] = (),
) -> tuple[Rates, tuple[str, ...]]:
    """Fraction of the features of each kind that are taken at .05, and its standard error.

    Parameters
    ----------
    tests : mapping
        Tests by name.
    draw : callable
        Draws a data set.
    n_data_sets : int
    variants : mapping
        What each variant of a test is given: for a parameter, the labels of that name in
        ``Data.rows``.
    seed : int
    checkpoint : Path, optional
        Where finished data sets are kept.
    adjusted : sequence of str
        Tests whose adjusted p-values are read.

    Returns
    -------
    mapping from (test, variant) to a mapping from a kind to rate and standard error, and the kinds.
    The last kind stands for the fraction of what is taken that is not of the kind "relevant", 0
    where nothing is; it is called "any" where no feature is relevant.
    """
    kinds = tuple(dict.fromkeys(draw(np.random.default_rng(0)).kinds.tolist()))
    kinds = tuple(sorted(kinds, key=lambda kind: kind != RELEVANT))
    kinds = (*kinds, FALSE if RELEVANT in kinds else "any")
    cells = [(name, variant) for name in tests for variant in variants]

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        data = draw(random)
        table, results = dm.encode(data.X), []
        for name, variant in cells:
            labels = {key: data.rows[label] for key, label in variants[variant].items()}
            try:
                result = tests[name](table, data.y, seed_b % 2**32, labels)
            except (TypeError, ValueError) as error:
                if not any(why in str(error) for why in REFUSALS):
                    raise
                results.append([np.nan] * len(kinds))
                continue
            each = taken(result, table.names, name not in adjusted)
            results.append([np.nanmean(each[data.kinds == kind]) for kind in kinds[:-1]])
            results[-1].append(np.nansum(each[data.kinds != RELEVANT]) / max(1, np.nansum(each)))
        return np.array(results).ravel()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = run_replicates(
            task,
            n_data_sets,
            len(cells) * len(kinds),
            seed=seed,
            identity={"cells": [list(cell) for cell in cells]},
            plan=Plan(1, checkpoint, 0),
            function="benchmarks",
        ).reshape(n_data_sets, len(cells), len(kinds))
        means, errors = np.nanmean(values, axis=0), np.nanstd(values, axis=0, ddof=1)
    errors /= np.sqrt(np.maximum(1, np.isfinite(values).sum(axis=0)))
    results = {
        cell: dict(zip(kinds, zip(means[k], errors[k], strict=True), strict=True))
        for k, cell in enumerate(cells)
    }
    return results, kinds


def report(
    name: str,
    tests: Mapping[str, Run],
    draw: Callable[[np.random.Generator], Data],
    n_data_sets: int,
    *,
    families: Sequence[str],
    **options: Any,
) -> Rates:
    """Print the table of a problem, with the options of `rates`, and return its rates."""
    seconds, (by_cell, kinds) = timed(lambda: rates(tests, draw, n_data_sets, **options))
    print(f"\n{name}: {n_data_sets} data sets, {seconds:.0f} s\n")
    print(markdown(by_cell, kinds, list(options["variants"]), families), flush=True)
    errors = [error for cell in by_cell.values() for _, error in cell.values()]
    print(f"\nlargest standard error {np.nanmax(errors):.3f}")
    return by_cell


def markdown(
    by_cell: Rates,
    kinds: Sequence[str],
    variants: Sequence[str],
    families: Sequence[str] = (),
) -> str:
    """A table of rates: one line a test, one column a kind and a variant.

    The last kind is shown of `families`, tests that bound or estimate an error rate of all that is
    taken.
    """
    heads = ["test", *(f"{kind}, {v}" if v else kind for kind in kinds for v in variants)]
    lines = [heads, ["---"] * len(heads)]
    for name in dict.fromkeys(test for test, _ in by_cell):
        cells = [
            short(
                np.nan if kind == kinds[-1] and name not in families else by_cell[name, v][kind][0]
            )
            for kind in kinds
            for v in variants
        ]
        lines.append([name, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def short(rate: float) -> str:
    """Return a rate as text, or a dash for NaN."""
    return "-" if np.isnan(rate) else f"{rate:.3f}".replace("0.", ".")
