import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from tests.grid import one_test
from tests.importances.nesting import nested
from tests.oracles import mdi as oracle

from duramen import datasets, estimators
from duramen.importances import mdi

EXACT_DIGITS = [0.413, 0.582, 0.531, 0.542, 0.657, 0.226, 0.372]


def mixed(n=60, seed=0):
    """Few values, many values, continuous, constant; classes and numbers that depend on them."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [random.integers(0, 2, n), random.integers(0, 7, n), random.normal(size=n), np.ones(n)]
    ).astype(float)
    number = X[:, 0] + 0.3 * X[:, 1] + X[:, 2] + 0.5 * random.normal(size=n)
    return X, np.digitize(number, [0.8, 2.0]), number + 1000.0


def tallied(roots, p, amount):
    """Mean and standard error over trees of what `amount(node, root)` gives, and by degree."""
    deepest = max(degree for root in roots for _, degree in oracle.internal(root))
    sums = np.zeros((len(roots), p, deepest + 1))
    for t, root in enumerate(roots):
        for node, degree in oracle.internal(root):
            sums[t, node["feature"], degree] += amount(node, root)
    totals = sums.sum(axis=2)
    error = totals.std(axis=0, ddof=1) / np.sqrt(len(roots))
    return totals.mean(axis=0), error, sums.mean(axis=0)


def assert_is(result, expected):
    values, error, degrees = expected
    np.testing.assert_allclose(result.values, values, atol=1e-12)
    np.testing.assert_allclose(result.standard_error, error, atol=1e-12)
    np.testing.assert_allclose(result.by_degree, degrees, atol=1e-12)


# --- from training counts ------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_training_counts_against_oracle(criterion, bootstrap):
    X, y, _ = mixed()
    forest = estimators.RandomForestClassifier(
        7, criterion=criterion, bootstrap=bootstrap, random_state=0
    ).fit(X, y)
    impurity = getattr(oracle, criterion)
    expected = tallied(
        nested(forest, X, X),
        4,
        lambda node, root: (
            len(node["train"]) / len(root["train"]) * oracle.decrease(node, y, impurity)
        ),
    )
    assert_is(mdi(forest, by_degree=True), expected)


def test_regression_counts_against_oracle():
    X, _, y = mixed()
    forest = estimators.ExtraTreesRegressor(5, random_state=0).fit(X, y)
    expected = tallied(
        nested(forest, X, X),
        4,
        lambda node, root: (
            len(node["train"]) / len(root["train"]) * oracle.decrease(node, y, oracle.variance)
        ),
    )
    result = mdi(forest, by_degree=True)
    np.testing.assert_allclose(result.values, expected[0], rtol=1e-9)
    np.testing.assert_allclose(result.by_degree, expected[2], rtol=1e-9, atol=1e-12)
    assert result.unit == "variance"


def test_digits_have_their_known_importances():
    digits = datasets.digits7()
    forest = estimators.TotallyRandomizedTreesClassifier(5000, random_state=0)
    result = mdi(forest.fit(digits.X, digits.y), by_degree=True)
    np.testing.assert_allclose(result.values, EXACT_DIGITS, atol=0.012)
    assert result.values.sum() == pytest.approx(np.log2(10), abs=1e-9)
    np.testing.assert_allclose(result.by_degree.sum(axis=1), result.values, atol=1e-12)
    assert result.unit == "bits"


# --- corrections ---------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("splits", ["ordered", "multiway"])
@pytest.mark.parametrize("correction", ["expected", "miller-madow"])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_corrections_against_oracle(splits, correction, bootstrap):
    X, y, _ = mixed()
    forest = estimators.TotallyRandomizedTreesClassifier(
        6, splits=splits, bootstrap=bootstrap, random_state=2
    ).fit(X, y)
    bias = oracle.expected_bias if correction == "expected" else oracle.miller_madow_bias
    expected = tallied(
        nested(forest, X, X),
        4,
        lambda node, root: (
            len(node["train"])
            / len(root["train"])
            * (oracle.decrease(node, y, oracle.entropy) - bias(node, y))
        ),
    )
    assert_is(mdi(forest, correction=correction, by_degree=True), expected)


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["expected", "miller-madow"])
def test_corrections_centre_an_irrelevant_feature_at_zero(correction):
    plain, corrected = [], []
    for seed in range(60):
        random = np.random.default_rng(seed)
        X, y = random.integers(0, [2, 8], size=(300, 2)), random.integers(0, 3, 300)
        forest = estimators.TotallyRandomizedTreesClassifier(
            20, splits="multiway", max_depth=1, random_state=seed
        ).fit(X, y)
        plain.append(mdi(forest).values)
        corrected.append(mdi(forest, correction=correction).values)
    mean, error = np.mean(corrected, axis=0), np.std(corrected, axis=0) / np.sqrt(60)
    assert np.all(np.abs(mean) < 4 * error)
    assert np.all(np.mean(plain, axis=0) > 5 * error)


# --- from held-out rows --------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("oob", [False, True])
def test_held_out_rows_against_oracle(criterion, oob):
    X, y, _ = mixed()
    X_new, y_new, _ = mixed(40, seed=5)
    if oob:
        X_new, y_new = X, y
    forest = estimators.RandomForestClassifier(6, criterion=criterion, random_state=0).fit(X, y)
    trained, seen = np.eye(3)[y], np.eye(3)[y_new]
    roots = nested(forest, X, X_new, oob=oob)

    def fraction(node, root):
        if criterion == "entropy":
            part = len(node["held"]) / len(root["held"])
            return part * oracle.excess_information(node, y_new)
        return oracle.covariance(node, trained, seen) / len(root["held"])

    expected = tallied(roots, 4, fraction)
    result = mdi(forest, X_new, y_new, rows="oob" if oob else None, by_degree=True)
    assert_is(result, expected)
    assert result.metadata["mdi"]["rows"] == ("out-of-bag" if oob else "held-out")


def test_held_out_regression_against_oracle():
    X, _, y = mixed()
    X_new, _, y_new = mixed(40, seed=5)
    forest = estimators.RandomForestRegressor(6, random_state=0).fit(X, y)
    roots = nested(forest, X, X_new)
    centered = [(numbers - 1000.0)[:, np.newaxis] for numbers in (y, y_new)]
    expected = tallied(
        roots, 4, lambda node, root: oracle.covariance(node, *centered) / len(root["held"])
    )
    assert_is(mdi(forest, X_new, y_new, by_degree=True), expected)


@one_test
@pytest.mark.parametrize("criterion", ["gini", "variance"])
@pytest.mark.parametrize("splits", ["ordered", "multiway"])
def test_training_rows_as_held_out_give_plain_mdi(criterion, splits):
    X, labels, numbers = mixed()
    kind = (
        estimators.ExtraTreesClassifier if criterion == "gini" else estimators.ExtraTreesRegressor
    )
    y = labels if criterion == "gini" else numbers
    forest = kind(20, splits=splits, random_state=0).fit(X, y)
    np.testing.assert_allclose(mdi(forest, X, y).values, mdi(forest).values, atol=1e-10)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
def test_irrelevant_features_get_zero_on_average(criterion):
    plain, held = [], []
    for seed in range(60):
        random = np.random.default_rng(seed)
        X = np.column_stack(
            [random.integers(0, 2, 50), random.integers(0, 9, 50), random.normal(size=50)]
        )
        y = (random.random(50) < 0.3).astype(int)
        if criterion == "variance":
            forest = estimators.RandomForestRegressor(30, max_features=1, random_state=seed)
        else:
            forest = estimators.RandomForestClassifier(
                30, criterion=criterion, max_features=1, random_state=seed
            )
        forest.fit(X, y)
        plain.append(mdi(forest).values)
        held.append(mdi(forest, X, y, rows="oob").values)
    mean, error = np.mean(held, axis=0), np.std(held, axis=0) / np.sqrt(60)
    assert np.all(np.abs(mean) < 4 * error)
    assert np.all(np.mean(plain, axis=0) > 10 * error)


def test_stumps_without_a_split_have_importance_zero():
    X = np.ones((10, 2))
    y = np.arange(10) % 2
    forest = estimators.RandomForestClassifier(3, criterion="entropy", random_state=0).fit(X, y)
    for result in (
        mdi(forest, by_degree=True),
        mdi(forest, X, y, by_degree=True),
        mdi(forest, correction="expected", by_degree=True),
    ):
        assert result.values.tolist() == [0.0, 0.0]
        assert result.by_degree.tolist() == [[0.0], [0.0]]


# --- errors --------------------------------------------------------------------------------------


X, Y, _ = mixed()
FOREST = estimators.RandomForestClassifier(5, criterion="entropy", random_state=0)


@one_test
@pytest.mark.parametrize(
    "arguments, options, message",
    [
        (("oob",), {}, r'pass them again, as in mdi\(forest, X, y, rows="oob"\)'),
        ((X, "oob"), {}, "X and y must be rows and their target"),
        ((X,), {}, "X and y must be rows and their target"),
        ((), {"rows": "oob"}, "X and y must be rows and their target"),
        ((X, Y), {"rows": "bag"}, "rows must be \"oob\" or None, got 'bag'"),
        ((), {"correction": "jackknife"}, "correction must be one of 'expected', 'miller-madow'"),
        ((X, Y), {"correction": "expected"}, "correction must be None with X and y"),
        ((X, Y[:-1]), {}, "inconsistent numbers of samples"),
        ((X, np.r_[Y[:-1], 7]), {}, "y holds 7, which is not a class of this .* classes are 0, 1"),
        ((X[:30], Y[:30]), {"rows": "oob"}, "X must be the table that the forest was grown on"),
        ((X[::-1], Y), {"rows": "oob"}, "lead to other leaves"),
        ((X[:, :3], Y), {}, "3 features"),
    ],
)
def test_clear_errors(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        mdi(FOREST.fit(X, Y), *arguments, **options)


def test_needs_a_fitted_forest_of_this_package():
    X, y, _ = mixed()
    with pytest.raises(NotFittedError, match="call fit first"):
        mdi(estimators.RandomForestClassifier())
    with pytest.raises(TypeError, match="fitted estimator of duramen, got sklearn"):
        mdi(GradientBoostingClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(TypeError, match=r"got numpy\.ndarray"):
        mdi(X)
    with pytest.raises(TypeError, match="mdi: forest must be"):
        mdi(estimators.RandomForestClassifier)
