"""Every container gives the same codes; kinds follow types, or what the user says."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.data.agree import assert_agrees, assert_same
from tests.grid import one_test

from duramen.data import EncodedTable, encode
from duramen.data.encoding import routing_values

CELLS = {
    "price": [2.5, None, -1.0, 2.5, 0.0],
    "count": [3, 1, 2, 2, 3],
    "holes": [3, None, 2, 2, 3],
    "flag": [True, False, True, True, False],
    "maybe": [True, None, True, True, False],
    "word": ["b", "", None, "a", "b"],
    "empty": [None] * 5,
    "accents": ["é", "z", "Z", "é", "\U0001f600"],
}
KINDS = ("numeric",) * 5 + ("nominal", "numeric", "nominal")

CONTAINERS = {
    "pandas": lambda: pd.DataFrame(CELLS),
    "pandas objects": lambda: pd.DataFrame(CELLS, dtype=object),
    "pandas nullable": lambda: pd.DataFrame(CELLS).convert_dtypes(),
    "pandas on arrow": lambda: pa.table(CELLS).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.DataFrame(CELLS),
    "pyarrow": lambda: pa.table(CELLS),
    "pyarrow batch": lambda: pa.record_batch(CELLS),
    "pyarrow in chunks": lambda: pa.concat_tables(
        [pa.table(CELLS).slice(0, 2), pa.table(CELLS).slice(2, 0), pa.table(CELLS).slice(2)]
    ),
    "numpy objects": lambda: np.array(list(CELLS.values()), dtype=object).T,
    "list of rows": lambda: [list(row) for row in zip(*CELLS.values(), strict=True)],
}


@pytest.mark.smoke
@one_test
@pytest.mark.parametrize("container", CONTAINERS)
def test_same_codes_from_every_container(container: str) -> None:
    X = CONTAINERS[container]()
    table = encode(X)
    assert_agrees(table, list(CELLS.values()))
    assert table.kinds == KINDS
    unnamed = container in {"numpy objects", "list of rows"}
    assert table.names == (tuple(f"x{j}" for j in range(8)) if unnamed else tuple(CELLS))
    assert table.named is not unnamed
    for j in (5, 7):
        assert table.labels[j].dtype == object
        assert all(type(label) is str for label in table.labels[j])
        np.testing.assert_array_equal(
            table.cut_values[table.value_offsets[j] : table.value_offsets[j + 1]],
            np.arange(len(table.labels[j])),
        )
    routed = routing_values(table, X)
    assert routed.flags.c_contiguous
    for j in range(8):
        codes = np.asarray(table.codes(j), dtype=float)
        codes[codes == len(table.values(j))] = np.nan
        if table.kinds[j] == "numeric":
            codes[~np.isnan(codes)] = table.values(j)[codes[~np.isnan(codes)].astype(int)]
        np.testing.assert_array_equal(routed[:, j], codes)
    np.testing.assert_array_equal(routing_values(table, table), routed)


def test_numpy_strings() -> None:
    for dtype in ("U", "T"):
        X = np.array([["b", "x"], ["a", "x"]]).astype(dtype)
        assert_agrees(encode(X), [["b", "a"], ["x", "x"]])


CODES = [0, 1, None, 0, 3]
LEVELS = ["low", "mid", "never", "high"]
WORDS = [None if code is None else LEVELS[code] for code in CODES]


def frames_of_categories() -> dict[str, object]:
    column = pd.Categorical(WORDS, categories=LEVELS, ordered=True)
    arrow = pa.DictionaryArray.from_arrays(
        pa.array(CODES, pa.int8()), pa.array(LEVELS), ordered=True
    )
    return {
        "pandas": pd.DataFrame({"c": column}),
        "pyarrow": pa.table({"c": arrow}),
        "polars enum": pl.DataFrame({"c": pl.Series(WORDS, dtype=pl.Enum(LEVELS))}),
        "pandas unordered": pd.DataFrame({"c": column.as_unordered()}),
        "pyarrow unordered": pa.table({"c": arrow.cast(pa.dictionary(pa.int8(), pa.string()))}),
        "polars categorical": pl.DataFrame({"c": pl.Series(WORDS, dtype=pl.Categorical)}),
    }


@one_test
@pytest.mark.parametrize("container", frames_of_categories())
def test_categories(container: str) -> None:
    X = frames_of_categories()[container]
    by_type = encode(X)
    in_order = ["low", "mid", "high"]
    sorted_ = sorted(in_order)
    ordered_by_type = container in {"pandas", "pyarrow", "polars enum"}
    assert by_type.kinds == (("ordinal",) if ordered_by_type else ("nominal",))
    assert by_type.values(0).tolist() == (in_order if ordered_by_type else sorted_)
    assert encode(X, kinds="nominal").values(0).tolist() == sorted_
    has_order = container in {"pandas", "pyarrow", "polars enum", "pandas unordered"}
    ordinal = encode(X, kinds={"c": "ordinal"})
    assert ordinal.kinds == ("ordinal",)
    assert ordinal.values(0).tolist() == (in_order if has_order else sorted_)
    for table in (by_type, ordinal):
        position = table.values(0).tolist()
        expected = [3 if word is None else position.index(word) for word in WORDS]
        assert table.codes(0).tolist() == expected
        routed = routing_values(table, X).ravel()
        np.testing.assert_array_equal(routed, [np.nan if c == 3 else c for c in expected])


def test_categories_of_numbers() -> None:
    X = pd.DataFrame({"c": pd.Categorical([3, 1, None, 3]), "b": pd.Categorical([True, False] * 2)})
    table = encode(X)
    assert table.kinds == ("nominal", "nominal")
    assert table.values(0).tolist() == [1, 3]
    assert table.values(1).tolist() == [False, True]
    as_numbers = encode(X, kinds="numeric")
    assert_agrees(as_numbers, [[3, 1, None, 3], [1, 0, 1, 0]])
    np.testing.assert_array_equal(routing_values(as_numbers, X)[:, 0], [3, 1, np.nan, 3])


def test_a_dictionary_that_repeats_itself() -> None:
    dictionary = pa.array(["b", "a", "b", None])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, None]), dictionary)
    assert_agrees(encode(pa.table({"c": column})), [["b", "a", "b", None, None]])


@pytest.mark.parametrize("kind", ["ordinal", "nominal"])
def test_numbers_as_categories(kind: str) -> None:
    X = np.array([[3.0, 7], [1.5, 7], [np.nan, 2], [3, 9]])
    table = encode(X, kinds=kind)
    assert_agrees(table, list(X.T))
    assert table.cut_values.tolist() == [0, 1, 0, 1, 2]
    assert table.values(0).dtype == np.float64
    assert encode(X[:, 1:].astype(int), kinds=kind).values(0).dtype == np.int64
    new = np.array([[1.5, 8.0], [2.0, 9.0], [np.nan, np.nan], [-5, 2]])
    expected = [[0, -1], [-1, 2], [np.nan, np.nan], [-1, 0]]
    np.testing.assert_array_equal(routing_values(table, new), expected)


def test_kinds_by_name_index_and_sequence() -> None:
    X = pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": ["u", "v"]})
    expected = ("nominal", "numeric", "ordinal")
    assert encode(X, kinds={"a": "nominal", 2: "ordinal"}).kinds == expected
    assert encode(X, kinds={np.int64(0): "nominal", "c": "ordinal"}).kinds == expected
    assert encode(X, kinds=["nominal", None, "ordinal"]).kinds == expected
    assert encode(X.iloc[:, :2], kinds="ordinal").kinds == ("ordinal", "ordinal")


def test_an_encoded_table_comes_back_as_it_is() -> None:
    table = encode(np.eye(3))
    assert encode(table) is table
    with pytest.raises(ValueError, match="X is encoded already"):
        encode(table, names=["a", "b", "c"])


def mixed() -> EncodedTable:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "few": rng.integers(0, 5, 400).astype(float),
            "word": rng.choice(["p", "q", "r"], 400),
            "many": rng.normal(size=400),
            "size": pd.Categorical(
                rng.choice(["s", "m"], 400), categories=["s", "m"], ordered=True
            ),
            "hole": np.where(rng.random(400) < 0.5, np.nan, rng.normal(size=400)),
            "same": np.ones(400),
        }
    )
    return encode(X)


@pytest.mark.smoke
def test_pickle_and_fingerprint() -> None:
    table = mixed()
    copy = pickle.loads(pickle.dumps(table))
    assert_same(copy, table)
    assert (copy.names, copy.labels[1].tolist()) == (table.names, table.labels[1].tolist())
    others = [
        table.take_columns([1, 0, 2, 3, 4, 5]),
        table.take_rows(np.arange(400)[::-1]),
        encode(np.ones((400, 6))),
    ]
    assert len({other.fingerprint() for other in [table, copy, *others]}) == 4


def test_part_of_a_table_keeps_the_meaning_of_codes() -> None:
    table, rows = mixed(), np.array([5, 3, 399, 3])
    part = table.take_columns([4, 2, 1]).take_rows(rows)
    assert (part.shape, part.names) == ((4, 3), ("hole", "many", "word"))
    for i, j in enumerate([4, 2, 1]):
        np.testing.assert_array_equal(part.codes(i), table.codes(j)[rows])
        assert part.values(i).tolist() == table.values(j).tolist()
        assert (part.kinds[i], part.missing[i]) == (table.kinds[j], table.missing[j])
    mask = np.array([True, False, False, True, False, False])
    assert table.take_columns(mask).names == ("few", "size")
    assert table.take_columns([-1]).names == ("same",)
    assert table.take_columns([]).shape == (400, 0)
    for index, error, message in (
        ([6], IndexError, r"outside 0\.\.5"),
        ([0, 0], ValueError, "indices must be different"),
        ([True, False], ValueError, "mask has 2 entries"),
    ):
        with pytest.raises(error, match=message):
            table.take_columns(index)
