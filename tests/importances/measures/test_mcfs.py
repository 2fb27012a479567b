import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles import mcfs as oracle

import duramen as dm
from duramen import Importances
from duramen.data import memory
from duramen.forests.growth import grow, out_of_bag
from duramen.importances import mcfs
from duramen.importances.measures.mcfs import _settings, subsets_of
from duramen.results.importances import MonteCarloSelection
from duramen.support.checks import draw_seed


def problem(n=70, p=9, seed=0, classes=2):
    """Columns without ties; the first two say something of the class."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    score = X[:, 0] + X[:, 1] + random.normal(size=n)
    return X, np.digitize(score, np.linspace(-1.5, 1.5, classes + 1)[1:-1])


def as_dictionary(tree, columns, node=0):
    if tree.feature[node] < 0:
        return {}
    children = [as_dictionary(tree, columns, int(tree.child[node]) + c) for c in range(2)]
    return {
        "feature": columns[tree.feature[node]],
        "cut": float(tree.threshold[node]),
        "children": children,
    }


def trees(criterion="entropy", **parameters):
    """The estimator that holds the parameters of the trees."""
    return dm.BaggedTreesClassifier(criterion=criterion, **parameters)


def with_trees(choices):
    """Choices with the depth of the trees in an estimator."""
    others = {name: value for name, value in choices.items() if name != "max_depth"}
    return {**others, "estimator": trees(max_depth=choices["max_depth"])}


def grown_by_oracle(X, y, *, n_subsets, subset_size, n_splits, max_depth, random_state):
    """Subsets with the oracle's trees on the training rows that mcfs draws."""
    data = dm.learning_set(X, y, task="classification")
    settings = _settings(data, trees(max_depth=max_depth), subset_size, 0.66)
    seed = draw_seed(random_state)
    pairs = []
    for i, columns in enumerate(subsets_of(data.n_columns, subset_size, n_subsets, seed)):
        some, subset = data.with_table(data.table.take_columns(columns), key=i), columns.tolist()
        forest = grow(some, settings, n_trees=n_splits, seed=seed, first_tree=i * n_splits)
        for rows, tree in zip(~out_of_bag(forest).T, forest, strict=True):
            splits, depth = as_dictionary(tree, subset), max_depth or len(y)
            bag = np.flatnonzero(rows).tolist()
            pairs.append(
                (subset, [oracle.grown(X.tolist(), y.tolist(), bag, subset, depth, splits)])
            )
    return pairs


# --- against the oracle --------------------------------------------------------------------------


@pytest.mark.slow
@one_test
@pytest.mark.parametrize(
    "classes, max_depth, size, u, v",
    [(2, 1, 3, 1.0, 1.0), (3, 2, 3, 2.0, 0.5), (3, None, 4, 0.0, 0.0), (2, None, 2, 1.0, 2.0)],
)
def test_importances_against_oracle(classes, max_depth, size, u, v):
    X, y = problem(classes=classes)
    choices = {
        "n_subsets": 20,
        "subset_size": size,
        "n_splits": 2,
        "max_depth": max_depth,
        "random_state": 4,
    }
    result = mcfs(X, y, u=u, v=v, **with_trees(choices))
    forest = grown_by_oracle(X, y, **choices)
    expected = oracle.relative_importances(forest, X.tolist(), y.tolist(), 9, u, v)
    np.testing.assert_allclose(result.importances.values, expected, atol=1e-12)
    drawn = [sum(j in subset for subset, _ in forest) / 2 for j in range(9)]
    np.testing.assert_array_equal(result.n_drawn, drawn)
    accuracy = [oracle.weighted_accuracy(root, X.tolist(), y.tolist()) for _, (root,) in forest]
    assert result.accuracy == pytest.approx(np.mean(accuracy))


def test_edges_against_oracle():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(120, 4)), random.integers(0, 2, 120)
    choices = {
        "n_subsets": 4,
        "subset_size": 3,
        "n_splits": 2,
        "max_depth": None,
        "random_state": 1,
    }
    result = mcfs(X, y, **with_trees(choices))
    forest = grown_by_oracle(X, y, **choices)
    expected = oracle.edges(forest, y.tolist(), 5)
    actual = zip(result.source.tolist(), result.target.tolist(), result.weight, strict=True)
    assert {(a, b): w for a, b, w in actual} == pytest.approx(expected)
    assert expected != pytest.approx(oracle.edges(forest, y.tolist(), 6))  # there is a sixth level


# --- known answers -------------------------------------------------------------------------------


def test_copy_of_two_classes_has_importance_one():
    """Gain and split information are the entropy of the class, and no row is misjudged."""
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = np.column_stack([y, np.ones(100), np.zeros(100), np.ones(100)])
    result = mcfs(X, y, n_subsets=30, random_state=0)
    np.testing.assert_allclose(result.importances.values, [1, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(result.importances.standard_error, 0, atol=1e-12)
    assert result.accuracy == pytest.approx(
        0.5 + 0.5 * result.n_drawn[0] / 30  # trees without it call every row the same
    )
    noisy = X.astype(float)
    noisy[:, 1:] += random.normal(size=(100, 3))
    assert mcfs(noisy, y, n_subsets=30, random_state=0).importances["x0"] == pytest.approx(1)


def test_multiway_gain_ratio_of_a_known_table():
    """One feature of three values, 20 rows each: pure, pure, and half of each class."""
    x = np.repeat([0, 1, 2], 200)
    y = np.concatenate([np.zeros(200), np.ones(200), np.tile([0, 1], 100)]).astype(int)
    multiway = trees(splits="multiway")
    result = mcfs(x[:, None], y, n_subsets=200, n_splits=5, estimator=multiway, u=0, random_state=0)
    # Gain 1 - 1/3 bit over log2(3) bits; subsets of the rows are off by a bit of the third order.
    assert result.importances["x0"] == pytest.approx((2 / 3) / np.log2(3), abs=0.005)


def test_accuracy_is_the_mean_recall():
    """Nine rows in ten of one class, nothing to split on: recalls 1 and 0."""
    y = np.repeat([0, 1], [90, 10])
    result = mcfs(np.ones((100, 1)), y, n_subsets=3, random_state=0)
    assert result.accuracy == pytest.approx(0.5)
    assert result.importances.values[0] == 0
    assert len(result.weight) == 0


# --- the same always -----------------------------------------------------------------------------


@pytest.mark.slow
def test_standard_error_is_that_of_subsets():
    X, y = problem(n=100)
    runs = [mcfs(X, y, n_subsets=60, random_state=s).importances for s in range(25)]
    error = np.mean([run.standard_error for run in runs], axis=0)
    spread = np.std([run.values for run in runs], axis=0, ddof=1)
    np.testing.assert_allclose(spread / error, 1, atol=0.43)  # three times 1 / sqrt(2 * 25)


@pytest.mark.slow
def test_runs_on_null_data_have_no_winner_as_often_as_promised():
    """20 null data sets: some feature is above the prediction bound in 5 % of them."""
    wrong = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(40, 12)), np.repeat([0, 1], 20)
        result = mcfs(X, y, n_subsets=20, n_splits=2, n_permutations=20, random_state=seed)
        wrong += len(result.selected()) > 0
    assert wrong <= 5  # binomial(20, .05) exceeds 5 with probability .0003


# --- the cut-off ---------------------------------------------------------------------------------


def with_maxima(maxima):
    return MonteCarloSelection(
        Importances(("a", "b"), [3.0, 1.0], "mcfs", "1"), [1, 1], 0.5, [0], [1], [2.0], maxima
    )


def test_cutoff_by_hand():
    result = with_maxima([1.0, 2.0, 3.0, 4.0])
    d = np.sqrt(5 / 3)
    t = 2.3533634348018264  # .95 quantile of Student's distribution, 3 degrees of freedom
    assert result.cutoff("mean") == pytest.approx(2.5 + t * d / 2)
    assert result.cutoff() == pytest.approx(2.5 + t * d * np.sqrt(1.25))
    assert result.cutoff(alpha=0.5) == pytest.approx(2.5)
    assert result.selected(alpha=0.5).names == ("a",)
    assert len(result.selected()) == 0


@pytest.mark.slow
def test_prediction_bounds_one_more_run_and_mean_does_not():
    """Null data: of 20 + 1 runs drawn from 120 shuffled ones, is the last above the bound?"""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(40, 16)), np.repeat([0, 1], 20)
    pool = mcfs(X, y, n_subsets=30, n_splits=2, n_permutations=80, random_state=0).maxima
    above = {"prediction": 0, "mean": 0}
    for _ in range(2000):
        chosen = random.choice(pool, 21, replace=False)
        for bound in above:
            above[bound] += chosen[20] > with_maxima(chosen[:20]).cutoff(bound)
    # .05, and the tail of maxima is heavier than that of a normal variable; se of the pool .02.
    assert 0.01 < above["prediction"] / 2000 < 0.10
    assert 0.2 < above["mean"] / 2000 < 0.5


# --- refusals ------------------------------------------------------------------------------------


def test_unseen_features_are_reported():
    X, y = problem(p=9)
    with pytest.warns(UserWarning, match="mcfs: 4 of 9 features were in none of the 2 subsets"):
        result = mcfs(X, y, n_subsets=2, random_state=0)
    unseen = result.n_drawn == 0
    assert np.count_nonzero(unseen) == 4
    assert (result.importances.values[unseen] == 0).all()
    assert result.importances.standard_error is None


@one_test
@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"subset_size": 10}, r"mcfs: subset_size must be 'sqrt' or an int in 1\.\.9"),
        ({"train_size": 1.0}, "mcfs: train_size must be a number"),
        ({"train_size": 0.001}, "mcfs: train_size .* at least one of the 70 rows"),
        ({"u": -1}, "mcfs: u must be a number >= 0"),
        ({"estimator": trees(splits="best")}, "BaggedTreesClassifier: splits must be one of"),
        ({"estimator": trees(criterion="gini")}, "criterion of estimator must be 'entropy'"),
        ({"estimator": trees(n_estimators=9)}, "n_estimators of estimator has no effect .* be 100"),
    ],
)
def test_wrong_parameters_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        mcfs(*problem(), **wrong)


def test_wrong_data_are_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="mcfs: y has one class only"):
        mcfs(X, np.zeros(70))
    with pytest.raises(ValueError, match="continuous"):
        mcfs(X, X[:, 0])
    with pytest.raises(ValueError, match=r"mcfs: .*inconsistent numbers of samples"):
        mcfs(X, y[:-1])


def test_cutoff_needs_shuffled_runs():
    result = with_maxima([1.0])
    with pytest.raises(ValueError, match=r"there are 1\. Hint: mcfs\(\.\.\., n_permutations=20\)"):
        result.cutoff()
    with pytest.raises(ValueError, match="bound must be one of 'prediction', 'mean', got 'max'"):
        with_maxima([1.0, 2.0]).cutoff("max")
    with pytest.raises(ValueError, match=r"alpha must be a number in \(0, 1\), got 0"):
        with_maxima([1.0, 2.0]).cutoff(alpha=0)


def test_subsets_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    with pytest.raises(MemoryError, match="mcfs: 100000000 subsets of 3 features"):
        mcfs(*problem(), n_subsets=10**8)


def test_classes_are_shuffled_within_strata():
    """The run itself stays as it is; where classes equal the strata there is nothing to shuffle."""
    random = np.random.default_rng(0)
    X, place = random.normal(size=(40, 6)), np.repeat([0, 1], 20)
    y = np.where(np.arange(40) % 20 < 2, 1 - place, place)
    options = {"n_subsets": 20, "n_permutations": 3, "random_state": 0}
    free = dm.importances.mcfs(X, y, **options)
    within = dm.importances.mcfs(X, y, strata=place, **options)
    assert within.importances.equals(free.importances)
    assert not np.array_equal(within.maxima, free.maxima)
    importances = dm.importances.mcfs(X, y, strata=np.ones(40), **options)
    assert np.array_equal(importances.maxima, free.maxima)
    with pytest.raises(ValueError, match="strata must leave rows to exchange"):
        dm.importances.mcfs(X, place, strata=place, **options)
    with pytest.raises(ValueError, match=r"need n_permutations of at least 1"):
        dm.importances.mcfs(X, y, strata=place, n_subsets=5)
