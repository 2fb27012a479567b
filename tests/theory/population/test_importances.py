"""Importances of infinitely many trees: known answers, theorems, forests that converge to them."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.oracles.theory import population as oracle
from tests.theory.tables import distribution, primary_tumor, random_rows, tables

import duramen as dm
from duramen import Importances
from duramen.importances import mdi
from duramen.theory import FiniteDistribution, discretize, examples, population_importances
from duramen.theory.population import conditioning_terms, last_level_importances
from duramen.theory.population.recursion import Trees

CRITERIA = ("entropy", "gini", "variance")


def tree_importances(dist, **settings):
    return Trees("trees", dist, **settings).importances()


# --- known answers -------------------------------------------------------------------------------


def test_digits_by_feature_and_degree():
    result = population_importances(examples.digits7())
    assert result.names == tuple(f"X{m}" for m in range(1, 8))
    assert (result.measure, result.unit) == ("population mdi", "bits")
    assert result.standard_error is None
    wanted = [0.413, 0.582, 0.531, 0.542, 0.657, 0.226, 0.372]
    np.testing.assert_allclose(result.values, wanted, atol=5e-4)
    marginal = [0.103, 0.139, 0.103, 0.126, 0.139, 0.067, 0.126]
    np.testing.assert_allclose(result.by_degree[:, 0], marginal, atol=5e-4)
    by_degree = [0.802, 0.692, 0.568, 0.450, 0.347, 0.262, 0.200]  # thesis, Table 5.1
    np.testing.assert_allclose(result.by_degree.sum(axis=0), by_degree, atol=5e-4)
    assert result.values.sum() == pytest.approx(np.log2(10), abs=1e-12)


def test_primary_tumor():
    dist = primary_tumor()
    assert dist.n_features == 16
    result = population_importances(dist)
    assert result["age"] == pytest.approx(0.2958, abs=5e-5)
    assert result["histologic-type"] == pytest.approx(0.3522, abs=5e-5)
    assert result["degree-of-diffe"] == pytest.approx(0.4413, abs=5e-5)
    assert result["bone"] == pytest.approx(0.2430, abs=5e-5)
    assert result["abdominal"] == pytest.approx(0.2553, abs=5e-5)
    assert result.values.sum() == pytest.approx(3.2915, abs=5e-5)
    assert result.values.sum() == pytest.approx(dist.mutual_information(range(16)), abs=1e-12)


# --- theorems ------------------------------------------------------------------------------------


@given(rows=tables(most=4))
@settings(max_examples=40)
def test_zero_if_and_only_if_irrelevant(rows):
    """Thesis, theorem 5.5 and corollary 5.6."""
    p = len(rows[0][0])
    values = population_importances(distribution(rows)).values
    for m in range(p):
        informative = [
            oracle.decrease(rows, m, B, oracle.entropy)
            for k in range(p)
            for B in itertools.combinations([j for j in range(p) if j != m], k)
        ]
        assume(not 1e-12 < max(informative) < 1e-8)  # no rounding that looks like information
        assert (values[m] > 1e-11) == (max(informative) > 1e-10)


@given(rows=tables(most=5), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=40)
def test_importances_add_up_to_the_information(rows, criterion):
    """Thesis, theorem 5.4, eq. 5.3 to 5.6."""
    dist = distribution(rows)
    p = dist.n_features
    result = population_importances(dist, criterion=criterion)
    impurity = oracle.IMPURITIES[criterion]
    total = oracle.uncertainty(rows, [], impurity) - oracle.uncertainty(rows, range(p), impurity)
    assert result.values.sum() == pytest.approx(total, abs=1e-12)
    np.testing.assert_allclose(result.by_degree.sum(axis=1), result.values, rtol=0, atol=1e-15)
    left = [
        np.mean(
            [oracle.uncertainty(rows, B, impurity) for B in itertools.combinations(range(p), k)]
        )
        for k in range(p + 1)
    ]
    np.testing.assert_allclose(result.by_degree.sum(axis=0), -np.diff(left), rtol=0, atol=1e-12)


irrelevant_distributions = st.lists(
    st.sampled_from([(0.5, 0.5), (0.2, 0.3, 0.5), (0.9, 0.1), (1.0,)]), min_size=1, max_size=2
)


@given(
    rows=tables(most=3, n_rows=8),
    distributions=irrelevant_distributions,
    criterion=st.sampled_from(CRITERIA),
)
@settings(max_examples=40)
def test_irrelevant_features_leave_the_others_unchanged(rows, distributions, criterion):
    """Thesis, lemma 5.7 and theorem 5.8."""
    p = len(rows[0][0])
    alone = population_importances(distribution(rows), criterion=criterion).values
    joined = distribution(oracle.with_irrelevant(rows, distributions))
    importances = population_importances(joined, criterion=criterion).values
    np.testing.assert_allclose(importances[:p], alone, rtol=0, atol=1e-12)
    np.testing.assert_allclose(importances[p:], 0.0, rtol=0, atol=1e-12)


@given(rows=tables(most=4), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=40)
def test_only_relevant_features_count(rows, criterion):
    """Thesis, theorem 5.8: the irrelevant features can be left out."""
    dist = distribution(rows)
    p = dist.n_features
    relevant = [m for m in range(p) if not oracle.is_irrelevant(rows, m, p)]
    everything = population_importances(dist, criterion=criterion).values
    part = population_importances(dist.marginal(relevant), criterion=criterion).values
    np.testing.assert_allclose(part, everything[relevant], rtol=0, atol=1e-8)


@given(rows=tables(most=4, n_rows=10), q=st.integers(1, 4), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=40)
def test_depth_q_is_the_random_subspace_of_q_features(rows, q, criterion):
    """Thesis, propositions 5.13 and 5.14."""
    dist = distribution(rows)
    p = dist.n_features
    q = min(p, q)
    pruned = population_importances(dist, max_depth=q, criterion=criterion)
    by_name = population_importances(dist, subspace=q, criterion=criterion)
    assert pruned.equals(by_name)
    full = population_importances(dist, criterion=criterion)
    np.testing.assert_allclose(pruned.by_degree, full.by_degree[:, :q], rtol=0, atol=1e-13)
    mean = np.zeros(p)
    subspaces = list(itertools.combinations(range(p), q))
    for chosen in subspaces:
        own = [(tuple(x[j] for j in chosen), y, w) for x, y, w in rows]
        parts = oracle.importances(own, q, criterion)
        mean[list(chosen)] += [sum(part) for part in parts]
    np.testing.assert_allclose(pruned.values, mean / len(subspaces), rtol=0, atol=1e-12)


@given(rows=tables(most=4, weights=("equal", "whole")))
@settings(max_examples=40)
def test_features_of_low_degree_are_found_by_shallow_trees(rows):
    """Thesis, propositions 5.15 and 5.17: found at depth q if and only if the degree is below q."""
    dist = distribution(rows)
    p = dist.n_features
    degrees = [oracle.degree(rows, m, p) for m in range(p)]
    for q in range(1, p + 1):
        values = population_importances(dist, max_depth=q).values
        for m in range(p):
            assert (values[m] > 1e-11) == (degrees[m] is not None and degrees[m] < q)


@given(rows=tables(most=4, weights=("equal", "whole")), K=st.integers(1, 4))
@settings(max_examples=40)
def test_strongly_relevant_features_are_found_for_any_number_of_candidates(rows, K):
    """Thesis, proposition 5.12."""
    dist = distribution(rows)
    p = dist.n_features
    values = population_importances(dist, max_features=K).values
    for m in range(p):
        rest = [j for j in range(p) if j != m]
        if oracle.decrease(rows, m, rest, oracle.entropy) > 1e-9:
            assert values[m] > 1e-12


# --- one computation against another -------------------------------------------------------------


@given(rows=tables(most=4), criterion=st.sampled_from(CRITERIA), depth=st.integers(1, 4))
@settings(max_examples=40)
def test_lattice_and_recursion_agree(rows, criterion, depth):
    dist = distribution(rows)
    sums = population_importances(dist, max_depth=depth, criterion=criterion).by_degree
    nodes = tree_importances(dist, max_features=1, max_depth=depth, criterion=criterion)
    np.testing.assert_allclose(sums, nodes, rtol=0, atol=1e-10)


@pytest.mark.parametrize("splits", ["multiway", "ordered"])
def test_subspaces_of_other_trees_are_averaged(splits):
    dist = distribution(random_rows(np.random.default_rng(2), 14, 4, 3, 3))
    fractions = []
    result = population_importances(
        dist, max_features=2, subspace=3, splits=splits, progress=fractions.append
    )
    mean = np.zeros(4)
    for chosen in itertools.combinations(range(4), 3):
        part = tree_importances(dist.marginal(chosen), max_features=2, splits=splits)
        mean[list(chosen)] += part.sum(axis=1) / 4
    np.testing.assert_allclose(result.values, mean, rtol=0, atol=1e-13)
    assert fractions == [0.25, 0.5, 0.75, 1.0]
    whole = population_importances(dist, max_features=2, subspace=4, splits=splits)
    assert whole.equals(population_importances(dist, max_features=2, splits=splits))


@given(rows=tables(most=4), criterion=st.sampled_from(CRITERIA), data=st.data())
@settings(max_examples=40)
def test_terms_of_each_conditioning_set(rows, criterion, data):
    """The third level of the decomposition (thesis, eq. 5.4)."""
    dist = distribution(rows)
    p = dist.n_features
    m = data.draw(st.integers(0, p - 1))
    depth = data.draw(st.none() | st.integers(1, p))
    terms = conditioning_terms(dist, m, max_depth=depth, criterion=criterion)
    whole = population_importances(dist, max_depth=depth, criterion=criterion)
    assert terms.feature == dist.names[m]
    assert terms.unit == whole.unit
    sizes = terms.sizes
    for k in range(whole.by_degree.shape[1]):
        part = terms.contributions[sizes == k].sum()
        assert part == pytest.approx(whole.by_degree[m, k], abs=1e-12)
    impurity = oracle.IMPURITIES[criterion]
    for given_names, value in zip(terms.sets, terms.values, strict=True):
        B = [dist.names.index(name) for name in given_names]
        assert value == pytest.approx(oracle.decrease(rows, m, B, impurity), abs=1e-12)
    assert len(set(terms.sets)) == len(terms)
    assert list(sizes) == sorted(sizes)


@given(rows=tables(most=5), criterion=st.sampled_from(CRITERIA))
@settings(max_examples=40)
def test_last_level(rows, criterion):
    """Thesis, eq. 8.1: positive if and only if strongly relevant."""
    dist = distribution(rows)
    p = dist.n_features
    result = last_level_importances(dist, criterion=criterion)
    impurity = oracle.IMPURITIES[criterion]
    for m in range(p):
        rest = [j for j in range(p) if j != m]
        wanted = oracle.decrease(rows, m, rest, impurity)
        assert result.values[m] == pytest.approx(wanted, abs=1e-12)
    last = population_importances(dist, criterion=criterion).by_degree[:, -1]
    np.testing.assert_allclose(result.values, p * last, rtol=0, atol=1e-12)


def test_last_level_of_thousands_of_features():
    # A copy of every feature but the first: only the first tells something of its own.
    random = np.random.default_rng(0)
    X = random.integers(0, 3, (60, 2000))
    X[:, 0] = np.arange(60)
    X[1] = X[0]
    X[1, 0] = 1
    y = np.arange(60)
    dist = FiniteDistribution.from_table(X, y)
    result = last_level_importances(dist)
    assert result.values[0] == pytest.approx(2 / 60)
    assert not result.values[1:].any()


# --- forests -------------------------------------------------------------------------------------


def errors_of_forests(n_trees, n_forests, criterion):
    """Errors and standard errors of features that vary, on ten tables of distinct rows."""
    errors, standard = [], []
    for seed in range(10):
        random = np.random.default_rng(seed)
        p = int(random.integers(3, 6))
        X = random.integers(0, random.integers(2, 4, p), (int(random.integers(12, 30)), p))
        y = random.integers(0, 3, len(X))
        exact = population_importances(FiniteDistribution.from_table(X, y), criterion=criterion)
        for repeat in range(n_forests):
            forest = dm.TotallyRandomizedTreesClassifier(
                n_trees, splits="multiway", criterion=criterion, random_state=1000 * seed + repeat
            )
            grown = mdi(forest.fit(X, y))
            varies, difference = grown.standard_error > 1e-9, grown.values - exact.values
            np.testing.assert_allclose(difference[~varies], 0, rtol=0, atol=1e-9)
            errors.append(difference[varies])
            standard.append(grown.standard_error[varies])
    return np.concatenate(errors), np.concatenate(standard)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_forests_converge_and_their_standard_error_covers(criterion):
    """40 forests on each table, 1880 errors.

    With independent errors the share covered at 95 % would have a standard deviation of .5 % and
    the variance of z one of 3 %; those of one forest depend on each other. Tolerances are four
    times that.
    """
    errors, standard = errors_of_forests(1000, 40, criterion)
    z = errors / standard
    assert 0.93 < np.mean(np.abs(z) < 1.96) < 0.97
    assert 0.85 < np.var(z) < 1.15
    assert abs(np.mean(z)) < 0.15


@pytest.mark.slow
def test_forests_converge_at_the_rate_of_the_square_root():
    """Root mean square errors of 20 forests on each table: with 9 times the trees, a third.

    The ratio of two such means of 940 errors varies by some 4 %; the tolerance is 15 %.
    """
    few, many = (np.sqrt(np.mean(errors_of_forests(n, 20, "entropy")[0] ** 2)) for n in (250, 2250))
    assert few / many == pytest.approx(3.0, rel=0.15)


# --- the result, and errors ----------------------------------------------------------------------


def test_result_holds_where_it_came_from(tmp_path):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 3)), random.integers(0, 2, 60)
    table = discretize(X, method="quantile", n_bins=3)
    dist, turned = (FiniteDistribution.from_table(table, z) for z in (y, 1 - y))
    result, again, other = (
        population_importances(d, max_depth=2, criterion="gini") for d in (dist, dist, turned)
    )
    assert result.unit == "gini"
    assert result.metadata["population"]["max_depth"] == 2
    assert result.metadata["distribution"]["n_rows"] == dist.n_rows
    assert result.metadata["distribution"]["origin"] == json.loads(json.dumps(dict(dist.metadata)))
    assert result.metadata["distribution"]["origin"]
    assert again.metadata["fingerprint"] == result.metadata["fingerprint"]
    assert other.metadata["fingerprint"] != result.metadata["fingerprint"]
    result.save(tmp_path / "exact.npz")
    assert Importances.load(tmp_path / "exact.npz").equals(result)


def test_no_features():
    dist = FiniteDistribution.from_table(np.zeros((4, 0)), [0, 1, 1, 1])
    for options in ({}, {"max_features": None}, {"max_features": 2, "splits": "ordered"}):
        assert len(population_importances(dist, **options)) == 0
    assert len(last_level_importances(dist)) == 0


def test_too_many_subspaces_and_terms():
    dist = distribution(random_rows(np.random.default_rng(0), 10, 24))
    with pytest.raises(ValueError, match="2704156 subspaces, more than 10000"):
        population_importances(dist, max_features=2, subspace=12)
    with pytest.raises(ValueError, match="8388608 sets of up to 23 of 23 features"):
        conditioning_terms(dist, 0)
    assert len(conditioning_terms(dist, 0, max_depth=2)) == 24
