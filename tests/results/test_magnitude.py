"""Numbers whose variance, or its square, float64 cannot hold are refused."""

import numpy as np
import pytest

from duramen.results.magnitude import LARGEST, check_magnitude


@pytest.mark.parametrize(
    "numbers",
    [[0.0, 0.0], [1e-300, 1e-300], [-LARGEST, LARGEST], [0.0, 1 / LARGEST], [1.0, 1e-300], []],
)
def test_numbers_in_range(numbers):
    check_magnitude(np.array(numbers), "y", "f")


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
