"""Importances of pipelines, and importances as arrays and frames."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.grid import one_test

import duramen as dm
from duramen.importances import (
    conditional_mda,
    mda,
    mdi,
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
@pytest.mark.parametrize("measure", [mdi, conditional_mda, vote_change, noising])
def test_a_pipeline_is_given_as_its_forest_and_transformed_rows(measure, pipe):
    name = measure.__name__
    with pytest.raises(TypeError, match=rf"{name}: .*{name}\(pipe\[-1\], .*pipe\[:-1\].transform"):
        measure(pipe, X, Y)
    measure(pipe[-1], pipe[:-1].transform(X), Y)


@one_test
@pytest.mark.parametrize("measure", [mda, conditional_mda, vote_change, noising])
def test_without_rows(measure, pipe):
    name = measure.__name__
    with pytest.raises(TypeError, match=rf"^{name}: X is missing.*{name}\(forest, X, y\)"):
        measure(pipe[-1])


# --- arrays and frames ---------------------------------------------------------------------------


def test_importances_as_an_array_and_a_frame(pipe):
    importances = mdi(pipe[-1])
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
