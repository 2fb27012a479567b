"""A context in the exact theory: the tables of chapter 6, its theorems, and where they end."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.grid import one_test
from tests.oracles.theory import context as oracle
from tests.oracles.theory.accuracy import all_trees
from tests.oracles.theory.recursion import decrease, mass
from tests.theory.dependences import joints
from tests.theory.tables import primary_tumor, tables

from duramen.theory import (
    CONTEXT,
    FiniteDistribution,
    context_dependence,
    examples,
    population_context_importances,
    population_importances,
)
from duramen.theory.dependence import feature_context_dependence
from duramen.theory.dependence.contexts import EQUATIONS

CRITERIA = ("entropy", "gini", "variance")
EFFECTS = ("absolute", "signed", "conditional")


def distribution(rows):
    X, context, y, weights = zip(*rows, strict=True)
    table = np.array(X, dtype=np.int64).reshape(len(y), -1)
    return FiniteDistribution.from_table(table, y, weights=weights, context=context)


def of_counts(counts):
    """Joint counts whose last feature is the context."""
    return [(row[:-2], row[-2], row[-1], n) for row, n in counts.items()]


@st.composite
def contextual(draw, *, most=3):
    """Rows whose variables depend on each other in telling ways, or not at all."""
    if draw(st.booleans()):
        rows = of_counts(draw(joints(most_features=most + 1)))
    else:
        rows = [(x[:-1], x[-1], y, w) for x, y, w in draw(tables(least=1, most=most + 1))]
    assume(len({c for _, c, _, _ in rows}) > 1)
    return rows


def by_oracle(rows, **options):
    p, contexts = len(rows[0][0]), sorted({c for _, c, _, _ in rows})
    results = [[oracle.effects(rows, m, p, c, **options) for m in range(p)] for c in contexts]
    return np.array(results).reshape(len(contexts), p, 3).transpose(2, 0, 1)


# --- the tables of the thesis --------------------------------------------------------------------


def test_problem_1_has_the_effects_of_the_thesis():
    """Table 6.2."""
    result = population_context_importances(examples.problem_1())
    assert result.contexts == ("0", "1")
    assert result.unit == "bits"
    assert result.n_permutations == 0
    assert result.absolute_p_values is None
    signed = [[0, -0.375, 0.125], [0, 0.125, -0.375]]
    np.testing.assert_allclose(result.fractions, [0.5, 0.5], atol=1e-15)
    np.testing.assert_allclose(result.importances, [1, 0.125, 0.125], atol=1e-12)
    np.testing.assert_allclose(result.within, [[1, 0.5, 0], [1, 0, 0.5]], atol=1e-12)
    np.testing.assert_allclose(result.absolute, np.abs(signed), atol=1e-12)
    np.testing.assert_allclose(result.signed, signed, atol=1e-12)
    np.testing.assert_allclose(result.plain, signed, atol=1e-12)
    np.testing.assert_allclose(result.overall, [0, -0.125, -0.125], atol=1e-12)
    assert result.kind.tolist() == [
        ["independent", "complementary", "irrelevant"],
        ["independent", "irrelevant", "complementary"],
    ]


def test_problem_2_has_the_kinds_of_the_thesis():
    """Table 6.3, whose numbers tests/test_papers.py compares."""
    result = population_context_importances(examples.problem_2(), empty="zero")
    assert result.kind[:, 7].tolist() == ["independent", "independent"]
    assert result.kind[1, 4:7].tolist() == ["irrelevant"] * 3


@pytest.mark.slow
def test_primary_tumor_against_the_importances_of_the_population():
    """Table 6.E.1, whose numbers tests/test_papers.py compares."""
    dist = primary_tumor(context="sex")
    result = population_context_importances(dist)
    assert result.contexts == ("female", "male")
    assert result.context_name == "sex"
    assert result.empty == "skip"
    population = population_importances(dist)
    np.testing.assert_array_equal(result.importances, population.values)
    for what in ("fingerprint", "versions", "distribution"):
        assert result.metadata[what] == population.metadata[what]
    assert result.metadata["population"] == {
        "max_features": 1,
        "max_depth": None,
        "criterion": "entropy",
        "empty": "skip",
    }
    loss = dist.mutual_information(range(16)) - dist.mutual_information(range(16), CONTEXT)
    assert result.overall.sum() == pytest.approx(loss, abs=1e-12)


def test_example_6_1():
    """X1 depends on the context though (6.4) to (6.6) miss it; X2 is complementary."""
    dist = examples.example_6_1()
    first, second = feature_context_dependence(dist)
    assert [getattr(first, eq) for eq in EQUATIONS] == [True, True, False, False, False]
    assert first.changes == ("uncharacterized", "uncharacterized")
    assert first.witness.given == (("X2", 0),)
    assert (first.witness.overall, first.witness.within) == pytest.approx((0.5, 1), abs=1e-12)
    assert [getattr(second, eq) for eq in EQUATIONS] == [True, False, True, True, True]
    assert second.changes == ("complementary", "complementary")
    assert second.witness.given == ()
    result = population_context_importances(dist)
    np.testing.assert_allclose(result.absolute, [[0.25, 1], [0.25, 1]], atol=1e-12)
    np.testing.assert_allclose(result.signed, [[0, -1], [0, -1]], atol=1e-12)
    assert result.plain[:, 0] == pytest.approx(0, abs=1e-12)
    assert result.kind.tolist() == [["mixed", "complementary"]] * 2
    # "X1 and X2 are both relevant" (example 6.2): X2 is not, without the context as a feature.
    assert result.importances == pytest.approx([0.5, 0], abs=1e-12)


# --- against the definitions ---------------------------------------------------------------------


@given(
    rows=contextual(),
    criterion=st.sampled_from(CRITERIA),
    empty=st.sampled_from(["skip", "zero"]),
    depth=st.sampled_from([None, 1, 2, 3, 9]),
)
@settings(max_examples=40)
def test_effects_are_those_of_the_definitions(rows, criterion, empty, depth):
    options = {"criterion": criterion, "empty": empty}
    result = population_context_importances(distribution(rows), max_depth=depth, **options)
    wanted = by_oracle(rows, depth=depth, **options)
    for effect, values in zip(EFFECTS, wanted, strict=True):
        np.testing.assert_allclose(getattr(result, effect), values, rtol=0, atol=1e-11)


@given(rows=contextual(), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=15)
def test_importances_in_a_context_and_of_it(rows, criterion):
    p = len(rows[0][0])
    result = population_context_importances(distribution(rows), criterion=criterion)
    contexts = sorted({c for _, c, _, _ in rows})
    wanted = [oracle.plain_importances(oracle.within(rows, c), p, criterion) for c in contexts]
    wanted = np.reshape(wanted, (len(contexts), p))
    np.testing.assert_allclose(result.within, wanted, rtol=0, atol=1e-11)
    plain = oracle.plain_importances(rows, p, criterion)
    np.testing.assert_allclose(result.importances, plain, rtol=0, atol=1e-11)
    overall = [oracle.overall(rows, m, p, criterion) for m in range(p)]
    np.testing.assert_allclose(result.overall, overall, rtol=0, atol=1e-11)
    own = oracle.relevance(rows, p, criterion)
    assert result.relevance == pytest.approx(own, abs=1e-11)


@given(rows=contextual(), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=20)
def test_sum_rules(rows, criterion):
    dist = distribution(rows)
    skip, zero = (
        population_context_importances(dist, criterion=criterion, empty=empty)
        for empty in ("skip", "zero")
    )
    np.testing.assert_array_equal(skip.plain, skip.importances - skip.within)
    for result in (skip, zero):
        assert np.all(np.abs(result.signed) <= result.absolute + 1e-15)
    left = zero.importances - zero.conditional
    np.testing.assert_allclose(zero.signed, left, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(zero.conditional, skip.conditional)
    # Cells without the context: information there is lost, or does not count.
    lost = zero.signed - skip.signed
    assert lost.min(initial=0) >= -1e-12
    np.testing.assert_allclose(zero.absolute - skip.absolute, lost, rtol=0, atol=1e-12)
    features = range(dist.n_features)
    loss = dist.impurity_decrease(features, criterion=criterion) - dist.impurity_decrease(
        features, CONTEXT, criterion=criterion
    )
    assert skip.overall.sum() == pytest.approx(loss, abs=1e-12)
    mean = (skip.fractions[:, np.newaxis] * skip.plain).sum(axis=0)
    np.testing.assert_allclose(skip.overall, mean, rtol=0, atol=1e-12)


@given(rows=contextual())
@settings(max_examples=40)
def test_dependence_is_that_of_the_definitions(rows):
    p = len(rows[0][0])
    result = feature_context_dependence(distribution(rows))
    for m, feature in enumerate(result):
        wanted = oracle.definitions(rows, m, p)
        assert {what: getattr(feature, what) for what in wanted} == wanted
        assert feature.weakly_sensitive == oracle.weakly_sensitive(rows, m, p)
        assert feature.searched_degree == p - 1
        # (6.4) alone need not imply (6.1): see below.
        assert feature.eq_6_1 or not (feature.eq_6_3 or feature.eq_6_5 or feature.eq_6_6)
        assert (
            feature.eq_6_1
            == (set(feature.changes) != {"independent"})
            == (feature.witness is not None)
        )


@given(rows=contextual(), degree=st.integers(0, 2))
@settings(max_examples=20)
def test_a_witness_is_a_smallest_one(rows, degree):
    p = len(rows[0][0])
    dist = distribution(rows)
    for m, feature in enumerate(feature_context_dependence(dist, max_degree=degree)):
        assert feature.searched_degree == min(degree, p - 1)
        sizes = [
            len(B)
            for B in oracle.conditionings(m, p)
            for cell in oracle.cells(rows, B)
            for c in {row[1] for row in cell}
            if abs(
                oracle.information_of(oracle.within(cell, c), m) - oracle.information_of(cell, m)
            )
            > 1e-10
        ]
        assert feature.eq_6_1 == (min(sizes, default=math.inf) <= degree)
        if feature.witness is None:
            continue
        conditions = dict(feature.witness.given)
        assert len(conditions) == min(sizes)
        cell = [
            row for row in rows if all(row[0][dist.index(j)] == v for j, v in conditions.items())
        ]
        here = oracle.within(cell, feature.witness.context)
        assert oracle.information_of(cell, m) == pytest.approx(feature.witness.overall, abs=1e-11)
        assert oracle.information_of(here, m) == pytest.approx(feature.witness.within, abs=1e-11)


# --- theorems ------------------------------------------------------------------------------------


# Y depends on X alone, P(Y = 1|X) = 1/4, 1/2, 3/4, and the context changes the distribution of X.
SHIFTED = [
    ((x,), c, y, ((2, 4, 2), (3, 2, 3))[c][x] * (3 - x, 1 + x)[y])
    for c, x, y in itertools.product((0, 1), (0, 1, 2), (0, 1))
]


@given(rows=contextual())
@example(rows=SHIFTED)
@settings(max_examples=30)
def test_theorem_6_2_and_the_true_parts_of_theorem_6_1(rows):
    """No effect at all if and only if independent. A context that tells nothing by itself, and on
    which no feature depends, is irrelevant; so does nothing depend on an irrelevant context that is
    independent of the features."""
    p = len(rows[0][0])
    dist = distribution(rows)
    result = population_context_importances(dist)
    dependent = [oracle.definitions(rows, m, p, 1e-11)["eq_6_1"] for m in range(p)]
    assume(dependent == [oracle.definitions(rows, m, p, 1e-6)["eq_6_1"] for m in range(p)])
    assert (result.absolute.max(axis=0) > 2e-11).tolist() == dependent
    if not any(dependent) and dist.mutual_information(CONTEXT) < 1e-10:
        assert result.relevance < 1e-9
    apart = dist.mutual_information(CONTEXT, other=list(dist.names))
    if result.relevance < 1e-13 and apart < 1e-13:
        assert not any(dependent)


def test_theorem_6_1_is_false_in_one_direction():
    """An irrelevant context changes the information of a feature that it shifts."""
    dist = distribution(SHIFTED)
    result = population_context_importances(dist)
    assert result.relevance == pytest.approx(0, abs=1e-15)
    np.testing.assert_allclose(result.within[:, 0], [0.0943609378, 0.1415414066], atol=1e-10)
    assert result.importances[0] == pytest.approx(0.1179511722, abs=1e-10)
    assert result.absolute.min() > 0.02
    assert feature_context_dependence(dist)[0].eq_6_1


@given(rows=contextual())
@settings(max_examples=30)
def test_theorem_6_3(rows):
    """The verdicts, from the sums (6.11) and (6.12), are those of the terms."""
    p = len(rows[0][0])
    dist = distribution(rows)
    for m in range(p):
        assume(oracle.definitions(rows, m, p, 1e-6) == oracle.definitions(rows, m, p, 1e-11))
    kinds = population_context_importances(dist).kind
    for m, feature in enumerate(feature_context_dependence(dist)):
        for kind, change in zip(kinds[:, m].tolist(), feature.changes, strict=True):
            kind = "redundant" if kind == "irrelevant" else kind
            kind = "uncharacterized" if kind.startswith("mixed") else kind
            assert kind == change


def test_theorem_6_3_is_false_of_the_difference_of_two_forests():
    """|(6.9)| = (6.11), and yet X1 is more informative at two conditions and less at a third."""
    cells = """
        .06018471 .02693448 .05388571 .06459074 .06459074 .10565758 .03111772 .14210271
        .00456957 .12447089 .01827826 .11153485 .01614768 .04444009 .06459267 .06690159
    """
    joint = np.array(cells.split(), dtype=np.float64).reshape(2, 2, 2, 2)
    names = ["X1", "X2", "Xc", "Y"]
    dist = FiniteDistribution.from_probabilities(joint / joint.sum(), names=names, context="Xc")
    result = population_context_importances(dist)
    assert result.plain[0, 0] == pytest.approx(-0.0987976, abs=1e-7)
    assert result.absolute[0, 0] == pytest.approx(0.0987976, abs=1e-7)
    terms = []
    for values in ({}, {"X2": 0}, {"X2": 1}):
        cell = dist.conditioned(values)
        here = cell.conditioned({CONTEXT: 0})
        terms.append(cell.mutual_information("X1") - here.mutual_information("X1"))
    np.testing.assert_allclose(terms, [-0.104, -0.193, 0.0068], atol=5e-4)
    assert result.kind[0, 0] == "mixed, complementary"
    assert feature_context_dependence(dist)[0].changes[0] == "uncharacterized"


def test_a_context_that_is_drawn_apart_does_nothing():
    counts = {}
    for (x1, x2, noise), c in itertools.product(itertools.product((0, 1), repeat=3), range(3)):
        counts[(x1, x2), c, x1 ^ (x2 & noise)] = counts.get(((x1, x2), c, x1 ^ (x2 & noise)), 0)
        counts[(x1, x2), c, x1 ^ (x2 & noise)] += c + 1
    dist = distribution([(*key, n) for key, n in counts.items()])
    result = population_context_importances(dist)
    assert result.importances.min() > 0.1
    assert result.absolute.max() == 0
    assert result.relevance == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(result.within, np.tile(result.importances, (3, 1)), atol=1e-12)
    for feature in feature_context_dependence(dist):
        assert not any(getattr(feature, eq) for eq in EQUATIONS)
        assert feature.changes == ("independent",) * 3
        assert not feature.weakly_sensitive


def test_signed_is_plain_where_the_context_is_independent_of_the_features():
    random = np.random.default_rng(3)
    features = random.dirichlet(np.ones(8)).reshape(2, 2, 2, 1, 1)
    context = random.dirichlet(np.ones(3)).reshape(1, 1, 1, 3, 1)
    target = random.dirichlet(np.ones(3), size=(2, 2, 2, 3))
    names = ["X1", "X2", "X3", "Xc", "Y"]
    dist = FiniteDistribution.from_probabilities(
        features * context * target, names=names, context="Xc"
    )
    result = population_context_importances(dist)
    np.testing.assert_allclose(result.signed, result.plain, atol=1e-12)
    np.testing.assert_allclose(result.conditional, result.within, atol=1e-12)


def test_a_copy_of_the_context_depends_on_it_but_is_not_sensitive_to_it():
    """The first of the drawbacks that section 6.2 sees in Turney's definitions."""
    random = np.random.default_rng(0)
    rows = [
        ((c, x), c, y, float(random.integers(1, 9)))
        for c, x, y in itertools.product(range(2), range(3), range(2))
    ]
    copy, other = feature_context_dependence(distribution(rows))
    assert copy.eq_6_1
    assert copy.changes == ("redundant", "redundant")
    assert not copy.weakly_sensitive
    assert not copy.strongly_sensitive
    assert other.weakly_sensitive
    result = population_context_importances(distribution(rows))
    assert result.kind[:, 0].tolist() == ["irrelevant"] * 2


def test_strong_sensitivity_asks_for_a_context_that_tells_nothing_alone():
    first = feature_context_dependence(examples.problem_1())[1]
    assert first.weakly_sensitive
    assert first.strongly_sensitive
    exclusive = [((x,), c, x ^ c, 1.0) for x in (0, 1) for c in (0, 1)]
    (alone,) = feature_context_dependence(distribution(exclusive))
    assert alone.weakly_sensitive
    assert not alone.strongly_sensitive  # X1 tells nothing alone
    leaning = [((x,), c, x & c, 1.0) for x in (0, 1) for c in (0, 1)]
    (alone,) = feature_context_dependence(distribution(leaning))
    assert alone.weakly_sensitive
    assert not alone.strongly_sensitive  # the context tells something alone


def shifted():
    """X1 is context-independent, but the context shifts the weights of X2, where X1 tells more.

    Given X2 = 0, X1 = Y = 0; given X2 = 1, the context is independent of (X1, Y). So with X2 known
    the context changes nothing. Alone, X1 tells f(q) = I(Y;X1) with q = P(X2 = 1), and that curve
    takes one value three times: in context 0, over all, and in context 1.
    """
    low, middle, high = 0.1, 0.40262112267360003, 0.9664232738714371
    fraction = (middle - low) / (high - low)
    joint = np.zeros((2, 2, 2, 2))  # X1, X2, Xc, Y
    for c, (weight, q) in enumerate(((1 - fraction, low), (fraction, high))):
        joint[0, 0, c, 0] = weight * (1 - q)
        joint[:, 1, c, :] = weight * q * np.array([[0, 3], [2, 3]]) / 8
    return FiniteDistribution.from_probabilities(joint, names=["X1", "X2", "Xc", "Y"], context="Xc")


def test_equation_6_4_does_not_imply_equation_6_1():
    """Against section 6.2, and against 6.3.2: importances differ, yet nothing depends."""
    dist = shifted()
    first, _ = feature_context_dependence(dist)
    assert [getattr(first, eq) for eq in EQUATIONS] == [False, False, True, False, False]
    result = population_context_importances(dist)
    assert result.absolute[:, 0].tolist() == [0, 0]
    assert result.plain[0, 0] > 0.03
    assert result.plain[1, 0] < -0.05


# --- invariants, ends and errors -----------------------------------------------------------------


@one_test
@pytest.mark.parametrize("criterion", CRITERIA)
def test_nothing_to_tell(criterion):
    one_class = [((0, 1), 0, 5, 1.0), ((1, 1), 1, 5, 2.0)]
    for rows in (one_class, [((), 0, 0, 1.0), ((), 1, 1, 1.0)]):
        result = population_context_importances(distribution(rows), criterion=criterion)
        assert result.absolute.shape == (2, len(rows[0][0]))
        assert result.absolute.max(initial=0) == result.conditional.max(initial=0) == 0
    assert result.relevance > 0
    assert feature_context_dependence(distribution(rows)) == ()


FUNCTIONS = (population_context_importances, context_dependence)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_errors_about_the_context(function):
    name = function.__name__
    with pytest.raises(TypeError, match=f"{name}: dist must be a FiniteDistribution, got list"):
        function([1, 2])
    constant = FiniteDistribution.from_table([[0], [1]], [0, 1], context=["a", "a"])
    for dist, count in ((examples.xor(), 0), (constant, 1)):
        with pytest.raises(ValueError, match=rf"{name}: dist .* two values or more, got {count}"):
            function(dist)


def test_wrong_parameters():
    with pytest.raises(ValueError, match="empty must be one of 'skip', 'zero', got 'drop'"):
        population_context_importances(examples.problem_1(), empty="drop")
    with pytest.raises(ValueError, match="context_dependence: tolerance must be a number"):
        context_dependence(examples.problem_1(), tolerance=-1)
    words = FiniteDistribution.from_table([[0], [1]], ["a", "b"], context=[0, 1])
    with pytest.raises(ValueError, match="variance needs a numeric target"):
        population_context_importances(words, criterion="variance")


def test_what_is_too_large_is_refused(monkeypatch):
    random = np.random.default_rng(0)
    X, y = random.integers(0, 2, (300, 40)), random.integers(0, 2, 300)
    dist = FiniteDistribution.from_table(X, y, context=random.integers(0, 2, 300))
    monkeypatch.setattr("duramen.theory.population.recursion.MOST_NODES", 100)
    with pytest.raises(ValueError, match=r"trees have more than 100 .* set max_depth"):
        population_context_importances(dist, max_depth=3)
    with pytest.raises(ValueError, match=r"subsets of up to 40, .* Hint: max_degree=4 is possible"):
        context_dependence(dist)


# --- several candidates at a node ---------------------------------------------------------------


def _random_rows(seed, n=10, p=3):
    random = np.random.default_rng(seed)
    X = random.integers(0, 2 + random.integers(0, 2), (n, p))
    return X, random.integers(0, 3, n), random.integers(0, 2, n)


def _by_all_trees(X, y, context, k, criterion, empty):
    """Absolute, signed and conditional effects over every tree that there is."""
    n, p = X.shape
    rows = [
        ((*map(int, x), i), int(c), Fraction(1, n))
        for i, (x, c) in enumerate(zip(X, y, strict=True))
    ]
    effects = np.zeros((3, 2, p))

    def add(tree, chance):
        if tree[0] == "leaf":
            return
        _, feature, below, at = tree
        split = (feature, [{value} for value in below])
        everywhere = float(decrease(at, split, criterion))
        for c in range(2):
            inside = [row for row in at if context[row[0][-1]] == c]
            if not inside and empty == "skip":
                continue
            here = float(decrease(inside, split, criterion)) if inside else 0.0
            gap = everywhere - here
            weight = float(chance) * float(mass(at))
            effects[:, c, feature] += weight * np.array([abs(gap), gap, here])
        for child in below.values():
            add(child, chance)

    for tree, chance in all_trees(rows, list(range(p)), k, criterion):
        add(tree, chance)
    return effects


@one_test
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("empty", ["skip", "zero"])
def test_several_candidates_against_every_tree(k, criterion, empty):
    for seed in range(2):
        X, y, context = _random_rows(seed)
        dist = FiniteDistribution.from_table(X, y, context=context)
        exact = population_context_importances(
            dist, max_features=k, criterion=criterion, empty=empty
        )
        oracle_effects = _by_all_trees(X, y, context, k, criterion, empty)
        for place, effect in enumerate(EFFECTS):
            assert np.allclose(getattr(exact, effect), oracle_effects[place], atol=1e-9), effect
        wanted = population_importances(dist, max_features=k, criterion=criterion)
        assert np.allclose(exact.importances, wanted.values)


def test_a_feature_that_is_never_chosen_has_no_effect():
    """X2 is X1 turned round in one context: where all features are candidates it is not chosen."""
    X = np.array([[a, a if c else 1 - a] for a in (0, 1) for c in (0, 1, 1)])
    y, context = X[:, 0], np.array([0, 1, 1] * 2)
    dist = FiniteDistribution.from_table(X, y, context=context)
    assert population_context_importances(dist).absolute[:, 1].max() > 0.05
    every = population_context_importances(dist, max_features=None)
    assert np.array_equal(every.absolute, np.zeros((2, 2)))
