"""Importances of models of other packages, by permuting columns of rows held out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import duramen as dm
from duramen.importances import holdout_mda
from duramen.importances.measures.holdout_mda import parts_of
from duramen.importances.refit import parameters_of
from duramen.significance import altmann, estimate_cost, max_t

N = 90
X = np.random.default_rng(0).normal(size=(N, 3))
CLASSES = np.where(X[:, 0] + 0.2 * X[:, 1] > 0, "ill", "well")


class Known(RegressorMixin, BaseEstimator):
    """The function 2 x0 - x1, whatever it is fitted to."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return 2 * X[:, 0] - X[:, 1]


class Unseen(ClassifierMixin, BaseEstimator):
    """Predictions of rows, none of whose groups, in the first column, were fitted to."""

    def fit(self, X, y):
        self.seen_, self.classes_ = set(X[:, 0].tolist()), np.unique(y)
        return self

    def predict(self, X):
        assert self.seen_.isdisjoint(X[:, 0].tolist())
        return np.full(len(X), self.classes_[0])


class DeviceError(Exception):
    """An error of a package that derives from Exception alone, as that of LightGBM does."""


class Failing(ClassifierMixin, BaseEstimator):
    """A classifier that fails in one of its methods."""

    def __init__(self, method):
        self.method = method

    def fit(self, X, y):
        if self.method == "fit":
            raise DeviceError("device busy")
        return self

    def predict(self, X):
        return np.full(len(X), "none")


class Plain:
    """A model that is no estimator of scikit-learn."""

    def __init__(self, added=0.0):
        self.added = added

    def fit(self, X, y):
        self.mean = y.mean() + self.added

    def predict(self, X):
        return np.full(len(X), self.mean)


def named(n=N, seed=1):
    random = np.random.default_rng(seed)
    table = pd.DataFrame({"age": random.normal(size=n), "site": random.choice(list("nsw"), n)})
    y = np.where(table.age + 3 * (table.site == "n") + random.normal(size=n) > 1, "ill", "well")
    return table, y


def one_hot(model):
    """A pipeline that encodes the categories of the raw table."""
    columns = make_column_selector(dtype_exclude="number")
    encoder = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(
        make_column_transformer((encoder, columns), remainder=StandardScaler()), model
    )


def test_the_squared_error_that_a_permutation_adds_is_twice_the_variance():
    # A model without errors: permuting x adds E (b x' - b x)^2 = 2 b^2 Var(x), the variance of the
    # rows held out, over all permutations; a column that the model does not use adds exactly 0.
    result = holdout_mda(Known(), X, 2 * X[:, 0] - X[:, 1], n_repeats=400, random_state=0)
    assert result.unit == "squared error"
    assert result.standard_error is None
    assert result.metadata["holdout_mda"]["cv"] == 3
    ratio = result.values[:2] / (2 * np.array([4, 1]) * X[:, :2].var(axis=0))
    assert np.abs(ratio - 1).max() < 0.1  # the parts have other means
    assert result.values[2] == 0


def test_scores_of_classes():
    table, y = named()
    sure = holdout_mda(one_hot(LogisticRegression()), table, y, random_state=0)
    assert sure.names == ("age", "site")
    assert sure.unit == "nats"
    assert (sure.values > 0.02).all()
    votes = holdout_mda(LinearSVC(), X, CLASSES, random_state=0)
    assert votes.unit == "accuracy"
    assert votes.top(1).names == ("x0",)
    asked = holdout_mda(GaussianNB(), X, CLASSES, scoring="accuracy", random_state=0)
    assert np.abs(asked.values * N - np.rint(asked.values * N)).max() < 1e-9
    with pytest.raises(ValueError, match="holdout_mda: scoring must be"):
        holdout_mda(LinearSVC(), X, CLASSES, scoring="neg_log_loss")


def test_a_model_without_parameters_of_scikit_learn():
    assert (holdout_mda(Plain(), X, X[:, 0], random_state=0).values == 0).all()


def test_rows_of_a_group_are_never_on_both_sides():
    groups = np.repeat(np.arange(30), 3)
    table = np.column_stack([groups, X])
    y = np.tile(["a", "b", "b"], 30)
    assert (holdout_mda(Unseen(), table, y, groups=groups, random_state=0).values == 0).all()
    with pytest.raises(AssertionError):
        holdout_mda(Unseen(), table, y, random_state=0)


@pytest.mark.parametrize("n_groups", [2, 3, 4])
def test_no_part_is_empty_with_few_groups_of_one_class(n_groups):
    groups = np.arange(N) % n_groups
    y = np.array(["ill", "well"])[groups % 2]
    data = dm.learning_set(X, y, groups=groups)
    for n_parts in range(2, n_groups + 1):
        part = parts_of(data, n_parts, 0, "test", every_class=False)
        assert np.unique(part).tolist() == list(range(n_parts))
    numbers = holdout_mda(Known(), X, X[:, 0], groups=groups, random_state=0)
    assert numbers.metadata["holdout_mda"]["cv"] == min(3, n_groups)
    with pytest.raises(ValueError, match=f"holdout_mda: cv must be .*{n_groups}.* got 5"):
        holdout_mda(Known(), X, X[:, 0], groups=groups, cv=5)
    with pytest.raises(ValueError, match="groups must be two or more"):
        holdout_mda(Known(), X, X[:, 0], groups=0 * groups)


def test_threads_and_checkpoints_give_the_same_bytes(tmp_path):
    table, y = named(60)
    table["site"] = table.site.astype("category")
    model = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5)
    how = {"n_permutations": 2, "max_stages": 1, "random_state": 5}
    one = max_t(model, table, y, n_jobs=1, checkpoint=tmp_path / "saved", **how)
    two = max_t(model, table, y, n_jobs=2, **how)
    resumed = max_t(model, table, y, n_jobs=1, checkpoint=tmp_path / "saved", **how)
    for other in (two, resumed):
        assert other.scores.tobytes() == one.scores.tobytes()
        assert other.details["null_sd"].tobytes() == one.details["null_sd"].tobytes()


def test_a_function_measures_a_fitted_model():
    def sizes(model, X, y):
        return np.abs(model.coef_[0])

    result = altmann(
        LogisticRegression(), X, CLASSES, measure=sizes, n_permutations=4, random_state=0, n_jobs=1
    )
    fit = LogisticRegression(random_state=0).fit(X, CLASSES)
    np.testing.assert_allclose(result.scores, np.abs(fit.coef_[0]), rtol=1e-6)


def test_the_cost_names_the_model():
    cost = estimate_cost(GaussianNB(), X, CLASSES, 99, measure="auto", n_jobs=1)
    assert str(cost).startswith("99 refits of GaussianNB, 1 at a time: about ")


def test_a_function_in_a_pipeline_is_recorded_by_its_name():
    pipe = make_pipeline(FunctionTransformer(np.abs), FunctionTransformer(named), GaussianNB())
    texts = parameters_of(pipe)
    assert texts["functiontransformer-2__func"] == f"{__name__}.named"
    assert not any("0x" in text for name, text in texts.items() if name.endswith("__func"))


@pytest.mark.parametrize(
    ("model", "rows", "words"),
    [
        (LogisticRegression(), named(), "cannot be fitted: .* a Pipeline can encode them"),
        (
            make_pipeline(
                make_column_transformer(
                    (OneHotEncoder(), make_column_selector(dtype_include=object)),
                    remainder="passthrough",
                ),
                HistGradientBoostingClassifier(max_iter=1, categorical_features=None),
            ),
            (named()[0][["age"]], named()[1]),
            "is left without columns",
        ),
        (LogisticRegression(), (X, X[:, 0]), "the target|classification"),
        # Both would be measured by labels that have nothing to do with the target.
        (IsolationForest(), (X, CLASSES), r"got IsolationForest \(outlier detector\)"),
        (KMeans(2), (X, (X[:, 0] > 0).astype(int)), r"got KMeans \(clusterer\)"),
        # The hint about categories is for errors of categories.
        (GaussianNB(var_smoothing=-1.0), named(), r"cannot be fitted: The .* Got -1\.0 instead$"),
        (Failing("fit"), (X, CLASSES), "Failing cannot be fitted: device busy$"),
    ],
)
def test_refused(model, rows, words):
    with pytest.raises(ValueError, match=f"holdout_mda: .*({words})"):
        holdout_mda(model, *rows, random_state=0)


def test_predictions_that_no_score_takes_are_refused():
    with pytest.raises(ValueError, match=r"Failing: predict must .* such as 'ill', got 'none'\.$"):
        holdout_mda(Failing("predict"), X, CLASSES)
    with pytest.raises(ValueError, match=r"Plain: predictions must be finite, .* 30 of 30 rows"):
        holdout_mda(Plain(np.nan), X, X[:, 0])
    with pytest.raises(TypeError, match=r"got the class GaussianNB\. Hint: GaussianNB\(\) is an"):
        max_t(GaussianNB, X, CLASSES)


def test_weights_are_passed_on_or_refused():
    weights = np.ones(N)
    weights[:30] = 3
    data = dm.learning_set(X, CLASSES, sample_weight=weights)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    weighted = holdout_mda(pipe, data, random_state=0)
    assert not np.array_equal(weighted.values, holdout_mda(pipe, X, CLASSES, random_state=0).values)
    with pytest.raises(ValueError, match="weights, which KNeighborsClassifier does not take"):
        holdout_mda(KNeighborsClassifier(), data, random_state=0)


def test_survival_and_measures_of_forests_are_refused():
    times = dm.learning_set(X, np.c_[np.arange(1.0, N + 1), np.arange(N) % 2], task="survival")
    with pytest.raises(ValueError, match="max_t: the target of a Plain must be classes or numbers"):
        max_t(Plain(), times)
    with pytest.raises(ValueError, match="max_t: measure must be 'auto', 'holdout_mda', or a func"):
        max_t(GaussianNB(), X, CLASSES, measure="mdi")


def test_a_class_of_one_row_is_never_predicted():
    y = np.where(np.arange(N) == 7, "rare", CLASSES)
    result = holdout_mda(GaussianNB(), X, y, random_state=0)
    assert result.top(1).names == ("x0",)
    with pytest.raises(ValueError, match="class 'rare' has 1 row, fewer than the 2 parts"):
        holdout_mda(dm.RandomForestClassifier(2), X, y)


@pytest.mark.slow
def test_false_alarms_without_any_signal():
    # 200 data sets of noise: the number with a false confirmation is binomial of at most .05.
    false = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        rows, y = random.normal(size=(40, 4)), random.permutation(np.arange(40) % 2)
        result = max_t(GaussianNB(), rows, y, n_permutations=19, random_state=seed, n_jobs=1)
        false += "confirmed" in result.verdicts()
    assert false <= 21  # exceeded with a probability of .0005
