"""The matrix of interactions."""

import numpy as np
import pytest

import duramen as dm
from duramen.importances import PairInteractions
from duramen.plots import interaction_matrix


def test_strongest_features_first():
    values = np.zeros((4, 4))
    values[0, 2] = values[2, 0] = -0.5
    values[1, 3] = values[3, 1] = 0.2
    result = PairInteractions(("a", "b", "c", "d"), values, "interaction", "bits")
    ax = interaction_matrix(result, k=3)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "c", "b"]
    drawn = np.asarray(ax.collections[0].get_array()).reshape(3, 3)
    np.testing.assert_array_equal(drawn, values[np.ix_([0, 2, 1], [0, 2, 1])])
    assert [text.get_text() for text in ax.texts] == ["-0.5", "-0.5"]
    assert result.plot().get_xlabel() == "interaction (bits); full color at 0.5"
    with pytest.raises(ValueError, match="k must be"):
        dm.plots.interaction_matrix(result, k=0)
