"""Kernel weights of a numeric context: points, weights, and importances that vary smoothly."""

import numpy as np
import pytest
from tests.contexts.trees import random_trees

import duramen as dm
from duramen.contexts import KernelWeights
from duramen.contexts.values import UNIT, points_of

EFFECTS = ("importances", "absolute", "signed", "conditional", "overall", "fractions", "within")


def test_weights_interpolate_between_the_points():
    numbers = np.random.default_rng(0).exponential(size=100)
    values, codes, weights, bandwidth = points_of(numbers, KernelWeights(4, "auto"))
    assert bandwidth == 0.25
    np.testing.assert_allclose(values, np.quantile(numbers, [0.125, 0.375, 0.625, 0.875]))
    assert (weights.sum(axis=1) == UNIT).all()
    quantile = (np.argsort(np.argsort(numbers)) + 0.5) / 100
    centers = np.array([0.125, 0.375, 0.625, 0.875])
    for g in range(4):
        wanted = np.interp(quantile, centers, np.eye(4)[g])
        np.testing.assert_allclose(weights[codes, g] / UNIT, wanted, atol=0.6 / UNIT)


def test_a_narrow_kernel_is_bins_and_a_wide_one_is_nearly_flat():
    numbers = np.random.default_rng(1).normal(size=90)
    _, codes, narrow, _ = points_of(numbers, KernelWeights(3, 1 / 6))
    assert set(narrow.ravel().tolist()) == {0, UNIT}
    rank = np.argsort(np.argsort(numbers))
    assert narrow[codes].argmax(axis=1).tolist() == (rank // 30).tolist()
    _, _, wide, _ = points_of(numbers, KernelWeights(3, 1.0))
    assert wide.min() > 5


def test_many_values_are_taken_together_and_equal_quantiles_are_one_point():
    random = np.random.default_rng(2)
    _, _, many, _ = points_of(random.normal(size=1000), KernelWeights(5))
    assert len(many) == 128
    half = np.where(np.arange(200) < 100, 0.0, random.random(200))
    values, codes, weights, _ = points_of(half, KernelWeights(4, "auto"))
    assert weights.shape[1] == len(values) == 3
    assert weights.any(axis=0).all()
    assert (weights[codes[:100]] == [UNIT, 0, 0]).all()


@pytest.mark.parametrize("permute", ["all", "within_target"])
def test_an_analysis_with_a_narrow_kernel_is_that_of_bins(permute):
    random = np.random.default_rng(3)
    X, context = random.integers(0, 3, (60, 3)), random.permutation(60.0 + np.arange(60))
    y = np.where(context > 90, X[:, 0] > 0, X[:, 1] > 0)
    options = {"estimator": random_trees(5), "n_permutations": 19, "random_state": 0}
    options |= {"permute": permute}
    bins = dm.contexts.context_importances(X, y, context, **options)
    narrow = dm.contexts.context_importances(
        X, y, context, context_bins=KernelWeights(3, 0.1), **options
    )
    for what in (*EFFECTS, "absolute_p_values", "signed_p_values", "overall_p_values"):
        assert getattr(narrow, what).tobytes() == getattr(bins, what).tobytes(), what
    assert narrow.relevance_p_value == bins.relevance_p_value
    assert narrow.metadata["context"]["bandwidth"] == 0.1


def information(strength):
    """Bits that a fair bit tells of a target that equals it with probability .5 + strength."""
    p = 0.5 + strength
    return 1 + p * np.log2(p) + (1 - p) * np.log2(1 - p)


def test_an_importance_that_varies_smoothly_is_nearer_than_with_bins():
    """Mean squared error of the curve over the quantiles of the context, three samples of 1000."""
    at = (np.arange(500) + 0.5) / 500
    exact = information(0.45 * (2 * at - 1))
    errors = {10: 0.0, KernelWeights(10): 0.0}
    for seed in range(3):
        random = np.random.default_rng(seed)
        context, X = random.random(1000), random.integers(0, 2, (1000, 2))
        same = random.random(1000) < 0.5 + 0.45 * (2 * context - 1)
        for bins in errors:
            result = dm.contexts.context_importances(
                X,
                np.where(same, X[:, 0], 1 - X[:, 0]),
                context,
                estimator=random_trees(5),
                n_permutations=0,
                plain="none",
                context_bins=bins,
                random_state=0,
            )
            middles, estimates = (np.arange(10) + 0.5) / 10, result.conditional[:, 0]
            curve = np.interp(at, middles, estimates)
            if bins == 10:
                curve = estimates[(10 * at).astype(int)]
            errors[bins] += np.mean((curve - exact) ** 2)
    assert errors[KernelWeights(10)] < 0.75 * errors[10]


def test_the_forest_of_a_context_has_the_weights_of_its_rows():
    random = np.random.default_rng(6)
    X, y, context = random.integers(0, 2, (80, 1)), random.integers(0, 2, 80), random.random(80)
    options = {"estimator": random_trees(1), "n_permutations": 0, "context_bins": KernelWeights(4)}
    result = dm.contexts.context_importances(X, y, context, random_state=0, **options)
    np.testing.assert_allclose(result.within, result.conditional, atol=1e-12)
    np.testing.assert_allclose(
        result.fractions @ result.within, result.importances - result.overall, atol=1e-12
    )


def test_conditional_permutations_find_a_dependence_and_leave_noise():
    random = np.random.default_rng(8)
    X, context = random.normal(size=(200, 3)), random.random(200)
    y = 3 * (2 * context - 1) * X[:, 0] + random.normal(size=200) > 0
    options = {"estimator": random_trees(10), "n_permutations": 199, "plain": "none"}
    options |= {"context_bins": KernelWeights(), "random_state": 0}
    result = dm.contexts.context_importances(X, y, context, **options)
    assert result.metadata["context"]["modeled"]
    assert result.absolute_p_values[[0, 2], 0].max() <= 0.02
    assert result.absolute_p_values[:, 1:].min() > 0.02
