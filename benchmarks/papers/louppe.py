"""Louppe, Wehenkel, Sutera, Geurts (2013)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

import duramen as dm
from benchmarks.papers.entries import Claim, Entry, Value, equality, row
from duramen.theory.distributions.specification import copy, uniform
from duramen.theory.population import conditioning_terms
from duramen.theory.population.recursion import Trees

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


def decomposition(K: int) -> Any:
    """Importances of the digits by degree, shape (7, 7)."""
    digits = dm.theory.examples.digits7()
    return dm.theory.population_importances(digits, max_features=K).by_degree


def degrees() -> Iterator[Claim]:
    """Check the statements about small and zero terms in figure 2."""
    random, best = decomposition(1), decomposition(7)
    yield Claim("K = 1, X5, smallest term", random[4].min(), ">", 0.05)
    means = random.mean(axis=1)
    gap = np.delete(means, 5).min() - means[5]
    yield Claim("K = 1, mean term, smallest of the others less X6", gap, ">", 0.01)
    yield Claim("K = 1, X7, first term", random[6, 0], ">", 0.1)
    yield Claim("K = 1, X7, last two terms", random[6, 5:].max(), "<", 0.015)
    for m, gain in ((1, best[1, 0] - random[1, 0]), (4, best[4, 0] - random[4, 0])):
        yield Claim(f"k = 0, X{m + 1}, K = 7 less K = 1", gain, ">", 0)
    yield equality("K = 7, k = 0, the other features and 0", np.delete(best[:, 0], [1, 4]), 0)
    yield equality("K = 7, k >= 4 and 0", best[:, 4:], 0)


def draw_degrees(figure: Any) -> None:
    """Draw both decompositions."""
    for panel, K in zip(figure.subplots(1, 2), (1, 7), strict=True):
        image = panel.imshow(decomposition(K), cmap="Greys", vmin=0)
        panel.set_yticks(range(7), NAMES)
        panel.set(title=f"K = {K}", xlabel="degree")
        figure.colorbar(image, ax=panel)


def masked() -> Iterator[Claim]:
    """Section 5.3: X1 is Y, X2 a noisy copy of X1; X3 is irrelevant."""
    pair = {"X1": uniform(2), "X2": copy("X1", 0.95), "Y": copy("X1")}
    dist = dm.theory.specify(pair)
    first, second = (dist.mutual_information(name) for name in ("X1", "X2"))
    epsilon = dist.mutual_information("X1", given=["X2"])
    random = dm.theory.population_importances(dist).values
    halves = [(first + epsilon) / 2, second / 2]
    yield equality("K = 1, halves of I(X1;Y) + I(X1;Y|X2) and of I(X2;Y)", random, halves)
    yield Claim("K = 1, X1 less X2", random[0] - random[1], ">", 0)
    best = dm.theory.population_importances(dist, max_features=2).values
    yield equality("K = 2, I(X1;Y) and 0", best, [first, 0.0])
    longer = dm.theory.specify({**pair, "X3": uniform(2)})
    added = dm.theory.population_importances(longer, max_features=2)
    yield Claim("K = 2 with an irrelevant X3, X2", added["X2"], ">", 0)
    yield equality("the same, X3 and 0", added["X3"], 0)


def pruned() -> Iterator[Claim]:
    """Propositions 6 and 7 on the digits: trees of depth q against sums and subspaces."""
    digits = dm.theory.examples.digits7()
    terms = [conditioning_terms(digits, name) for name in NAMES]
    depths = range(1, 8)
    trees, sums, means = [], [], []
    for q in depths:
        trees.append(Trees("trees", digits, max_features=1, max_depth=q).importances().sum(axis=1))
        sums.append([part.contributions[part.sizes < q].sum() for part in terms])
        mean, subspaces = np.zeros(7), list(combinations(range(7), q))
        for subspace in subspaces:
            full = Trees("trees", digits.marginal(subspace), max_features=1).importances()
            mean[list(subspace)] += full.sum(axis=1) / len(subspaces)
        means.append(mean)
    yield equality("q = 1 to 7, trees of depth q and the sum over k < q", trees, sums)
    yield equality("q = 1 to 7, trees of depth q and trees on q features", trees, means)


ENTRIES = (
    Entry(
        "louppe-table-2",
        "Importances of the seven segments",
        "Table 2, equation 3",
        equation,
        lines=("Louppe", 615, 694),
    ),
    Entry(
        "louppe-table-2-forests",
        "The same by 10,000 trees, K = 1 to 7",
        "Table 2",
        forests,
        exact=False,
        lines=("Louppe", 615, 694),
        tolerance=(
            "The printed values are of one forest: they agree within 3.5 standard errors of "
            "as many trees."
        ),
    ),
    Entry(
        "louppe-figure-2",
        "Importances of the segments by degree",
        "Figure 2",
        degrees,
        exact=False,
        draw=draw_degrees,
        note="Exact, for infinitely many trees in place of 10,000.",
    ),
    Entry(
        "louppe-5-3",
        "A masked copy",
        "section 5.3; thesis, section 5.5",
        masked,
        exact=False,
        note="X2 follows X1 with probability .95.",
    ),
    Entry(
        "louppe-propositions-6-7",
        "Trees of limited depth and random subspaces",
        "propositions 6, 7; thesis, (5.10), propositions 5.13, 5.14",
        pruned,
        exact=False,
        note="On the seven segments; trees are computed node by node.",
    ),
)
