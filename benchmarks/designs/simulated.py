"""Simulated problems with relevant and irrelevant features, put together from parts.

A signal draws the relevant features and the target, a noise the irrelevant ones, which are
independent of both. `problem` puts them into one table, whose columns are in random order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.designs import nulls
from benchmarks.designs.problem import Problem
from duramen.support.arrays import FloatArray

Generator = np.random.Generator
Columns = Callable[[Generator, int], Any]
Signal = Callable[[Generator, int], tuple[Any, NDArray[Any]]]
Response = Callable[[Generator, FloatArray], NDArray[Any]]
Weights = Callable[[Any, NDArray[Any]], FloatArray]
Draw = Callable[[Generator], Problem]


def problem(n: int, signal: Signal, noise: Columns, weights: Weights | None = None) -> Draw:
    """Return a draw of n rows of signal and noise, weighted by features and target."""

    def draw(random: Generator) -> Problem:
        columns, y = signal(random, n)
        rows = {} if weights is None else {"sample_weight": weights(columns, y)}
        return joined(random, columns, noise(random, n), y, rows)

    return draw


def joined(
    random: Generator, relevant: Any, irrelevant: Any, y: NDArray[Any], rows: Mapping[str, Any]
) -> Problem:
    """Join relevant and irrelevant columns in random order."""
    parts = [pd.DataFrame(relevant), pd.DataFrame(irrelevant)]
    table = pd.concat(parts, axis=1)
    order = random.permutation(table.shape[1])
    shuffled = table.iloc[:, order].set_axis([f"x{j}" for j in range(len(order))], axis=1)
    return Problem(shuffled, y, order < parts[0].shape[1], rows)


def with_rows(draw: Draw, copies: tuple[int, int]) -> Draw:
    """Repeat each row a random number of times, between two limits; copies form a block."""

    def repeated(random: Generator) -> Problem:
        problem = draw(random)
        original = np.repeat(
            np.arange(len(problem.y)), random.integers(copies[0], copies[1] + 1, len(problem.y))
        )
        rows = {"groups": original}
        return Problem(problem.X.iloc[original], problem.y[original], problem.relevant, rows)

    return repeated


# --- noise ----------------------------------------------------------------------------------------


def normal(p: int) -> Columns:
    return lambda random, n: random.normal(size=(n, p))


def bits(p: int) -> Columns:
    return lambda random, n: random.integers(0, 2, (n, p)).astype(np.float64)


def heavy(p: int) -> Columns:
    """Columns of t distributions with 1.5 degrees of freedom."""
    return lambda random, n: random.standard_t(1.5, (n, p))


def alike(sizes: Sequence[int], r: float) -> Columns:
    """Normal columns with correlation r within blocks."""
    return lambda random, n: nulls.in_blocks(random.normal(size=(n, sum(sizes))), sizes, r, random)


def mixed(p: int) -> Columns:
    """Return columns with 2, 4, 20 and only distinct values, in turn."""
    return lambda random, n: nulls.mixed(n, p, random)


def genotypes(p: int, r: float = 0.85) -> Columns:
    """SNPs in linkage disequilibrium."""
    return lambda random, n: nulls.genotypes(n, p, r, random)


def alleles(p: int, frequency: float = 0.3) -> Columns:
    """Independent SNPs, centered."""
    return lambda random, n: random.binomial(2, frequency, (n, p)) - 2.0 * frequency


def autoregressive(p: int, r: float) -> Columns:
    return lambda random, n: nulls.autoregressive(n, p, r, random)


def nominal(p: int, levels: int) -> Columns:
    """Return columns of text with a number of levels of unequal probabilities."""

    def columns(random: Generator, n: int) -> Any:
        probabilities = random.dirichlet(np.full(levels, 5.0), p)
        drawn = [random.choice(levels, n, p=row) for row in probabilities]
        return pd.DataFrame({f"n{j}": pd.Series(x).map("l{}".format) for j, x in enumerate(drawn)})

    return columns


def counts(p: int, zeros: float = 0.5) -> Columns:
    """Poisson counts, a fraction of them set to 0."""
    return lambda random, n: random.poisson(4.0, (n, p)) * (random.random((n, p)) >= zeros) * 1.0


def outlying(columns: Columns, n_rows: int, factor: float) -> Columns:
    """Return columns with a few rows multiplied by a factor."""

    def drawn(random: Generator, n: int) -> Any:
        X = columns(random, n)
        X[random.choice(n, n_rows, replace=False)] *= factor
        return X

    return drawn


def with_missing(columns: Columns, fraction: float) -> Columns:
    """Return columns with values missing completely at random."""

    def drawn(random: Generator, n: int) -> Any:
        table = pd.DataFrame(columns(random, n))
        return table.mask(random.random(table.shape) < fraction)

    return drawn


def missing_at_random(p: int) -> Columns:
    """Normal columns in pairs; the second is missing where the first is above .3."""

    def drawn(random: Generator, n: int) -> Any:
        X = random.normal(size=(n, p))
        X[:, 1::2][X[:, : p - p % 2 : 2] > 0.3] = np.nan
        return X

    return drawn


def together(*parts: Columns) -> Columns:
    """Columns of several kinds beside each other."""
    return lambda random, n: pd.concat([pd.DataFrame(part(random, n)) for part in parts], axis=1)


# --- responses to a linear predictor --------------------------------------------------------------


def classes(random: Generator, predictor: FloatArray, shift: float = 0.0) -> NDArray[Any]:
    """Two classes by a logistic model."""
    return np.where(predictor + random.logistic(size=len(predictor)) > shift, "case", "control")


def numbers(random: Generator, predictor: FloatArray, sd: float = 1.0) -> FloatArray:
    return predictor + sd * random.normal(size=len(predictor))


def cauchy(random: Generator, predictor: FloatArray) -> FloatArray:
    return predictor + random.standard_cauchy(len(predictor))


def student(random: Generator, predictor: FloatArray, df: float = 2.0) -> FloatArray:
    return predictor + random.standard_t(df, len(predictor))


def lognormal(random: Generator, predictor: FloatArray, sd: float = 1.0) -> FloatArray:
    return np.exp(numbers(random, predictor, sd))


def contaminated(random: Generator, predictor: FloatArray, n_rows: int = 4) -> FloatArray:
    """Numbers, of which a few are far away."""
    y = numbers(random, predictor)
    y[random.choice(len(y), n_rows, replace=False)] += 40.0
    return y


def zero_inflated(random: Generator, predictor: FloatArray, zeros: float = 0.4) -> FloatArray:
    """Poisson counts, a fraction of them set to 0."""
    y = random.poisson(np.exp(np.clip(predictor + 0.5, -5, 4))).astype(np.float64)
    return y * (random.random(len(y)) >= zeros)


def grades(random: Generator, predictor: FloatArray, n_grades: int = 5) -> FloatArray:
    """Ordered grades of equal size, as numbers."""
    y = numbers(random, predictor)
    return np.searchsorted(np.quantile(y, np.arange(1, n_grades) / n_grades), y).astype(np.float64)


def grade_names(random: Generator, predictor: FloatArray, n_grades: int = 5) -> NDArray[Any]:
    """Return grades as class labels."""
    return np.array([f"grade {int(g) + 1}" for g in grades(random, predictor, n_grades)])


def survival(random: Generator, predictor: FloatArray, scale: float = 2.0) -> NDArray[Any]:
    """Exponential times with hazard exp(predictor), exponential censoring with a mean of scale."""
    time = random.exponential(np.exp(-predictor))
    censored = random.exponential(scale, len(time))
    y = np.empty(len(time), dtype=[("event", bool), ("time", np.float64)])
    y["event"], y["time"] = time <= censored, np.minimum(time, censored)
    return y


# --- signals --------------------------------------------------------------------------------------


def linear(
    effects: Sequence[float], response: Response = classes, columns: Columns | None = None
) -> Signal:
    """Features with these coefficients, normal ones unless `columns` draws others."""
    drawn = normal(len(effects)) if columns is None else columns

    def signal(random: Generator, n: int) -> tuple[FloatArray, NDArray[Any]]:
        X = drawn(random, n)
        return X, response(random, X @ np.array(effects))

    return signal


def shifted(p: int, shift: float, columns: Columns | None = None) -> Signal:
    """Two classes of equal size; features have the first as others, shifted in the second."""
    drawn = normal(p) if columns is None else columns

    def signal(random: Generator, n: int) -> tuple[FloatArray, NDArray[Any]]:
        X, second = drawn(random, n), random.permutation(np.arange(n) % 2)
        X = X + shift * X.std(axis=0) * second[:, np.newaxis]
        return X, np.where(second, "case", "control")

    return signal


def factorial(
    levels: Sequence[int], rule: Callable[[NDArray[np.int64]], NDArray[Any]] | None = None
) -> Signal:
    """Features of few values determine the class of each cell; a rule may join cells."""

    def signal(random: Generator, n: int) -> tuple[FloatArray, NDArray[Any]]:
        X = random.integers(0, levels, (n, len(levels)))
        cell = np.ravel_multi_index(tuple(X.T), levels) if rule is None else rule(X)
        return X.astype(np.float64), np.array([f"class {int(c):03d}" for c in cell])

    return signal


def parity(k: int, flipped: float = 0.0) -> Signal:
    """Bits whose parity is the class, with a fraction of the classes flipped."""

    def signal(random: Generator, n: int) -> tuple[FloatArray, NDArray[Any]]:
        X = random.integers(0, 2, (n, k))
        odd = (X.sum(axis=1) % 2 == 1) ^ (random.random(n) < flipped)
        return X.astype(np.float64), np.where(odd, "odd", "even")

    return signal


def spread(random: Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """A number that one feature shifts, and whose variance depends on another."""
    X = random.normal(size=(n, 2))
    return X, X[:, 0] + np.exp(0.8 * X[:, 1]) * random.normal(size=n)


def deterministic(random: Generator, n: int) -> tuple[FloatArray, NDArray[Any]]:
    """A class that one feature fixes but for 2 % of the rows, in which another does."""
    X = random.normal(size=(n, 2))
    side = np.where(random.random(n) < 0.02, X[:, 1], X[:, 0])
    return X, np.where(side > 0, "case", "control")


# --- strata and groups ----------------------------------------------------------------------------


def in_strata(n: int, p: int, shift: float) -> Draw:
    """Two centers with other frequencies of the class and means of noise; two features matter."""

    def draw(random: Generator) -> Problem:
        center = np.arange(n) % 2
        X = random.normal(size=(n, 2))
        y = classes(random, X @ np.array([1.2, 1.2]) + 2.0 * shift * (center - 0.5))
        noise = random.normal(size=(n, p)) + shift * center[:, np.newaxis]
        return joined(random, X, noise, y, {"strata": np.array(["north", "south"])[center]})

    return draw


def in_families(n_families: int, size: int, p: int, within: float) -> Draw:
    """Families share features and target; two features matter; whole families are permuted."""

    def draw(random: Generator) -> Problem:
        family = np.repeat(np.arange(n_families), size)
        n = len(family)
        own, shared = random.normal(size=(n, p + 3)), random.normal(size=(n_families, p + 3))
        alike = np.sqrt(within) * shared[family] + np.sqrt(1 - within) * own
        y = alike[:, :2].sum(axis=1) + alike[:, -1]
        return joined(random, alike[:, :2], alike[:, 2:-1], y, {"groups": family})

    return draw


# --- weights --------------------------------------------------------------------------------------


def by_class(case: float, control: float) -> Weights:
    """A weight for each class, as in a case-control study of a rare disease."""
    return lambda columns, y: np.where(y == "case", case, control)


def balancing(columns: Any, y: NDArray[Any]) -> FloatArray:
    """Return weights that give all classes an equal total."""
    names, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    return len(y) / (len(names) * sizes[codes])


def inverse_probability(columns: Any, y: NDArray[Any]) -> FloatArray:
    """Inverse of a probability of being observed, which rises with a numeric target."""
    z = (y - y.mean()) / y.std()
    return 1 + np.exp(-2.0 * z)


def by_feature(columns: Any, y: NDArray[Any]) -> FloatArray:
    """Weights that depend on the first relevant feature."""
    return np.exp(columns[:, 0])


rare = partial(classes, shift=3.5)
"""About one row of 20 is a case where the predictor has a standard deviation of 1."""
