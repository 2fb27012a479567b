import numpy as np
import pytest

from duramen.results.significance import ErrorRates


def example(**changes):
    fields = {
        "names": ("b", "a", "d", "c"),
        "scores": [9.0, 4.0, 2.0, 2.0],
        "rates": [0.01, 0.04, 0.2, 1.0],
        "method": "conditional_error_rate",
        "meaning": "Probability of a false one.",
        "details": {"draws": [99, 99, 10, 0]},
        "metadata": {"seed": 3},
    }
    return ErrorRates(**{**fields, **changes})


def of_nothing():
    return example(names=(), scores=[], rates=[], details={})


def test_the_longest_beginning_is_selected():
    assert example().selected() == ("b", "a")
    assert example().selected(0.04) == ("b", "a")
    assert example().selected(0.0) == ()
    assert example().selected(1.0) == ("b", "a", "d", "c")
    assert of_nothing().selected() == ()
    for alpha in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match=r"alpha must be a number in \[0, 1\]"):
            example().selected(alpha)


def test_rates_that_are_not_known_are_not_taken_for_one():
    result = example(rates=[0.01, 0.04, 0.2, 1.0], n_known=3)
    assert result.selected(0.1) == ("b", "a")
    with pytest.raises(ValueError, match=r"first 3 of 4 features are known.*alpha=0.3.*Hint"):
        result.selected(0.3)
    assert example(n_known=4).selected(0.3) == ("b", "a", "d")
