"""Error rates and power of tests of each feature given all others, on designs of known answer.

``python -m benchmarks.power.direct --out DIR --data-sets 40`` draws data sets of the designs below.
The direct features are those that the target depends on given all others; the rest only stand in
for them. It runs

* ``conditional`` of this package, with its defaults, and ``cpi``, its second test;
* of hidimstat (optional): the distilled conditional randomization test with the lasso, conditional
  feature importance with a forest (half of the rows to learn from, half to test on);
* ``knockoffs`` of this package, with its defaults, and a single draw of them;
* knockoffs of hidimstat, with its defaults: the lasso, second-order Gaussian knockoffs, one draw;
* knockoff+ with the lasso and second-order Gaussian knockoffs, of this folder;

and prints for each design and method the mean fraction of the direct features that are found at a
false discovery rate of .1 (power), the mean fraction of others among those (FDR), the fraction of
p-values <= .05 of features that are not direct, processor seconds a data set, and the fraction of
data sets where this package warns that draws do not fit. Exit status 1 where the FDR
of ``conditional`` or ``knockoffs`` is above the 99 % band of .1. A run that was killed goes on from
its files in DIR, one for each design and method.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

import duramen as dm
from benchmarks.designs.problem import Problem
from benchmarks.power import knockoffs
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray

LEVEL = 0.1
Generator = np.random.Generator
Drawn = tuple[Any, NDArray[Any], NDArray[np.bool_]]
Design = Callable[[Generator, int, int], Drawn]


# --- designs --------------------------------------------------------------------------------------


def many(draw: Design, effect: Callable[[FloatArray, int], FloatArray], k: int) -> Design:
    """The features of a design, of which k are direct by an effect of the standardized feature."""

    def drawn(random: Generator, n: int, p: int) -> Drawn:
        X = draw(random, n, p)[0]
        direct = chosen(random, p, k)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        signs = random.choice([-1.0, 1.0], k)
        effects = (effect(Z[:, j], i) for i, j in enumerate(np.flatnonzero(direct)))
        signal = sum(sign * values for sign, values in zip(signs, effects, strict=True))
        return X, signal + np.std(signal) * random.normal(size=n) * 0.5, direct

    return drawn


def line(z: FloatArray, _: int) -> FloatArray:
    """The feature itself."""
    return z


def line_or_modulus(z: FloatArray, i: int) -> FloatArray:
    """The feature itself, or the modulus of every second one."""
    return np.abs(z) if i % 2 else z


def chosen(random: Generator, p: int, k: int) -> NDArray[np.bool_]:
    """A mask of k features."""
    mask = np.zeros(p, dtype=np.bool_)
    mask[random.choice(p, k, replace=False)] = True
    return mask


def linear(
    random: Generator, X: FloatArray, direct: NDArray[np.bool_], snr: float = 1.0
) -> FloatArray:
    """A sum of standardized features with coefficients of +-1, and noise."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    signal = Z[:, direct] @ random.choice([-1.0, 1.0], direct.sum())
    return signal + random.normal(size=len(X)) * np.sqrt(direct.sum() / snr) * 0.7


def equicorrelated(r: float) -> Design:
    """Normal features with correlations r, of which 8 are direct."""

    def draw(random: Generator, n: int, p: int) -> Drawn:
        X = np.sqrt(r) * random.normal(size=(n, 1)) + np.sqrt(1 - r) * random.normal(size=(n, p))
        direct = chosen(random, p, 8)
        return X, linear(random, X, direct), direct

    return draw


def autoregressive(random: Generator, n: int, p: int) -> Drawn:
    """Normal features with correlations .7^|j - k|; 8 are direct."""
    X = random.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(0.51) * X[:, j]
    direct = chosen(random, p, 8)
    return X, linear(random, X, direct), direct


def blocks(random: Generator, n: int, p: int) -> Drawn:
    """Blocks of 20 features with correlations .8, each with one direct member."""
    size = min(20, p)
    factors = np.repeat(random.normal(size=(n, p // size)), size, axis=1)
    X = np.sqrt(0.8) * factors + np.sqrt(0.2) * random.normal(size=factors.shape)
    direct = np.zeros(X.shape[1], dtype=np.bool_)
    for first in range(0, min(X.shape[1], 8 * size), size):
        direct[first + random.integers(size)] = True
    return X, linear(random, X, direct), direct


def mixed(random: Generator, n: int, p: int, k: int = 6) -> Drawn:
    """Numbers, flags, grades and columns of 30 levels that hang together; k are direct."""
    latent = np.sqrt(0.5) * random.normal(size=(n, 1)) + np.sqrt(0.5) * random.normal(size=(n, p))
    kinds = np.arange(p) % 4
    frame, effects = {}, []
    for j in range(p):
        z = latent[:, j]
        if kinds[j] == 0:
            frame[f"number{j}"], effect = z, z
        elif kinds[j] == 1:
            flag = z > 0.5
            frame[f"flag{j}"], effect = np.where(flag, "yes", "no"), flag * 2.0
        elif kinds[j] == 2:
            grade = np.digitize(z, [-0.8, 0.3, 1.2])
            frame[f"grade{j}"], effect = grade.astype(float), grade * 1.0
        else:
            cut = np.clip((stats.norm.cdf(z) * 30).astype(int), 0, 29)
            of_level = random.permutation(30)
            frame[f"level{j}"] = np.array([f"v{v:02d}" for v in of_level[cut]])
            effect = (cut % 3) * 1.5
        effects.append(effect)
    direct = chosen(random, p, k)
    y = sum(effects[j] / effects[j].std() for j in np.flatnonzero(direct))
    return pd.DataFrame(frame), y + random.normal(size=n), direct


def many_mixed(random: Generator, n: int, p: int) -> Drawn:
    """Columns of `mixed`, of which 20 are direct."""
    return mixed(random, n, p, 20)


def heavy_tails(random: Generator, n: int, p: int) -> Drawn:
    """Features and noise of a t distribution with 3 degrees of freedom, in a chain."""
    X = random.standard_t(3, size=(n, p))
    for j in range(1, p):
        X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
    direct = chosen(random, p, 8)
    return X, linear(random, X, direct) + 0.7 * random.standard_t(3, size=n), direct


def genotypes(random: Generator, n: int, p: int) -> Drawn:
    """0, 1 or 2 minor alleles in linkage disequilibrium, blocks of 20; two classes."""
    frequency = random.uniform(0.1, 0.5, p)
    X = np.zeros((n, p))
    for _ in range(2):
        z = random.normal(size=n)
        for j in range(p):
            z = random.normal(size=n) if j % 20 == 0 else 0.8 * z + 0.6 * random.normal(size=n)
            X[:, j] += stats.norm.cdf(z) < frequency[j]
    direct = chosen(random, p, 6)
    odds = 1.2 * linear(random, X, direct, snr=1e6)
    return X, np.where(random.random(n) < 1 / (1 + np.exp(-odds)), "case", "control"), direct


def interactions(random: Generator, n: int, p: int) -> Drawn:
    """Two signs of products and two numbers, among normal features with correlations .5."""
    X = np.sqrt(0.5) * random.normal(size=(n, 1)) + np.sqrt(0.5) * random.normal(size=(n, p))
    direct = chosen(random, p, 6)
    a = X[:, direct].T
    y = 2 * np.sign(a[0] * a[1]) + 2 * np.sign(a[2] * a[3]) + a[4] + a[5]
    return X, y + random.normal(size=n), direct


def u_shapes(random: Generator, n: int, p: int) -> Drawn:
    """Squares, a modulus, a sine and a line, among normal features with correlations .5."""
    X = np.sqrt(0.5) * random.normal(size=(n, 1)) + np.sqrt(0.5) * random.normal(size=(n, p))
    direct = chosen(random, p, 5)
    a = X[:, direct].T
    y = a[0] ** 2 + a[1] ** 2 + 2 * np.abs(a[2]) + np.sin(2 * a[3]) + a[4]
    return X, y + random.normal(size=n), direct


def common_scale(random: Generator, n: int, p: int) -> Drawn:
    """A scale that all features share (t, 4), and noise that grows with the first of 8 direct."""
    X = np.sqrt(4 / random.chisquare(4, size=(n, 1))) * random.normal(size=(n, p))
    direct = chosen(random, p, 8)
    signal = X[:, direct] @ random.choice([-1.0, 1.0], 8)
    first = np.abs(X[:, np.flatnonzero(direct)[0]])
    return X, signal + 2 * first * random.normal(size=n), direct


def curved(random: Generator, n: int, p: int) -> Drawn:
    """Each second feature is a square of its neighbor plus noise; the neighbors are direct."""
    X = random.normal(size=(n, p))
    X[:, 1::2] = X[:, : 2 * (p // 2) : 2] ** 2 + 0.5 * random.normal(size=(n, p // 2))
    direct = np.zeros(p, dtype=np.bool_)
    direct[0:10:2] = True
    return X, np.abs(X[:, direct]).sum(axis=1) + 0.5 * random.normal(size=n), direct


DESIGNS: dict[str, tuple[Design, int, int]] = {
    "equicorrelated .5, 300 x 100": (equicorrelated(0.5), 300, 100),
    "equicorrelated .8, 300 x 100": (equicorrelated(0.8), 300, 100),
    "equicorrelated .95, 1000 x 50": (equicorrelated(0.95), 1000, 50),
    "autoregressive, 100 x 20": (autoregressive, 100, 20),
    "autoregressive, 300 x 200": (autoregressive, 300, 200),
    "autoregressive, 300 x 1000": (autoregressive, 300, 1000),
    "blocks of 20, 300 x 160": (blocks, 300, 160),
    "blocks of 20, 200 x 400": (blocks, 200, 400),
    "mixed kinds, 100 x 24": (mixed, 100, 24),
    "mixed kinds, 400 x 24": (mixed, 400, 24),
    "mixed kinds, 1000 x 40": (mixed, 1000, 40),
    "heavy tails, 200 x 50": (heavy_tails, 200, 50),
    "heavy tails, 500 x 100": (heavy_tails, 500, 100),
    "genotypes, 400 x 100": (genotypes, 400, 100),
    "genotypes, 1000 x 300": (genotypes, 1000, 300),
    "interactions, 300 x 40": (interactions, 300, 40),
    "U shapes, 400 x 30": (u_shapes, 400, 30),
    "curved features, 300 x 20": (curved, 300, 20),
    "a common scale, 200 x 50": (common_scale, 200, 50),
    "30 direct, autoregressive, 300 x 100": (many(autoregressive, line, 30), 300, 100),
    "30 direct, heavy tails, 500 x 100": (many(heavy_tails, line, 30), 500, 100),
    "30 direct, equicorrelated .5, 500 x 200": (many(equicorrelated(0.5), line, 30), 500, 200),
    "30 direct, genotypes, 1000 x 200": (many(genotypes, line, 30), 1000, 200),
    "20 direct, lines and moduli, 1000 x 60": (
        many(equicorrelated(0.3), line_or_modulus, 20),
        1000,
        60,
    ),
    "20 direct, mixed kinds, 1000 x 60": (many_mixed, 1000, 60),
}


# --- methods --------------------------------------------------------------------------------------


def ours(method: str) -> Callable[[Drawn, int], tuple[FloatArray, NDArray[np.bool_], bool]]:
    """P-values of this package, the features that it calls direct, and whether it warns."""

    def tested(data: Drawn, seed: int) -> tuple[FloatArray, NDArray[np.bool_], bool]:
        X, y, _ = data
        test = dm.significance.conditional(None, X, y, method=method, random_state=seed, n_jobs=1)
        return test.p_values, test.mask(LEVEL), test.metadata["diagnosis"]["misfit"]

    return tested


def numeric(X: Any) -> tuple[FloatArray, NDArray[np.int64]]:
    """Standardized columns, and the feature that each belongs to."""
    return knockoffs.columns(Problem(X, np.zeros(len(X)), np.ones(1, dtype=np.bool_)))


def numbers(y: NDArray[Any]) -> FloatArray:
    """A standardized number, or indicator of the second of two classes."""
    values = y if y.dtype.kind == "f" else (y == np.unique(y)[1]).astype(float)
    return (values - values.mean()) / values.std()


def distilled(data: Drawn, seed: int) -> FloatArray:
    """hidimstat's distilled conditional randomization test; least p of a feature's columns."""
    from hidimstat import D0CRT
    from sklearn.linear_model import LassoCV

    X, feature = numeric(data[0])
    y = numbers(data[1])
    test = D0CRT(LassoCV(alphas=10), screening_threshold=None, random_state=seed)
    test.fit(X, y)
    test.importance(X, y)
    least = np.ones(feature.max() + 1)
    np.minimum.at(least, feature, test.pvalues_)
    return np.minimum(1.0, least * np.bincount(feature))


def forest_importance(data: Drawn, seed: int) -> FloatArray:
    """hidimstat's conditional feature importance of a forest, on half of the rows."""
    from hidimstat import CFI
    from sklearn.ensemble import RandomForestRegressor

    X, feature = numeric(data[0])
    y, n = numbers(data[1]), len(X)
    rows = np.random.default_rng(seed).permutation(n)
    train, test = rows[: n // 2], rows[n // 2 :]
    forest = RandomForestRegressor(100, max_features=1 / 3, random_state=seed).fit(
        X[train], y[train]
    )
    groups = {f"f{j}": np.flatnonzero(feature == j).tolist() for j in range(feature.max() + 1)}
    importance = CFI(
        forest,
        n_permutations=5,
        features_groups=groups,
        feature_types="continuous",
        random_state=seed,
    )
    importance.fit(X[train], y[train])
    importance.importance(X[test], y[test])
    return np.nan_to_num(np.asarray(importance.pvalues_), nan=1.0)


def taken_by_p(p_values: FloatArray) -> NDArray[np.bool_]:
    """Benjamini and Hochberg at .1."""
    return np.asarray(stats.false_discovery_control(p_values) <= LEVEL)


def of_knockoffs(n_draws: int) -> Callable[[Drawn, int], FloatArray]:
    """1 for features that knockoffs of this package do not select, else 0."""

    def p_values(data: Drawn, seed: int) -> FloatArray:
        X, y, _ = data
        result = dm.significance.knockoffs(
            None, X, y, n_draws=n_draws, alpha=LEVEL, random_state=seed, n_jobs=1
        )
        return np.where(result.mask(LEVEL), 0.0, 1.0)

    return p_values


def hidimstat_knockoffs(data: Drawn, seed: int) -> FloatArray:
    """1 for features that knockoffs of hidimstat do not select, else 0; numeric columns only."""
    from hidimstat import ModelXKnockoff

    X, feature = numeric(data[0])
    if len(np.unique(feature)) < X.shape[1]:
        raise ValueError("knockoffs of hidimstat select columns, not features of several columns.")
    test = ModelXKnockoff(random_state=seed, n_repeats=1)
    test.fit_importance(X, numbers(data[1]))
    taken = np.asarray(test.fdr_selection(fdr=LEVEL)).ravel() > 0
    return np.where(taken, 0.0, 1.0)


def knockoff_plus(data: Drawn, seed: int) -> FloatArray:
    """1 for features that knockoff+ does not take, else 0."""
    X, y, direct = data
    W = knockoffs.statistics(Problem(X, y, direct), np.random.default_rng(seed))
    return np.where(knockoffs.selected(W, LEVEL), 0.0, 1.0)


METHODS: dict[str, Callable[[Drawn, int], Any]] = {
    "conditional": ours("covariance"),
    "cpi": ours("cpi"),
    "distilled": distilled,
    "CFI of a forest": forest_importance,
    "knockoffs": of_knockoffs(20),
    "knockoffs, 1 draw": of_knockoffs(1),
    "knockoffs, hidimstat": hidimstat_knockoffs,
    "knockoff+": knockoff_plus,
}


# --- runs -----------------------------------------------------------------------------------------


def measured(design: str, method: str, n_data_sets: int, folder: Path) -> FloatArray:
    """Power, FDR, fraction of p <= .05 of the others, seconds, warned: shape (data sets, 5)."""
    draw, n, p = DESIGNS[design]

    def task(b: int, seed: int) -> FloatArray:
        data = draw(np.random.default_rng([b, 34]), n, p)
        direct, began = data[2], time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = METHODS[method](data, seed % 2**31)
        seconds = time.process_time() - began
        if not isinstance(answer, tuple):
            answer = answer, taken_by_p(answer), False
        p_values, taken, warned = answer
        false = np.count_nonzero(taken & ~direct) / max(1, np.count_nonzero(taken))
        small = (p_values[~direct] <= 0.05).mean()
        return np.array([taken[direct].mean(), false, small, seconds, warned])

    name = "".join(c if c.isalnum() else "-" for c in f"{design}--{method}")
    return run_replicates(
        task,
        n_data_sets,
        5,
        seed=0,
        identity={"benchmark": "direct", "design": design, "of": method, "taken": "by q"},
        plan=Plan(checkpoint=folder / f"{name}.npz"),
        function="direct",
    )


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=40)
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS))
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    above = False
    print(
        f"{'design':40} {'method':20} {'power':>12} {'FDR':>12} {'p <= .05':>9} "
        f"{'seconds':>8} {'warned':>6}"
    )
    for design in asked.designs:
        for method in asked.methods:
            values = measured(design, method, asked.data_sets, asked.out)
            mean = values.mean(axis=0)
            error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
            high = mean[1] - 2.58 * error[1] > LEVEL
            above |= high and method in ("conditional", "knockoffs")
            print(
                f"{design:40} {method:20} {mean[0]:.3f} ({error[0]:.3f}) {mean[1]:.3f} "
                f"({error[1]:.3f}) {mean[2]:9.4f} {mean[3]:8.2f} {mean[4]:6.2f}"
                f"{'  above' if high else ''}",
                flush=True,
            )
    return int(above)


if __name__ == "__main__":
    sys.exit(main())
