import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from tests.grid import one_test
from tests.importances.trees import Opened, small, small_forest
from tests.oracles import permutation as oracle

import duramen as dm
from duramen.importances import mda
from duramen.importances.arguments import Sample
from duramen.importances.measure import TreeSums

ADDITIVE = ["accuracy", "balanced_accuracy", "neg_log_loss"]


def expected_losses(model, X, y, columns, score, cells_of=None):
    """Mean loss of every tree over all permutations, and the losses under each."""
    opened = Opened(model.forest_)
    means, spreads = [], []
    for tree in range(model.forest_.n_trees):
        out = opened.out_of_bag(tree)
        if score == "roc_auc" and len(set(y[out])) < 2:
            continue
        if not len(out):
            continue
        rows = [list(row) for row in X[out]]
        cells = None if cells_of is None else cells_of(opened, tree, out)
        losses = oracle.tree_losses(
            opened.leaf_values_of(tree), rows, y[out].tolist(), columns, score, cells
        )
        means.append(sum(losses) / len(losses))
        spreads.append(np.var(losses))
    return means, spreads


@one_test
@pytest.mark.parametrize(
    ("task", "score"),
    [(task, score) for task in ("classes", "three") for score in ADDITIVE]
    + [("numbers", "neg_mean_squared_error")],
)
def test_all_permutations_against_every_permutation_written_out(task, score):
    model, X, y = small_forest(task)
    raw = mda(model, X, y, scoring=score, n_repeats="all")
    scaled = mda(model, X, y, scoring=score, n_repeats="all", scaled=True)
    for j in range(X.shape[1]):
        means, _ = expected_losses(model, X, y, [j], score)
        value, z, error = oracle.importance(means, 6)
        assert raw.values[j] == pytest.approx(value, abs=1e-12)
        assert raw.standard_error[j] == pytest.approx(error, abs=1e-9)
        assert scaled.values[j] == pytest.approx(z, abs=1e-6)
    assert np.abs(raw.values).max() > 0.01
    assert raw.values[3] == 0.0  # the constant column is in no tree


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classes", "three"])
def test_importances_by_class_against_the_oracle(task):
    model, X, y = small_forest(task)
    result = mda(model, X, y, by_class=True, n_repeats="all")
    assert result.classes == tuple(map(str, np.unique(y)))
    opened = Opened(model.forest_)
    for k in range(result.by_class.shape[1]):
        for j in range(X.shape[1]):
            total = 0.0
            for tree in range(6):
                out = opened.out_of_bag(tree)
                inside = [i for i, row in enumerate(out) if y[row] == k]
                if not inside:
                    continue
                rows = [list(row) for row in X[out]]
                for donor in oracle.permuted_within(range(len(rows)), [0] * len(rows)):
                    hits = 0
                    for i in inside:
                        changed = list(rows[i])
                        changed[j] = rows[donor[i]][j]
                        for row, sign in ((rows[i], 1), (changed, -1)):
                            values = opened.leaf_values_of(tree)(row)
                            hits += sign * (values.index(max(values)) == k)
                    total += hits / len(inside) / np.prod(range(1, len(rows) + 1))
            assert result.by_class[j, k] == pytest.approx(total / 6, abs=1e-12)


def test_a_group_is_permuted_with_one_shared_permutation():
    model, X, y = small_forest()
    groups = {"first": [0, 4], "x1": ["x1"], "both": ["x1", "x2"], "all": list(range(5))}
    result = mda(model, X, y, feature_groups=groups, n_repeats="all")
    assert result.names == tuple(groups)
    alone = mda(model, X, y, n_repeats="all")
    assert mda(model, X, y, feature_groups={"x1": 1}, n_repeats="all").equals(
        mda(model, X, y, feature_groups={"x1": [1]}, n_repeats="all")
    )
    assert result["x1"] == pytest.approx(alone["x1"], abs=1e-15)
    for name, columns in (("first", [0, 4]), ("both", [1, 2]), ("all", range(5))):
        means, _ = expected_losses(model, X, y, list(columns), "accuracy")
        assert result[name] == pytest.approx(sum(means) / 6, abs=1e-12)


def test_stump_whose_prediction_is_the_side():
    # Out-of-bag rows by side and class: 5, 2, 1, 4. E d = 9/12 - (7 * 6 + 5 * 6) / 144 = 0.25.
    model = dm.RandomForestClassifier(1, bootstrap=False, random_state=0).fit(
        np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
    )
    X = np.repeat([0.0, 0.0, 1.0, 1.0], [5, 2, 1, 4])[:, np.newaxis]
    y = np.repeat([0, 1, 0, 1], [5, 2, 1, 4])
    result = mda(model, X, y, rows=None, n_repeats="all")
    assert result["x0"] == pytest.approx(0.25, abs=1e-15)
    assert mda(model, X, y, rows=None, n_repeats=5000)["x0"] == pytest.approx(0.25, abs=0.01)


@pytest.mark.slow
def test_linear_predictor_and_its_closed_form():
    # Mean over all permutations: 2 a^2 Var(x) + 2 a Cov(r, x), ddof 0, r the residual.
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 2))
    y = X @ [1.0, -0.5] + random.normal(size=40)
    model = LinearRegression().fit(X[:20], y[:20])
    result = mda(model, X, y, n_repeats=1000, random_state=1)
    residual = y - model.predict(X)
    for j in range(2):
        a, x = model.coef_[j], X[:, j]
        exact = 2 * a**2 * x.var() + 2 * a * np.cov(residual, x, ddof=0)[0, 1]
        assert abs(result.values[j] - exact) < 5 * result.standard_error[j]
    assert result.unit == "score: neg_mean_squared_error"


@pytest.mark.slow
def test_ensemble_against_votes_recounted():
    model, X, y = small_forest("three", n=30, n_trees=25, min_samples_leaf=1)
    result = mda(model, X, y, votes="ensemble", n_repeats=300)
    opened = Opened(model.forest_)
    random = np.random.default_rng(0)

    def fractions(column=None):
        votes = np.zeros((30, 3))
        for tree in range(25):
            out = opened.out_of_bag(tree)
            donors = random.permutation(out)
            for row, donor in zip(out, donors, strict=True):
                values = X[row].copy()
                if column is not None:
                    values[column] = X[donor, column]
                leaf = opened.leaf_values_of(tree)(values)
                votes[row, int(np.argmax(leaf))] += 1
        return (votes / votes.sum(axis=1, keepdims=True)).tolist()

    measure = oracle.SCORES["accuracy"]
    before = measure(fractions(), y.tolist())
    drops = [before - measure(fractions(0), y.tolist()) for _ in range(40)]
    tolerance = 5 * np.hypot(np.std(drops) / np.sqrt(40), result.standard_error[0])
    assert abs(result["x0"] - np.mean(drops)) < tolerance


def test_ensemble_regression_against_a_recount():
    model, X, y = small_forest("numbers", n=30, n_trees=25)
    result = mda(model, X, y, votes="ensemble", n_repeats=300)
    opened = Opened(model.forest_)
    random = np.random.default_rng(0)

    def error(permuted):
        sums, counts = np.zeros(30), np.zeros(30)
        for tree in range(25):
            out = opened.out_of_bag(tree)
            donors = random.permutation(out) if permuted else out
            for row, donor in zip(out, donors, strict=True):
                values = X[row].copy()
                values[0] = X[donor, 0]
                sums[row] += opened.leaf_values_of(tree)(values)[0]
                counts[row] += 1
        return np.mean((sums / counts - y) ** 2)

    base = error(False)
    rises = [error(True) - base for _ in range(60)]
    tolerance = 5 * np.hypot(np.std(rises) / np.sqrt(60), result.standard_error[0])
    assert abs(result["x0"] - np.mean(rises)) < tolerance


def test_trees_that_all_lose_the_same_have_no_error_and_keep_their_loss():
    random = np.random.default_rng(0)
    for n in range(5, 40, 5):
        X = random.normal(size=(n, 1))
        y = np.arange(n) % 2
        model = dm.BaggedTreesClassifier(13, bootstrap=False, random_state=0).fit(X, y)
        sample = (random.normal(size=(n, 1)), y)
        raw = mda(model, *sample, rows=None, n_repeats="all")
        assert raw.standard_error[0] == 0
        assert mda(model, *sample, rows=None, n_repeats="all", scaled=True)["x0"] == pytest.approx(
            raw["x0"]
        )


def test_null_columns_lose_nothing_on_average():
    random = np.random.default_rng(7)
    values = []
    for replicate in range(40):
        X = random.normal(size=(40, 5))
        y = random.integers(0, 2, 40)
        model = dm.RandomForestClassifier(50, random_state=replicate).fit(X, y)
        values.append(mda(model, X, y).values)
    values = np.array(values)
    noise = values.mean(axis=1).std(ddof=1) / np.sqrt(40)
    assert abs(values.mean()) < 4 * noise


# --- what is refused -----------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scoring": "f1"}, "scoring must be one of"),
        ({"scoring": "neg_mean_squared_error"}, "does not suit a forest that was grown on classes"),
        ({"n_repeats": "every"}, "n_repeats must be"),
        ({"n_repeats": "all", "scoring": "roc_auc"}, "sum over the rows"),
        ({"n_repeats": "all", "votes": "ensemble"}, "sum over the rows"),
        (
            {"scaled": True, "votes": "ensemble"},
            "has the default scoring alone, and neither scaled",
        ),
        ({"feature_groups": [["x0"]]}, "feature_groups must be one label per feature"),
    ],
)
def test_arguments_that_do_not_go_together(options, message):
    model, X, y = small_forest()
    with pytest.raises((ValueError, TypeError), match=message):
        mda(model, X, y, **options)


def test_area_under_the_curve_needs_two_classes_out_of_bag():
    model, X, _ = small_forest()
    with pytest.raises(ValueError, match="no tree of this forest has rows on which"):
        mda(model, X[:4], np.zeros(4, dtype=int), rows=None, scoring="roc_auc")


def test_options_for_forests_are_refused_for_other_predictors():
    X, y = small("numbers")
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="feature_groups are for forests of duramen"):
        mda(model, X, y, feature_groups={"a": [0]})
    with pytest.raises(ValueError, match='n_repeats="all" works with forests'):
        mda(model, X, y, n_repeats="all")
    with pytest.raises(TypeError, match="must be a Forest"):
        mda("forest", X, y)


def test_categories_that_the_forest_never_saw_are_refused():
    X = np.array([["a", 1.0], ["b", 2.0], ["a", 3.0], ["b", 4.0]], dtype=object)
    model = dm.RandomForestClassifier(20, random_state=0).fit(X, [0, 1, 0, 1])
    other = np.array([["a", 1.0], ["c", 2.0]], dtype=object)
    with pytest.raises(ValueError, match="'x0' has categories that the forest never saw"):
        mda(model, other, [0, 1], rows=None)


def test_copies_of_rows_are_out_of_the_bag_together_and_once():
    from duramen.importances.permutation import mean_losses, permutations

    X, y = small(n=20)
    drawn = np.random.default_rng(0).integers(0, 20, 20)
    table = dm.encode(X).take_rows(drawn)
    first = {row: i for i, row in reversed(list(enumerate(drawn.tolist())))}
    originals = np.array([first[row] for row in drawn.tolist()], dtype=np.uint32)
    model = dm.RandomForestClassifier(6, random_state=0).fit(table, y[drawn])
    sample = Sample(table, y[drawn].astype(np.uint32), out_of_bag=True, originals=originals)
    every = permutations(0, "all")
    losses = mean_losses("mda", model.forest_, sample, every, score="accuracy")
    result = TreeSums(losses).importances()
    opened = Opened(model.forest_)
    total = 0.0
    for tree in range(6):
        out = set(opened.out_of_bag(tree).tolist())
        outside = [
            i for i in sorted(first.values())
            if all(j in out for j in range(20) if originals[j] == i)
        ]  # fmt: skip
        rows = [list(X[drawn[i]]) for i in outside]
        labels = [int(y[drawn[i]]) for i in outside]
        if rows:
            losses_of_tree = oracle.tree_losses(
                opened.leaf_values_of(tree), rows, labels, [0], "accuracy"
            )
            total += sum(losses_of_tree) / len(losses_of_tree)
    assert result.values[0] == pytest.approx(total / 6, abs=1e-12)
