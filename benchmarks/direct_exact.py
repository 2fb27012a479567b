"""Direct features of large samples from random finite distributions, beside the exact theory.

``python -m benchmarks.direct_exact --out DIR`` draws 50 distributions of 4 to 6 features of 2 to 4
values each, and a target of 2 or 3 classes. Each feature depends on up to two of those before it,
the target on two or three, so that the others are associated with it through them. Of each
distribution, `dm.theory.dependence.strong_informations` gives what every feature tells given all
others, in bits, and ``dm.significance.conditional`` tests a sample of 20,000 rows. It prints

* of the features above .01 bit, how many are called direct;
* of those of 0 bits, how many are, and the fraction of p-values <= .05;
* how many of the distributions warn of draws that do not fit.

Exit status 1 where a feature above .01 bit is missed. A run that was killed goes on from its file.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import duramen as dm
from duramen.jobs.replicates import Plan, run_replicates
from duramen.theory import FiniteDistribution
from duramen.theory.dependence import strong_informations

N_ROWS, MOST_FEATURES = 20_000, 6
LARGE, NONE = 0.01, 1e-9  # bits
Float = NDArray[np.float64]
Codes = NDArray[np.int64]


def random_distribution(random: np.random.Generator) -> FiniteDistribution:
    """A joint distribution of 4 to 6 features, each given up to two before it, and a target."""
    p = int(random.integers(4, MOST_FEATURES + 1))
    sizes = random.integers(2, 5, p)
    rows = np.indices(sizes).reshape(p, -1).T
    weights = np.ones(len(rows))
    for j in range(p):
        parents = random.choice(j, min(j, int(random.integers(0, 3))), replace=False)
        chances = conditional(random, rows, parents, int(sizes[j]), 1.0)
        weights *= chances[np.arange(len(rows)), rows[:, j]]
    causes = random.choice(p, int(random.integers(2, 4)), replace=False)
    classes = int(random.integers(2, 4))
    chances = conditional(random, rows, causes, classes, 0.7)
    joint = (weights[:, None] * chances).ravel()
    table = np.repeat(rows, classes, axis=0)
    target = np.tile(np.arange(classes), len(rows))
    return FiniteDistribution.from_table(
        table[joint > 0], target[joint > 0], weights=joint[joint > 0]
    )


def conditional(
    random: np.random.Generator, rows: Codes, parents: Codes, size: int, concentration: float
) -> Float:
    """Probabilities of the values of a variable in each row, which depend on some columns."""
    _, cell = np.unique(rows[:, parents], axis=0, return_inverse=True)
    of_cell = random.dirichlet(np.full(size, concentration), int(cell.max()) + 1)
    return np.asarray(of_cell[cell.ravel()] * 0.98 + 0.02 / size)


def measured(b: int, seed: int) -> Float:
    """Bits, p-values and verdicts (1: direct) of the features, whether it warned, seconds."""
    random = np.random.default_rng([b, 2_034])
    dist = random_distribution(random)
    bits = strong_informations(dist)
    X, y, _ = dist.sample(N_ROWS, random)
    table = pd.DataFrame(np.asarray(X)).map("v{}".format)
    began = time.process_time()
    result = dm.significance.conditional(None, table, np.asarray(y), random_state=b, n_jobs=1)
    seconds = time.process_time() - began
    direct = np.array([verdict == "direct" for verdict in result.verdicts()])
    values = np.full((4, MOST_FEATURES), np.nan)
    values[:3, : len(bits)] = bits, result.p_values, direct
    values[3, :2] = result.metadata["diagnosis"]["misfit"], seconds
    return values.ravel()


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--distributions", type=int, default=50)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    values = run_replicates(
        measured,
        asked.distributions,
        4 * MOST_FEATURES,
        seed=0,
        identity={"benchmark": "direct_exact"},
        plan=Plan(checkpoint=asked.out / "direct-exact.npz"),
        function="direct_exact",
    ).reshape(-1, 4, MOST_FEATURES)
    bits, p_values, direct = np.moveaxis(values[:, :3], 1, 0)
    large, none = bits > LARGE, bits < NONE
    small = (bits >= NONE) & ~large
    misfits, seconds = values[:, 3, 0], values[:, 3, 1]
    for name, mask in (("> .01 bit", large), ("0 to .01 bit", small), ("0 bits", none)):
        print(f"{name:14} {int(direct[mask].sum()):4} of {int(mask.sum()):4} direct")
    print(f"p <= .05 of 0 bits: {(p_values[none] <= 0.05).mean():.3f}")
    print(f"warned: {int(misfits.sum())} of {len(values)}; {seconds.mean():.1f} s each")
    for b, j in np.argwhere(large & (direct == 0)).tolist():
        print(
            f"missed: distribution {b}, feature {j}, {bits[b, j]:.3f} bit, p {p_values[b, j]:.2g}"
        )
    return int((large & (direct == 0)).any())


if __name__ == "__main__":
    sys.exit(main())
