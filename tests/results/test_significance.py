import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duramen import Significance

# P-values of Benjamini and Hochberg (1995), section 3.2: at .05 they find 4, Bonferroni 3.
CLASSIC = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459),
    *(0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
]


def example(**changes):
    fields = {
        "names": ("a", "b", "c", "d"),
        "scores": [1.0, 9.0, 3.0, 2.0],
        "p_values": [0.5, 0.001, 0.02, 0.5],
        "method": "vote_change",
        "null": "Permuting the feature leaves the votes as they are.",
        "details": {"degrees_of_freedom": [2, 2, 6, 2]},
        "metadata": {"seed": 3},
    }
    return Significance(**{**fields, **changes})


def of(p_values, **changes):
    p_values = np.asarray(p_values, dtype=float)
    names = tuple(f"f{j}" for j in range(p_values.size))
    return Significance(names, np.zeros(p_values.size), p_values, "test", "Nothing.", **changes)


# --- adjusted p-values ---------------------------------------------------------------------------


def test_q_values_are_those_of_benjamini_and_hochberg():
    np.testing.assert_allclose(example().q_values, [0.5, 0.004, 0.04, 0.5])
    shuffled = np.random.default_rng(0).permutation(CLASSIC)
    result = of(shuffled)
    assert sorted(shuffled[result.mask()]) == CLASSIC[:4]
    assert sorted(shuffled[result.mask(control="fwer")]) == CLASSIC[:3]
    assert sorted(shuffled[result.mask(control="none")]) == CLASSIC[:9]


def test_q_values_after_benjamini_and_yekutieli():
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4
    expected = np.minimum(np.array([0.5, 0.004, 0.04, 0.5]) * harmonic, 1)
    np.testing.assert_allclose(example(adjustment="by").q_values, expected)


@pytest.mark.parametrize("n_tests", [22, 40])
def test_adaptive_q_values_by_definition(n_tests):
    """At each level: a step-up test at the level over the estimated fraction of true nulls."""
    random = np.random.default_rng(0)
    for power in range(1, 9):
        p_values = np.append(random.random(20) ** power, [0.0, 0.3]).round(1 + power % 3)
        result = of(p_values, adjustment="storey", n_tests=n_tests)
        assert (result.q_values <= of(p_values, n_tests=n_tests).q_values).all()
        everything = np.append(p_values, np.ones(n_tests - 22))
        for alpha in random.random(20) / 2:
            fraction = (1 + np.count_nonzero(everything > alpha)) / (n_tests * (1 - alpha))
            level = alpha / min(1, fraction)
            ascending = np.sort(everything)
            steps = np.flatnonzero(ascending <= level * np.arange(1, n_tests + 1) / n_tests)
            largest = min(alpha, ascending[steps[-1]])
            assert (result.mask(alpha) == (p_values <= largest)).all()


def test_holm_goes_down_step_by_step():
    np.testing.assert_allclose(example().holm(), [1.0, 0.004, 0.06, 1.0])
    # 3 x .01, then 2 x .01 may not fall below it, then 1 x .04
    np.testing.assert_allclose(of([0.04, 0.01, 0.01]).holm(), [0.04, 0.03, 0.03])


def test_unlisted_tests_count():
    assert of([0.01], n_tests=10).q_values.tolist() == [0.1]
    assert of([0.01], n_tests=10).holm().tolist() == [0.1]
    assert of([]).q_values.shape == of([]).holm().shape == (0,)


p_values = st.lists(
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.01, 0.05, 1.0])), max_size=30
)


@given(p_values, st.sampled_from(["bh", "by", "storey"]))
def test_adjusted_p_values_keep_the_order_and_are_no_smaller(given_p, adjustment):
    result = of(given_p, adjustment=adjustment)
    for adjusted in (result.q_values, result.holm()):
        assert np.all(adjusted >= result.p_values)
        assert np.all(adjusted <= 1)
        assert np.all(np.diff(adjusted[result.order()]) >= 0)
    for first, other in [(j, k) for j in range(len(result)) for k in range(j)]:
        if given_p[first] == given_p[other]:  # ties stay ties
            assert result.q_values[first] == result.q_values[other]
            assert result.holm()[first] == result.holm()[other]


@given(p_values, st.floats(0, 1), st.floats(0, 1))
def test_selections_are_nested(given_p, alpha, beta):
    result, (low, high) = of(given_p), sorted([alpha, beta])
    strict, fair, lax = (set(result.selected(high, control)) for control in ("fwer", "fdr", "none"))
    assert strict <= fair <= lax
    for control in ("fwer", "fdr", "none"):
        assert set(result.selected(low, control)) <= set(result.selected(high, control))


@given(p_values, st.integers(0, 30))
def test_top_keeps_the_adjusted_p_values_of_all(given_p, k):
    result = of(given_p)
    best, index = result.top(k), result.order()[:k]
    assert best.n_tests == len(result)
    np.testing.assert_array_equal(best.q_values, result.q_values[index])
    np.testing.assert_array_equal(best.holm(), result.holm()[index])


@pytest.mark.slow
def test_error_rates_hold_when_nothing_is_relevant():
    """2000 null runs of 20 tests, seed 0: rates .05 within 4 standard errors of .005."""
    runs = [of(p) for p in np.random.default_rng(0).random((2000, 20))]
    for control in ("fdr", "fwer"):  # with every null true they are the same rate
        rate = np.mean([result.mask(control=control).any() for result in runs])
        assert 0.03 < rate < 0.07
    assert np.mean([result.mask(control="none").mean() for result in runs]) == pytest.approx(
        0.05, abs=0.005
    )
