"""Importances on the data and under permuted labels: checks of fields."""

import numpy as np
import pytest
from tests.grid import one_test

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


@one_test
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"importances": PERMUTED}, TypeError, "importances must be Importances, got ndarray"),
        ({"permuted": PERMUTED[:, :2]}, ValueError, r"permuted must have shape .*, got \(2, 2\)"),
        ({"permuted": PERMUTED[:0]}, ValueError, "permuted must have a row for each permutation"),
        ({"permuted": PERMUTED * np.nan}, ValueError, "permuted must be finite"),
        ({"marginal": PERMUTED}, ValueError, r"marginal must have shape \(3, 3\), got \(2, 3\)"),
        ({"notes": (1,)}, TypeError, "notes"),
        ({"metadata": {"seed": {1}}}, ValueError, "metadata must be valid JSON"),
    ],
)
def test_wrong_fields_are_refused(changes, error, message):
    with pytest.raises(error, match=f"PermutedImportances: {message}"):
        made(**changes)
