"""Direct features of random finite distributions, against the exact theory.

``python -m benchmarks.accuracy.direct_exact --distributions 50`` draws distributions of five
features of two or three values, most of which depend on one before them, and a target that depends
on one to three. Of 20,000 rows of each, ``conditional`` with its defaults must call every feature
direct whose information about the target given all others is above .01 bit (``dm.theory``). Printed
are the features that it does not, and of those without any such information how many are called
direct. Exit status 1 if a feature of more than .01 bit is missed, or the fraction of false ones
among all direct features is above the 99 % band of .1.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np

import duramen as dm
from duramen.theory.dependence import feature_relevance

N_ROWS, LEAST_BITS = 20_000, 0.01
N_FEATURES = 5


def distribution(seed: int) -> dm.theory.FiniteDistribution:
    """A random joint distribution of five features and a target of two or three classes."""
    random = np.random.default_rng([seed, 34])
    sizes = random.integers(2, 4, N_FEATURES)
    features = np.ones(())
    for j, size in enumerate(sizes.tolist()):
        if j and random.random() < 0.7:
            # Depends on one feature before it.
            parent = int(random.integers(j))
            table = random.dirichlet(np.full(size, 0.7), sizes[parent])
            shape = [1] * (j + 1)
            shape[parent], shape[j] = int(sizes[parent]), size
            features = features[..., None] * table.reshape(shape)
        else:
            features = features[..., None] * random.dirichlet(np.full(size, 5.0))
    relevant = random.permutation(N_FEATURES)[: random.integers(1, 4)]
    n_classes = int(random.integers(2, 4))
    shape = [int(sizes[j]) if j in relevant else 1 for j in range(N_FEATURES)]
    target = random.dirichlet(np.full(n_classes, 1.0), int(np.prod(shape)))
    joint = features[..., None] * target.reshape(*shape, n_classes)
    return dm.theory.FiniteDistribution.from_probabilities(joint / joint.sum())


def verdicts(seed: int, n_rows: int = N_ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact information of each feature in bits, and whether it is called direct."""
    exact = distribution(seed)
    bits = np.array([feature.strong_information for feature in feature_relevance(exact)])
    drawn = exact.sample(n_rows, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = dm.significance.conditional(
            None, drawn.X.astype(str), drawn.y.astype(str), random_state=seed
        )
    return bits, result.mask(0.1)


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--distributions", type=int, default=50)
    asked = parser.parse_args()
    missed, n_strong, n_none, false = 0, 0, 0, []
    for seed in range(asked.distributions):
        began = time.process_time()
        bits, direct = verdicts(seed)
        seconds = time.process_time() - began
        strong, none = bits > LEAST_BITS, bits < 1e-9
        n_strong, n_none = n_strong + strong.sum(), n_none + none.sum()
        missed += np.count_nonzero(strong & ~direct)
        false.append(np.count_nonzero(none & direct) / max(1, np.count_nonzero(direct)))
        print(
            f"{seed:3} {seconds:5.1f} s  bits {np.round(bits, 4).tolist()}  direct "
            f"{np.flatnonzero(direct).tolist()}"
            + ("  MISSED" if (strong & ~direct).any() else "")
            + ("  FALSE" if (none & direct).any() else ""),
            flush=True,
        )
    rate, error = np.mean(false), np.std(false, ddof=1) / np.sqrt(len(false))
    print(
        f"{n_strong - missed} of {n_strong} features of more than {LEAST_BITS} bit are direct; "
        f"{n_none} features of none; false discovery rate {rate:.3f} ({error:.3f})"
    )
    return int(missed > 0 or rate - 2.58 * error > 0.1)


if __name__ == "__main__":
    sys.exit(main())
