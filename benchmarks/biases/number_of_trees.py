"""Few trees: importances vary from forest to forest, and some features are never looked at.

A forest averages over its trees, so that the variance of an importance is that of a single tree
divided by their number; a feature that no tree has used has the importance 0 of an irrelevant one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.biases.tables import Cell, Table
from duramen.forests import Forest
from duramen.support.arrays import FloatArray
from duramen.theory import FiniteDistribution
from duramen.theory.population.recursion import best_of_features
from duramen.theory.subspaces import draws_needed, expected_draws, unseen_probability

DATA_SETS = 10
ROWS, FEATURES, RELEVANT = 100, 500, 10
SIZES = (10, 40, 160, 640)
FORESTS = 4  # of the largest size for each data set
BEST = 10
NONE = 1e-12  # a decrease of so little is none
Codes = NDArray[np.int64]


def tables(data_sets: int, seed: int) -> Iterator[Table]:
    yield candidates()
    yield single_trees()
    yield variance_by_trees(data_sets, seed)


# --- theory: coverage -----------------------------------------------------------------------------


def candidates(risk: float = 0.05, n_trees: int = 20) -> Table:
    """Probability that a feature is never a candidate, and trees until none is left out."""
    rows: list[list[Cell]] = []
    for p, splits in ((100, 20), (1000, 20), (7129, 10), (100_000, 20)):
        for K in (1, round(p**0.5)):
            rows.append(
                [
                    p,
                    K,
                    splits,
                    unseen_probability(p, K, n_trees * splits),
                    round(expected_draws(p, K) / splits),
                    -(-draws_needed(p, K, risk) // splits),
                ]
            )
    return Table(
        f"Probability (1 - K/p)^M that a feature is no candidate in {n_trees} trees, and trees "
        f"until all have been: on average, and but for a risk of {risk} (exact)",
        ["p", "K", "splits of a tree", "never a candidate", "trees on average", f"risk {risk}"],
        rows,
    )


# --- theory: variance -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Moments:
    """Importances of one random tree below a node.

    Attributes
    ----------
    mean : (p,) means of the importances.
    square : (p, p) means of their products.
    zero : (p,) probabilities that they are 0.
    """

    mean: FloatArray
    square: FloatArray
    zero: FloatArray


class SingleTree:
    """Exact moments of the importances of one multiway tree with K candidates at a node.

    The subtrees of a node grow independently of each other given its split, so that means and
    covariances of their importances add up and probabilities of zeros multiply; a node is a mixture
    over the features that can split it.
    """

    def __init__(self, dist: FiniteDistribution, K: int = 1) -> None:
        self.dist, self.K, self.p = dist, K, dist.n_features
        self.known: dict[tuple[bytes, int], Moments] = {}

    def moments(self) -> Moments:
        """Moments of the importances of a tree."""
        return self._node(np.arange(self.dist.n_rows), self.p)

    def _node(self, rows: Codes, n_unused: int) -> Moments:
        key = (rows.tobytes(), n_unused)
        if key not in self.known:
            self.known[key] = self._mixture(rows, n_unused)
        return self.known[key]

    def _mixture(self, rows: Codes, n_unused: int) -> Moments:
        """Mean over the features that split a node, each by its probability."""
        mean, square, zero = np.zeros(self.p), np.zeros((self.p, self.p)), np.zeros(self.p)
        codes = self.dist.codes[rows].astype(np.int64)
        divides = np.any(codes != codes[0], axis=0)
        if len(np.unique(self.dist.target[rows])) < 2 or not divides.any():
            return Moments(mean, square, np.ones(self.p))
        gain = np.array([self._gain(rows, codes[:, m]) for m in range(self.p)])
        fraction = self.dist.weights[rows].sum()
        wins, stays = best_of_features(
            gain[np.newaxis] / fraction, divides[np.newaxis], n_unused, self.K
        )
        parts = [
            (wins[0, m], self._split(rows, codes[:, m], gain[m], m, n_unused))
            for m in np.flatnonzero(wins[0] > 0).tolist()
        ]
        if stays[0] > 0:
            parts.append((stays[0], self._node(rows, n_unused - 1)))
        for chance, part in parts:
            mean += chance * part.mean
            square += chance * part.square
            zero += chance * part.zero
        return Moments(mean, square, zero)

    def _split(self, rows: Codes, code: Codes, gain: float, m: int, n_unused: int) -> Moments:
        """Moments where the node splits on feature m: its gain, and the sum over children."""
        below = [self._node(rows[code == v], n_unused - 1) for v in np.unique(code)]
        mean = sum((child.mean for child in below), np.zeros(self.p))
        spread = sum(
            (child.square - np.outer(child.mean, child.mean) for child in below),
            np.zeros((self.p, self.p)),
        )
        mean[m] += gain
        zero = np.prod([child.zero for child in below], axis=0)
        zero[m] *= gain <= NONE
        return Moments(mean, spread + np.outer(mean, mean), zero)

    def _gain(self, rows: Codes, code: Codes) -> float:
        """Decrease of entropy at a node, in bits, times its probability."""
        children = [rows[code == v] for v in np.unique(code)]
        gain = self._entropy(rows) - sum(map(self._entropy, children))
        return gain if gain > NONE else 0.0

    def _entropy(self, rows: Codes) -> float:
        """Entropy of the target at a node, in bits, times its probability."""
        mass = np.bincount(self.dist.target[rows], self.dist.weights[rows])
        mass = mass[mass > 0]
        return float(-mass @ np.log2(mass / mass.sum()))


def trees_for_nonzero(zero: float, risk: float) -> int:
    """Trees T after which an importance is positive but for a risk: zero^T is at most the risk."""
    return 1 if zero == 0 else int(np.ceil(np.log(risk) / np.log(zero)))


def single_trees(risk: float = 0.01, precision: float = 0.05) -> Table:
    """Spread of an importance over trees, and trees until it is known well enough."""
    examples = dm.theory.examples
    named = {
        "exclusive or of 2": examples.xor(),
        "exclusive or of 4": examples.clique(4),
        "noisy copy": examples.noisy_copy(),
        "digits": examples.digits7(),
    }
    rows: list[list[Cell]] = []
    for name, dist in named.items():
        for K in (1, 2):
            result = SingleTree(dist, K).moments()
            deviation = np.sqrt(np.maximum(0.0, np.diag(result.square) - result.mean**2))
            j = int(np.argmax(deviation / result.mean))
            needed = (deviation[j] / result.mean[j] / precision) ** 2
            rows.append(
                [
                    name,
                    K,
                    dist.names[j],
                    float(result.mean[j]),
                    float(deviation[j]),
                    int(np.ceil(needed)),
                    float(result.zero[j]),
                    trees_for_nonzero(float(result.zero[j]), risk),
                ]
            )
    return Table(
        "Importance of a feature in one tree, the least certain feature of each problem (exact, in "
        f"bits), trees until its standard error is {precision:.0%} of it, and until it is above 0 "
        f"but for a risk of {risk}",
        ["problem", "K", "feature", "mean", "SD of one tree", "trees", "P(0), one tree", "trees"],
        rows,
    )


# --- experiment -----------------------------------------------------------------------------------


def problem(random: np.random.Generator) -> tuple[FloatArray, Codes]:
    """Ten of 500 features change the odds of a class, in a hundred rows."""
    X = random.normal(size=(ROWS, FEATURES))
    odds = np.exp(X[:, :RELEVANT].sum(axis=1))
    return X, (random.random(ROWS) < odds / (1 + odds)).astype(np.int64)


def variance_by_trees(data_sets: int, seed: int) -> Table:
    """Spread of importances over forests on the same rows, by their number of trees."""
    result = np.array([spread(np.random.default_rng([seed, d]), d) for d in range(data_sets)])
    rows = [[T, *values] for T, values in zip(SIZES, result.mean(axis=0).tolist(), strict=True)]
    return Table(
        f"Random forests on the same {ROWS} rows, {FEATURES} features: standard deviation over "
        f"forests, mean of the relevant features, times the root of the number of trees; fraction "
        f"of the {BEST} best in common; features that no tree uses, and of them those that were "
        "no candidate, expected",
        [
            "trees",
            "SD of MDI",
            "SD of MDA",
            "in common, MDI",
            "in common, MDA",
            "not used",
            "no candidate",
        ],
        rows,
    )


def spread(random: np.random.Generator, seed: int) -> list[list[float]]:
    """Figures of one data set, a row for each number of trees."""
    X, y = problem(random)
    grown = dm.RandomForestClassifier(
        FORESTS * SIZES[-1], criterion="entropy", random_state=seed
    ).fit(X, y)
    rows = []
    for T in SIZES:
        parts = [grown.forest_.part(T * f, T * (f + 1)) for f in range(FORESTS)]
        mdi = np.array([dm.importances.mdi(part).values for part in parts])
        mda = np.array([dm.importances.mda(part, X, y).values for part in parts])
        scaled = [
            float(np.sqrt(T * v[:, :RELEVANT].var(axis=0, ddof=1)).mean()) for v in (mdi, mda)
        ]
        unused = float(np.sum(mdi == 0, axis=1).mean())
        rows.append([*scaled, in_common(mdi), in_common(mda), unused, never(grown.forest_, T)])
    return rows


def never(forest: Forest, n_trees: int) -> float:
    """Return the expected number of features that are never candidates in `n_trees` trees."""
    splits = n_trees * np.count_nonzero(forest.feature >= 0) / forest.n_trees
    return FEATURES * unseen_probability(FEATURES, forest.settings.max_features, round(splits))


def in_common(values: FloatArray) -> float:
    """Fraction of the best features that two of the forests share, mean over pairs."""
    best = np.argsort(-values, axis=1, kind="stable")[:, :BEST]
    chosen = np.zeros(values.shape)
    np.put_along_axis(chosen, best, 1.0, axis=1)
    shared = chosen @ chosen.T / BEST
    return float(shared[np.triu_indices(len(values), 1)].mean())
