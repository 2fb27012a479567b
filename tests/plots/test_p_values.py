import numpy as np
import pytest
from tests.grid import one_test

from duramen import Significance
from duramen.plots import p_values
from duramen.plots.importances import BINS


def binned(p):
    """Heights of the bars of some p-values."""
    names = tuple(f"f{i}" for i in range(len(p)))
    tested = Significance(names, np.zeros(len(p)), p, "test", "No association.")
    return [int(bar.get_height()) for bar in p_values(tested).patches]


def example(p):
    p = np.asarray(p, dtype=np.float64)
    return Significance(tuple(f"f{j}" for j in range(len(p))), 1 - p, p, "altmann", "Nothing.")


def test_bars_are_the_numbers_of_p_values():
    p = np.random.default_rng(0).uniform(size=300)
    ax = p_values(example(p))
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == [
        np.count_nonzero((p > k / BINS) & (p <= (k + 1) / BINS)) for k in range(BINS)
    ]
    (line,) = ax.lines
    assert set(line.get_ydata()) == {300 / BINS}
    assert ax.get_ylim()[1] > max(heights)


@one_test
@pytest.mark.parametrize("rounds", [19, 99, 199, 999])
def test_p_values_on_an_edge_stay_below_it(rounds):
    """Each bar gets as many of the possible p-values as the others, however they are rounded."""
    p = np.arange(1, rounds + 2) / (rounds + 1)
    assert set(binned(p)) == {(rounds + 1) // BINS}


def test_nought_and_one_are_counted():
    assert binned(np.array([0.0, 0.0, 1.0, 0.05])) == [3, *[0] * (BINS - 2), 1]
