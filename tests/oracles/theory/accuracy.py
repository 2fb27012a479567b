"""Expected loss after replacing a feature, by growing every possible multiway tree.

Rows are triples (x, y, w), weights are Fractions. A tree is ("leaf", rows) or ("split", feature,
{value: tree}, rows); rows are sent down it one at a time.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import product

from tests.oracles.theory.recursion import mass, winners


def all_trees(rows, unused, k, criterion, depth=None):
    """Yield every tree with its probability, which add up to 1."""
    if len({y for _, y, _ in rows}) < 2 or depth == 0:
        yield ("leaf", rows), Fraction(1)
        return
    if all(len({x[m] for x, _, _ in rows}) < 2 for m in unused):
        yield ("leaf", rows), Fraction(1)
        return
    below = None if depth is None else depth - 1
    for (m, split), fraction in winners(rows, unused, k, "multiway", "random", criterion):
        left = [other for other in unused if other != m]
        if split is None:
            for tree, chance in all_trees(rows, left, k, criterion, below):
                yield tree, fraction * chance
            continue
        values = sorted(value for group in split[1] for value in group)
        parts = [[row for row in rows if row[0][m] == value] for value in values]
        grown = [list(all_trees(part, left, k, criterion, below)) for part in parts]
        for combination in product(*grown):
            chance = fraction
            for _, first in combination:
                chance *= first
            children = dict(zip(values, (tree for tree, _ in combination), strict=True))
            yield ("split", m, children, rows), chance


def rows_at(tree, x):
    """The training rows of the place where x ends."""
    while tree[0] == "split":
        _, m, children, rows = tree
        if x[m] in children:
            tree = children[x[m]]
        else:
            sizes = {v: mass([r for r in rows if r[0][m] == v]) for v in children}
            tree = children[min(v for v in sizes if sizes[v] == max(sizes.values()))]
    return tree[1]


def vote(rows):
    by_class = defaultdict(Fraction)
    for _, y, w in rows:
        by_class[y] += w
    return min(y for y in by_class if by_class[y] == max(by_class.values()))


def mean(rows):
    return sum(w * y for _, y, w in rows) / mass(rows)


def accuracy_losses(rows, p, k, *, criterion, loss, votes, depth, given):
    """Return the exact expected loss, and its increase by the permutation of each feature.

    `given` has the features that each is permuted within.
    """
    trees = list(all_trees(rows, list(range(p)), k, criterion, depth))
    assert sum(chance for _, chance in trees) == 1
    total = mass(rows)

    def ends(x):
        """Probability of every outcome of a tree: a class or a number."""
        result = defaultdict(Fraction)
        for tree, chance in trees:
            rows_there = rows_at(tree, x)
            result[mean(rows_there) if loss == "squared" else vote(rows_there)] += chance
        return result

    def loss_of(outcomes, y):
        if votes == "tree" and loss == "squared":
            return sum(chance * (y - value) ** 2 for value, chance in outcomes.items())
        if loss == "squared":
            return (y - sum(chance * value for value, chance in outcomes.items())) ** 2
        if votes == "tree":
            return 1 - outcomes[y]
        best = [c for c in outcomes if outcomes[c] == max(outcomes.values())]
        return 1 - Fraction(int(y in best), len(best))

    leaves = {x: ends(x) for x in product(*(sorted({r[0][m] for r in rows}) for m in range(p)))}
    lost = []
    for m in range(p):
        change = Fraction(0)
        for x, y, w in rows:
            alike = [r for r in rows if all(r[0][j] == x[j] for j in given[m])]
            mixed = defaultdict(Fraction)
            after = Fraction(0)
            for other, _, v in alike:
                outcomes = leaves[(*x[:m], other[m], *x[m + 1 :])]
                after += v / mass(alike) * loss_of(outcomes, y)
                for value, chance in outcomes.items():
                    mixed[value] += v / mass(alike) * chance
            if votes == "ensemble":
                after = loss_of(mixed, y)
            change += w / total * (after - loss_of(leaves[x], y))
        lost.append(change)
    return sum(w / total * loss_of(leaves[x], y) for x, y, w in rows), lost
