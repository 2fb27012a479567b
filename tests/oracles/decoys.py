"""Importances of columns in excess of their decoys, by growing the tree from the definition.

All columns are candidates at every node, and every split has a child for each value that occurs.
Of columns of two values that is the one split into two, best or drawn.
"""

from itertools import pairwise

import numpy as np
from tests.oracles.splits import decrease

CLOSE = 1e-9


class TooClose(Exception):
    """Exception: the outcome depends on ties or on random draws."""


def copies(X, cycle, bounds):
    """The decoys of all columns: at each row the values of the next row of its cycle."""
    following = {}
    for first, end in pairwise(bounds):
        rows = [int(row) for row in cycle[first:end]]
        following |= dict(zip(rows, rows[1:] + rows[:1], strict=True))
    return X[[following[i] for i in range(len(X))]]


def excess(X, y, cycle, judged, criterion, max_depth, multiway=False, bounds=None):
    """Return weighted decreases of the judged columns less decreases of their decoys, (p,).

    With `multiway`, a column that was split on further up is no candidate, but its decoy is.
    """
    n, p = X.shape
    decoys = copies(X, cycle, [0, len(cycle)] if bounds is None else bounds)
    result = np.zeros(p)

    def value(column, rows):
        groups = [np.flatnonzero(column[rows] == v).tolist() for v in set(column[rows].tolist())]
        if len(groups) < 2:
            return None
        return decrease(groups, y[rows].tolist(), [1] * len(rows), criterion)

    def visit(rows, depth, used, spent):
        if depth == max_depth or len(set(y[rows].tolist())) < 2:
            return
        able = [j for j in range(p) if not (multiway and j in used)]
        own = {j: value(X[:, j], rows) for j in able}
        if multiway and (None in own.values() or not able):
            raise TooClose
        own = {j: v for j, v in own.items() if v is not None}
        ranking = sorted(own, key=own.get)
        if len(ranking) > 1 and own[ranking[-1]] - own[ranking[-2]] < CLOSE:
            raise TooClose
        if multiway and own[ranking[-1]] < CLOSE:
            raise TooClose
        factor = (len(rows) / n) ** (9 / 8)
        beneath = set(spent)
        for j in range(p):
            if not judged[j] or j in spent:
                continue
            copy = value(decoys[:, j], rows)
            others = max((v for k, v in own.items() if k != j), default=-np.inf)
            if copy is None or copy < others - CLOSE:
                continue
            if copy < others + CLOSE:
                raise TooClose
            result[j] -= factor * copy
            beneath.add(j)
        if not ranking:
            return
        winner = ranking[-1]
        if judged[winner]:
            result[winner] += factor * own[winner]
        for v in set(X[rows, winner].tolist()):
            visit(rows[X[rows, winner] == v], depth + 1, used | {winner}, beneath)

    visit(np.arange(n), 0, frozenset(), frozenset())
    return result
