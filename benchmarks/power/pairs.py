"""Power of the test of pairs for a product beside main effects of classes, beside oracles.

``python -m benchmarks.power.pairs`` draws data sets of ten independent normal features, two of
which, a and b, have the log-odds of the designs below. It prints the fraction of data sets in which
the pair is declared at .05, and any other pair, of 45 pairs, by

* `interaction_test` with 99 draws;
* likelihood-ratio tests of each product in a logistic regression on a and b, by Bonferroni: an
  oracle, which knows the form of main effects and of interactions;
* score tests of each product given splines of the main effects (the additive model of
  `interaction_test`), by Bonferroni: this oracle knows the form of interactions alone.

``--null`` leaves the product out, and ``--data-sets`` is their number.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import duramen as dm
from duramen.data.additive_model import additive_model
from duramen.support.arrays import FloatArray

LEVEL, FEATURES = 0.05, 10
PAIRS = list(combinations(range(FEATURES), 2))
# Rows, and coefficients of a and b, of their product, and of 1.
DESIGNS = {
    "a + b + .8ab - 1": (500, 1.0, 0.8, -1.0),
    ".6a + .6b + .7ab - 3": (1000, 0.6, 0.7, -3.0),
    "a + b - .8ab": (500, 1.0, -0.8, 0.0),
    "a + b - .8ab - 1": (500, 1.0, -0.8, -1.0),
}


def drawn(design: str, seed: int, null: bool) -> tuple[FloatArray, NDArray[np.int64]]:
    random = np.random.default_rng([11, seed])
    n, main, product, constant = DESIGNS[design]
    X = random.normal(size=(n, FEATURES))
    odds = main * (X[:, 0] + X[:, 1]) + constant + (not null) * product * X[:, 0] * X[:, 1]
    return X, (random.random(n) < 1.0 / (1.0 + np.exp(-odds))).astype(np.int64)


def log_likelihood(columns: FloatArray, y: NDArray[np.int64]) -> float:
    """The largest log-likelihood of a logistic regression, by Newton's method."""
    b = np.zeros(columns.shape[1])
    for _ in range(30):
        p = 1.0 / (1.0 + np.exp(-columns @ b))
        information = (columns * (p * (1.0 - p))[:, None]).T @ columns
        step = np.linalg.solve(information, columns.T @ (y - p))
        move = np.abs(columns @ step).max()
        b += step * min(1.0, 3.0 / move)
        if move < 1e-8:
            break
    odds = columns @ b
    return float((y * odds - np.logaddexp(0.0, odds)).sum())


def likelihood_ratios(X: FloatArray, y: NDArray[np.int64]) -> FloatArray:
    """Chi-squared statistics of products given linear effects of a, b and the features of each."""
    ratios = []
    for i, j in PAIRS:
        main = np.column_stack([np.ones(len(y)), X[:, sorted({0, 1, i, j})]])
        both = np.column_stack([main, X[:, i] * X[:, j]])
        ratios.append(2.0 * (log_likelihood(both, y) - log_likelihood(main, y)))
    return np.array(ratios)


def spline_scores(X: FloatArray, y: NDArray[np.int64]) -> FloatArray:
    """Chi-squared statistics of products given splines of the features with a main effect."""
    data: Any = dm.learning_set(X, y, task="classification")
    model = additive_model(data.table, data.target, np.arange(FEATURES), 3, np.arange(len(y)))
    products = np.stack([X[:, i] * X[:, j] for i, j in PAIRS], axis=1)
    information = [model.information(product[:, None])[0, 0] for product in products.T]
    return np.asarray(model.scores(products, 0).sum(axis=0) ** 2 / information)


def p_values(X: FloatArray, y: NDArray[np.int64], seed: int) -> dict[str, FloatArray]:
    """Family-wise p-values of all pairs, by method."""
    tested = dm.significance.interaction_test(X, y, random_state=seed, n_jobs=1).p_adjusted
    oracles = {"linear effects": likelihood_ratios, "splines": spline_scores}
    return {
        "interaction_test": np.array([tested[pair] or 1.0 for pair in PAIRS]),
        **{name: stats.chi2.sf(of(X, y), 1) * len(PAIRS) for name, of in oracles.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.power.pairs", description=__doc__)
    parser.add_argument("--data-sets", type=int, default=100, help="of each design")
    parser.add_argument("--null", action="store_true", help="without the product")
    options = parser.parse_args()
    for design in DESIGNS:
        declared: dict[str, list[list[bool]]] = {}
        for seed in range(options.data_sets):
            for name, p in p_values(*drawn(design, seed, options.null), seed).items():
                found = [bool(p[0] <= LEVEL), bool((p[1:] <= LEVEL).any())]
                declared.setdefault(name, []).append(found)
        for name, of_sets in declared.items():
            pair, other = np.mean(of_sets, axis=0)
            print(f"| {design} | {name} | {pair:.2f} | {other:.3f} |", flush=True)


if __name__ == "__main__":
    main()
