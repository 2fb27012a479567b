"""Bayes model and residual error."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.theory.drawn import as_table, distributions

import duramen as dm
from duramen.theory import FiniteDistribution, population_mda
from duramen.theory.distributions import bayes_model
from duramen.theory.distributions.bayes_models import LOSSES

LOSS = {
    "zero-one": lambda a, b: float(a != b),
    "squared": lambda a, b: (a - b) ** 2,
    "absolute": lambda a, b: abs(a - b),
}


@settings(max_examples=60)
@given(distributions(contexts=False))
def test_no_prediction_is_better(dist):
    """Try every class, and for the squared loss the mean, in every combination of values."""
    table = as_table(dist)
    for loss in LOSSES:
        cells = {}
        for row, weight in table:
            key = tuple(row[name] for name in dist.names)
            cells.setdefault(key, []).append((dist.class_numbers[row[dist.target_name]], weight))
        least = 0.0
        for rows in cells.values():
            mass = sum(w for _, w in rows)
            tried = [float(y) for y in dist.class_numbers]
            tried.append(sum(y * w for y, w in rows) / mass)
            if loss == "zero-one":
                tried.pop()
            least += min(sum(w * LOSS[loss](guess, y) for y, w in rows) for guess in tried)
        model = bayes_model(dist, loss=loss)
        assert model.residual_error == pytest.approx(least, abs=1e-12)
        assert len(model) == len(cells)
        assert model.probabilities.sum() == pytest.approx(1, abs=1e-12)


def test_full_trees_have_the_residual_error():
    dist = dm.theory.examples.simpson()
    for loss in ("zero-one", "squared"):
        trees = population_mda(dist, loss=loss)
        assert trees.metadata["loss"] == pytest.approx(bayes_model(dist, loss=loss).residual_error)


def test_predictions_are_values_of_the_target():
    dist = FiniteDistribution.from_table([["a"], ["a"], ["b"]], ["x", "x", "y"], names=["letter"])
    model = bayes_model(dist)
    assert model.predictions.tolist() == ["x", "y"]
    assert model.columns()["letter"].tolist() == ["a", "b"]
    assert "residual error 0" in str(model)
    nothing = bayes_model(dist, [])
    assert nothing.predictions.tolist() == ["x"]
    assert nothing.residual_error == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="numeric"):
        bayes_model(dist, loss="absolute")
    with pytest.raises(ValueError, match="loss must be one of"):
        bayes_model(dist, loss="hinge")


def test_the_median_of_the_absolute_loss_is_the_lower_one():
    dist = FiniteDistribution.from_table([[0]] * 4, [1, 2, 10, 11])
    model = bayes_model(dist, loss="absolute")
    assert model.predictions.tolist() == [2]
    assert model.residual_error == pytest.approx((1 + 0 + 8 + 9) / 4)
    mean = bayes_model(dist, loss="squared")
    assert mean.predictions.tolist() == [6.0]
    np.testing.assert_allclose(mean.losses, [np.var([1, 2, 10, 11])])
