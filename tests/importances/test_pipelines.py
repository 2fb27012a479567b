"""Importances of pipelines, and importances as arrays and frames."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from tests.grid import one_test

import duramen as dm
from duramen.importances import (
    conditional_mda,
    first_splits,
    frequency,
    mda,
    mdi,
    minimal_depth,
    noising,
    vote_change,
)

N = 80


def table():
    random = np.random.default_rng(3)
    site = random.choice(["north", "south", "west"], N)
    return pd.DataFrame({"age": random.normal(size=N), "site": site, "dose": random.normal(size=N)})


X = table()
Y = np.where((X.age > 0) & (X.site == "north"), "ill", "well")


def forest(**options):
    return dm.RandomForestClassifier(12, random_state=0, **options)


@pytest.fixture(scope="module")
def pipe():
    steps = make_column_transformer((OneHotEncoder(), ["site"]), remainder="passthrough")
    return make_pipeline(steps, forest()).fit(X, Y)


@one_test
@pytest.mark.parametrize("measure", [mdi, frequency, minimal_depth])
def test_a_pipeline_gives_the_numbers_of_its_forest_and_the_names_of_its_steps(measure, pipe):
    result, alone = measure(pipe), measure(pipe[-1])
    assert result.names == (
        "onehotencoder__site_north",
        "onehotencoder__site_south",
        "onehotencoder__site_west",
        "remainder__age",
        "remainder__dose",
    )
    assert np.array_equal(result.values, alone.values)
    assert alone.names == tuple(f"x{j}" for j in range(5))
    assert first_splits(pipe).names == result.names


def test_a_forest_alone_in_a_pipeline():
    alone = make_pipeline(forest()).fit(X[["age", "dose"]], Y)
    assert mdi(alone).names == ("age", "dose")


def test_steps_without_names():
    steps = FunctionTransformer(lambda rows: np.asarray(rows))
    pipe = make_pipeline(steps, forest()).fit(X[["age", "dose"]], Y)
    with pytest.raises(TypeError, match=r"mdi: the steps .* Hint: mdi\(pipe\[-1\]\)"):
        mdi(pipe)
    assert mdi(pipe[-1]).names == ("x0", "x1")


@one_test
@pytest.mark.parametrize("measure", [mdi, conditional_mda, vote_change, noising])
def test_rows_that_a_pipeline_has_to_transform(measure, pipe):
    name = measure.__name__
    with pytest.raises(TypeError, match=rf"{name}: .*{name}\(pipe\[-1\], pipe\[:-1\].transform"):
        measure(pipe, X, Y)
    measure(pipe[-1], pipe[:-1].transform(X), Y)


def test_pipelines_of_others_are_refused():
    from sklearn.ensemble import RandomForestClassifier

    pipe = make_pipeline(StandardScaler(), RandomForestClassifier(3)).fit(X[["age", "dose"]], Y)
    with pytest.raises(TypeError, match="must be an estimator of duramen, got sklearn"):
        mdi(pipe)
    with pytest.raises(ValueError, match="this RandomForestClassifier is not fitted yet"):
        mdi(make_pipeline(StandardScaler(), forest()))


@one_test
@pytest.mark.parametrize("measure", [mda, conditional_mda, vote_change, noising])
def test_without_rows(measure, pipe):
    name = measure.__name__
    with pytest.raises(TypeError, match=rf"^{name}: X is missing.*{name}\(forest, X, y\)"):
        measure(pipe[-1])


# --- arrays and frames ---------------------------------------------------------------------------


def test_importances_as_an_array_and_a_frame(pipe):
    importances = mdi(pipe)
    array = np.asarray(importances)
    assert array.dtype == np.float64
    assert np.array_equal(array, importances.values)
    assert np.array_equal(np.asarray(importances, dtype=np.float32), array.astype(np.float32))
    assert np.argmax(importances) == np.argmax(importances.values)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    assert np.array(importances).flags.writeable
    frame = pd.DataFrame(importances)
    assert frame.columns.to_list() == ["name", "value"]
    assert frame["name"].to_list() == list(importances.names)
    assert np.array_equal(frame["value"], importances.values)
    assert dict(importances) == dict(zip(importances.names, array.tolist(), strict=True))


def test_p_values_as_an_array():
    data = dm.datasets.linear_sign(60, 4, n_relevant=2, random_state=0)
    tested = dm.significance.altmann(forest(), data.X, data.y, n_permutations=9, random_state=0)
    assert np.array_equal(np.asarray(tested), [tested[j] for j in range(4)])
