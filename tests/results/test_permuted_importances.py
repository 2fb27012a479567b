"""Importances on the data and under permuted labels: checks of fields."""

import numpy as np
import pytest

import duramen as dm
from duramen.results.importances import NULL, PermutedImportances

OBSERVED = dm.Importances(("a", "b", "c"), [0.4, 0.1, 0.2], "mdi", "bits", standard_error=[1, 2, 3])
PERMUTED = np.array([[0.1, 0.2, 0.0], [0.3, 0.1, 0.0]])


def made(**changes):
    return PermutedImportances(**{"importances": OBSERVED, "permuted": PERMUTED, **changes})


def test_fields_are_read_only_and_of_the_right_shapes():
    result = made(marginal=np.arange(9.0).reshape(3, 3), restrictions=" Within strata.")
    assert result.names == ("a", "b", "c")
    assert result.null == NULL + " Within strata."
    np.testing.assert_array_equal(result.maxima, [0.2, 0.3])
    for array in (result.permuted, result.marginal):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
