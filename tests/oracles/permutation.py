"""Permutation importance by its definition: every permutation written out, every row sent down."""

import itertools
import math


def permuted_within(positions, cells):
    """Every way to give the positions of each cell each other's values, as a list of donors."""
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
    """What a tree loses under every permutation of `columns` among its rows, each as likely.

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
    return raw, (raw / error if error > 2.0**-52 else 0.0), error


def chi_square_index(before, after):
    """sum (s - s')^2 / (s + s') over the cells of two tables of votes."""
    return sum((a - b) ** 2 / (a + b) for a, b in zip(before, after, strict=True) if a + b)
