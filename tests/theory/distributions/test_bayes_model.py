"""Bayes model and residual error."""

import pytest
from hypothesis import given, settings
from tests.theory.drawn import as_table, distributions

import duramen as dm
from duramen.theory import FiniteDistribution, population_mda
from duramen.theory.distributions import bayes_model

LOSS = {"zero-one": lambda a, b: float(a != b), "squared": lambda a, b: (a - b) ** 2}


@settings(max_examples=60)
@given(distributions(contexts=False))
def test_no_prediction_is_better(dist):
    """Try every class, and for the squared loss the mean, in every combination of values."""
    table, numbers = as_table(dist), dist.classes.astype(float)
    for loss in LOSS:
        cells = {}
        for row, weight in table:
            key = tuple(row[name] for name in dist.names)
            cells.setdefault(key, []).append((numbers[row[dist.target_name]], weight))
        least = 0.0
        for rows in cells.values():
            mass = sum(w for _, w in rows)
            tried = [float(y) for y in numbers]
            tried.append(sum(y * w for y, w in rows) / mass)
            if loss == "zero-one":
                tried.pop()
            least += min(sum(w * LOSS[loss](guess, y) for y, w in rows) for guess in tried)
        model = bayes_model(dist, loss=loss)
        assert model.residual_error == pytest.approx(least, abs=1e-12)
        assert len(model.losses) == len(cells)
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
    assert model.values["letter"].tolist() == ["a", "b"]
    assert model.residual_error == 0
    nothing = bayes_model(dist, [])
    assert nothing.predictions.tolist() == ["x"]
    assert nothing.residual_error == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="numeric"):
        bayes_model(dist, loss="squared")
    with pytest.raises(ValueError, match="loss must be one of"):
        bayes_model(dist, loss="hinge")
