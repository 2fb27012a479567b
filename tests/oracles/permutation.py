"""Permutation importance by its definition: every permutation written out, every row sent down."""

import itertools
import math

from scipy import stats
from tests.oracles import route


def permuted_within(positions, cells):
    """Return all permutations of positions within cells, as lists of donors."""
    members = {}
    for i in positions:
        members.setdefault(cells[i], []).append(i)
    pools = [list(itertools.permutations(group)) for group in members.values()]
    for choice in itertools.product(*pools):
        donor = [0] * len(positions)
        for group, shuffled in zip(members.values(), choice, strict=True):
            for i, d in zip(group, shuffled, strict=True):
                donor[i] = d
        yield donor


def accuracy(leaf_values, y):
    hits = [values.index(max(values)) == c for values, c in zip(leaf_values, y, strict=True)]
    return sum(hits) / len(hits)


def balanced_accuracy(leaf_values, y):
    recalls = []
    for k in sorted(set(y)):
        inside = [i for i, c in enumerate(y) if c == k]
        recalls.append(accuracy([leaf_values[i] for i in inside], [k] * len(inside)))
    return sum(recalls) / len(recalls)


def neg_log_loss(leaf_values, y):
    return sum(
        math.log(max(values[c], 2.0**-52)) for values, c in zip(leaf_values, y, strict=True)
    ) / len(y)


def area(scores, inside):
    pairs = [(a, b) for a, i in zip(scores, inside, strict=True) if i
             for b, j in zip(scores, inside, strict=True) if not j]  # fmt: skip
    return sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)


def roc_auc(leaf_values, y):
    areas = []
    for k in sorted(set(y)):
        inside = [c == k for c in y]
        if not all(inside):
            areas.append(area([values[k] for values in leaf_values], inside))
    return sum(areas) / len(areas)


def neg_mean_squared_error(leaf_values, y):
    return -sum((values[0] - c) ** 2 for values, c in zip(leaf_values, y, strict=True)) / len(y)


SCORES = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "neg_log_loss": neg_log_loss,
    "roc_auc": roc_auc,
    "neg_mean_squared_error": neg_mean_squared_error,
}


def tree_losses(leaf_values_of, rows, y, columns, score, cells=None):
    """Return the losses of a tree under all permutations of `columns` among its rows.

    `leaf_values_of(row)` are the numbers of the leaf that a row (a list of values) comes to.
    """
    cells = [0] * len(rows) if cells is None else cells
    measure = SCORES[score]
    before = measure([leaf_values_of(row) for row in rows], y)
    losses = []
    for donor in permuted_within(range(len(rows)), cells):
        after = []
        for i, row in enumerate(rows):
            changed = list(row)
            for j in columns:
                changed[j] = rows[donor[i]][j]
            after.append(leaf_values_of(changed))
        losses.append(before - measure(after, y))
    return losses


def importance(tree_means, n_trees):
    """Raw importance and its z: R's randomForest, `importance(scale = FALSE / TRUE)`.

    A tree that is not among `tree_means` lost nothing.
    """
    raw = sum(tree_means) / n_trees
    variance = sum(d * d for d in tree_means) / n_trees - raw * raw
    error = math.sqrt(max(variance, 0.0) / n_trees)
    return raw, (raw / error if error > 2.0**-52 else raw), error


def chi_square_index(before, after):
    """sum (s - s')^2 / (s + s') over the cells of two tables of votes."""
    return sum((a - b) ** 2 / (a + b) for a, b in zip(before, after, strict=True) if a + b)


# --- cells of associated columns -----------------------------------------------------------------


def turns(arrays, schema, tree, rows):
    """Return the child of every row at each node, by the column of the node."""
    start, stop = (int(arrays["offsets"][tree + i]) for i in (0, 1))
    words = arrays["pool"][int(arrays["pool_offsets"][tree]) :]
    results = {}
    for at in range(start, stop):
        column = int(arrays["feature"][at])
        if column >= 0:
            sides = [
                route._branch(arrays, schema, at, column, float(row[column]), words) for row in rows
            ]
            results.setdefault(column, []).append(sides)
    return results


def bins(sides):
    """Label each row by its sides at the nodes of a column."""
    return list(zip(*sides, strict=True))


def chi_square_p(a, b):
    """P-value of Pearson's test of independence of two lists of labels."""
    first, second = sorted(set(a)), sorted(set(b))
    if len(first) < 2 or len(second) < 2:
        return 1.0
    pairs = list(zip(a, b, strict=True))
    table = [[pairs.count((u, v)) for v in second] for u in first]
    return stats.chi2_contingency(table, correction=False).pvalue


def cells(column, turned, associated):
    """Cell of every row for permuting a column: its bins in the associated columns of the tree.

    `turned` is what `turns` gives, `associated(column, other)` tells whether to condition.
    """
    n_rows = len(turned[column][0])
    others = [k for k in sorted(turned) if k != column and associated(column, k)]
    return [tuple(bins(turned[k])[i] for k in others) for i in range(n_rows)]


# --- votes ---------------------------------------------------------------------------------------


def votes(leaf_values, y, n_classes):
    """Rows by class and by the class that their leaf votes for, the cells in one list."""
    table = [0] * n_classes**2
    for values, c in zip(leaf_values, y, strict=True):
        table[c * n_classes + values.index(max(values))] += 1
    return table


def vote_tables(leaf_values_of, rows, y, column, n_classes):
    """Tables of votes of one tree under every permutation of a column among its rows."""
    for donor in permuted_within(range(len(rows)), [0] * len(rows)):
        after = []
        for i, row in enumerate(rows):
            changed = list(row)
            changed[column] = rows[donor[i]][column]
            after.append(leaf_values_of(changed))
        yield votes(after, y, n_classes)
