import pickle
from datetime import date

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.grid import one_test
from tests.theory.drawn import distributions, of_rows, weighted_rows

import duramen as dm
from duramen.theory import CONTEXT, TARGET, FiniteDistribution, examples

from_table = FiniteDistribution.from_table


def small(**changes):
    """The arguments of a distribution with two rows."""
    given = {
        "codes": [[0], [1]],
        "target": [0, 1],
        "weights": [0.5, 0.5],
        "names": ("a",),
        "labels": (np.array([3, 7]),),
        "classes": np.array(["no", "yes"], dtype=object),
    }
    return FiniteDistribution(**{**given, **changes})


# --- from a table ------------------------------------------------------------------------------


def test_equal_rows_are_merged_and_their_weights_added():
    dist = from_table([[1, 5], [0, 5], [1, 5], [1, 5]], [2, 0, 2, 9], weights=[1, 2, 3, 4])
    assert dist.codes.tolist() == [[0, 0], [1, 0], [1, 0]]
    assert dist.target.tolist() == [0, 1, 2]
    assert dist.classes.tolist() == [0, 2, 9]
    assert dist.weights == pytest.approx([0.2, 0.4, 0.4], abs=1e-15)
    assert [labels.tolist() for labels in dist.labels] == [[0, 1], [5]]
    assert dist.names == ("x0", "x1")
    assert (dist.n_rows, dist.n_features, dist.n_classes, dist.n_contexts) == (3, 2, 3, 0)
    assert dist.cardinalities.tolist() == [2, 1]
    assert dist.codes.dtype == dist.target.dtype == np.uint32


def test_a_context_keeps_rows_apart():
    dist = from_table([[0], [0], [0]], [1, 1, 1], context=["f", "m", "f"])
    assert dist.n_rows == 2
    assert dist.context.tolist() == [0, 1]
    assert dist.context_values.tolist() == ["f", "m"]
    assert dist.weights == pytest.approx([2 / 3, 1 / 3])
    assert dist.n_contexts == 2


def test_rows_of_weight_zero_and_their_values_are_left_out():
    dist = from_table([[0], [1], [2]], ["a", "b", "c"], weights=[1, 0, 3], context=[5, 6, 7])
    expected = from_table([[0], [2]], ["a", "c"], weights=[1, 3], context=[5, 7])
    assert dist.equals(expected)
    assert dist.labels[0].tolist() == [0, 2]


@given(weighted_rows(), st.randoms())
def test_the_order_of_the_rows_changes_no_bit(rows, random):
    X, y, weights, context = rows
    weights = [weight / 7 for weight in weights]
    order = list(range(len(y)))
    random.shuffle(order)
    turned = [
        None if part is None else [part[i] for i in order] for part in (X, y, weights, context)
    ]
    assert of_rows(X, y, weights, context).equals(of_rows(*turned))


@given(weighted_rows())
def test_a_row_of_weight_k_is_k_rows(rows):
    X, y, weights, context = rows
    repeated = [
        None if part is None else [part[i] for i in range(len(y)) for _ in range(weights[i])]
        for part in (X, y, context)
    ]
    once = of_rows(X, y, weights, context)
    assert once.equals(of_rows(repeated[0], repeated[1], None, repeated[2]), atol=1e-15)
    assert once.weights.sum() == pytest.approx(1.0, abs=1e-15)


def test_weights_of_any_size():
    tiny = from_table([[0], [1]], [0, 1], weights=[1e-308, 3e-308])
    huge = from_table([[0], [1]], [0, 1], weights=[5e307, 1.5e308])
    assert tiny.weights == pytest.approx([0.25, 0.75])
    assert huge.weights == pytest.approx([0.25, 0.75])


FRAME = {
    "size": [3, 1, 3, 1],
    "colour": ["red", "blue", "red", "red"],
    "share": [0.5, 2.5, 0.5, 1.0],
}


@one_test
@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(FRAME),
        pd.DataFrame(FRAME).astype({"colour": "category"}),
        pl.DataFrame(FRAME),
        pl.DataFrame(FRAME, schema_overrides={"colour": pl.Categorical}),
        pa.table(FRAME),
        pa.table({**FRAME, "colour": pa.array(FRAME["colour"]).dictionary_encode()}),
        pa.RecordBatch.from_pydict(FRAME),
        dm.encode(pd.DataFrame(FRAME)),
        nw.from_native(pd.DataFrame(FRAME)),
    ],
    ids=lambda table: type(table).__module__,
)
def test_any_table(table):
    dist = from_table(table, [1, 0, 1, 0])
    assert dist.names == ("size", "colour", "share")
    assert [labels.tolist() for labels in dist.labels] == [[1, 3], ["blue", "red"], [0.5, 1.0, 2.5]]
    assert dist.codes.tolist() == [[0, 0, 2], [0, 1, 1], [1, 1, 0]]
    assert dist.weights.tolist() == [0.25, 0.25, 0.5]


def test_a_learning_set_stands_for_table_target_and_weights():
    frame, weights = pd.DataFrame(FRAME), [1.0, 2.0, 3.0, 4.0]
    data = dm.learning_set(frame, ["no", "yes", "no", "yes"], sample_weight=weights)
    dist = from_table(data)
    assert dist.equals(from_table(frame, ["no", "yes", "no", "yes"], weights=weights))
    binned = dm.theory.discretize(data, n_bins=2)
    assert binned.names == tuple(FRAME)


@one_test
@pytest.mark.parametrize(
    "column",
    [
        [1.5, None, 2.5, None],
        np.array([1.5, np.nan, 2.5, np.nan]),
        pd.array([1.5, pd.NA, 2.5, pd.NA], dtype="Float64"),
        pd.Series([1.5, None, 2.5, np.nan], dtype=object),
    ],
)
def test_missing_numbers_are_a_category_of_their_own_the_last(column):
    dist = from_table(pd.DataFrame({"x": column}), [0, 1, 0, 1])
    np.testing.assert_array_equal(dist.labels[0], [1.5, 2.5, np.nan])
    assert dist.codes.tolist() == [[0], [1], [2]]
    assert dist.weights.tolist() == [0.25, 0.25, 0.5]
    assert dist.mutual_information(0) == 1.0


def test_missing_values_of_other_types():
    table = pa.table(
        {
            "word": ["b", None, "a"],
            "whole": pa.array([7, None, 5]),
            "truth": [True, None, False],
            "day": pa.array([date(2020, 1, 2), None, date(2020, 1, 1)]),
        }
    )
    dist = from_table(table, [0, 1, 2])
    assert dist.labels[0].tolist() == ["a", "b", None]
    np.testing.assert_array_equal(dist.labels[1], [5.0, 7.0, np.nan])
    assert dist.labels[2].tolist() == [False, True, None]
    assert np.isnat(dist.labels[3][2])
    assert dist.labels[3][0] == np.datetime64("2020-01-01")
    assert dist.codes.tolist() == [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]]
    assert dist.classes[dist.target].tolist() == [2, 0, 1]
    empty = from_table(np.full((2, 1), np.nan), [0, 1])
    assert empty.cardinalities.tolist() == [1]


def test_encoded_tables_keep_their_order_and_missing_values():
    frame = pd.DataFrame(
        {
            "level": pd.Categorical(
                ["low", "high", None, "mid"], ["low", "mid", "high"], ordered=True
            ),
            "number": [2.0, 1.0, 2.0, np.nan],
        }
    )
    dist = from_table(dm.encode(frame), [0, 0, 1, 1])
    assert dist.labels[0].tolist() == ["low", "mid", "high", None]
    np.testing.assert_array_equal(dist.labels[1], [1.0, 2.0, np.nan])
    rows = from_table(dm.encode(frame).take_rows([0, 3]), [0, 1])
    assert rows.labels[0].tolist() == ["low", "mid"]


def test_mixed_values_are_sorted_by_type_then_value():
    dist = from_table(pd.DataFrame({"x": ["b", 2, "a", 1]}), [0, 1, 2, 3])
    assert dist.labels[0].tolist() == [1, 2, "a", "b"]


def test_series_give_target_and_context_their_names():
    frame = pd.DataFrame({"a": [0, 1]})
    dist = from_table(frame, pd.Series([0, 1], name="ill"), context=pd.Series([1, 1], name="ward"))
    assert (dist.target_name, dist.context_name) == ("ill", "ward")
    assert dist.entropy("ill", "ward") == dist.entropy(TARGET, CONTEXT) == 1.0
    clash = from_table(frame, pd.Series([0, 1], name="a"))
    assert clash.target_name == "Y"
    assert from_table(frame.rename(columns={"a": "Y"}), [0, 1]).target_name == "target"
    assert from_table(frame.set_axis([0], axis=1), [0, 1]).names == ("0",)


def test_no_features_at_all():
    dist = from_table(np.empty((3, 0)), [0, 1, 1])
    assert dist.n_features == 0
    assert dist.weights == pytest.approx([1 / 3, 2 / 3])
    assert dist.mutual_information([]) == 0.0
    assert dist.sample(4, 0).X.shape == (4, 0)


@one_test
@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"X": [0, 1]}, ValueError, r"expected 2D array, got 1D .*X.reshape"),
        ({"X": [[0], [1, 2]]}, ValueError, "X is ragged"),
        ({"X": np.empty((0, 2))}, ValueError, "X must have at least one row"),
        ({"X": [[{}], [{}]]}, TypeError, "column 'x0' of X holds values that cannot be categories"),
        ({"X": pd.DataFrame({"a": [0, 1], 3: [0, 1]})}, TypeError, "Feature names are only"),
        ({"y": [0]}, ValueError, "y must have one value per row of X, got 1 values for 2 rows"),
    ],
)
def test_clear_errors_of_from_table(arguments, error, message):
    with pytest.raises(error, match=f"FiniteDistribution.*{message}"):
        from_table(**{"X": [[0], [1]], "y": [0, 1], **arguments})


# --- from probabilities ------------------------------------------------------------------------


def test_axes_by_name():
    table = np.full((2, 2, 2), 1 / 8)
    dist = FiniteDistribution.from_probabilities(
        table,
        names=["Z", "C", "A"],
        labels={"Z": ["no", "yes"], "A": [0.5, 1.5]},
        target="Z",
        context="C",
    )
    assert (dist.names, dist.target_name, dist.context_name) == (("A",), "Z", "C")
    assert dist.classes.tolist() == ["no", "yes"]
    assert dist.labels[0].tolist() == [0.5, 1.5]
    assert dist.context_values.tolist() == [0, 1]
    unnamed = FiniteDistribution.from_probabilities(table, target=0, context=1)
    assert (unnamed.names, unnamed.target_name, unnamed.context_name) == (("X1",), "Y", "Xc")


@given(distributions())
def test_probabilities_there_and_back(dist):
    roles = [TARGET] if dist.context is None else [CONTEXT, TARGET]
    names = [*dist.names, *([] if dist.context is None else ["Xc"]), "Y"]
    table = dist.probabilities([*range(dist.n_features), *roles])
    back = FiniteDistribution.from_probabilities(
        table,
        names=names,
        labels={name: dist.values(name).tolist() for name in names},
        context=None if dist.context is None else "Xc",
    )
    assert back.equals(dist, atol=1e-15)


@one_test
@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"probabilities": [0.5, 0.4]}, "probabilities must sum to 1, got 0.9"),
        ({"probabilities": [1.5, -0.5]}, "probabilities must be at least 0, got -0.5"),
        ({"probabilities": [np.nan, 1]}, "probabilities must be finite"),
        ({"names": ["a", "b", "c"]}, "one entry for each of 1 axes"),
        ({"target": "Z"}, "target must be one of the names or .* axis, -1 to 0, got 'Z'"),
        ({"context": 0}, "target and context are the same axis"),
        ({"labels": {"Q": [0, 1]}}, "labels must be a mapping of some of"),
    ],
)
def test_clear_errors_of_from_probabilities(arguments, message):
    with pytest.raises(ValueError, match=f"from_probabilities: .*{message}"):
        FiniteDistribution.from_probabilities(**{"probabilities": [0.5, 0.5], **arguments})


# --- the class itself --------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "changes, error, message",
    [
        ({"names": (1,)}, TypeError, "names must be strings"),
        ({"target_name": "a"}, ValueError, "'a' occurs twice"),
        ({"metadata": {"f": min}}, ValueError, "metadata must be valid JSON"),
    ],
)
def test_what_is_no_distribution_is_refused(changes, error, message):
    with pytest.raises(error, match=f"FiniteDistribution: .*{message}"):
        small(**changes)


def test_arrays_are_read_only_copies():
    weights = np.array([0.5, 0.5])
    dist = small(weights=weights)
    weights[0] = 9
    assert dist.weights.tolist() == [0.5, 0.5]
    for array in (dist.codes, dist.target, dist.weights, dist.labels[0], dist.classes):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@one_test
@pytest.mark.parametrize(
    "feature, error, message",
    [
        ("X77", ValueError, "there is no feature 'X77'. Did you mean 'X7'"),
        ("zebra", ValueError, "there is no feature 'zebra'.$"),
        (7, ValueError, "an int in 0..6, got 7"),
        (True, TypeError, "must be a name or an index, got True"),
        (TARGET, TypeError, "must be a name or an index, got TARGET"),
    ],
)
def test_clear_errors_of_names(feature, error, message):
    with pytest.raises(error, match=message):
        examples.digits7().index(feature)


def test_without_a_context_there_is_none_to_ask_for():
    with pytest.raises(ValueError, match=r"there is no context. Hint: from_table\(X, y, context"):
        examples.digits7().entropy(CONTEXT)


# --- other distributions -----------------------------------------------------------------------


@given(distributions())
def test_marginals(dist):
    features = list(range(dist.n_features))[::-2]
    part = dist.marginal(features)
    assert part.names == tuple(dist.names[j] for j in features)
    variables = [*part.names, TARGET] + ([] if dist.context is None else [CONTEXT])
    np.testing.assert_allclose(
        part.probabilities(variables), dist.probabilities(variables), atol=1e-15
    )
    without = dist.marginal(features, keep_context=False)
    assert without.context is None
    np.testing.assert_allclose(
        without.probabilities(TARGET), dist.probabilities(TARGET), atol=1e-15
    )


@given(distributions())
def test_the_whole_is_the_mean_of_its_conditions(dist):
    variables = [*dist.names, *([] if dist.context is None else [CONTEXT])]
    for variable in variables:
        fractions = dist.probabilities(variable)
        parts = [dist.conditioned({variable: value}) for value in dist.values(variable)]
        mean = sum(
            fraction * part.entropy() for fraction, part in zip(fractions, parts, strict=True)
        )
        assert mean == pytest.approx(dist.entropy(TARGET, variable), abs=1e-12)
        assert all(variable not in part.names for part in parts)
        if variable is CONTEXT:
            assert all(part.context is None for part in parts)


def test_conditions_on_missing_values_and_several_features():
    dist = from_table([[np.nan, 0], [np.nan, 1], [1.0, 0]], [0, 1, 1])
    assert dist.conditioned({"x0": np.nan}).n_rows == 2
    assert dist.conditioned({"x0": None, 1: 1}).classes.tolist() == [1]
    assert dist.conditioned({}).equals(dist)


@one_test
@pytest.mark.parametrize(
    "values, message",
    [
        ({"X1": 2}, "X1 has no value 2; it has 0, 1"),
        ({"X1": 0, "X2": 1, "X3": 0}, "its probability is 0"),
        ({"Y": 1}, "values must be of features or of the context, got the target 'Y'"),
    ],
)
def test_clear_errors_of_conditions(values, message):
    with pytest.raises(ValueError, match=message):
        examples.digits7().conditioned(values)


# --- samples -----------------------------------------------------------------------------------


def test_samples_have_values_and_follow_the_probabilities():
    """Pearson's statistic of 20000 draws stays below its 99.9 % quantile; the seed is fixed."""
    dist = examples.example_6_1()
    sample = dist.sample(20_000, seed=1)
    drawn = from_table(sample.X, sample.y, context=sample.context, names=dist.names)
    assert np.array_equal(drawn.codes, dist.codes)
    assert drawn.classes.tolist() == [0, 1, 2, 3]
    expected = 20_000 * dist.weights
    statistic = np.sum((20_000 * drawn.weights - expected) ** 2 / expected)
    assert statistic < stats.chi2.ppf(0.999, dist.n_rows - 1)
    assert drawn.mutual_information("X1") == pytest.approx(0.5, abs=0.02)


def test_types_of_samples():
    numbers = from_table(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}), ["no", "yes"])
    assert numbers.sample(3, 0).X.dtype == np.float64
    assert numbers.sample(3, 0).context is None
    assert numbers.sample(0, 0).X.shape == (0, 2)
    mixed = from_table(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), [0, 1]).sample(9, 0)
    assert {type(value) for value in mixed.X[:, 0]} == {int}
    with pytest.raises(ValueError, match="n must be an int >= 0, got -1"):
        numbers.sample(-1, 0)


# --- in and out --------------------------------------------------------------------------------


@given(dist=distributions())
def test_saved_loaded_and_pickled(dist, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "distribution"
    dist.save(path)
    assert FiniteDistribution.load(path).equals(dist)
    assert pickle.loads(pickle.dumps(dist)).equals(dist)


def test_clear_errors_of_save_and_load(tmp_path):
    dates = from_table(pd.DataFrame({"day": [date(2020, 1, 1), "never"]}), [0, 1])
    with pytest.raises(TypeError, match=r"labels_0 holds datetime\.date"):
        dates.save(tmp_path / "d")
    dm.Importances(("a",), [1.0], "mdi", "bits").save(tmp_path / "i")
    with pytest.raises(ValueError, match="holds a Importances, not FiniteDistribution"):
        FiniteDistribution.load(tmp_path / "i")


def test_equality_sees_every_part():
    dist = from_table([[0], [1]], [0, 1], context=[0, 1])
    assert not dist.equals("dist")
    others = [
        from_table([[0], [1]], [0, 1]),
        from_table([[0], [2]], [0, 1], context=[0, 1]),
        from_table([[0], [1]], [0, 2], context=[0, 1]),
        from_table([[0], [1]], [0, 1], context=[0, 2]),
        from_table([[0], [1]], [0, 1], context=[1, 0]),
        from_table([[0], [1]], [1, 0], context=[0, 1]),
        from_table([[0], [1]], [0, 1], context=[0, 1], names=["a"]),
        from_table([[0], [1]], [0, 1], context=[0, 1], weights=[1, 1.001]),
        from_table([[0], [1]], pd.Series([0, 1], name="Z"), context=[0, 1]),
        from_table([[0], [1]], [0, 1], context=pd.Series([0, 1], name="C")),
    ]
    assert not any(dist.equals(other) for other in others)
    assert dist.equals(others[7], atol=1e-3)
