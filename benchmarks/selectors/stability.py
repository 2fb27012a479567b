"""Coverage of the interval for the stability of selections, compared with Nogueira et al.

``python -m benchmarks.selectors.stability`` draws M selections from distributions whose stability
is known: each feature by itself with a probability of its own, or the k features with the largest
of random scores. It prints how often 95 % intervals cover it, for M from 5 to 100; the second
figure is of the published interval, with the normal quantile and the variance of Nogueira et al.
(2018). The table is that of docs/explanation/tests/stability.md; one processor takes about two
minutes.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from duramen.significance import stability
from duramen.support.arrays import FloatArray

Bits = NDArray[np.bool_]
COUNTS = (5, 10, 20, 50, 100)
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Source:
    """Distribution of selections.

    Attributes
    ----------
    title : str
    draw : callable
        Takes random numbers and M, and returns M selections.
    stability : float
        That of infinitely many selections.
    """

    title: str
    draw: Callable[[np.random.Generator, int], Bits]
    stability: float


def phi(frequency: FloatArray) -> float:
    """Return the stability of infinitely many selections with these frequencies."""
    mean = float(frequency.mean())
    return 1.0 - float((frequency * (1.0 - frequency)).mean()) / (mean * (1.0 - mean))


def independent(title: str, frequency: FloatArray) -> Source:
    """Features that are selected independently of each other."""
    size = len(frequency)
    return Source(title, lambda random, m: random.random((m, size)) < frequency, phi(frequency))


def largest(title: str, means: FloatArray, k: int, spread: float) -> Source:
    """The k features with the largest scores; the stability is that of 40,000 selections."""

    def draw(random: np.random.Generator, m: int) -> Bits:
        scores = means + spread * random.normal(size=(m, len(means)))
        return scores >= np.partition(scores, -k, axis=1)[:, -k, None]

    return Source(title, draw, phi(draw(np.random.default_rng(99), 40_000).mean(axis=0)))


def sources() -> list[Source]:
    """Return the distributions."""
    random = np.random.default_rng(5)
    slope = np.linspace(3, 0, 30) ** 1.3
    return [
        independent("10 independent features", random.uniform(0.05, 0.95, 10)),
        independent("50 independent, most rare or frequent", random.beta(0.2, 0.8, 50)),
        independent(
            "500 independent, 490 rare", np.r_[random.uniform(0.3, 1, 10), np.full(490, 0.004)]
        ),
        largest("best 5 of 30, noisy", slope, 5, 1.5),
        largest("best 5 of 30", slope, 5, 0.5),
        largest("best 5 of 30, clear", slope, 5, 0.15),
        largest("best 10 of 1000", np.r_[np.linspace(4, 2, 15), np.zeros(985)], 10, 0.7),
        largest("best 2 of 6", np.linspace(1, 0, 6), 2, 0.3),
        largest("best 10 of 200, by chance", np.zeros(200), 10, 1.0),
        largest("best 10 of 200, 8 always", np.r_[np.full(8, 9.0), np.zeros(192)], 10, 1.0),
    ]


def coverage(source: Source, count: int, repetitions: int, seed: int = 1) -> tuple[float, float]:
    """Return the coverage of the interval, and of the published interval."""
    random, z = np.random.default_rng(seed), float(stats.norm.ppf((1 + LEVEL) / 2))
    covered = []
    for _ in range(repetitions):
        result = stability(source.draw(random, count), confidence_level=LEVEL)
        reach = z * math.sqrt(result.variance)
        covered.append(
            [
                result.low <= source.stability <= result.high,
                abs(result.nogueira - source.stability) <= reach,
            ]
        )
    ours, published = np.mean(covered, axis=0).tolist()
    return ours, published


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.selectors.stability", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    heads = ["selections", "stability", *(f"M = {count}" for count in COUNTS)]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    missed = 0
    for source in sources():
        cells = []
        for count in COUNTS:
            ours, published = coverage(source, count, options.repetitions)
            missed += count >= 20 and ours < 0.92
            cells.append(", ".join(f"{x:.3f}".removeprefix("0") for x in (ours, published)))
        row = [source.title, f"{source.stability:.2f}".removeprefix("0"), *cells]
        print(f"| {' | '.join(row)} |", flush=True)
    print(f"\n{missed} rates from 20 selections or more are below .92")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
