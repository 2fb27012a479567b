"""Behavior common to all results: comparison, files, pickles."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.grid import one_test
from tests.results.test_adjusted_significance import result as adjusted_significance
from tests.results.test_error_rates import example as error_rates
from tests.results.test_importances import example as importances
from tests.results.test_intervals import example as intervals
from tests.results.test_significance import example as significance

from duramen.results.result import Result
from duramen.results.summary import Summary


class Plain(Result):
    def columns(self) -> dict[str, Any]:
        return {}

    def _summary(self, rows: int) -> Summary:
        return Summary((type(self).__name__,))


@dataclass(frozen=True, eq=False)
class Inner(Plain):
    values: Any
    label: str = "a"


@dataclass(frozen=True, eq=False)
class Outer(Plain):
    names: tuple[str, ...]
    number: float
    count: int | None
    table: Any
    inner: Inner | None = None
    by_name: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", MappingProxyType(dict(self.by_name)))


numbers = st.one_of(st.floats(), st.just(np.inf), st.just(np.nan))
tables = arrays(np.float64, st.tuples(st.integers(0, 3), st.integers(0, 2)), elements=st.floats())
columns = arrays(np.int64, st.integers(0, 4), elements=st.integers(-(2**60), 2**60))
words = st.text(max_size=5)
outers = st.builds(
    Outer,
    names=st.lists(words, max_size=3).map(tuple),
    number=numbers,
    count=st.none() | st.integers(),
    table=tables,
    inner=st.none() | st.builds(Inner, columns, words),
    by_name=st.dictionaries(
        words,
        st.one_of(columns, st.builds(Inner, tables, words), st.lists(words, max_size=2).map(tuple)),
        max_size=3,
    ),
    metadata=st.dictionaries(words, st.lists(st.integers(), max_size=2), max_size=2),
)


@given(original=outers)
def test_files_and_pickles_give_back_the_same(original, tmp_path_factory):
    file = tmp_path_factory.mktemp("r") / "one.npz"
    original.save(file)
    for again in (
        Outer.load(file),
        Outer.from_arrays(original.to_arrays()),
        pickle.loads(pickle.dumps(original)),
    ):
        assert again.equals(original)
        assert original.equals(again)
        assert again.names == original.names
        assert again.metadata == original.metadata
        assert again.table.dtype == original.table.dtype
        assert type(again.inner) is type(original.inner)
        assert list(again.by_name) == list(original.by_name)


BASE = Outer(
    names=("a", "b"),
    number=1.0,
    count=3,
    table=np.array([[0.0, np.nan]]),
    inner=Inner(np.arange(3)),
    by_name={"u/v": np.arange(2), "u": Inner(np.ones(1)), "": np.zeros(1)},
    metadata={"seed": 1},
)


@one_test
@pytest.mark.parametrize(
    "change",
    [
        {"names": ("a", "c")},
        {"number": 1.5},
        {"number": np.nan},
        {"count": None},
        {"table": np.array([[0.0, 1.0]])},
        {"table": np.array([[0.0], [np.nan]])},
        {"table": None},
        {"inner": None},
        {"inner": Inner(np.arange(3), "b")},
        {"inner": Inner(np.arange(1, 4))},
        {"by_name": {}},
        {"by_name": dict(reversed(BASE.by_name.items()))},
        {"by_name": {**BASE.by_name, "u": Inner(np.zeros(1))}},
    ],
)
def test_whatever_differs_is_seen(change):
    other = replace(BASE, **change)
    assert not BASE.equals(other)
    assert not other.equals(BASE)


def test_what_is_no_difference():
    assert BASE.equals(replace(BASE, metadata={}))
    assert BASE.equals(replace(BASE, number=1.0 + 1e-9), rtol=1e-6)
    assert BASE.equals(replace(BASE, inner=Inner(np.arange(3) + 1e-9)), atol=1e-6)
    assert not BASE.equals(replace(BASE, number=1.0 + 1e-9))
    assert not BASE.equals(BASE.inner)
    assert not BASE.equals("a")


@one_test
@pytest.mark.parametrize(
    "example",
    [importances, significance, adjusted_significance, error_rates, intervals],
)
def test_results_of_features_survive_files_and_pickles(example, tmp_path):
    for result in (example(), example().top(2), example().top(0)):
        result.save(tmp_path / "result")
        again = type(result).load(tmp_path / "result")
        for back in (again, pickle.loads(pickle.dumps(result))):
            assert back.equals(result)
            assert dict(back.metadata) == dict(result.metadata)
            assert str(back.to_frame()) == str(result.to_frame())
    assert [entry.name for entry in tmp_path.iterdir()] == ["result"]
    assert example().equals(example(metadata={}))
    with pytest.raises(AttributeError):
        example().names = ("another",)
    for array in (part for part in vars(example()).values() if isinstance(part, np.ndarray)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5
