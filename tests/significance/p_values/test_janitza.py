import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import probes as oracle
from tests.significance.noise import noise

import duramen as dm
from duramen import Importances
from duramen.importances import air, frequency, holdout_mda, mda, mdi, noising, sandri
from duramen.significance import janitza

FEW = "ignore:janitza. only:UserWarning"


def importances(values, measure="mine", **metadata):
    names = tuple(f"x{j}" for j in range(len(values)))
    return Importances(names, np.array(values, dtype=float), measure, "1", metadata=metadata)


# --- the p-values --------------------------------------------------------------------------------


@pytest.mark.filterwarnings(FEW)
def test_known_answer():
    result = janitza(importances([-0.2, -0.1, 0, 0, 0.05, 0.1, 0.3]), add_one=False)
    np.testing.assert_allclose(result.p_values, [1, 5 / 6, 2 / 3, 2 / 3, 1 / 3, 1 / 3, 0])
    plus = janitza(importances([-0.2, -0.1, 0, 0, 0.05, 0.1, 0.3]))
    np.testing.assert_allclose(plus.p_values, np.array([7, 6, 5, 5, 3, 3, 1]) / 7)
    assert result.metadata["janitza"] == {"add_one": False, "n_negative": 2, "n_zero": 2}
    assert plus.metadata["janitza"]["add_one"]
    assert result.metadata["measure"] == "mine"


@given(values=st.lists(st.integers(-4, 6), min_size=1, max_size=40), add_one=st.booleans())
@settings(max_examples=80, deadline=None)
def test_fractions_against_loops_ties_included(values, add_one):
    given_ = importances([v / 4 for v in [-1, *values]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = janitza(given_, add_one=add_one)
    expected = oracle.null_fractions(given_.values.tolist(), add_one)
    np.testing.assert_allclose(result.p_values, expected, atol=1e-15)


# --- what is accepted, and with what words ------------------------------------------------------


def grown(X, y, **settings):
    return dm.RandomForestClassifier(20, random_state=0, **settings).fit(X, y)


def test_skewed_measures_are_warned_of():
    X, y = noise(1, p=20)
    forest = grown(X, y)
    for values, words in (
        (mdi(forest, X, y, rows="oob"), "out-of-bag values of mdi are not symmetric"),
        (mda(forest, X, y), "out-of-bag values of mda"),
        (noising(forest, X, y), "out-of-bag values of noising"),
        (sandri(forest, X, y, n_repeats=3), "values of sandri over several permutations"),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = janitza(values)
        assert any(words in str(w.message) for w in caught)
        assert all(w.filename == __file__ for w in caught)
        # What is said when it is computed is carried by the result.
        assert [str(w.message) for w in caught] == [f"janitza: {note}" for note in result.notes]


def test_what_has_no_null_sample_is_refused():
    X, y = noise(1, p=20)
    forest = grown(X, y, criterion="entropy")
    for values, message in (
        (mdi(forest), "values of mdi from the training counts"),
        (mdi(forest, correction="expected"), "values of mdi from the training counts"),
        (importances([-1.0, 1.0], "mdi"), "values of mdi from the"),
        (frequency(forest), "values of frequency are not symmetric"),
        (importances([0.0, 1.0]), "none of the 2 importances is negative.*Hint"),
        (np.array([-1.0, 1.0]), "importances must be Importances, got ndarray"),
    ):
        with pytest.raises((ValueError, TypeError), match=f"janitza: .*{message}"):
            janitza(values)


# --- calibration ---------------------------------------------------------------------------------

MEASURES = {
    "holdout_mda": holdout_mda,
    "air": air,
    "mdi held out": lambda forest, X, y: mdi(forest.fit(X[:30], y[:30]), X[30:], y[30:]),
}
SKEWED = {
    "mdi oob": lambda forest, X, y: mdi(forest.fit(X, y), X, y, rows="oob"),
    "mda oob": lambda forest, X, y: mda(forest.fit(X, y), X, y),
    "sandri": lambda forest, X, y: sandri(forest, X, y, n_repeats=5),
}


def false_positives(measure, replicates, n_trees):
    """Fraction of p-values <= .05 in noise of 60 x 400, for each of so many data sets."""
    fractions = []
    for seed in range(replicates):
        X, y = noise(seed, p=400)
        values = measure(dm.RandomForestClassifier(n_trees, random_state=seed), X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fractions.append(np.mean(janitza(values, add_one=False).p_values <= 0.05))
    return np.array(fractions)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
def test_symmetric_measures_keep_the_level(name):
    """120 data sets: the fraction of p-values <= .05 within 3.3 standard errors of .05."""
    fractions = false_positives(MEASURES[name], 120, 200)
    assert abs(fractions.mean() - 0.05) < 3.3 * fractions.std(ddof=1) / np.sqrt(120)


@pytest.mark.slow
@pytest.mark.parametrize("name", SKEWED)
def test_skewed_measures_do_not(name):
    """18 data sets, 1000 trees: about 9 % of p-values are <= .05, as the warning says."""
    assert 0.07 < false_positives(SKEWED[name], 18, 1000).mean() < 0.12
