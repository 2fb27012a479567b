"""Fields of results that do not fit are refused by their names."""

import numpy as np
import pytest
from tests.grid import one_test
from tests.results.test_adjusted_significance import result as adjusted
from tests.results.test_context_importances import example as contextual
from tests.results.test_error_rates import example as rates
from tests.results.test_importances import example as importances
from tests.results.test_intervals import example as intervals
from tests.results.test_permuted_importances import PERMUTED
from tests.results.test_permuted_importances import made as permuted
from tests.results.test_significance import example as significance


@one_test
@pytest.mark.parametrize(
    ("example", "changes", "message"),
    [
        (importances, {"names": ("a", "b", "c", "a")}, "'a' occurs twice"),
        (importances, {"values": [[0.1], [0.2], [0.3], [0.4]]}, "values must have shape"),
        (importances, {"by_degree": [0.1, 0.2, 0.3, 0.4]}, r"must have shape \(4, D\)"),
        (importances, {"standard_error": [0.1, -0.2, 0.1, 0.1]}, "at least 0, got -0.2 for 'b'"),
        (importances, {"metadata": {"x": object()}}, "metadata must be valid JSON"),
        (significance, {"scores": [1.0, np.inf, 2.0, 3.0]}, "scores must be finite"),
        (significance, {"p_values": [0.1, 1.2, 0.1, 0.2]}, r"in \[0, 1\], got 1.2 for 'b'"),
        (significance, {"q_values": [0.1, 0.1, -0.1, 0.2]}, r"in \[0, 1\], got -0.1 for 'c'"),
        (significance, {"null": " "}, "null must be a sentence"),
        (significance, {"adjustment": "fdr"}, "adjustment must be one of 'bh', 'by', 'storey'"),
        (significance, {"n_tests": 3}, "must be at least the number of features, 4, got 3"),
        (significance, {"details": {"df": [1.0]}}, r"details\['df'\] must have shape \(4,\)"),
        (adjusted, {"p_adjusted": None}, "p_adjusted must be given"),
        (adjusted, {"q_values": None}, "q_values must be given"),
        (adjusted, {"statistics": None}, "statistics must be given"),
        (adjusted, {"p_adjusted": np.array([0.05, 0.12, 1.9, 0.01])}, r"must be in \[0, 1\]"),
        (adjusted, {"statistics": np.arange(4.0)[::-1]}, "p_adjusted must not decrease as the"),
        (adjusted, {"q_values": np.array([0.02, 0.01, 0.8, 0.01])}, "q_values must not decrease"),
        (rates, {"scores": [1.0, 2.0, 0.0, 0.0]}, "scores must not increase"),
        (rates, {"rates": [0.1, 0.05, 0.1, 0.2]}, "rates must not decrease"),
        (rates, {"rates": [0.1, 0.1, 0.1, 1.2]}, r"rates must be in \[0, 1\], got 1.2 for 'c'"),
        (rates, {"meaning": " "}, "meaning must be a sentence"),
        (rates, {"n_known": 5}, "n_known must be an int in 0..4, got 5"),
        (intervals, {"low": [-0.1, 0.7, 0.1, 0.0]}, "low must not exceed high, got 0.7 and 0.6"),
        (intervals, {"confidence_level": 1.0}, r"must be a number in \(0, 1\), got 1.0"),
        (permuted, {"importances": PERMUTED}, "importances must be Importances, got ndarray"),
        (permuted, {"permuted": PERMUTED[:, :2]}, r"must have shape .*, got \(2, 2\)"),
        (permuted, {"permuted": PERMUTED[:0]}, "must have a row for each permutation"),
        (permuted, {"marginal": PERMUTED}, r"must have shape \(3, 3\), got \(2, 3\)"),
        (permuted, {"notes": (1,)}, "notes must be a sequence of strings"),
        (contextual, {"contexts": ("a", "b", "c")}, r"fractions must have shape \(3,\)"),
        (contextual, {"absolute": [[-1, 1, 1]] * 2}, "absolute must be at least 0, got -1"),
        (contextual, {"signed": [[np.nan, 1, 1]] * 2}, "signed must be finite"),
        (contextual, {"relevance": [1.0, 2.0]}, r"relevance must have shape \(\)"),
        (contextual, {"relevance_p_value": 1.5}, r"relevance_p_value must be in \[0, 1\]"),
        (contextual, {"empty": "drop"}, "empty must be one of 'skip', 'zero', got 'drop'"),
        (contextual, {"tolerance": 1.0}, r"tolerance must be a number in \[0, 1\), got 1.0"),
        (contextual, {"permute": "classes"}, "permute must be one of"),
    ],
)
def test_what_does_not_fit_is_refused(example, changes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        example(**changes)
