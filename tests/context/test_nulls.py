"""P-values where the context has nothing to do with the inputs and the target.

Inputs depend on each other and the target on them. Shares of p-values at most .01, .05 and .1 lie
in the band that holds a binomial share with probability .999. With 199 permutations these levels
can be reached exactly, by one side or by two; ties, which make p-values larger, are rare.
"""

import numpy as np
import pytest
from scipy import stats
from tests.context.trees import as_context

import duramen as dm
from duramen.context.effects import context_effects
from duramen.context.subject import Growth, subject_of
from duramen.forests.parameters import draw_seed
from duramen.tables import encode

LEVELS = (0.01, 0.05, 0.1)
EFFECTS = ("absolute", "signed", "overall", "relevance")


def band(level, count):
    return stats.binom.interval(0.999, count, level)


def data_set(seed, task, n=36):
    random = np.random.default_rng(seed)
    first = random.integers(0, 3, n)
    second = np.where(random.random(n) < 0.5, first, random.integers(0, 3, n))
    X = np.column_stack([first, second, random.integers(0, 2, n)])
    context = random.permutation(np.arange(n) % 3 if task == "regression" else np.arange(n) % 2)
    if task == "regression":
        return X, first + second * X[:, 2] + random.normal(size=n), context
    return X, (first + (random.random(n) < 0.3)) % 3, context


def p_values(task, replicates, effects=EFFECTS, **options):
    found = {effect: [] for effect in effects}
    for seed in range(replicates):
        X, y, context = data_set(seed, task)
        result = dm.context_importances(
            X.astype(str), y, context, n_permutations=199, random_state=seed, **options
        )
        for effect in effects:
            name = "relevance_p_value" if effect == "relevance" else f"{effect}_p_values"
            found[effect].append(np.ravel(getattr(result, name)))
    return {effect: np.array(values) for effect, values in found.items()}


def assert_uniform(values, what):
    """Of every feature and context; values has a row a replicate."""
    for level in LEVELS:
        low, high = band(level, len(values))
        counts = (values <= level + 1e-12).sum(axis=0)
        assert ((low <= counts) & (counts <= high)).all(), (what, level, counts.tolist(), low, high)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_p_values_are_uniform(task):
    """400 replicates; 10 trees."""
    for effect, values in p_values(task, 400, n_estimators=10, plain=False).items():
        assert_uniform(values, effect)


@pytest.mark.slow
def test_p_values_of_ordered_splits_are_uniform():
    """200 replicates; the trees do not depend on the context, so that any will do."""
    found = p_values("regression", 200, n_estimators=5, plain=False, splits="ordered", max_depth=3)
    for effect, values in found.items():
        assert_uniform(values, effect)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_p_values_of_the_plain_effect_are_uniform(task):
    """60 replicates, as every permutation grows a forest in each context; 3 trees."""
    found = p_values(task, 60, ("plain",), n_estimators=3, plain_p_values=True)
    assert_uniform(found["plain"], "plain")


def test_p_values_find_a_context():
    """Power: without it the tests of the null say nothing."""
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (60, 3))
    context = random.integers(0, 2, 60)
    y = np.where(context == 0, X[:, 0], X[:, 1])
    result = dm.context_importances(
        X.astype(str),
        y,
        context,
        n_estimators=20,
        n_permutations=199,
        plain_p_values=True,
        random_state=0,
    )
    for effect in ("absolute", "signed", "plain"):
        assert result.p_values(effect)[:, :2].max() <= 0.04
        assert result.p_values(effect)[:, 2].min() > 0.04
    # The last two are features that say something in one context only.
    assert result.kind[:, :2].tolist() == [
        ["complementary", "irrelevant"],
        ["irrelevant", "complementary"],
    ]


def test_a_context_that_is_the_target_is_relevant():
    random = np.random.default_rng(1)
    X, y = random.integers(0, 2, (40, 2)), random.integers(0, 2, 40)
    result = dm.context_importances(X.astype(str), y, y, n_estimators=5, random_state=0)
    assert result.relevance_p_value == pytest.approx(1 / 1001)
    other = dm.context_importances(
        X.astype(str), y, random.integers(0, 2, 40), n_estimators=5, random_state=0
    )
    assert other.relevance_p_value > 0.05


def test_p_values_count_permutations():
    """(1 + #{as large}) / (1 + R), from the permutations themselves; two-sided for signed."""
    X, y, context = data_set(3, "regression")
    n, seed = 140, draw_seed(4)
    result = dm.context_importances(
        X.astype(str), y, context, n_estimators=7, n_permutations=n, plain=False, random_state=4
    )
    one = subject_of(encode(X.astype(str)), y, Growth(7), seed, "test")
    drawn = context_effects(
        one.forest(seed), one, as_context(context), "skip", seed=seed, first=0, n_permutations=n + 1
    )
    for effect in ("absolute", "signed", "overall", "relevance"):
        values = getattr(drawn, effect)
        observed, permuted = values[0], values[1:]
        above = (permuted >= observed - 1e-12).sum(axis=0)
        below = (permuted <= observed + 1e-12).sum(axis=0)
        if effect in ("absolute", "relevance"):
            wanted = (1 + above) / (n + 1)
        else:
            wanted = np.minimum(1, 2 * (1 + np.minimum(above, below)) / (n + 1))
        name = "relevance_p_value" if effect == "relevance" else f"{effect}_p_values"
        np.testing.assert_allclose(getattr(result, name), wanted, rtol=0, atol=1e-15)
