import numpy as np
import pytest
from scipy import stats

import duramen as dm
from duramen import Importances
from duramen.importances import mda, sandri
from duramen.significance import z_scores

WARNING = "z grows with the square root"


def example(values, error, **changes):
    names = tuple(f"x{j}" for j in range(len(values)))
    return Importances(names, values, "mda", "accuracy", standard_error=error, **changes)


def noisy(n_trees=100):
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 4))
    y = (X[:, 0] + random.normal(size=120) > 0).astype(int)
    return dm.RandomForestClassifier(n_trees, random_state=0).fit(X, y), X, y


def test_z_and_its_normal_tail():
    with pytest.warns(UserWarning, match="z grows with the square root of the number of trees,"):
        result = z_scores(example([0.4, -0.1, 0.0], [0.2, 0.1, 0.0]))
    assert result.scores.tolist() == [2.0, -1.0, 0.0]
    np.testing.assert_allclose(result.p_values, [stats.norm.sf(2), stats.norm.sf(-1), 1.0])
    assert result.method == "z_scores"
    assert "trees grown on these very rows" in result.null
    assert result.details["importance"].tolist() == [0.4, -0.1, 0.0]
    assert result.selected(0.05, "none") == ("x0",)
    assert "z grows with the square root of the number of trees" in result.notes[0]


def test_it_is_the_scaled_mda():
    forest, X, y = noisy()
    with pytest.warns(UserWarning, match=r"number of trees \(here of 100 trees\), for irrelevant"):
        result = z_scores(mda(forest, X, y))
    np.testing.assert_allclose(result.scores, mda(forest, X, y, scaled=True).values)


def test_uniform_p_values_under_the_null_that_it_names():
    """2000 means of 200 trees whose expectation is 0, seed 0: uniform."""
    trees = np.random.default_rng(0).exponential(size=(200, 2000)) - 1
    error = trees.std(axis=0, ddof=1) / np.sqrt(200)
    with pytest.warns(UserWarning, match=WARNING):
        p_values = z_scores(example(trees.mean(axis=0), error)).p_values
    assert np.mean(p_values <= 0.05) == pytest.approx(0.05, abs=0.015)
    assert stats.kstest(p_values, "uniform").statistic < 0.05


def test_refuses_what_has_no_standard_error_over_trees():
    forest, X, y = noisy(10)
    for importances in (
        mda(forest, X, y, scaled=True),
        mda(forest, X, y, votes="ensemble", n_repeats=3),
        sandri(forest, X, y, n_repeats=3),
        example([0.1], None),
        example([0.1], [0.1], metadata={"model": "LinearRegression()"}),
    ):
        with pytest.raises(ValueError, match="have no standard error over trees"):
            z_scores(importances)
    with pytest.raises(TypeError, match="importances must be Importances, got RandomForest"):
        z_scores(forest)
