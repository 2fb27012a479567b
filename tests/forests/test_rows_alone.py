"""A row is read, and led to its leaves, alone as it is among others, whatever holds it."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import duramen as dm


def mixed(n=15, seed=3):
    """Columns of every type, each with missing values; the category "rare" is not for training."""
    rng = np.random.default_rng(seed)
    colors = rng.choice(["red", "green", "blue"], n).astype(object)
    sizes = rng.choice(["S", "M", "L"], n).astype(object)
    numbers, ward, truth = rng.normal(size=n), rng.integers(1, 5, n), rng.random(n) < 0.5
    colors[::5], sizes[1::5], numbers[2::5] = None, None, np.nan
    flag = truth.astype(object)
    flag[3::5] = None
    count = ward.astype(object)
    count[4::5] = None
    return pd.DataFrame(
        {
            "color": colors,
            "size": sizes,
            "number": numbers,
            "flag": flag,
            "ward": count,
            "all": ward,
        }
    )


def as_objects(frame):
    return frame.astype(object).where(frame.notna(), None).to_numpy(dtype=object)


def as_categories(frame):
    made = frame.copy()
    made["color"] = pd.Categorical(made["color"], ["blue", "green", "red", "rare"])
    made["size"] = pd.Categorical(made["size"], ["S", "M", "L", "rare"], ordered=True)
    made["ward"] = pd.Categorical(made["ward"])
    made["flag"] = pd.Categorical(made["flag"])
    return made


def as_nullable(frame):
    types = {"color": "string", "size": "string", "flag": "boolean", "ward": "Int64"}
    return frame.astype({**types, "number": "Float64"})


def as_pyarrow_backed(frame):
    return as_nullable(frame).convert_dtypes(dtype_backend="pyarrow")


def as_polars(frame):
    made = pl.from_pandas(as_nullable(frame))
    return made.with_columns(pl.col("size").cast(pl.Enum(["S", "M", "L", "rare"])))


def as_arrow(frame):
    return pa.Table.from_pandas(as_nullable(frame), preserve_index=False)


def without_types(table):
    """The same with the null type for columns that lack a value."""
    columns = [
        pa.nulls(len(column)) if column.null_count == len(column) else column
        for column in table.columns
    ]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))


CONTAINERS = {
    "numpy objects": (as_objects, lambda X, i: X[i : i + 1]),
    "pandas objects": (lambda frame: frame, lambda X, i: X.iloc[i : i + 1]),
    "pandas objects, made anew": (
        lambda frame: frame,
        lambda X, i: pd.DataFrame(X.iloc[i : i + 1].to_dict("list")),
    ),
    "pandas categories": (as_categories, lambda X, i: X.iloc[i : i + 1]),
    "pandas nullable": (as_nullable, lambda X, i: X.iloc[i : i + 1]),
    "pandas on pyarrow": (as_pyarrow_backed, lambda X, i: X.iloc[i : i + 1]),
    "polars": (as_polars, lambda X, i: X[i]),
    "polars, made anew": (as_polars, lambda X, i: pl.DataFrame(X[i].to_dicts())),
    "pyarrow": (as_arrow, lambda X, i: X.slice(i, 1)),
    "pyarrow, null type": (as_arrow, lambda X, i: without_types(X.slice(i, 1))),
    "pyarrow batch": (as_arrow, lambda X, i: X.slice(i, 1).to_batches()[0]),
}


def fitted(X, y, **options):
    return dm.ExtraTreesClassifier(4, random_state=0, **options).fit(X, y)


def same_alone(forest, X, row):
    whole, leaves = forest.predict_proba(X), forest.apply(X)
    for i in range(len(whole)):
        np.testing.assert_array_equal(forest.predict_proba(row(X, i))[0], whole[i])
        np.testing.assert_array_equal(forest.apply(row(X, i))[0], leaves[i])


@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
@pytest.mark.parametrize("container", list(CONTAINERS))
def test_each_row_alone(container):
    make, row = CONTAINERS[container]
    frame = mixed()
    forest = fitted(make(frame), np.arange(15) % 3, splits="any")
    same_alone(forest, make(frame), row)
    other = mixed(n=6, seed=8)
    other.loc[3, "color"] = other.loc[4, "size"] = "rare"  # never seen
    same_alone(forest, make(other), row)


def test_numbers_that_are_categories_and_sparse_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (20, 3)).astype(float)
    y = np.arange(20) % 2
    forest = fitted(X, y, categorical_features=[0, 1])
    holed = X.copy()
    holed[::4, 0] = np.nan
    holed[1::4, 1] = 9.0  # never seen
    same_alone(forest, holed, lambda X, i: X[i : i + 1])
    same_alone(forest, sparse.csr_matrix(X), lambda X, i: X[i : i + 1])
    whole = forest.predict_proba(holed)
    for i, values in enumerate(holed.tolist()):
        np.testing.assert_array_equal(forest.predict_proba([values])[0], whole[i])
    integers = forest.predict_proba(X.astype(int))
    np.testing.assert_array_equal(integers, forest.predict_proba(X))
