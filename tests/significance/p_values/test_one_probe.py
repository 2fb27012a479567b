import numpy as np
import pandas as pd
from tests.significance.noise import TINY, noise, scripted

from duramen.significance import one_probe

# --- the p-values --------------------------------------------------------------------------------


def test_fraction_of_the_runs_in_which_the_probe_is_as_good():
    X, y = noise(0, n=20, p=3)
    runs = [[1, 2, 4, probe] for probe in (0, 1, 2, 2, 3)]
    result = one_probe(TINY, X, y, measure=scripted(runs), n_permutations=5, add_one=False)
    np.testing.assert_allclose(result.p_values, [4 / 5, 3 / 5, 0])  # ties count against a feature
    np.testing.assert_array_equal(result.scores, [1, 2, 4])
    plus = one_probe(TINY, X, y, measure=scripted(runs), n_permutations=5)
    np.testing.assert_allclose(plus.p_values, [5 / 6, 4 / 6, 1 / 6])


def test_probe_is_a_column_with_its_rows_permuted():
    X = pd.DataFrame({"a": np.arange(40.0), "b": 100 + np.arange(40.0)})
    seen = []

    def look(forest, table, y):
        assert table.names[:2] == ("a", "b")
        values = table.values(2)[table.codes(2)]
        copied = "a" if values.max() < 50 else "b"
        assert table.names[2] == f"{copied} (probe 1)"
        np.testing.assert_array_equal(np.sort(values), X[copied])
        assert not np.array_equal(values, X[copied])
        np.testing.assert_array_equal(table.values(0)[table.codes(0)], X["a"])
        seen.append((copied, tuple(values)))
        return np.zeros(3)

    one_probe(TINY, X, np.arange(40) % 2, measure=look, n_permutations=20, random_state=0)
    assert {copied for copied, _ in seen} == {"a", "b"}
    assert len({values for _, values in seen}) == 20
