"""Masked entries are missing: of a table as missing values, of anything else as errors."""

import numpy as np
import pytest
from tests.grid import one_test

import duramen as dm
from duramen.support.arrays import refuse_masked, unmasked

ROWS = np.arange(12)
X = np.random.default_rng(0).normal(size=(12, 3)).round(1)
Y = np.arange(12) % 2
MASK = ROWS == 7


def masked(values):
    return np.ma.array(values, mask=MASK)


@one_test
@pytest.mark.parametrize(
    "data, wanted",
    [
        ([1.5, 2.5], [1.5, np.nan]),
        ([1, 2], [1.0, np.nan]),
        ([True, False], [1.0, np.nan]),
        ([2**60, 1], [2**60, None]),
        (["a", "b"], ["a", None]),
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), None),
    ],
)
def test_masked_entries_become_missing(data, wanted):
    result = unmasked(np.ma.array(data, mask=[False, True]))
    assert not isinstance(result, np.ma.MaskedArray)
    if wanted is None:
        assert np.isnat(result[1])
        assert result[0] == data[0]
    elif wanted[1] is None:
        assert result.tolist() == wanted
    else:
        np.testing.assert_array_equal(result, wanted)


def test_what_is_not_masked_keeps_its_type():
    plain = np.array([1, 2])
    assert unmasked(plain) is plain
    assert unmasked(np.ma.array(plain)).dtype == plain.dtype
    assert unmasked([1, 2]) == [1, 2]


def test_a_masked_entry_that_must_not_be():
    assert refuse_masked(None, "y", "f") is None
    assert refuse_masked(np.ma.array([1, 2]), "y", "f").tolist() == [1, 2]
    with pytest.raises(ValueError, match="f: y must not be masked, but row 7 is"):
        refuse_masked(masked(Y), "y", "f")
    with pytest.raises(ValueError, match="row 1 is"):
        refuse_masked(np.ma.array([[1, 2], [3, 4]], mask=[[0, 0], [0, 1]]), "y", "f")


def test_masked_values_of_a_table_are_missing_values():
    holed = X.copy()
    holed[7] = np.nan
    table = np.ma.array(X, mask=np.broadcast_to(MASK[:, np.newaxis], X.shape))
    assert dm.encode(table).fingerprint() == dm.encode(holed).fingerprint()
    model = dm.RandomForestClassifier(5, random_state=0).fit(table, Y)
    other = dm.RandomForestClassifier(5, random_state=0).fit(holed, Y)
    np.testing.assert_array_equal(model.predict_proba(table), other.predict_proba(holed))
    np.testing.assert_array_equal(
        dm.importances.mdi(model).values, dm.importances.mdi(other).values
    )
    words = np.ma.array(np.array([["a", "b"], ["b", "b"]], dtype=object), mask=[[0, 0], [1, 0]])
    assert dm.encode(words).missing.tolist() == [1, 0]
    exact = dm.theory.FiniteDistribution.from_table
    assert exact(table, Y).n_rows == exact(holed, Y).n_rows == 12
    assert exact(table, Y).labels[0].tolist()[-1] != exact(table, Y).labels[0].tolist()[-1]


def doors():
    forest = dm.RandomForestClassifier(5, random_state=0).fit(X, Y)
    template = dm.RandomForestClassifier(5, random_state=0)
    numbers = dm.RandomForestRegressor(5, random_state=0)
    from sklearn.linear_model import LogisticRegression

    other = LogisticRegression().fit(X, Y)
    from_table = dm.theory.FiniteDistribution.from_table
    return {
        "fit": lambda y: template.fit(X, y),
        "fit numbers": lambda y: numbers.fit(X, y.astype(float)),
        "search": lambda y: dm.SequentialRandomSubspace(n_estimators=3, n_subspace_features=2).fit(
            X, y
        ),
        "mda": lambda y: dm.importances.mda(forest, X, y),
        "mda of another": lambda y: dm.importances.mda(other, X, y),
        "mdi": lambda y: dm.importances.mdi(forest, X, y),
        "holdout": lambda y: dm.importances.holdout_mda(template, X, y),
        "altmann": lambda y: dm.significance.altmann(template, X, y, n_permutations=2),
        "permutation": lambda y: dm.significance.permutation_test(
            lambda X, y, seed: np.ones(3), X, y, n_permutations=2
        ),
        "mcfs": lambda y: dm.importances.mcfs(X, y, n_subsets=2),
        "context": lambda y: dm.contexts.context_importances(X, y, ROWS % 3, n_permutations=0),
        "exact": lambda y: from_table(X, y),
    }


@one_test
@pytest.mark.parametrize("door", list(doors()))
def test_a_masked_target_is_refused(door):
    with pytest.raises(ValueError, match=r"(y|target).* row 7"):
        doors()[door](masked(Y))


def test_masked_weights_contexts_and_strata_are_refused():
    forest = dm.RandomForestClassifier(5)
    with pytest.raises(ValueError, match="sample_weight must not be masked, but row 7 is"):
        forest.fit(X, Y, masked(np.ones(12)))
    forest.fit(X, Y, np.ma.array(np.ones(12)))
    with pytest.raises(ValueError, match="context is missing at row 7"):
        dm.contexts.context_importances(X, Y, masked(ROWS % 3), n_permutations=0)
    from_table = dm.theory.FiniteDistribution.from_table
    with pytest.raises(ValueError, match="weights must not be masked, but row 7 is"):
        from_table(X, Y, weights=masked(np.ones(12)))
    with pytest.raises(ValueError, match="context is missing at row 7"):
        from_table(X, Y, context=masked(ROWS % 3))
    from duramen.data import Exchangeability

    for name in ("strata", "groups"):
        with pytest.raises(ValueError, match=f"{name} must have a label for every row.* row 7 is"):
            Exchangeability.checked(12, **{name: masked(ROWS % 3)}, function="f")
