from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grid import one_test

from duramen.theory import specify
from duramen.theory.distributions.specification import (
    bernoulli,
    categorical,
    copy,
    function,
    table,
    uniform,
    xor,
)


def test_copies_with_errors():
    letters = categorical({"a": 0.5, "b": 0.25, "c": 0.25})
    other = specify({"X": letters, "Y": copy("X", 0.8)})
    np.testing.assert_allclose(
        other.probabilities(["X", "Y"]),
        [[0.4, 0.05, 0.05], [0.025, 0.2, 0.025], [0.025, 0.025, 0.2]],
        atol=1e-15,
    )
    any_of_them = specify({"X": letters, "Y": copy("X", 0.7, otherwise="any")})
    np.testing.assert_allclose(
        any_of_them.probabilities(["X", "Y"]),
        [[0.4, 0.05, 0.05], [0.025, 0.2, 0.025], [0.025, 0.025, 0.2]],
        atol=1e-15,
    )
    assert specify({"X": letters, "Y": copy("X")}).n_rows == 3
    flipped = specify({"X": uniform(2), "Y": copy("X", 0.0)})
    np.testing.assert_array_equal(flipped.probabilities(["X", "Y"]), [[0, 0.5], [0.5, 0]])


def test_tables_and_functions_may_be_random():
    dist = specify(
        {
            "A": uniform([1, 2]),
            "B": table({1: "low", 2: {"low": 0.5, "high": 0.5}}, "A"),
            "C": table({(1, "low"): 0, (2, "low"): 1, (2, "high"): {0: 0.2, 1: 0.8}}, "A", "B"),
            "Y": function(lambda a, c: a + c if c else {0: 0.5, a: 0.5}, "A", "C"),
        }
    )
    distribution = {
        (a, b, c, y): p
        for a, b, c, y, p in zip(
            *(dist.values(n)[dist.codes[:, j]] for j, n in enumerate(dist.names)),
            dist.classes[dist.target],
            dist.weights,
            strict=True,
        )
    }
    expected = {
        (1, "low", 0, 0): 0.25,
        (1, "low", 0, 1): 0.25,
        (2, "low", 1, 3): 0.25,
        (2, "high", 1, 3): 0.2,
        (2, "high", 0, 0): 0.025,
        (2, "high", 0, 2): 0.025,
    }
    assert distribution == pytest.approx(expected, abs=1e-15)
    assert dist.labels[1].tolist() == ["high", "low"]


def test_parents_may_come_later():
    dist = specify({"X": copy("Y", 0.9), "Y": xor("Z", "W"), "Z": uniform(2), "W": uniform(2)})
    assert dist.names == ("X", "Z", "W")
    assert dist.mutual_information(["Z", "W"]) == 1.0


def test_hidden_variables_are_summed_over():
    factors = {"H": uniform(3), "X": function(lambda h: h % 2, "H"), "Y": copy("H")}
    dist = specify(factors, hidden=["H"])
    assert dist.names == ("X",)
    assert dist.probabilities(["X", "Y"]) == pytest.approx(np.array([[1, 0, 1], [0, 1, 0]]) / 3)
    assert specify(factors, hidden="H").equals(dist)


def test_values_of_probability_zero_do_not_appear():
    dist = specify({"X": bernoulli(0.0), "Z": categorical({"a": 0, "b": 1}), "Y": uniform(2)})
    assert [labels.tolist() for labels in dist.labels] == [[0], ["b"]]
    coin = specify({"Y": bernoulli(0.3)})
    assert coin.probabilities("Y") == pytest.approx([0.7, 0.3], abs=1e-15)


@one_test
@pytest.mark.parametrize("parts", [(0.7, 0.2, 0.1), (0.9, 0.1), (0.6, 0.3, 0.1)])
def test_what_rounding_leaves_of_zero_is_no_value(parts):
    """1 - .7 - .2 - .1 is 2.8e-17, and 1 - .9 - .1 is -2.8e-17."""
    rest = 1.0
    for part in parts:
        rest -= part
    assert 0 < abs(rest) < 1e-16
    probabilities = {**dict(enumerate(parts)), "rest": rest}
    dist = specify({"X": categorical(probabilities), "Y": copy("X")})
    assert dist.n_classes == dist.cardinalities[0] == len(parts)


def test_tuples_can_be_values():
    dist = specify({"A": uniform(2), "B": uniform(2), "Y": function(lambda a, b: (a, b), "A", "B")})
    assert dist.classes.tolist() == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert dist.entropy() == 2.0


@st.composite
def networks(draw):
    """Random networks of up to five variables: sizes, parents and weights of the outcomes."""
    n = draw(st.integers(1, 5))
    sizes = [draw(st.integers(1, 3)) for _ in range(n)]
    parents = [
        draw(st.lists(st.integers(0, i - 1), unique=True, max_size=2)) if i else []
        for i in range(n)
    ]
    conditionals = []
    for i in range(n):
        settings = product(*(range(sizes[j]) for j in parents[i]))
        weights = st.lists(st.integers(0, 4), min_size=sizes[i], max_size=sizes[i])
        conditionals.append({s: draw(weights.filter(any)) for s in settings})
    return sizes, parents, conditionals


@given(networks(), st.randoms())
def test_random_networks_against_fractions(network, random):
    sizes, parents, conditionals = network
    names = [f"X{i}" for i in range(len(sizes) - 1)] + ["Y"]
    factors = {}
    for i, name in enumerate(names):
        rows = {
            s: {v: w / sum(distribution) for v, w in enumerate(distribution)}
            for s, distribution in conditionals[i].items()
        }
        if parents[i]:
            factors[name] = table(rows, *(names[j] for j in parents[i]))
        else:
            factors[name] = categorical(rows[()])
    shuffled = list(factors)
    random.shuffle(shuffled)
    dist = specify({name: factors[name] for name in shuffled})
    expected = {}
    for values in product(*map(range, sizes)):
        p = Fraction(1)
        for i, value in enumerate(values):
            distribution = conditionals[i][tuple(values[j] for j in parents[i])]
            p *= Fraction(distribution[value], sum(distribution))
        if p:
            expected[values] = float(p)
    codes = [*(dist.codes[:, dist.index(name)] for name in names[:-1]), dist.target]
    columns = [dist.values(name)[own].tolist() for name, own in zip(names, codes, strict=True)]
    actual = dict(zip(zip(*columns, strict=True), dist.weights.tolist(), strict=True))
    assert actual == pytest.approx(expected, abs=1e-14)


@one_test
@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: uniform([]), ValueError, "uniform: values must be different, and at least one"),
        (lambda: uniform("ab"), ValueError, "a whole number or a list, got 'ab'"),
        (lambda: categorical([1]), TypeError, "categorical: probabilities must map each value"),
        (lambda: categorical({0: 0.4, 1: 0.5}), ValueError, "must sum to 1, got 0.9"),
    ],
)
def test_clear_errors_of_factors(make, error, message):
    with pytest.raises(error, match=message):
        make()


X = uniform(2)


@one_test
@pytest.mark.parametrize(
    "factors, options, error, message",
    [
        ({"X": copy("Y"), "Y": copy("X")}, {}, ValueError, "there is a cycle 'X' -> 'Y' -> 'X'"),
        ({"X": X, "Y": xor("Y")}, {}, ValueError, "a variable cannot be its own ancestor"),
        ({"X": X, "Y": xor("Z")}, {}, ValueError, "a parent of 'Y' must be one of .*, got 'Z'"),
        ({"X": X, "Y": 3}, {}, TypeError, "got 'Y': 3. Hint: such as uniform"),
        ({"X": X}, {}, ValueError, r"target must be one of \['X'\], which have a factor, got 'Y'"),
        ({"Y": X}, {"context": "C"}, ValueError, "context must be one of .*, got 'C'"),
    ],
)
def test_clear_errors_of_specify(factors, options, error, message):
    with pytest.raises(error, match=message):
        specify(factors, **options)
