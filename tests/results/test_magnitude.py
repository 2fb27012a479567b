"""Numbers whose variance, or its square, float64 cannot hold are refused."""

import numpy as np
import pytest
from tests.grid import one_test

from duramen.support.arrays import OF_DISTRIBUTIONS, OF_SAMPLES, check_magnitude


@one_test
@pytest.mark.parametrize(
    "numbers",
    [
        [0.0, 0.0],
        [1e-300, 1e-300],
        [-OF_SAMPLES, OF_SAMPLES],
        [0.0, 1 / OF_SAMPLES],
        [1.0, 1e-300],
        [],
    ],
)
def test_numbers_in_range(numbers):
    check_magnitude(np.array(numbers), "y", "f")


@one_test
@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ([0.0, -1.1e70], r"got a number of size 1\.1e\+70: .* Hint: divide y by a power of ten"),
        ([1e308, -1e308], r"got a number of size 1e\+308"),
        ([1e-71, 2e-71], r"got different numbers within 1e-71: .* Hint: multiply y"),
        ([0.0, 5e-324], "got different numbers within 4.94e-324"),
    ],
)
def test_numbers_out_of_range(numbers, message):
    with pytest.raises(ValueError, match="f: y must hold numbers up to.*" + message):
        check_magnitude(np.array(numbers), "y", "f")


def test_distributions_have_a_wider_range():
    large = np.array([-OF_DISTRIBUTIONS, OF_DISTRIBUTIONS])
    check_magnitude(large, "y", "f", OF_DISTRIBUTIONS)
    with pytest.raises(
        ValueError, match=r"numbers up to 1e\+150 .*got a number of size 1\.1e\+150"
    ):
        check_magnitude(1.1 * large, "y", "f", OF_DISTRIBUTIONS)
