"""Expected importances by growing every possible tree: all draws, offers and ties.

Rows are triples (x, y, w) of a tuple of values, a class and a weight that is a Fraction; a split
is a feature and a list of groups of its values. Probabilities, Gini's index and the variance are
exact fractions, whose ties are exact; entropies are floats.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import chain, combinations, product
from math import log2

TIE = 1e-10


def mass(rows):
    return sum((w for _, _, w in rows), Fraction(0))


def impurity(rows, criterion):
    total = mass(rows)
    by_class = defaultdict(Fraction)
    for _, y, w in rows:
        by_class[y] += w / total
    if criterion == "entropy":
        return -sum(float(q) * log2(q) for q in by_class.values())
    if criterion == "gini":
        return 1 - sum(q * q for q in by_class.values())
    mean = sum(q * Fraction(y) for y, q in by_class.items())
    return sum(q * (Fraction(y) - mean) ** 2 for y, q in by_class.items())


def children(rows, split):
    feature, groups = split
    return [[row for row in rows if row[0][feature] in group] for group in groups]


def decrease(rows, split, criterion):
    whole = mass(rows)
    left = sum(mass(child) / whole * impurity(child, criterion) for child in children(rows, split))
    return impurity(rows, criterion) - left


def candidate_splits(rows, feature, family):
    """Return all splits of a feature at a node; constant features have none."""
    values = sorted({x[feature] for x, _, _ in rows})
    if len(values) < 2:
        return []
    if family == "multiway":
        return [(feature, [{value} for value in values])]
    if family == "ordered":
        pairs = [({v for v in values if v <= c}, {v for v in values if v > c}) for c in values]
    elif family == "one-vs-rest":
        pairs = [({c}, set(values) - {c}) for c in values]
    else:
        pairs = [
            (set(some), set(values) - set(some))
            for size in range(len(values))
            for some in combinations(values, size)
        ]
    distinct = []
    for left, right in pairs:
        if left and right and {frozenset(left), frozenset(right)} not in distinct:
            distinct.append({frozenset(left), frozenset(right)})
    return [(feature, sorted(pair, key=sorted)) for pair in distinct]


def best_places(gains, criterion):
    least = max(gains) - TIE if criterion == "entropy" else max(gains)
    return [i for i, gain in enumerate(gains) if gain >= least]


def offers(rows, feature, family, cut, criterion):
    """Splits that a drawn feature may offer, each with its weight; None of a constant one."""
    result = candidate_splits(rows, feature, family)
    if not result:
        return [(None, Fraction(1))]
    if cut == "uniform":
        values = sorted({Fraction(x[feature]) for x, _, _ in rows})
        gaps = [(max(left), min(right)) for _, (left, right) in result]
        return [
            (split, (Fraction(b) - Fraction(a)) / (values[-1] - values[0]))
            for split, (a, b) in zip(result, gaps, strict=True)
        ]
    if cut == "best":
        gains = [decrease(rows, split, criterion) for split in result]
        result = [result[i] for i in best_places(gains, criterion)]
    return [(split, Fraction(1, len(result))) for split in result]


def winners(rows, features, k, family, cut, criterion):
    """Return all outcomes of a node: a feature with its split (or None), and a probability."""
    offered = {m: offers(rows, m, family, cut, criterion) for m in features}
    outcomes = defaultdict(Fraction)
    draws = list(combinations(features, min(k, len(features))))
    for draw in draws:
        hands = list(product(*(range(len(offered[m])) for m in draw)))
        for hand in hands:
            gains, chance = [], Fraction(1)
            for m, place in zip(draw, hand, strict=True):
                split, weight = offered[m][place]
                chance *= weight
                gains.append(0 if split is None else decrease(rows, split, criterion))
            best = best_places(gains, criterion)
            for i in best:
                outcomes[draw[i], hand[i]] += chance / (len(draws) * len(best))
    return [((m, offered[m][place][0]), fraction) for (m, place), fraction in outcomes.items()]


def importances(
    rows,
    p,
    k,
    *,
    family,
    criterion="entropy",
    cut="random",
    max_depth=None,
):
    """Expected importance of (feature, depth), as a dictionary."""
    result = defaultdict(float)

    def grow(node, unused, depth, chance):
        if len({y for _, y, _ in node}) < 2 or depth == max_depth:
            return
        if family == "multiway":
            features = unused
        else:
            features = [m for m in range(p) if len({x[m] for x, _, _ in node}) > 1]
        if not features:
            return
        for (m, split), fraction in winners(node, features, k, family, cut, criterion):
            left = [other for other in unused if other != m]
            gain = 0 if split is None else decrease(node, split, criterion)
            if split is None:
                grow(node, left, depth + 1, chance * fraction)
                continue
            result[m, depth] += float(chance * fraction * mass(node)) * float(gain)
            for child in children(node, split):
                grow(child, left, depth + 1, chance * fraction)

    grow(rows, list(range(p)), 0, Fraction(1))
    return result


def least_importance(rows, p, feature, k, family):
    """Importance of a feature in the tree that gives it least, among all that can be grown."""
    if len({y for _, y, _ in rows}) < 2:
        return 0.0
    if family == "multiway":
        features = list(range(p))  # used ones are constant and only pass
        if all(len({x[m] for x, _, _ in rows}) < 2 for m in features):
            return 0.0
    else:
        features = [m for m in range(p) if len({x[m] for x, _, _ in rows}) > 1]
        if not features:
            return 0.0
    least = []
    for (m, split), _ in winners(rows, features, k, family, "random", "entropy"):
        if split is not None:
            own = float(mass(rows)) * decrease(rows, split, "entropy") if m == feature else 0.0
            parts = children(rows, split)
            least.append(own + sum(least_importance(c, p, feature, k, family) for c in parts))
    return min(least, default=0.0)


# --- independence and relevance ------------------------------------------------------------------


def entropy_of(rows, columns):
    """Entropy in bits of some columns, "y" being the target."""
    table = defaultdict(Fraction)
    for x, y, w in rows:
        table[tuple(y if c == "y" else x[c] for c in columns)] += w
    return -sum(float(q) * log2(q) for q in table.values())


def information(rows, left, right, given=()):
    """I(left; right | given) in bits."""
    left, right, given = list(left), list(right), list(given)
    return (
        entropy_of(rows, left + given)
        + entropy_of(rows, right + given)
        - entropy_of(rows, left + right + given)
        - entropy_of(rows, given)
    )


def subsets(items):
    items = list(items)
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def depends(rows, left, right, given=()):
    return information(rows, left, right, given) > TIE


def is_relevant(rows, p, feature):
    others = [m for m in range(p) if m != feature]
    return any(depends(rows, [feature], ["y"], subset) for subset in subsets(others))


def is_strong(rows, p, feature):
    return depends(rows, [feature], ["y"], [m for m in range(p) if m != feature])


def has_composition(rows, p):
    """Tell whether A _|_ B | C and A _|_ D | C imply A _|_ (B, D) | C for all sets."""
    for place in product("ABCD-", repeat=p + 1):
        sets = {name: [] for name in "ABCD-"}
        for variable, name in zip([*range(p), "y"], place, strict=True):
            sets[name].append(variable)
        a, b, c, d = (sets[name] for name in "ABCD")
        alone = [depends(rows, a, part, c) for part in (b, d)] if a and b and d else [True]
        if not any(alone) and depends(rows, a, b + d, c):
            return False
    return True


def has_composition_within(rows, p):
    """Tell whether a single feature depends on Y in each cell where all together do."""
    for subset in subsets(range(p)):
        rest = [m for m in range(p) if m not in subset]
        for values in {tuple(x[m] for m in subset) for x, _, _ in rows}:
            cell = [row for row in rows if tuple(row[0][m] for m in subset) == values]
            whole = mass(cell)
            cell = [(x, y, w / whole) for x, y, w in cell]
            if depends(cell, rest, ["y"]) and not any(depends(cell, [m], ["y"]) for m in rest):
                return False
    return True


def indicators(rows, feature, family):
    """Return rows with a feature replaced by a 0/1 column for each of its splits, at the end."""
    splits = candidate_splits(rows, feature, family)
    replaced = []
    for x, y, w in rows:
        others = tuple(value for m, value in enumerate(x) if m != feature)
        flags = tuple(int(x[feature] in groups[0]) for _, groups in splits)
        replaced.append((others + flags, y, w))
    return replaced, len(splits)
