"""Importances of pipelines, and importances as arrays and frames."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.grid import one_test

import duramen as dm
from duramen.importances import conditional_mda, mda, mdi, noising, vote_change

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
