import numpy as np
import pytest
from tests.grid import one_test
from tests.importances.measures.test_mda import expected_losses
from tests.importances.trees import Opened, small_forest
from tests.oracles import association, permutation

import duramen as dm
from duramen.importances import conditional_mda, mda


def expected(model, X, y, rule, threshold, score, nominal=()):
    """Mean loss of the trees with every column permuted in every way within its cells."""
    values = []
    for j in range(X.shape[1]):

        def cells_of(opened, tree, out, j=j):
            turned = permutation.turns(opened.arrays, opened.schema, tree, X[out])
            if j not in turned:
                return [0] * len(out)

            def associated(column, other):
                if rule == "permimp":
                    p = permutation.chi_square_p(
                        permutation.bins(turned[column]), permutation.bins(turned[other])
                    )
                else:
                    p = association.p_value(
                        X[:, column], X[:, other], column in nominal, other in nominal
                    )
                return 1 - p > threshold

            return permutation.cells(j, turned, associated)

        means, _ = expected_losses(model, X, y, [j], score, cells_of)
        values.append(sum(means) / model.forest_.n_trees)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["permimp", "party"])
@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.6, 0.95, 1.0])
@pytest.mark.parametrize(
    ("task", "score"),
    [("classes", "accuracy"), ("three", "neg_log_loss"), ("numbers", "neg_mean_squared_error")],
)
def test_every_permutation_within_cells_written_out(task, score, threshold, rule):
    for seed in range(3):
        model, X, y = small_forest(task, min_samples_leaf=1, seed=seed)
        result = conditional_mda(
            model, X, y, association=rule, threshold=threshold, scoring=score, n_repeats="all"
        )
        oracle = expected(model, X, y, rule, threshold, score)
        np.testing.assert_allclose(result.values, oracle, atol=1e-12)
        assert np.abs(result.values).max() > 0.01


@one_test
@pytest.mark.parametrize("splits", ["ordered", "multiway", "one-vs-rest", "any"])
@pytest.mark.parametrize("rule", ["permimp", "party"])
def test_categories_and_missing_values_have_cells_too(rule, splits):
    random = np.random.default_rng(3)
    n = 14
    codes = random.integers(0, 3, n).astype(float)
    numbers = np.where(random.random(n) < 0.2, np.nan, random.integers(0, 3, n))
    other = np.where(random.random(n) < 0.7, codes, random.integers(0, 3, n))
    X = np.column_stack([codes, numbers, other])
    table = dm.encode(X, kinds={0: "nominal", 2: "nominal"})
    y = ((codes == 1) ^ (random.random(n) < 0.2)).astype(int)
    model = dm.ExtraTreesClassifier(
        8, splits=splits, bootstrap=True, random_state=0, max_features=1
    ).fit(table, y)
    result = conditional_mda(
        model, table, y, association=rule, threshold=0.5, n_repeats="all"
    ).values
    oracle = expected(model, X, y, rule, 0.5, "accuracy", nominal=(0, 2))
    np.testing.assert_allclose(result, oracle, atol=1e-12)
    assert np.abs(result).max() > 0


# --- known answers -------------------------------------------------------------------------------


def trees_with_all(forest, columns):
    """The trees that split on each of the columns, as forests of one."""
    chosen = []
    for tree in range(forest.n_trees):
        part = forest.part(tree, tree + 1)
        if set(columns) <= set(part.feature.tolist()):
            chosen.append(part)
    return chosen


def tells_all(forest, X, columns):
    """Tell whether the nodes of a tree separate all values of each column."""
    opened = Opened(forest)
    turned = permutation.turns(opened.arrays, opened.schema, 0, X)
    return all(len(set(permutation.bins(turned[j]))) == len(set(X[:, j])) for j in columns)


def copies(kind="two values"):
    """A column, its copy, and another; trees split on column and copy in different branches."""
    random = np.random.default_rng(0)
    n = 100
    x = random.integers(0, 2 if kind == "two values" else 3, n).astype(float)
    z = random.integers(0, 4, n)
    y = ((x == 1) ^ (z == 2) ^ (random.random(n) < 0.1)).astype(int)
    return np.column_stack([x, x, z]), y


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("rule", ["permimp", "party"])
@pytest.mark.parametrize("kind", ["two values", "three categories"])
def test_a_copy_cut_at_the_same_points_is_worth_exactly_nothing(kind, rule):
    X, y = copies(kind)
    categories = kind != "two values"
    model = dm.TotallyRandomizedTreesClassifier(
        200,
        bootstrap=True,
        random_state=0,
        splits="multiway" if categories else "ordered",
        categorical_features=[0, 1] if categories else None,
    ).fit(X, y)
    both = [part for part in trees_with_all(model.forest_, [0, 1]) if tells_all(part, X, [0, 1])]
    assert len(both) > 20
    marginal = 0.0
    for tree in both:
        for n_repeats in (1, "all"):
            result = conditional_mda(tree, X, y, association=rule, n_repeats=n_repeats)
            assert result.values[:2].tolist() == [0.0, 0.0]
        marginal += mda(tree, X, y, n_repeats="all").values[:2].sum()
    assert marginal / len(both) > 0.05  # either counts where the other stays as it is


@one_test
@pytest.mark.parametrize("rule", ["permimp", "party"])
@pytest.mark.parametrize(
    ("task", "score"),
    [
        ("classes", "accuracy"),
        ("classes", "roc_auc"),
        ("three", "balanced_accuracy"),
        ("numbers", None),
    ],
)
@pytest.mark.parametrize("n_repeats", [1, 3, "all"])
def test_without_associates_it_is_mda_number_by_number(task, score, n_repeats, rule):
    if score == "roc_auc" and n_repeats == "all":
        n_repeats = 2
    model, X, y = small_forest(task, n=40, n_trees=25, min_samples_leaf=1)
    options = {"scoring": score, "n_repeats": n_repeats, "random_state": 5}
    plain = mda(model, X, y, **options)
    result = conditional_mda(model, X, y, association=rule, threshold=1.0, **options)
    assert result.values.tolist() == plain.values.tolist()
    assert result.standard_error.tolist() == plain.standard_error.tolist()
    assert result.unit == plain.unit
    assert result.measure == "conditional_mda"


@pytest.mark.parametrize("rule", ["permimp", "party"])
def test_what_only_goes_along_with_a_relevant_column_loses_its_importance(rule):
    # y depends on x0 alone; x1 is x0 with noise, r = .9.
    random = np.random.default_rng(2)
    n = 600
    x = random.normal(size=n)
    along = x + 0.48 * random.normal(size=n)
    X = np.column_stack([x, along, random.normal(size=(n, 3))])
    y = x + 0.5 * random.normal(size=n)
    model = dm.RandomForestRegressor(
        200, max_features=2, min_samples_leaf=10, random_state=0, n_jobs=2
    ).fit(X, y)
    marginal = mda(model, X, y, n_repeats=5)
    conditional = conditional_mda(model, X, y, association=rule, n_repeats=5)
    assert marginal["x1"] > 0.25 * marginal["x0"]
    assert conditional["x1"] < 0.15 * conditional["x0"]
    assert conditional["x0"] > 10 * conditional.standard_error[0]


def test_null_columns_lose_nothing_on_average():
    random = np.random.default_rng(8)
    values = []
    for replicate in range(60):
        X = random.normal(size=(40, 1)) + random.normal(size=(40, 4))
        y = random.integers(0, 2, 40)
        model = dm.RandomForestClassifier(50, min_samples_leaf=5, random_state=replicate).fit(X, y)
        values.append(conditional_mda(model, X, y).values.mean())
    assert abs(np.mean(values)) < 4 * np.std(values, ddof=1) / np.sqrt(60)


# --- what is refused -----------------------------------------------------------------------------


def test_wrong_options_and_tests_of_too_many_pairs_are_refused(leave_memory):
    model, X, y = small_forest()
    leave_memory(100)
    with pytest.raises(MemoryError, match=r'use association="permimp"'):
        conditional_mda(model, X, y, association="party")
    for options in ({"association": "spearman"}, {"threshold": 1.5}):
        with pytest.raises(ValueError, match=f"conditional_mda: {next(iter(options))}"):
            conditional_mda(model, X, y, **options)
