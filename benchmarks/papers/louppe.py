"""Louppe, Wehenkel, Sutera, Geurts (2013)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import duramen as dm
from benchmarks.papers.entries import Entry, Value, row

NAMES = [f"X{m}" for m in range(1, 8)]
EQUATION = "0.412 0.581 0.531 0.542 0.656 0.225 0.372"
FORESTS = {
    1: "0.414 0.583 0.532 0.543 0.658 0.221 0.368",
    2: "0.362 0.663 0.512 0.525 0.731 0.140 0.385",
    3: "0.327 0.715 0.496 0.484 0.778 0.126 0.392",
    4: "0.309 0.757 0.489 0.445 0.810 0.122 0.387",
    5: "0.304 0.787 0.483 0.414 0.827 0.122 0.382",
    6: "0.305 0.801 0.475 0.409 0.831 0.121 0.375",
    7: "0.306 0.799 0.475 0.412 0.835 0.120 0.372",
}


def equation() -> list[Value]:
    """Column of equation 3, and the sum."""
    importances = dm.theory.population_importances(dm.theory.examples.digits7()).values
    total = Value("sum", "3.321", float(importances.sum()), "cut")
    return [*row("", EQUATION, importances, NAMES, "cut"), total]


def forests() -> Iterator[Value]:
    """Columns of 10,000 trees: the exact value, within 3.5 standard errors of such a forest."""
    digits = dm.theory.examples.digits7()
    X, y = digits.codes, np.arange(10)
    for K, printed in FORESTS.items():
        exact = dm.theory.population_importances(digits, max_features=K).values
        trees = dm.ExtraTreesClassifier(
            10_000, max_features=K, criterion="entropy", splits="multiway", random_state=K
        )
        measured = dm.importances.mdi(trees.fit(X, y))
        errors = 3.5 * measured.standard_error
        for name, text, number, error in zip(NAMES, printed.split(), exact, errors, strict=True):
            yield Value(f"K = {K}, {name}", text, float(number), error=float(error))


ENTRIES = (
    Entry("louppe-table-2", "Importances of the seven segments", "Table 2, equation 3", equation),
    Entry(
        "louppe-table-2-forests",
        "The same by 10,000 trees, K = 1 to 7",
        "Table 2",
        forests,
        exact=False,
    ),
)
