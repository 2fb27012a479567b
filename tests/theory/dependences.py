"""Joint distributions whose variables depend on each other in telling ways, as counts of rows.

Keys are ``(x_1, ..., x_p, y)``. Random weights alone make every set of variables dependent; here
variables are functions of a few hidden fair or biased bits, so independences are common.
"""

import itertools
from random import Random

import numpy as np
from hypothesis import strategies as st
from tests.oracles.theory.relevance import Oracle, normalized

from duramen.theory import FiniteDistribution


def counted(functions, *, bits, odds=None):
    """The joint counts of functions of hidden bits; ``odds[i]`` is the weight of bit i being 1."""
    odds = odds or [1] * bits
    counts = {}
    for hidden in itertools.product((0, 1), repeat=bits):
        weight = 1
        for bit, odd in zip(hidden, odds, strict=True):
            weight *= odd if bit else 1
        row = tuple(int(function(*hidden)) for function in functions)
        counts[row] = counts.get(row, 0) + weight
    return counts


def distribution_of(counts, names=None):
    rows = np.array([row[:-1] for row in counts], dtype=np.int64).reshape(len(counts), -1)
    p = rows.shape[1]
    return FiniteDistribution.from_table(
        rows,
        np.array([row[-1] for row in counts]),
        weights=list(counts.values()),
        names=names or [f"X{j + 1}" for j in range(p)],
    )


def oracle_of(counts):
    return Oracle(normalized(counts))


def named(sets, names):
    """Sets of indices as tuples of names, in the order that the library promises."""
    ordered = sorted(
        (tuple(sorted(subset)) for subset in sets), key=lambda members: (len(members), members)
    )
    return tuple(tuple(names[j] for j in members) for members in ordered)


def parity(mask):
    return lambda *hidden: sum(bit for bit, used in zip(hidden, mask, strict=True) if used) % 2


def conjunction(mask):
    return lambda *hidden: all(bit for bit, used in zip(hidden, mask, strict=True) if used)


def total(mask):
    return lambda *hidden: sum(bit for bit, used in zip(hidden, mask, strict=True) if used)


def hidden_bits(seed, most_features=4):
    """Counts of parities, conjunctions and sums of up to four hidden bits: features and target."""
    random = Random(seed)
    bits = random.randint(2, 4)
    odds = [random.choice([1, 1, 1, 2, 3]) for _ in range(bits)]
    functions = []
    for _ in range(random.randint(2, most_features) + 1):
        mask = [random.random() < 0.5 for _ in range(bits)]
        functions.append(random.choice([parity, parity, conjunction, total])(mask))
    return counted(functions, bits=bits, odds=odds)


def of_hidden_bits(*, most_features=4):
    """Draw the seed: Hypothesis prefers small choices, which make most of it constant."""
    return st.integers(0, 2**32 - 1).map(lambda seed: hidden_bits(seed, most_features))


@st.composite
def of_few_rows(draw, *, most_features=4):
    """Any rows of small numbers."""
    p = draw(st.integers(1, most_features))
    row = st.tuples(*[st.integers(0, 2)] * p, st.integers(0, 1))
    return draw(st.dictionaries(row, st.integers(1, 3), min_size=1, max_size=8))


@st.composite
def positive(draw, *, most_features=3):
    """Every combination of values has a positive count; half of the time variables are a chain."""
    p = draw(st.integers(1, most_features))
    cells = list(itertools.product((0, 1), repeat=p + 1))
    if draw(st.booleans()):
        weights = draw(st.lists(st.integers(1, 3), min_size=len(cells), max_size=len(cells)))
        return dict(zip(cells, weights, strict=True))
    order = draw(st.permutations(range(p + 1)))
    stay = draw(st.lists(st.integers(1, 3), min_size=p, max_size=p))
    counts = {}
    for cell in cells:
        weight = 1
        for k in range(p):
            weight *= stay[k] if cell[order[k]] == cell[order[k + 1]] else 1
        counts[cell] = weight
    return counts


def joints(*, most_features=4):
    return st.one_of(
        of_hidden_bits(most_features=most_features),
        of_hidden_bits(most_features=most_features),
        of_few_rows(most_features=most_features),
        positive(most_features=min(most_features, 3)),
    )
