"""MDI+ against MDI, and against regressions that are fitted again without each row."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from tests.grid import one_test

import duramen as dm
from duramen.forests.growth import bag
from duramen.importances import mdi, mdi_plus


def problem(n=80, seed=0):
    """Two values, five values, continuous ones, one of them irrelevant."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.integers(0, 2, n),
            random.integers(0, 5, n),
            random.normal(size=n),
            random.normal(size=n),
        ]
    ).astype(float)
    number = X[:, 0] + 0.4 * X[:, 1] + X[:, 2] + 0.5 * random.normal(size=n)
    return X, number


def stumps_of(tree, X):
    """Columns of the splits and their features, split by split from thresholds."""
    columns, features = [], []

    def visit(node, rows):
        if tree.feature[node] < 0:
            return
        low = X[:, tree.feature[node]] <= tree.threshold[node]
        first = int(tree.child[node])
        weights = tree.weight[first : first + 2]
        column = np.zeros(len(X))
        column[rows & low] = -np.sqrt(weights[1] / weights[0])
        column[rows & ~low] = np.sqrt(weights[0] / weights[1])
        columns.append(column)
        features.append(int(tree.feature[node]))
        visit(first, rows & low)
        visit(first + 1, rows & ~low)

    visit(0, np.ones(len(X), dtype=bool))
    return np.column_stack(columns), np.array(features)


def design_of(tree, X, raw=True):
    """Centered columns of a tree with the values of the features in use, and their features."""
    columns, features = stumps_of(tree, X)
    for j in np.unique(features):
        spread = columns[:, : len(features)].std(axis=0)
        if spread[features == j].max() == 0:
            columns, features = columns[:, features != j], features[features != j]
        elif raw:
            own = X[:, j] * spread[features == j].max() / X[:, j].std()
            columns, features = np.column_stack([columns, own]), np.append(features, j)
    return columns - columns.mean(axis=0), features


def test_mdi_is_a_regression_on_the_stumps_of_a_feature():
    X, y = problem()
    model = dm.RandomForestRegressor(3, random_state=0).fit(X, y)
    values = np.zeros((3, 4))
    for t, tree in enumerate(model.forest_):
        columns, features = stumps_of(tree, X)
        rows = np.repeat(np.arange(len(y)), bag(model.forest_, t))
        centered = y[rows] - y[rows].mean()
        for j in range(4):
            block = columns[np.ix_(rows, features == j)]
            fitted = block @ np.linalg.lstsq(block, centered, rcond=None)[0]
            values[t, j] = (fitted**2).mean()
    np.testing.assert_allclose(mdi(model).values, values.mean(axis=0), atol=1e-10)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("leaf", [1, 5])
def test_ridge_against_a_model_without_each_row(raw, leaf):
    X, y = problem(40)
    model = dm.RandomForestRegressor(3, min_samples_leaf=leaf, max_features=2, random_state=0)
    model.fit(X, y)
    expected = np.zeros((3, 4))
    for t, tree in enumerate(model.forest_):
        columns, features = design_of(tree, X, raw)
        penalty = RidgeCV(alphas=np.logspace(-5, 5, 100)).fit(columns, y).alpha_
        predicted = np.full((len(y), 4), y.mean())
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            fitted = Ridge(penalty, solver="svd").fit(columns[rest], y[rest])
            for j in np.unique(features):
                block = features == j
                predicted[i, j] = fitted.intercept_ + columns[i, block] @ fitted.coef_[block]
        errors = ((y[:, np.newaxis] - predicted) ** 2).sum(axis=0)
        expected[t] = 1 - errors / ((y - y.mean()) ** 2).sum()
    actual = mdi_plus(model, X, y, raw=raw)
    np.testing.assert_allclose(actual.values, expected.mean(axis=0), rtol=1e-6, atol=1e-8)
    error = expected.std(axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(actual.standard_error, error, rtol=1e-5, atol=1e-8)


def leave_one_out(columns, features, outcome, p):
    """Partial probabilities by the formula of approximate leave-one-out, row by row."""
    joined = np.column_stack([columns, np.ones(len(outcome))])
    best, least = None, np.inf
    for penalty in np.logspace(-2, 3, 25):
        fitted = LogisticRegression(C=1 / penalty, tol=1e-10, solver="newton-cholesky")
        fitted.fit(columns, outcome)
        coefficients = np.append(fitted.coef_[0], fitted.intercept_)
        probability = 1 / (1 + np.exp(-joined @ coefficients))
        weight = probability * (1 - probability)
        penalties = np.diag(np.append(np.full(columns.shape[1], penalty), 0.0))
        curvature = (joined.T * weight) @ joined + penalties
        own = np.array(
            [
                coefficients
                + np.linalg.solve(curvature, x)
                * (probability[i] - outcome[i])
                / (1 - weight[i] * x @ np.linalg.solve(curvature, x))
                for i, x in enumerate(joined)
            ]
        )
        left_out = clipped((joined * own).sum(axis=1))
        loss = -np.mean(np.where(outcome > 0, np.log(left_out), np.log(1 - left_out)))
        if loss < least:
            best, least = (own, coefficients[-1]), loss
    own, intercept = best
    partial = np.full((len(outcome), p), intercept)
    for j in np.unique(features):
        block = np.flatnonzero(features == j)
        partial[:, j] = (columns[:, block] * own[:, block]).sum(axis=1) + own[:, -1]
    return clipped(partial)


def clipped(linear):
    return np.clip(1 / (1 + np.exp(-linear)), 0.01, 0.99)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_against_the_formula_row_by_row(n_classes):
    X, number = problem(60)
    y = np.digitize(number, [1.0] if n_classes == 2 else [0.5, 1.5])
    model = dm.RandomForestClassifier(2, min_samples_leaf=4, max_features=2, random_state=0)
    model.fit(X, y)
    expected = np.zeros((2, 4))
    frequencies = np.bincount(y) / len(y)
    for t, tree in enumerate(model.forest_):
        columns, features = design_of(tree, X)
        labels = range(n_classes) if n_classes > 2 else (1,)
        parts = [leave_one_out(columns, features, (y == c).astype(float), 4) for c in labels]
        parts = np.array(parts if n_classes > 2 else [1 - parts[0], parts[0]])
        parts /= parts.sum(axis=0)
        own = parts[y, np.arange(len(y))]
        expected[t] = np.log(own).mean(axis=0) - frequencies @ np.log(frequencies)
    actual = mdi_plus(model, X, y)
    np.testing.assert_allclose(actual.values, expected.mean(axis=0), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_irrelevant_features_of_all_kinds_have_no_positive_value_on_average():
    values = []
    for seed in range(12):
        random = np.random.default_rng(seed)
        X = np.column_stack([random.integers(0, 2, 100), random.normal(size=(100, 3))])
        model = dm.RandomForestRegressor(20, min_samples_leaf=5, random_state=seed)
        y = random.normal(size=100)
        values.append(mdi_plus(model.fit(X, y), X, y).values)
    error = np.std(values, axis=0, ddof=1) / np.sqrt(12)
    assert (np.mean(values, axis=0) < 3 * error).all()
    assert (np.mean(values, axis=0) > -0.05).all()


def test_missing_values_and_categories_have_stumps():
    X, y = problem()
    X[::7, 2] = np.nan
    frame = dm.encode(X, kinds=["nominal", "numeric", "numeric", "numeric"])
    model = dm.RandomForestRegressor(20, min_samples_leaf=3, random_state=0).fit(frame, y)
    result = mdi_plus(model, frame, y)
    assert {name for name, _ in result.top(3)} == {"x0", "x1", "x2"}


def test_what_is_refused():
    X, number = problem()
    y = number > 1
    model = dm.RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="X is missing"):
        mdi_plus(model)
    many = dm.RandomForestClassifier(3, splits="multiway", random_state=0).fit(X.round(), y)
    with pytest.raises(ValueError, match="binary splits"):
        mdi_plus(many, X.round(), y)
