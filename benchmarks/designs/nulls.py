"""Columns of noise, and tables of them with labels that are independent of all columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from duramen.support.arrays import FloatArray

SHAPES = [(100, 1000), (500, 120), (72, 2000)]
KINDS = 4  # of the mixed columns, in turn


def pure(n: int, p: int, random: np.random.Generator) -> FloatArray:
    """Independent normal columns."""
    return random.normal(size=(n, p))


def correlated(n: int, p: int, random: np.random.Generator) -> FloatArray:
    """Blocks of ten columns with correlation .9."""
    shared = np.repeat(random.normal(size=(n, -(-p // 10))), 10, axis=1)[:, :p]
    return np.sqrt(0.9) * shared + np.sqrt(0.1) * random.normal(size=(n, p))


def mixed(n: int, p: int, random: np.random.Generator) -> FloatArray:
    """Draw columns with 2, 4, 20 and only distinct values, in turn."""
    X = random.normal(size=(n, p))
    for first, n_values in enumerate((2, 4, 20)):
        X[:, first::KINDS] = random.integers(0, n_values, X[:, first::KINDS].shape)
    return X


def autoregressive(n: int, p: int, r: float, random: np.random.Generator) -> FloatArray:
    """Draw normal columns, each with correlation r to its predecessor."""
    X = random.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = r * X[:, j - 1] + np.sqrt(1 - r * r) * X[:, j]
    return X


def genotypes(n: int, p: int, r: float, random: np.random.Generator) -> FloatArray:
    """SNPs of mixed allele frequency, whose haplotypes cut autoregressive columns."""
    limits = stats.norm.ppf(random.uniform(0.02, 0.5, p))
    first, second = ((autoregressive(n, p, r, random) < limits).astype(float) for _ in range(2))
    return first + second


def in_blocks(
    own: FloatArray, sizes: Sequence[int], r: float, random: np.random.Generator
) -> FloatArray:
    """Normal columns with correlation r within blocks of more than one, from independent ones."""
    shared = np.repeat(random.normal(size=(len(own), len(sizes))), sizes, axis=1)
    several = np.repeat([size > 1 for size in sizes], sizes)
    return np.where(several, np.sqrt(1 - r) * own + np.sqrt(r) * shared, own)


NULLS: dict[str, Callable[[int, int, np.random.Generator], FloatArray]] = {
    "pure noise": pure,
    "correlated noise": correlated,
    "mixed cardinality": mixed,
}


def data_set(null: str, shape: tuple[int, int], seed: int) -> tuple[FloatArray, NDArray[Any]]:
    """Return a table of a null, and two classes of equal size assigned at random."""
    random = np.random.default_rng(seed)
    return NULLS[null](*shape, random), random.permutation(np.arange(shape[0]) % 2)
