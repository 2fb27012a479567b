"""Stability selection beside artificial features."""

import numpy as np
import pytest
from sklearn.linear_model import lasso_path

import duramen as dm
from duramen.selection.stability_selection import first_of_path, largest, with_artificial


def lines(n=100, p=30, relevant=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, X[:, :relevant].sum(axis=1) + 0.5 * random.normal(size=n)


@pytest.mark.parametrize("learner", ["forest", "lasso"])
def test_relevant_features_are_selected(learner):
    X, y = lines()
    model = dm.StabilitySelection(n_estimators=40, learner=learner, n_draws=30, random_state=0)
    model.fit(X, y)
    assert set(model.selected_) >= {0, 1, 2, 3, 4}
    assert len(model.selected_) <= 6
    reached = [(values >= model.threshold_).sum() for values in
               (model.frequency_, model.artificial_frequency_)]  # fmt: skip
    assert model.fdp_ == (1 + reached[1]) / reached[0] == model.history_["fdp"].min()
    assert np.array_equal(np.flatnonzero(model.frequency_ >= model.threshold_),
                          np.sort(model.selected_))  # fmt: skip


def test_the_first_columns_are_those_of_the_path_by_coordinate_descent():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 80))
    X = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    y = X[:, 3] + X[:, 7] + 0.1 * random.normal(size=50)
    y = (y - y.mean()) / np.linalg.norm(y - y.mean())
    penalties = np.abs(X.T @ y).max() / 50 * np.geomspace(1, 1e-2, 2000)
    _, coefficients, _ = lasso_path(X, y, alphas=penalties, tol=1e-9, max_iter=100_000)
    present = coefficients != 0
    entry = np.where(present.any(axis=1), present.argmax(axis=1), np.inf)
    for q in (1, 2, 6):
        chosen = first_of_path(X, y.reshape(-1, 1), q)
        assert set(np.flatnonzero(chosen)) == set(np.argsort(entry)[:q])


def test_ties_at_the_limit_are_left_out():
    assert largest(np.array([3.0, 2.0, 2.0, 1.0, 0.0]), 2).tolist() == [True] + 4 * [False]
    assert largest(np.array([3.0, 2.0, 2.0, 1.0]), 3).tolist() == [True, True, True, False]
    assert largest(np.array([0.0, 1.0, 0.0]), 2).tolist() == [False, True, False]


def test_groups_are_drawn_whole():
    X, y = lines(40, 8)
    model = dm.StabilitySelection(learner="lasso", n_draws=20, alpha=1, random_state=0)
    once = model.fit(X, y).frequency_
    rows = np.repeat(np.arange(40), 3)
    data = dm.learning_set(X[rows], y[rows], groups=rows)
    assert np.array_equal(model.fit(data).frequency_, once)


def test_knockoffs_have_the_correlations_of_their_features():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 12))
    X[:, 1::2] = 0.8 * X[:, ::2] + 0.6 * X[:, 1::2]
    data = dm.learning_set(X, X[:, 0])
    subject = dm.StabilitySelection(artificial="knockoff")._open(data, None).subject
    joined = with_artificial(subject, "knockoff", np.random.default_rng(1), "test")
    r = np.corrcoef(np.stack([joined.values(j)[joined.codes(j)] for j in range(24)]))
    neighbors = np.arange(0, 12, 2)
    assert abs(r[neighbors + 12, neighbors + 13].mean() - 0.8) < 0.08  # of two knockoffs
    assert abs(r[neighbors, neighbors + 13].mean() - 0.8) < 0.08  # of a feature and the other's
    permuted = with_artificial(subject, "permuted", np.random.default_rng(1), "test")
    r = np.corrcoef(np.stack([permuted.values(j)[permuted.codes(j)] for j in range(24)]))
    assert np.abs(r[12:, :12]).max() < 0.25


def test_proxies_are_selected_beside_permuted_copies_and_not_beside_knockoffs():
    """Each direct feature has two proxies (r = .9); a forest divides importance among the three."""
    proxies = {}
    for artificial in ("permuted", "knockoff"):
        counts = []
        for seed in range(3):
            random = np.random.default_rng(seed)
            direct = random.normal(size=(200, 6))
            both = np.repeat(direct, 2, axis=1)
            X = np.hstack([direct, 0.9 * both + 0.44 * random.normal(size=both.shape)])
            y = direct.sum(axis=1) + 0.5 * random.normal(size=200)
            model = dm.StabilitySelection(
                n_estimators=30, artificial=artificial, n_draws=20, n_per_draw=12, random_state=0
            )
            counts.append((model.fit(X, y).selected_ >= 6).sum())
        proxies[artificial] = sum(counts)
    assert proxies["knockoff"] < proxies["permuted"] / 2


def test_knockoffs_of_restricted_rows_are_refused():
    X, y = lines(40, 5)
    data = dm.learning_set(X, y, groups=np.repeat(np.arange(20), 2))
    with pytest.raises(ValueError, match="artificial must be 'permuted'"):
        dm.StabilitySelection(artificial="knockoff").fit(data)


def test_labels_without_an_order_have_no_coefficient():
    X, y = lines(40, 5)
    data = dm.learning_set(X.round(), y, kinds="nominal")
    with pytest.raises(ValueError, match="no coefficient"):
        dm.StabilitySelection(learner="lasso").fit(data)


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["forest", "lasso"])
def test_noise_is_seldom_selected(learner):
    """In exchangeable order the probability is .073: more than 9 of 40 have probability .001."""
    selected = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(50, 40)), random.normal(size=50)
        model = dm.StabilitySelection(
            n_estimators=20, learner=learner, n_draws=20, random_state=seed
        )
        selected += bool(len(model.fit(X, y).selected_))
    assert selected <= 9
