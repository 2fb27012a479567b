import numpy as np
import pytest
from scipy import sparse
from tests.grid import one_test

from duramen import Importances
from duramen.importances import smooth


def line(values=(8.0, 0.0, 4.0, 0.0), **changes):
    """Features on a line, one unit apart."""
    names = tuple(f"v{j}" for j in range(len(values)))
    return Importances(names, values, "mda", "1", **changes)


CHAIN = np.eye(4, k=1) + np.eye(4, k=-1)


def test_mean_over_neighbours():
    result = smooth(line(), CHAIN)
    np.testing.assert_allclose(result.values, [4.0, 4.0, 4 / 3, 2.0], rtol=1e-15)
    assert result.measure == "smoothed mda"
    assert result.unit == "1"
    assert result.metadata["smooth"] == {"of": "mda", "by": "neighbors", "radius": None}


@one_test
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_positions_and_neighbours_agree(container):
    places = np.arange(4.0)[:, np.newaxis]
    expected = smooth(line(), container(CHAIN))
    assert smooth(line(), positions=places, radius=1).equals(expected)
    assert not smooth(line(), positions=places, radius=2).equals(expected)


def test_against_a_loop_in_three_dimensions():
    random = np.random.default_rng(1)
    places, values = random.integers(0, 4, size=(80, 3)), random.normal(size=80)
    result = smooth(line(values), positions=places, radius=1.5)
    for j, place in enumerate(places):
        near = np.linalg.norm(places - place, axis=1) <= 1.5
        assert result.values[j] == pytest.approx(values[near].mean())


def test_without_neighbours_nothing_changes():
    options = line((0.1, 0.2, 0.3, 0.7))
    nothing = sparse.csr_array((4, 4))
    assert smooth(options, nothing).values.tolist() == options.values.tolist()
    apart = smooth(options, positions=np.arange(4.0)[:, np.newaxis], radius=0)
    assert apart.values.tolist() == options.values.tolist()


def test_weights_count_and_so_does_the_diagonal():
    weights = np.array([[0.0, 3.0], [1.0, 3.0]])  # v0 weighs itself 1 by default
    np.testing.assert_allclose(smooth(line((4.0, 8.0)), weights).values, [7.0, 7.0])


def test_parts_are_smoothed_and_standard_errors_are_not():
    parts = np.array([[8.0, 0.0], [0.0, 0.0], [1.0, 3.0], [0.0, 0.0]])
    options = line(
        by_degree=parts, by_class=parts[:, ::-1], classes=("a", "b"), standard_error=np.ones(4)
    )
    result = smooth(options, CHAIN)
    np.testing.assert_allclose(result.by_degree.sum(axis=1), result.values)
    np.testing.assert_allclose(result.by_class, result.by_degree[:, ::-1])
    assert result.standard_error is None


@one_test
@pytest.mark.parametrize(
    "neighbors, options, message",
    [
        (None, {}, "either neighbors, or positions"),
        (CHAIN, {"positions": np.zeros((4, 1)), "radius": 1}, "either neighbors, or positions"),
        (np.eye(3), {}, r"neighbors must be weights of shape \(4, 4\), .* got shape \(3, 3\)"),
        (-CHAIN, {}, "finite and at least 0"),
        (None, {"positions": np.zeros((3, 1)), "radius": 1}, r"of shape \(4, d\)"),
        (None, {"positions": np.full((4, 1), np.nan), "radius": 1}, "positions must be finite"),
        (None, {"positions": np.zeros((4, 1)), "radius": -1}, "radius must be finite and at least"),
    ],
)
def test_clear_errors(neighbors, options, message):
    with pytest.raises(ValueError, match=f"smooth: .*{message}"):
        smooth(line(), neighbors, **options)


def test_too_many_pairs_are_refused_before_they_are_listed(leave_memory):
    leave_memory(100)
    with pytest.raises(MemoryError, match=r"smoothing over 6 pairs .* give a smaller radius"):
        smooth(line(), positions=np.zeros((4, 2)), radius=1)
