"""Arrays of numbers: ranks are exact, whatever their type, layout, size and number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.data.agree import assert_agrees, assert_same
from tests.grid import one_test

from duramen.data import encode
from duramen.data.encoding import routing_values

SMALL = st.tuples(st.integers(1, 300), st.integers(1, 5))
DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "u2", "u4", "u8", "?", ">f8", ">i4"]


def columns_of(X: np.ndarray) -> list:
    return [
        X[:, j].astype(float) + 0.0 if X.dtype.kind in "fb" else X[:, j] for j in range(X.shape[1])
    ]


@given(
    hnp.arrays(
        np.float64,
        SMALL,
        elements=st.one_of(
            st.floats(allow_infinity=False),
            st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, np.nan, 1.0, 1 + 2**-52]),
        ),
    )
)
def test_any_doubles(X: np.ndarray) -> None:
    assert_agrees(encode(X), columns_of(X))


def clumps(rng: np.random.Generator, n: int) -> np.ndarray:
    """Leading bits differ as well, so that groups must be sorted in full."""
    X = 1 + rng.integers(0, max(2, n), size=(n, 3)) * 2.0**-52
    X[: n // 3] *= -1e300
    return X


WHATS = {
    "wide": lambda rng, n: rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-300, 300, size=(n, 3)),
    "last bits": lambda rng, n: 1 + rng.integers(0, max(2, n // 3), size=(n, 3)) * 2.0**-52,
    "clumps": clumps,
    "subnormal": lambda rng, n: rng.integers(-n, n, size=(n, 3)) * 5e-324,
    "decimals": lambda rng, n: np.round(rng.normal(size=(n, 3)), 2),
    "far apart": lambda rng, n: rng.integers(-(2**53), 2**53, size=(n, 3)).astype(float),
    "sorted": lambda rng, n: np.sort(rng.normal(size=(n, 3)), axis=0),
    "falling": lambda rng, n: -np.sort(rng.normal(size=(n, 3)), axis=0),
    "constant": lambda rng, n: np.full((n, 3), 2.5),
}


@one_test
@pytest.mark.parametrize("holes", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("n", [1, 2, 72, 255, 256, 257, 300, 2500])
@pytest.mark.parametrize("what", WHATS)
def test_every_way_to_rank(what: str, n: int, holes: float) -> None:
    rng = np.random.default_rng(n)
    X = WHATS[what](rng, n)
    X[rng.random(X.shape) < holes] = np.nan
    assert_agrees(encode(X), columns_of(X))


@one_test
@pytest.mark.parametrize("n", [255, 256, 257, 65_535, 65_536, 65_537])
@pytest.mark.parametrize("missing", [False, True])
def test_widths_at_their_limits(n: int, missing: bool) -> None:
    column = np.arange(n, dtype=float)[::-1] / 4
    if missing:
        column[0] = np.nan
    assert_agrees(encode(column[:, None]), [column])


@one_test
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [40, 700])
def test_every_type_of_number(dtype: str, n: int) -> None:
    X = np.random.default_rng(1).integers(0, 100, size=(n, 4)).astype(dtype)
    expected = encode(X.astype(float))
    assert_same(encode(X), expected)
    assert encode(X).fingerprint() == expected.fingerprint()


@pytest.mark.parametrize("n", [3, 300])
def test_integers_keep_exact_ranks_up_to_2_to_the_53(n: int) -> None:
    column = 2**53 - np.arange(n, dtype=np.int64)
    column[0] = -(2**53)
    assert_agrees(encode(column[:, None]), [column])


@one_test
@pytest.mark.parametrize("n", [3, 300])
@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)])
def test_integers_beyond_are_refused_unless_they_are_categories(n: int, value: int) -> None:
    X = np.zeros((n, 2), dtype=np.int64)
    X[0, 1], X[1, 1] = value, value - np.sign(value)
    with pytest.raises(ValueError, match=r"encode: column 'b' holds integers beyond 2\*\*53"):
        encode(X, names=["a", "b"])
    table = encode(X, kinds={1: "nominal"})
    assert_agrees(table, [X[:, 0], X[:, 1]])
    routed = routing_values(table, X)
    np.testing.assert_array_equal(routed[:, 1], table.codes(1))


@one_test
@pytest.mark.parametrize("n", [3, 300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sign", [1, -1])
def test_infinities_name_the_first_column(n: int, dtype: type, sign: int) -> None:
    X = np.random.default_rng(0).normal(size=(n, 200)).astype(dtype)
    X[2, 190] = X[1, 140] = sign * np.inf
    for n_jobs in (1, 4):
        with pytest.raises(ValueError, match=r"encode: column 'x140' contains infinity"):
            encode(X, n_jobs=n_jobs)


@one_test
@pytest.mark.parametrize("shape", [(1, 1), (72, 1000), (300, 257), (5000, 9)])
def test_threads_never_change_a_bit(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=shape)
    X[:, ::3] = np.round(X[:, ::3])
    X[:, ::5][X[:, ::5] > 1] = np.nan
    table = encode(X, n_jobs=1)
    for n_jobs in (2, 4, -1):
        assert_same(encode(X, n_jobs=n_jobs), table)


@pytest.mark.parametrize("n", [60, 400])
def test_layout_does_not_matter(n: int) -> None:
    X = np.random.default_rng(3).normal(size=(n, 150))
    expected = encode(X)
    wide, tall = np.repeat(X, 2, axis=1), np.repeat(X, 2, axis=0)
    packed = np.zeros(n, dtype=[("pad", "u1"), ("x", "f8", 150)])
    packed["x"] = X
    backwards = X[::-1, ::-1].copy()[::-1, ::-1]
    for layout in (np.asfortranarray(X), wide[:, ::2], tall[::2], packed["x"], backwards):
        layout.flags.writeable = False
        assert_same(encode(layout), expected)
        np.testing.assert_array_equal(routing_values(expected, layout), X)


@one_test
@pytest.mark.parametrize("make_sparse", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix])
def test_sparse_is_as_dense(make_sparse: type) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 12)) * (rng.random((50, 12)) < 0.3)
    X[3, 4] = np.nan
    table = encode(make_sparse(X))
    assert_same(table, encode(X))
    np.testing.assert_array_equal(routing_values(table, make_sparse(X)), X)


def test_sparse_with_repeated_entries_and_no_entries() -> None:
    X = sp.coo_array(([1.0, 2.0, -3.0], ([0, 0, 0], [1, 1, 1])), shape=(3, 3))
    assert_agrees(encode(X), [[0.0] * 3] * 3)


def test_columns_survive_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duramen.data.encoding._PENDING_BYTES", 1000)
    X = np.random.default_rng(5).normal(size=(30, 25))
    assert_same(encode(sp.csc_array(X)), encode(X))
    X[0, 17] = np.inf
    with pytest.raises(ValueError, match="column 'x17' contains infinity"):
        encode(sp.csc_array(X))
