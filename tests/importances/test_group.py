import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grid import one_test

from duramen import Importances
from duramen.importances import group


def example(**changes):
    fields = {
        "names": ("a", "b", "c", "d", "e"),
        "values": [5.0, 1.0, 3.0, -1.0, 2.0],
        "measure": "mdi",
        "unit": "bits",
        "by_degree": [[4.0, 1.0], [0.0, 1.0], [3.0, 0.0], [-1.0, 0.0], [1.0, 1.0]],
        "by_class": [[5.0, 5.0], [2.0, 0.0], [0.0, 6.0], [-1.0, -1.0], [1.0, 3.0]],
        "classes": ("no", "yes"),
        "standard_error": [0.1, 0.2, 0.3, 0.4, 0.5],
        "metadata": {"seed": 3},
    }
    return Importances(**{**fields, **changes})


REGIONS = {"left": ["a", "d"], "right": ["b", "c", "e"]}


@one_test
@pytest.mark.parametrize(
    "how, values, degrees, classes",
    [
        ("sum", [4.0, 6.0], [[3.0, 1.0], [4.0, 2.0]], [[4.0, 4.0], [3.0, 9.0]]),
        ("mean", [2.0, 2.0], [[1.5, 0.5], [4 / 3, 2 / 3]], [[2.0, 2.0], [1.0, 3.0]]),
        ("max", [5.0, 3.0], [[4.0, 1.0], [3.0, 0.0]], [[5.0, 5.0], [0.0, 6.0]]),
    ],
)
def test_known_answers(how, values, degrees, classes):
    result = group(example(), REGIONS, how=how)
    assert result.names == ("left", "right")
    np.testing.assert_allclose(result.values, values, rtol=1e-15)
    np.testing.assert_allclose(result.by_degree, degrees, rtol=1e-15)
    np.testing.assert_allclose(result.by_class, classes, rtol=1e-15)
    np.testing.assert_allclose(result.by_degree.sum(axis=1), result.values)
    assert result.standard_error is None
    assert (result.unit, result.classes) == ("bits", ("no", "yes"))


def test_indices_serve_as_well_as_names_and_groups_may_overlap():
    result = group(example(), {"one": [0, np.int64(3)], "two": ("d", 4)})
    assert dict(result) == {"one": 4.0, "two": 1.0}


@one_test
@pytest.mark.parametrize(
    "labels",
    [
        ["left", "right", "right", "left", "right"],
        np.array(["left", "right", "right", "left", "right"]),
        np.array(["left", "right", "right", "left", "right"], dtype=object),
    ],
)
def test_labels_serve_as_well_as_a_mapping(labels):
    assert group(example(), labels).equals(group(example(), REGIONS))


def test_labels_that_are_numbers_name_themselves_or_places_among_names():
    assert group(example(), np.array([7, 2, 2, 7, 2])).names == ("7", "2")
    named = group(example(), [np.int8(1), 0, 0, 1, 0], names=["right", "left", "unused"])
    assert named.equals(group(example(), REGIONS))


@pytest.mark.parametrize("nothing", [None, np.nan])
def test_features_in_no_group(nothing):
    labels = ["left", nothing, "right", "left", nothing]
    assert dict(group(example(), labels)) == {"left": 4.0, "right": 3.0}
    own = group(example(), labels, rest="own")
    assert dict(own) == {"left": 4.0, "right": 3.0, "b": 1.0, "e": 2.0}
    assert own.metadata["group"]["left_out"] == 0
    assert group(example(), np.array([1.0, np.nan, 0, 1, 0])).names == ("1", "0")


def test_the_first_of_equal_features_gives_the_row_of_the_maximum():
    tied = example(values=[1.0] * 5, by_class=np.arange(10.0).reshape(5, 2))
    best = group(tied, {"late": ["e", "c"], "early": ["b", "a"]}, how="max")
    assert best.by_class.tolist() == [[4.0, 5.0], [0.0, 1.0]]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.floats(-1e3, 1e3)), min_size=1, max_size=40),
    st.sampled_from(["sum", "mean", "max"]),
)
def test_against_a_loop(pairs, how):
    labels = [str(label) for label, _ in pairs]
    values = [value for _, value in pairs]
    result = group(
        Importances(tuple(map(str, range(len(pairs)))), values, "m", "1"), labels, how=how
    )
    for name, value in result:
        own = [value for label, value in zip(labels, values, strict=True) if label == name]
        expected = {"sum": sum(own), "mean": sum(own) / len(own), "max": max(own)}[how]
        assert value == pytest.approx(expected, abs=1e-9)
    if how == "sum":
        assert result.values.sum() == pytest.approx(sum(values), abs=1e-9)


@one_test
@pytest.mark.parametrize(
    "groups, options, error, message",
    [
        ({"x": ["a", "zz"]}, {}, ValueError, r"feature_groups\['x'\] holds 'zz', which is none"),
        ({"x": ["a", 0]}, {}, ValueError, r"feature_groups\['x'\] must hold each feature once"),
        ({"x": []}, {}, ValueError, r"feature_groups\['x'\] must hold a feature"),
        ({"x": [True]}, {}, TypeError, "must hold names or indices of features, got True"),
        ({1: ["a"]}, {}, TypeError, "names of groups must be strings, got 1"),
        ({}, {}, ValueError, "feature_groups must hold at least one group"),
        (["x"] * 4, {}, ValueError, r"of shape \(5,\), or .*, got shape \(4,\)"),
        ([0.5] * 5, {}, TypeError, "must hold text or whole numbers, got 0.5"),
        ([0, 1, 2, 1, 0], {"names": ["x", "y"]}, ValueError, "numbers from 0 to 1, got 2"),
        ({"b": ["a"]}, {"rest": "own"}, ValueError, "features in none must be different, 'b'"),
    ],
)
def test_clear_errors(groups, options, error, message):
    with pytest.raises(error, match=f"group: .*{message}"):
        group(example(), groups, **options)
