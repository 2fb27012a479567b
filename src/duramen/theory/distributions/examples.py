"""Named distributions, most of them from the literature, with their known importances."""

from __future__ import annotations

from typing import Any

from duramen.theory.distributions.finite_distribution import FiniteDistribution
from duramen.theory.distributions.specification import (
    Factor,
    bernoulli,
    copy,
    function,
    specify,
    table,
    uniform,
)
from duramen.theory.distributions.specification import (
    xor as exclusive_or,
)

__all__ = [
    "chain",
    "clique",
    "correlated_pair",
    "correlated_xor",
    "digits7",
    "example_5_1",
    "example_5_2",
    "example_6_1",
    "imbalanced_xor",
    "noisy_copy",
    "problem_1",
    "problem_2",
    "simpson",
    "xor",
]

# Segments that are lit for 0..9: top, upper left, upper right, middle, lower left, lower right,
# bottom (thesis, Table C.0.1).
SEGMENTS = (
    *("1110111", "0010010", "1011101", "1011011", "0111010"),
    *("1101011", "1101111", "1010010", "1111111", "1111011"),
)


def digits7(*, first_in_four: bool = False) -> FiniteDistribution:
    """Ten digits on a seven-segment display, each with probability 1/10.

    The features ``X1`` .. ``X7`` are the segments. Importances of totally randomized multiway
    trees are .413 .582 .531 .542 .657 .226 .372 bits.

    Parameters
    ----------
    first_in_four : bool, default=False
        Whether each value of X1 is split at random into two: 0 into 0 and 1, 1 into 2 and 3, with
        equal probability. It has the same information on the digit, but binary splits differ.

    References
    ----------
    Louppe, Wehenkel, Sutera, Geurts (2013), Table 1; thesis, Table 5.1, Figure 5.5 and appendix C.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.population_importances(dm.theory.examples.digits7()).values.round(3).tolist()
    [0.413, 0.582, 0.531, 0.542, 0.657, 0.226, 0.372]
    """
    segments: dict[str, Factor] = {f"X{m}": _segment(m) for m in range(1, 8)}
    if first_in_four:
        halves = {lit: {2 * lit: 0.5, 2 * lit + 1: 0.5} for lit in (0, 1)}
        segments["X1"] = table({y: halves[_lit(y, 1)] for y in range(10)}, "Y")
    return specify({**segments, "Y": uniform(10)})


def xor() -> FiniteDistribution:
    """Exclusive or of two fair bits: each is irrelevant alone and strongly relevant.

    Both importances are .5 bits.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.population_importances(dm.theory.examples.xor()).values.round(3).tolist()
    [0.5, 0.5]
    """
    return specify({"X1": uniform(2), "X2": uniform(2), "Y": exclusive_or("X1", "X2")})


def imbalanced_xor(probability: float = 0.4) -> FiniteDistribution:
    """Exclusive or of a fair bit X1 and a bit X2 that is 1 with some probability.

    Because X2 is not fair, X1 has a little information on Y by itself, X2 none. Where the better
    of both is chosen, X1 always comes first and X2 gets nearly all importance; totally randomized
    trees give X1 slightly more (thesis, section 4.4.5.1, on the bias due to masking).

    Parameters
    ----------
    probability : float, default=0.4
        P(X2 = 1); at 1/2 it is `xor`.

    Examples
    --------
    >>> import duramen as dm
    >>> dist = dm.theory.examples.imbalanced_xor(0.4)
    >>> round(dist.mutual_information("X1"), 3), round(dist.mutual_information("X2"), 3)
    (0.029, 0.0)
    """
    return specify({"X1": uniform(2), "X2": bernoulli(probability), "Y": exclusive_or("X1", "X2")})


def correlated_xor() -> FiniteDistribution:
    """Exclusive or of X1 and X2, where X4 is the opposite of X2, and X5 the opposite of X3.

    X1 is strongly relevant, X2 and X4 are weakly relevant, X3 and X5 irrelevant; there are two
    Markov boundaries (Kohavi and John 1997; thesis, section 2.4.1).

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.markov_boundaries(dm.theory.examples.correlated_xor())
    [('X1', 'X2'), ('X1', 'X4')]
    """
    return specify(
        {
            "X1": uniform(2),
            "X2": uniform(2),
            "X3": uniform(2),
            "X4": copy("X2", 0.0),
            "X5": copy("X3", 0.0),
            "Y": exclusive_or("X1", "X2"),
        }
    )


def clique(r: int = 3) -> FiniteDistribution:
    """Exclusive or of r fair bits.

    The only minimal conditioning of each is all the others, so all have degree r - 1 and
    importance 1/r bits (thesis, section 7.3.2).

    Parameters
    ----------
    r : int, default=3
        Number of bits, at least 1.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.population_importances(dm.theory.examples.clique(4)).values.round(3).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    bits = _bits(r, "clique")
    return specify({**dict.fromkeys(bits, uniform(2)), "Y": exclusive_or(*bits)})


def chain(r: int = 3) -> FiniteDistribution:
    """Fair bits X1 .. Xr of which the only minimal conditioning of Xi is {X1, .., Xi-1}.

    So Xi has degree i - 1 (thesis, section 7.3.2, which asks for such a distribution and gives
    none). Here Y is the exclusive or of the first J bits, and J is hidden and uniform on 1 .. r:
    a set of bits is informative only if it has X1, .., Xj for some j.

    Parameters
    ----------
    r : int, default=3
        Number of bits, at least 1.

    Examples
    --------
    >>> import duramen as dm
    >>> from duramen.theory.dependence import feature_relevance
    >>> [one.degree for one in feature_relevance(dm.theory.examples.chain(3))]
    [0, 1, 2]
    """
    bits = _bits(r, "chain")

    def first_bits(j: int, *values: int) -> int:
        return sum(values[:j]) % 2

    length = uniform(range(1, r + 1))
    target = function(first_bits, "J", *bits)
    return specify({**dict.fromkeys(bits, uniform(2)), "J": length, "Y": target}, hidden=["J"])


def noisy_copy(flip: float = 0.05) -> FiniteDistribution:
    """Exclusive or of two fair bits, and a third feature that copies Y with errors.

    X3 is only weakly relevant, but more important than X1 and X2: .262 .262 .476 bits at
    ``flip=0.05`` (Geurts 2016, slides on strong and weak relevance, whose table has X1 xor X2 with
    noise for X3, which is independent of either, against the sentence above it).

    Parameters
    ----------
    flip : float, default=0.05
        P(X3 differs from Y).

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.population_importances(dm.theory.examples.noisy_copy()).values.round(3).tolist()
    [0.262, 0.262, 0.476]
    """
    return specify(
        {
            "X1": uniform(2),
            "X2": uniform(2),
            "X3": copy("Y", 1.0 - flip),
            "Y": exclusive_or("X1", "X2"),
        }
    )


def example_5_1(alpha: float = 0.8) -> FiniteDistribution:
    """Exclusive or of two fair bits, and X3 equal to Y with probability alpha, else random.

    The importances are .323 .323 .354 bits at alpha = 0.8 (thesis, example 5.1, where .296 .296
    .408 is printed; these are the exact ones).

    Parameters
    ----------
    alpha : float, default=0.8
        Probability of a copy; otherwise X3 is a fair bit.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.population_importances(dm.theory.examples.example_5_1()).values.round(3).tolist()
    [0.323, 0.323, 0.354]
    """
    return specify(
        {
            "X1": uniform(2),
            "X2": uniform(2),
            "X3": copy("Y", alpha, otherwise="any"),
            "Y": exclusive_or("X1", "X2"),
        }
    )


def example_5_2() -> FiniteDistribution:
    """X1 uniform on 0, 1, 2, and X2 = Y = 1 where X1 is not 0.

    Multiway splits give .459 .459 bits, binary ordered splits .376 .542 (thesis, example 5.2 and
    Table 5.2, after Louppe 2014).

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.population_importances(dm.theory.examples.example_5_2()).values.round(3).tolist()
    [0.459, 0.459]
    """
    return specify({"X1": uniform(3), "X2": table({0: 0, 1: 1, 2: 1}, "X1"), "Y": copy("X2")})


def example_6_1() -> FiniteDistribution:
    """Two fair bits and a context, a fair bit: if X2 = Xc then Y = X1, else Y is 2 or 3.

    X1 depends on the context, though I(Y; X1 | B) = I(Y; X1 | B, Xc = xc) for every B and xc: the
    differences at single values of B cancel out (thesis, example 6.1 and Table 6.A.1).

    Examples
    --------
    >>> import duramen as dm
    >>> dist = dm.theory.examples.example_6_1()
    >>> dist.mutual_information("X1"), dist.mutual_information("X1", given="Xc")
    (0.5, 0.5)
    """

    def outcome(x1: int, x2: int, xc: int) -> Any:
        return x1 if x2 == xc else {2: 0.5, 3: 0.5}

    bits = dict.fromkeys(["X1", "X2", "Xc"], uniform(2))
    return specify({**bits, "Y": function(outcome, "X1", "X2", "Xc")}, context="Xc")


def problem_1() -> FiniteDistribution:
    """Y = 2 if X1 = 0; otherwise Y is X2 in context 0 and X3 in context 1; all bits are fair.

    Importances are 1, .125, .125 bits; 1, .5, 0 in context 0; 1, 0, .5 in context 1 (thesis,
    section 6.4, Tables 6.1 and 6.2).

    Examples
    --------
    >>> import duramen as dm
    >>> dm.theory.population_importances(dm.theory.examples.problem_1()).values.round(3).tolist()
    [1.0, 0.125, 0.125]
    """

    def outcome(x1: int, x2: int, x3: int, xc: int) -> int:
        if x1 == 0:
            return 2
        return x2 if xc == 0 else x3

    bits = dict.fromkeys(["X1", "X2", "X3", "Xc"], uniform(2))
    return specify({**bits, "Y": function(outcome, "X1", "X2", "X3", "Xc")}, context="Xc")


def problem_2() -> FiniteDistribution:
    """Digits in two contexts; in context 1, X5, X6, X7 are random bits, and X8 is in both.

    Importances are .5727 .7514 .5528 .687 .1746 .0753 .1073 0 bits over all; in context 0 those of
    `digits7`, and .6243 .8057 .5577 .7343 0 0 0 0 in context 1 (thesis, section 6.4, Table 6.3).

    Examples
    --------
    >>> import duramen as dm
    >>> dist = dm.theory.examples.problem_2()
    >>> dist.names[-1], dist.n_classes, dist.n_contexts
    ('X8', 10, 2)
    """
    segments = {f"X{m}": _segment(m) for m in range(1, 5)}
    for m in range(5, 8):
        rows = {(digit, 0): _lit(digit, m) for digit in range(10)}
        noise = {(digit, 1): {0: 0.5, 1: 0.5} for digit in range(10)}
        segments[f"X{m}"] = table(rows | noise, "Y", "Xc")
    return specify({**segments, "X8": uniform(2), "Y": uniform(10), "Xc": uniform(2)}, context="Xc")


def simpson() -> FiniteDistribution:
    """Simpson's paradox: a drug that helps overall, but harms both women and men.

    X1 is 1 for those who took the drug, X2 is 1 for women, Y is 1 for those who recovered: 50 of
    100 with the drug and 40 without; of women 20 and 30, of men 60 and 70. Three quarters of
    those with the drug are men, of those without it women (Simpson 1951; numbers of Pearl 2009,
    Causality, chapter 6; thesis, section 2.2).

    Examples
    --------
    >>> import duramen as dm
    >>> dist = dm.theory.examples.simpson()
    >>> joint = dist.probabilities(["X1", "X2", "Y"])
    >>> recovered = joint[..., 1] / joint.sum(axis=2)
    >>> recovered.round(3).tolist()  # without the drug and with it: men, women
    [[0.7, 0.3], [0.6, 0.2]]
    >>> (joint[..., 1].sum(axis=1) / 0.5).round(3).tolist()  # without and with
    [0.4, 0.5]
    """
    recovery = {(0, 0): 0.7, (0, 1): 0.3, (1, 0): 0.6, (1, 1): 0.2}
    return specify(
        {
            "X1": uniform(2),
            "X2": table({drug: {0: q, 1: 1 - q} for drug, q in {0: 0.25, 1: 0.75}.items()}, "X1"),
            "Y": table({key: {0: 1 - q, 1: q} for key, q in recovery.items()}, "X1", "X2"),
        }
    )


def correlated_pair(n_values: int = 8, *, redundant: bool = False) -> FiniteDistribution:
    """Two correlated features of two classes that are complementary, or redundant.

    Complementary: X1 = S + 1 - Y and X2 = S + Y, with S uniform. The correlation is .91 for 8
    values, yet X2 - X1 separates the classes, which neither feature does alone. Redundant: in each
    class both are uniform and independent, and the values of the second class lie above those of
    the first: either separates the classes, the correlation is .75 (after Guyon and Elisseeff
    2006; thesis, section 2.4.3.6 and Figure 2.8).

    Parameters
    ----------
    n_values : int, default=8
        Number of values in each class, at least 2.
    redundant : bool, default=False
        Whether the features are redundant.

    Examples
    --------
    >>> import duramen as dm
    >>> one, other = (dm.theory.examples.correlated_pair(redundant=r) for r in (False, True))
    >>> [round(d.multivariate_information("X1", "X2", "Y"), 3) for d in (one, other)]
    [-0.75, 1.0]
    """
    if n_values < 2:
        raise ValueError(f"correlated_pair: n_values must be at least 2, got {n_values}.")

    def first(y: int, s: int) -> int:
        return s + n_values * y if redundant else s + 1 - y

    def second(y: int, s: int, t: int) -> int:
        return t + n_values * y if redundant else s + y

    factors = {
        "X1": function(first, "Y", "S"),
        "X2": function(second, "Y", "S", "T"),
        "Y": uniform(2),
        **dict.fromkeys(["S", "T"], uniform(n_values)),
    }
    return specify(factors, hidden=["S", "T"])


def _segment(m: int) -> Factor:
    return table({digit: _lit(digit, m) for digit in range(10)}, "Y")


def _lit(digit: int, m: int) -> int:
    return int(SEGMENTS[digit][m - 1])


def _bits(r: int, name: str) -> list[str]:
    if r < 1:
        raise ValueError(f"{name}: r must be at least 1, got {r}.")
    return [f"X{i}" for i in range(1, r + 1)]
