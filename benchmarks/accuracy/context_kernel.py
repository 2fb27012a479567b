"""Errors of an importance as a function of a numeric context, by bins and by kernel weights.

``python -m benchmarks.accuracy.context_kernel`` draws samples in which a fair bit x0 equals the
target with probability .5 + s(u), u uniform being the context, so that its importance at u is 1 -
H(.5 + s(u)) bits in trees of any depth; two more bits are noise. It prints root mean square errors
over u, from 20 samples each, of steps (bins) and of lines between points (kernel weights), for
bandwidths of 1 and 2 over the number of points. Three minutes of a processor. Exit status 1 if the
default bandwidth is not nearer than bins of the same number, but for a wave of three points.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import duramen as dm
from duramen.support.arrays import FloatArray

SAMPLES, TREES = 20, 30
SHAPES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "reverses": lambda u: 0.45 * (2 * u - 1),
    "rises": lambda u: 0.45 * u,
    "wave": lambda u: 0.45 * np.sin(2 * np.pi * u),
    "constant": lambda u: 0.3 + 0 * u,
}
SIZES = [(200, 3), (200, 5), (1000, 5), (1000, 10), (5000, 10)]  # rows and points
FACTORS = (1, 2)  # bandwidths, times the number of points
AT = (np.arange(1000) + 0.5) / 1000


def information(strength: FloatArray) -> FloatArray:
    """Bits that a fair bit tells of a target that equals it with probability .5 + strength."""
    p = 0.5 + strength
    bits: FloatArray = 1 + p * np.log2(p) + (1 - p) * np.log2(1 - p)
    return bits


def squared_errors(shape: str, n: int, count: int, seed: int) -> list[float]:
    """Mean squared error of bins, and of each bandwidth."""
    random, strength = np.random.default_rng(seed), SHAPES[shape]
    context, X = random.random(n), random.integers(0, 2, (n, 3))
    y = np.where(random.random(n) < 0.5 + strength(context), X[:, 0], 1 - X[:, 0])
    middles, exact = (np.arange(count) + 0.5) / count, information(strength(AT))
    errors = []
    kernels = [dm.contexts.KernelWeights(count, factor / count) for factor in FACTORS]
    for bins in (count, *kernels):
        result = dm.contexts.context_importances(
            X.astype(str),
            y,
            context,
            estimator=dm.TotallyRandomizedTreesClassifier(TREES, splits="auto"),
            n_permutations=0,
            plain="none",
            context_bins=bins,
            random_state=0,
        )
        values = result.conditional[:, 0]
        steps = bins == count
        curve = values[(AT * count).astype(int)] if steps else np.interp(AT, middles, values)
        errors.append(float(np.mean((curve - exact) ** 2)))
    return errors


def main() -> int:
    print("| curve | rows | bins or points | bins | kernel | twice as wide |")
    print("| --- | --- | --- | --- | --- | --- |")
    missed = False
    for shape in SHAPES:
        for n, count in SIZES:
            rows = [squared_errors(shape, n, count, seed) for seed in range(SAMPLES)]
            errors = np.sqrt(np.mean(rows, axis=0))
            cells = " | ".join(f"{error:.3f}".lstrip("0") for error in errors)
            print(f"| {shape} | {n:,} | {count} | {cells} |", flush=True)
            missed |= bool(errors[1] >= errors[0]) and (shape, count) != ("wave", 3)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
