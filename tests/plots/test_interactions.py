"""The network of interactions."""

import numpy as np
import pytest

from duramen.importances import PairInteractions
from duramen.plots import interaction_network
from duramen.plots.canvas import ACCENT, AGAINST


def test_lines_between_the_features_of_the_strongest_pairs():
    values, p_adjusted = np.zeros((4, 4)), np.ones((4, 4)) - np.eye(4)
    for (m, j), value in {(0, 2): -0.5, (1, 3): 0.25, (0, 1): 0.1}.items():
        values[m, j] = values[j, m] = value
    p_adjusted[0, 2] = p_adjusted[2, 0] = 0.01
    names = ("a", "b", "c", "d")
    result = PairInteractions(names, values, "interaction", "bits", p_adjusted=p_adjusted)
    ax = interaction_network(result, n=2)
    first, second, nodes = ax.lines
    assert [text.get_text() for text in ax.texts] == ["a", "b", "c", "d"]
    points = nodes.get_xydata()
    np.testing.assert_array_equal(first.get_xydata(), points[[0, 2]])
    np.testing.assert_array_equal(second.get_xydata(), points[[1, 3]])
    assert [line.get_color() for line in (first, second)] == [AGAINST, ACCENT]
    assert first.get_linewidth() > second.get_linewidth()
    assert first.get_alpha() > second.get_alpha()
    result.plot("interaction_network", n=1)
    with pytest.raises(ValueError, match="result must have a pair"):
        interaction_network(PairInteractions(("a",), [[0.0]], "interaction", "bits"))
