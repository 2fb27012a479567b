"""A classifier tells draws from the data where the sampler is wrong, and only there."""

import numpy as np
import pytest
from tests.significance.conditional_tests.test_sampler import alleles

import duramen as dm
from duramen.significance import conditional
from duramen.significance.conditional_tests.knockoffs import EstimatedKnockoffs
from duramen.significance.conditional_tests.sampler import Sampler, diagnosis, misfit_notes, misfits

N, P = 250, 10


def chain(seed):
    """Gaussian, with correlations of .7 between neighbors."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, P))
    for j in range(1, P):
        X[:, j] = 0.7 * X[:, j - 1] + np.sqrt(0.51) * X[:, j]
    return X


def squares(seed):
    """Each second feature is the square of its neighbor, with noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, P))
    X[:, 1::2] = X[:, ::2] ** 2 + 0.5 * X[:, 1::2]
    return X


def diagnosed(X, kind="gaussian", seed=0, **more):
    sampler = Sampler.of(dm.encode(X), kind, seed)
    hypotheses = {f"x{j}": np.array([j]) for j in range(X.shape[1])}
    p_values = np.random.default_rng(seed).random(X.shape[1])
    return diagnosis(sampler, hypotheses, p_values, 100 + seed, **more)


def genotypes(seed):
    return alleles(3 * N, P, seed).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "count"), [(chain, 8), (genotypes, 4)])
def test_draws_from_the_right_distribution_pass(rows, count):
    """Genotypes were told by residuals of rows with another prediction, at a mean area of .55."""
    fit = [diagnosed(rows(seed), seed=seed) for seed in range(count)]
    assert not any(each["misfit"] for each in fit)
    assert 0.44 < np.mean([each["auc"] for each in fit]) < 0.52


@pytest.mark.slow
def test_draws_from_the_wrong_distribution_are_seen():
    wrong = [diagnosed(squares(seed), seed=seed) for seed in range(4)]
    assert all(each["misfit"] and each["low"] > 0.55 for each in wrong)
    curved = [diagnosed(squares(seed), "auto", seed) for seed in range(4)]
    assert np.mean([each["auc"] for each in curved]) < np.mean([each["auc"] for each in wrong])


def test_draws_are_diagnosed_in_groups_of_features_and_of_rows():
    X = squares(0)
    sampler = Sampler.of(dm.encode(X), "gaussian", 0)
    hypotheses = {"pair": np.array([0, 1]), "x3": np.array([3])}
    fit = diagnosis(sampler, hypotheses, [0.1, 0.9], 1, units=np.arange(N) // 2)
    assert list(fit["features"]) == ["pair", "x3"]
    assert misfits(fit["features"]) == ["x3"]
    again = diagnosis(sampler, hypotheses, [0.1, 0.9], 1, units=np.arange(N) // 2, n_threads=2)
    assert again == fit


@pytest.mark.slow
def test_false_discoveries_of_a_wrong_sampler_come_with_a_warning():
    """The target is a neighbor's square: linear draws call the square direct beside its origin."""
    X = squares(0)
    y = np.abs(X[:, 0]) + np.abs(X[:, 4]) + 0.3 * np.random.default_rng(1).normal(size=N)
    with pytest.warns(UserWarning, match="draws of features given the others do not fit"):
        result = conditional(None, X, y, sampler="gaussian", random_state=0)
    fit = result.metadata["diagnosis"]
    assert fit["misfit"]
    assert fit["low"] > 0.5
    assert "AUC" in str(result)
    quiet = conditional(None, chain(0), chain(0)[:, 0], sampler="gaussian", random_state=0)
    assert not quiet.metadata["diagnosis"]["misfit"]
    assert quiet.notes == ()
    without = conditional(None, chain(0), chain(0)[:, 0], method="loco", n_folds=2, random_state=0)
    assert "diagnosis" not in without.metadata


def test_knockoffs_that_do_not_fit_are_seen():
    """A row with a knockoff in place of its feature has the distribution of the row itself."""

    def fit(X):
        fitted = EstimatedKnockoffs.of(dm.encode(X), "gaussian")
        hypotheses = {f"x{j}": np.array([j]) for j in range(P)}
        donors = fitted.donors(np.random.default_rng(2))
        return diagnosis(fitted.sampler, hypotheses, np.arange(P), 1, donors=donors)

    wrong, right = fit(squares(0)), fit(chain(0))
    assert wrong["misfit"]
    assert "the knockoffs do not fit" in misfit_notes(wrong, of_knockoffs=True)[0]
    assert not right["misfit"]
    assert misfit_notes(right, of_knockoffs=True) == []
