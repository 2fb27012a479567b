"""Random distributions for property tests, and the same as a table for the oracles."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from duramen.theory import FiniteDistribution


@st.composite
def weighted_rows(draw, *, most_features=3, contexts=True):
    """Features, target, weights and maybe context of some rows; rows may be equal."""
    p = draw(st.integers(0, most_features))
    sizes = [draw(st.integers(1, 3)) for _ in range(p + 2)]
    n = draw(st.integers(1, 14))
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    rows = draw(st.lists(row, min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    with_context = contexts and draw(st.booleans())
    X = [list(values[:p]) for values in rows]
    y = [values[p] for values in rows]
    return X, y, weights, [values[p + 1] for values in rows] if with_context else None


@st.composite
def distributions(draw, *, most_features=3, contexts=True):
    """Random distributions with up to 3 values a variable."""
    X, y, weights, context = draw(weighted_rows(most_features=most_features, contexts=contexts))
    return of_rows(X, y, weights, context)


def of_rows(X, y, weights, context):
    return FiniteDistribution.from_table(
        np.array(X, dtype=np.int64).reshape(len(y), -1), y, weights=weights, context=context
    )


def as_table(dist):
    """The rows of a distribution as dictionaries from the names of variables to their codes."""
    table = []
    for i in range(dist.n_rows):
        row = dict(zip(dist.names, dist.codes[i].tolist(), strict=True))
        row[dist.target_name] = int(dist.target[i])
        if dist.context is not None:
            row[dist.context_name] = int(dist.context[i])
        table.append((row, float(dist.weights[i])))
    return table


def variables_of(dist):
    """The names of all variables, target and context included."""
    context = [] if dist.context is None else [dist.context_name]
    return [*dist.names, dist.target_name, *context]


@st.composite
def with_sets(draw, count, *, most_features=3):
    """A distribution and `count` sets of its variables, in any order, that may overlap."""
    dist = draw(distributions(most_features=most_features))
    some = st.lists(st.sampled_from(variables_of(dist)), unique=True, max_size=3)
    return (dist, *(draw(some) for _ in range(count)))


def table_with_an_outlier():
    """Rows (x, y, w): x1 and x2 tie among small numbers, beside one number that is far away."""
    cells = [(0, a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    low = zip(cells, (2, 5, 9, 7, 1, 4, 0, 6), (1, 2, 1, 3, 2, 3, 1, 2), strict=True)
    rows = [*low, ((1, 0, 0, 0), 10**9, 1)]
    return [(x, y, Fraction(times, 16)) for x, y, times in rows]
