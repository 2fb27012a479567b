"""Conditional permutations of a context, and the models that give their probabilities."""

from itertools import permutations

import numpy as np
import pytest
from benchmarks.error_rates import context_partial
from benchmarks.error_rates.context_partial import Setting
from scipy import optimize, stats
from sklearn.linear_model import LogisticRegression
from tests.contexts.trees import as_context, random_trees

import duramen as dm
from duramen.contexts.effects import context_effects
from duramen.contexts.inputs import growth_of, template_for
from duramen.contexts.models import conditional_nulls, log_probabilities, score_test
from duramen.contexts.nulls import conditional_permutations, equal_nulls
from duramen.data import Exchangeability, learning_set


def frequencies(rows, codes, log_weights, orders, count=20_000):
    """Numbers of draws of each arrangement, and their expectations by enumeration."""
    drawn = conditional_permutations(rows, codes, log_weights, np.random.default_rng(0), count)
    weights = {}
    for order in orders:
        arrangement = tuple(codes[list(order)].tolist())
        weights[arrangement] = np.exp(log_weights[np.arange(len(codes)), arrangement].sum())
    seen, counts = np.unique(drawn, axis=0, return_counts=True)
    number = dict(zip(map(tuple, seen.tolist()), counts.tolist(), strict=True))
    assert set(number) <= set(weights)
    expected = np.array(list(weights.values()))
    return np.array([number.get(key, 0) for key in weights]), count * expected / expected.sum()


def test_permutations_have_the_probabilities_of_the_weights():
    """All arrangements of five rows of three contexts, by a chi-square test."""
    codes = np.array([0, 0, 1, 1, 2], dtype=np.uint32)
    log_weights = np.random.default_rng(1).normal(size=(5, 3))
    counts, expected = frequencies(Exchangeability(5), codes, log_weights, permutations(range(5)))
    assert len(counts) == 30
    assert stats.chisquare(counts, expected).pvalue > 1e-3


def test_permutations_stay_in_strata():
    codes = np.array([0, 1, 1, 0, 1, 0], dtype=np.uint32)
    strata = np.array([0, 0, 0, 1, 1, 1])
    log_weights = np.random.default_rng(2).normal(size=(6, 2))
    orders = [
        (*a, *(3 + i for i in b)) for a in permutations(range(3)) for b in permutations(range(3))
    ]
    counts, expected = frequencies(Exchangeability(6, strata), codes, log_weights, orders)
    assert len(counts) == 9
    assert stats.chisquare(counts, expected).pvalue > 1e-3


@pytest.mark.parametrize("constant", [True, False])
def test_blocks_exchange_their_contexts(constant):
    """Groups of two rows each, with one context each or several."""
    codes = np.array([0, 0, 1, 1, 1, 1] if constant else [0, 1, 1, 0, 1, 1], dtype=np.uint32)
    log_weights = np.random.default_rng(3).normal(size=(6, 2))
    groups = np.array([0, 0, 1, 1, 2, 2])
    orders = [[2 * b + i for b in order for i in (0, 1)] for order in permutations(range(3))]
    counts, expected = frequencies(Exchangeability(6, None, groups), codes, log_weights, orders)
    assert len(counts) == (3 if constant else 6)
    assert stats.chisquare(counts, expected).pvalue > 1e-3


def test_blocks_of_different_sizes_exchange_a_constant_context():
    codes = np.array([0, 1, 1, 1], dtype=np.uint32)
    rows = Exchangeability(4, None, np.array([0, 1, 1, 1]))
    log_weights = np.log([[0.5, 0.5], [0.6, 0.4], [0.5, 0.5], [0.5, 0.5]])
    drawn = conditional_permutations(rows, codes, log_weights, np.random.default_rng(0), 8000)
    # The second group in context 0 has weight .6 * .5 * .5, in context 1 .4 * .5 * .5.
    fraction = (drawn == [1, 0, 0, 0]).all(axis=1).mean()
    assert ((drawn == [1, 0, 0, 0]) | (drawn == codes)).all()
    assert abs(fraction - 0.6) < 4 * np.sqrt(0.24 / 8000)


def test_two_classes_are_those_of_scikit_learn():
    random = np.random.default_rng(4)
    columns = random.normal(size=(90, 4))
    codes = (columns[:, 0] + random.normal(size=90) > 0.3).astype(np.int64)
    model = LogisticRegression(C=10.0, tol=1e-10, max_iter=1000).fit(columns, codes)
    logs = log_probabilities(columns, codes, 2)
    assert np.allclose(logs, model.predict_log_proba(columns), atol=1e-4)


def test_log_probabilities_minimize_the_penalized_loss():
    random, n_values, scores = np.random.default_rng(5), 3, np.eye(3)[:, 1:]
    columns, codes = random.normal(size=(60, 2)), random.integers(0, n_values, 60)
    strata = random.integers(0, 4, 60)
    logs = log_probabilities(columns, codes, 3, strata)
    overall = np.bincount(codes, minlength=n_values) / 60
    counts = [np.bincount(codes[strata == s], minlength=n_values) for s in range(4)]
    offset = np.array(counts) + overall
    offset = np.log(offset / offset.sum(axis=1, keepdims=True))[strata]

    def fitted(flat):
        b = flat.reshape(3, 2)
        eta = offset + (b[0] + columns @ b[1:]) @ scores.T
        return eta - np.log(np.exp(eta).sum(axis=1, keepdims=True))

    def loss(flat):
        return -fitted(flat)[np.arange(60), codes].sum() + 0.05 * (flat[2:] ** 2).sum()

    best = optimize.minimize(loss, np.zeros(6), tol=1e-9)
    assert np.allclose(np.exp(logs).sum(axis=1), 1)
    assert np.allclose(logs, fitted(best.x), atol=1e-4)


@pytest.mark.parametrize("n_contexts", [2, 3, 4])
def test_two_copies_of_a_column_are_one_of_twice_the_variance(n_contexts):
    """The penalty is that of all contexts: without it the second derivatives are singular."""
    random = np.random.default_rng(7)
    column, codes = random.normal(size=(80, 1)), random.integers(0, n_contexts, 80)
    twice = log_probabilities(np.hstack([column, column]), codes, n_contexts)
    assert np.allclose(twice, log_probabilities(np.sqrt(2) * column, codes, n_contexts), atol=1e-6)


def test_score_tests_of_two_values_are_mantel_haenszel_tests():
    """The squared excess of one cell over its hypergeometric mean, by the variance over groups."""
    random = np.random.default_rng(6)
    values, codes, groups = (random.integers(0, k, 150) for k in (2, 2, 5))
    excess = variance = 0.0
    for group in range(5):
        inside = groups == group
        n, a, b = inside.sum(), values[inside].sum(), codes[inside].sum()
        null = stats.hypergeom(n, a, b)
        excess += (values * codes)[inside].sum() - null.mean()
        variance += null.var()
    p_value = score_test(as_context(codes), groups)(values[:, None].astype(float))
    assert p_value == pytest.approx(stats.chi2.sf(excess**2 / variance, 1), rel=1e-9)


def test_effects_on_one_feature_are_those_of_all_nodes():
    X, y, context, _ = Setting("flip", rows=60).draw(0)
    subject = growth_of(learning_set(X, y), template_for(random_trees(5), "test"), 0, "test")
    forest, values = subject.forest(0), as_context(context)
    drawn = np.stack([np.roll(values.codes, k) for k in range(3)])
    every = context_effects(forest, subject, values, "skip", seed=0, drawn=drawn)
    some = context_effects(forest, subject, values, "skip", seed=0, drawn=drawn, column=2)
    for effect in ("absolute", "signed", "conditional", "overall"):
        whole, part = getattr(every, effect), getattr(some, effect)
        assert np.array_equal(part[..., 2], whole[..., 2])
        assert not part[..., [0, 1, 3]].any()


def dependence(setting, seed=0):
    X, y, context, _ = setting.draw(seed)
    subject = growth_of(learning_set(X, y), template_for(random_trees(1), "test"), 0, "test")
    equal = equal_nulls(subject, "conditional", "test")
    return conditional_nulls(subject, as_context(context), equal)


def test_models_have_what_depends_on_the_context():
    """A feature is tested without its own products with the target; copies explain nothing."""
    single = dependence(Setting("flip", rows=400))
    assert (0,) in single.terms
    tested = {tuple(h.features.tolist()): h for h in single.effects}
    assert sorted(j for key in tested for j in key) == [0, 1, 2, 3]
    # Its own association explains the context; without it, little is left.
    rest = next(h for key, h in tested.items() if 0 not in key)
    sure = [np.exp(2 * h.log_weights).sum(axis=1).mean() for h in (rest, tested[(0,)])]
    assert sure[0] > sure[1] + 0.05
    pair = dependence(Setting("pair", rows=400))
    assert (0, 1) in pair.terms


def test_no_terms_without_dependence():
    """At most those of chance: level .2 for each of four features and six pairs."""
    counts = [len(dependence(Setting("null", rows=120), seed).terms) for seed in range(40)]
    assert sum(counts) <= stats.binom.ppf(0.999, 400, 0.2)


def test_notes_say_what_cannot_be_found():
    X, y, context, _ = Setting("flip", contexts=0, rows=60).draw(0)
    options = {"estimator": random_trees(2), "plain": "none", "random_state": 0, "context_bins": 4}
    few = dm.contexts.context_importances(X, y, context, n_permutations=39, **options)
    assert any("With 39 permutations no p-value is below 0.025" in note for note in few.notes)
    assert any("with 320 it can be" in note for note in few.notes)
    enough = dm.contexts.context_importances(X, y, context, n_permutations=319, **options)
    assert not any("permutations no p-value" in note for note in enough.notes)
    assert "as odds ratios, is the same in all contexts" in enough.null
    every = dm.contexts.context_importances(
        X, y, context, n_permutations=319, permute="within_target", **options
    )
    assert "one global null hypothesis" in every.notes[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["flip", "spread", "additive"])
def test_other_features_are_not_found(kind):
    """12 data sets, seeds 0 to 11: false discoveries at most the .999 quantile of .05."""
    rows = np.array([context_partial.measured(Setting(kind), "conditional", s) for s in range(12)])
    most = stats.binom.ppf(0.999, 12, 0.05)
    for at in (0, 3, 6):  # absolute, signed, overall
        assert rows[:, at].sum() <= most
        assert rows[:, at + 1].sum() <= most
    if kind == "flip":
        assert rows[:, 2].mean() > 0.95
        globally = [context_partial.measured(Setting(kind), "within_target", s) for s in range(6)]
        assert np.array(globally)[:, 7].mean() > 0.5  # overall: the benchmark can see the failure
