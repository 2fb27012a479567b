"""Random tables of weighted rows, for the importances and their oracles."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from hypothesis import strategies as st

import duramen as dm
from duramen.theory import FiniteDistribution


@st.composite
def tables(draw, *, least=1, most=5, n_rows=12, weights=("equal", "whole", "real")):
    """Rows (x, y, weight): few values, so that rows repeat and cells are mixed."""
    p = draw(st.integers(least, most))
    sizes = [draw(st.integers(1, 4)) for _ in range(p)]
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    n_classes = draw(st.integers(1, 4))
    kind = draw(st.sampled_from(weights))
    weight = {
        "equal": st.just(1.0),
        "whole": st.integers(1, 9).map(float),
        "real": st.floats(0.01, 1.0),
    }[kind]
    weighted_row = st.tuples(row, st.integers(0, n_classes - 1), weight)
    return draw(st.lists(weighted_row, min_size=1, max_size=n_rows))


def distribution(rows):
    X, y, weights = zip(*rows, strict=True)
    # Values can be tuples (copies under other labels): number them.
    columns = []
    for column in zip(*X, strict=True):
        places = {value: i for i, value in enumerate(dict.fromkeys(column))}
        columns.append([places[value] for value in column])
    table = np.array(columns, dtype=np.int64).reshape(-1, len(y)).T
    return FiniteDistribution.from_table(table, list(y), weights=list(weights))


def random_rows(random, n, p, sizes=2, n_classes=2):
    X = random.integers(0, sizes, (n, p))
    y = random.integers(0, n_classes, n)
    return [(tuple(x), int(label), 1.0) for x, label in zip(X.tolist(), y, strict=True)]


def of_rows(rows):
    """The distribution of rows (x, y, w) whose weights are fractions."""
    X, y, weights = zip(*rows, strict=True)
    return FiniteDistribution.from_table(
        np.array(X), np.array(y), weights=list(map(float, weights))
    )


def factorial_rows(random):
    """All combinations of the values of 2 to 4 features, and a class that they determine.

    Half of the time it is their sum by a modulus: no decrease before a single feature is left.
    """
    p = int(random.integers(2, 5))
    sizes = random.integers(2, 5 if p == 2 else 4, p).tolist() if p < 4 else [2] * p
    n_classes = int(random.integers(2, 5))
    factors, labels = random.integers(1, n_classes, p), random.integers(0, n_classes, sizes)
    is_sum = random.random() < 0.5
    return [
        (x, int(factors @ x) % n_classes if is_sum else int(labels[x]), Fraction(1, prod(sizes)))
        for x in product(*map(range, sizes))
    ]


def primary_tumor(context=None):
    """The 132 complete patients without their sex, which may be the context."""
    tumor = dm.datasets.load_primary_tumor()
    X = tumor.X.to_pandas()
    complete = X.notna().all(axis=1).to_numpy()
    X = X[complete]
    context = None if context is None else X[context]
    return FiniteDistribution.from_table(
        X.drop(columns="sex"), np.asarray(tumor.y)[complete], context=context
    )
