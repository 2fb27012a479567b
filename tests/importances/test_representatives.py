import numpy as np
import pandas as pd
import pytest
from tests.grid import one_test

import duramen as dm
from duramen import Importances, estimators
from duramen.importances import mdi, representatives
from duramen.importances.clustering import absolute, standardized


def correlated(n=200, seed=0):
    """Two clusters, {0, 2, 4} and {1, 3}, and 5 alone; 4 runs against 0 and 2."""
    random = np.random.default_rng(seed)
    first, second, alone = random.normal(size=(3, n))
    noise = 0.1 * random.normal(size=(4, n))
    return np.column_stack(
        [first, second, first + noise[0], second + noise[1], -first + noise[2], alone]
    )


@one_test
@pytest.mark.parametrize("correlation", ["spearman", "pearson"])
@pytest.mark.parametrize("size", [{"threshold": 0.8}, {"n_clusters": 3}])
def test_finds_the_clusters(correlation, size):
    result = representatives(correlated(), correlation=correlation, **size)
    assert result.labels.tolist() == [0, 1, 0, 1, 0, 2]
    assert len(result) == 3
    assert result.representatives.tolist() == [0, 1, 5]  # 0 is between 2 and 4, which have noise
    members = {name: sorted(names) for name, names in result.members().items()}
    assert members == {"x0": ["x0", "x2", "x4"], "x1": ["x1", "x3"], "x5": ["x5"]}


def test_spearman_sees_through_a_monotone_function_and_pearson_does_not():
    x = np.random.default_rng(0).normal(size=300)
    X = np.column_stack([x, np.exp(3 * x)])
    assert len(representatives(X, threshold=0.999)) == 1
    assert len(representatives(X, threshold=0.999, correlation="pearson")) == 2


def test_correlations_are_those_of_scipy_ties_included():
    from scipy import stats
    from scipy.spatial.distance import squareform

    from duramen.importances.clustering import distances_between, standardized

    X = np.random.default_rng(0).integers(0, 4, size=(60, 7)) + np.arange(60)[:, np.newaxis] % 3
    table = dm.encode(X)
    for correlation, expected in (
        ("spearman", stats.spearmanr(X).statistic),
        ("pearson", np.corrcoef(X.T)),
    ):
        result = 1 - squareform(distances_between(standardized(table, correlation)))
        np.testing.assert_allclose(result, np.abs(expected), atol=1e-11)


def test_medoids_are_columns_of_the_table():
    frame = pd.DataFrame(correlated(), columns=list("uvwxyz"))
    table = representatives(frame, threshold=0.8).transform(frame)
    assert table.names == ("u", "v", "z")
    for name, j in zip("uvz", range(3), strict=True):
        np.testing.assert_array_equal(table.values(j)[table.codes(j)], frame[name].to_numpy())


def test_centroids_are_means_of_standardised_columns_turned_alike():
    X = correlated()
    result = representatives(X, threshold=0.8, method="centroid", correlation="pearson")
    table = result.transform(X)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = np.column_stack(
        [(z[:, 0] + z[:, 2] - z[:, 4]) / 3, (z[:, 1] + z[:, 3]) / 2, z[:, 5]]
    )
    actual = np.column_stack([table.values(j)[table.codes(j)] for j in range(3)])
    np.testing.assert_allclose(actual, expected, atol=1e-12)
    assert table.names == ("x0", "x1", "x5")
    with pytest.raises(ValueError, match="X must have the 6 features"):
        result.transform(X[:, :5])


def test_every_member_gets_the_score_of_its_representative():
    result = representatives(correlated(), threshold=0.8)
    scores = Importances(
        ("x5", "x1", "x0"), [3.0, 2.0, 1.0], "mdi", "bits", standard_error=[0.3, 0.2, 0.1]
    )
    spread = result.spread(scores)
    assert spread.names == ("x0", "x1", "x2", "x3", "x4", "x5")
    assert spread.values.tolist() == [1.0, 2.0, 1.0, 2.0, 1.0, 3.0]
    assert spread.standard_error.tolist() == [0.1, 0.2, 0.1, 0.2, 0.1, 0.3]
    assert spread.measure == "mdi of representatives"
    assert spread.metadata["representatives"]["threshold"] == 0.8


@pytest.mark.parametrize("method", ["medoid", "centroid"])
def test_a_large_cluster_is_no_longer_hidden(method):
    """Ten copies of one relevant feature share its importance; its representative has it all."""
    random = np.random.default_rng(0)
    strong, weak = random.normal(size=(2, 300))
    copies = strong[:, np.newaxis] + 0.05 * random.normal(size=(300, 10))
    X = np.column_stack([copies, weak])
    y = (1.2 * strong + weak > 0).astype(int)
    plain = mdi(estimators.RandomForestClassifier(100, max_features=3, random_state=0).fit(X, y))
    assert plain.order()[0] == 10
    result = representatives(X, threshold=0.9, method=method)
    forest = estimators.RandomForestClassifier(100, random_state=0).fit(result.transform(X), y)
    spread = result.spread(mdi(forest))
    assert spread.order()[-1] == 10
    assert np.ptp(spread.values[:10]) == 0


def test_ordered_and_two_labelled_columns_count_and_constants_are_alone():
    x = np.arange(40) % 4
    frame = pd.DataFrame(
        {
            "number": x,
            "order": pd.Categorical(np.array(list("dcba"))[x], list("abcd"), ordered=True),
            "half": np.where(x < 2, "low", "up"),
            "same": np.ones(40),
        }
    )
    result = representatives(frame, threshold=0.85)
    assert result.labels.tolist() == [0, 0, 0, 1]
    assert representatives(frame, threshold=0.99).labels.tolist() == [0, 0, 1, 2]


@one_test
@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "either threshold or n_clusters must be given"),
        ({"threshold": 0.5, "n_clusters": 2}, "and not both"),
        ({"threshold": 0.0}, r"threshold must be a number in \(0, 1\], got 0.0"),
        ({"n_clusters": 7}, "n_clusters must be an int in 1..6, got 7"),
    ],
)
def test_clear_errors(options, message):
    with pytest.raises(ValueError, match=f"representatives: .*{message}"):
        representatives(correlated(), **options)


def test_correlations_are_over_the_rows_where_both_are_known():
    random = np.random.default_rng(5)
    X = random.normal(size=(80, 4)) + random.normal(size=(80, 1))
    X[random.random(X.shape) < 0.2] = np.nan
    columns = standardized(dm.encode(X), "pearson")
    result = absolute(columns, columns)
    for i, j in np.ndindex(4, 4):
        both = ~np.isnan(X[:, [i, j]]).any(axis=1)
        assert result[i, j] == pytest.approx(abs(np.corrcoef(X[both][:, [i, j]].T)[0, 1]))


def test_missing_values_are_kept():
    """A copy with gaps joins its original; centroids are means over the members that are known."""
    random = np.random.default_rng(6)
    X = random.normal(size=(60, 3))
    X[:, 2] = X[:, 0]
    X[random.random(60) < 0.3, 2] = np.nan
    X[0, [0, 2]] = np.nan
    result = representatives(X, threshold=0.9)
    assert result.members() == {"x0": ("x0", "x2"), "x1": ("x1",)}
    assert result.transform(X).missing.tolist() == [True, False]
    chosen = {"method": "centroid", "correlation": "pearson"}
    centroids = representatives(X, threshold=0.9, **chosen).transform(X)
    codes, values = centroids.codes(0), centroids.values(0)
    assert np.flatnonzero(codes == len(values)).tolist() == [0]
    assert np.corrcoef(values[codes[1:]], X[1:, 0])[0, 1] > 0.99


def test_too_many_features_are_refused_before_any_work(leave_memory):
    leave_memory(16 * 15 + 8 * 200 * 6 - 1)
    with pytest.raises(MemoryError, match="clustering 6 features, with 15 correlations needs"):
        representatives(correlated(), threshold=0.5)


def test_spread_is_for_these_representatives():
    result = representatives(correlated(), threshold=0.8)
    for names in (("x0", "x1"), ("x0", "x1", "x4"), ("x0", "x1", "x5", "x4")):
        other = Importances(names, np.zeros(len(names)), "mdi", "bits")
        with pytest.raises(
            ValueError, match="those of the representatives, 3 features such as 'x0'"
        ):
            result.spread(other)
    with pytest.raises(TypeError, match="importances must be Importances, got list"):
        result.spread([1.0])
