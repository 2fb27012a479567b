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
    assert result.metadata["smooth"] == {
        "of": "mda",
        "how": "mean",
        "by": "neighbors",
        "radius": None,
    }


def test_sharing_out_keeps_the_sum():
    # v0 gives half to v1; v2 a third each to v1 and v3
    result = smooth(line(), CHAIN, how="distribute")
    np.testing.assert_allclose(result.values, [4.0, 4 + 4 / 3, 4 / 3, 4 / 3], rtol=1e-15)
    random = np.random.default_rng(0)
    values = random.normal(size=50)
    weights = sparse.csr_array(random.random((50, 50)) * (random.random((50, 50)) < 0.1))
    smoothed = smooth(line(values), weights, how="distribute").values
    assert smoothed.sum() == pytest.approx(values.sum())


@one_test
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize("how", ["mean", "distribute"])
def test_positions_and_neighbours_agree(container, how):
    places = np.arange(4.0)[:, np.newaxis]
    expected = smooth(line(), container(CHAIN), how=how)
    assert smooth(line(), positions=places, radius=1, how=how).equals(expected)
    assert not smooth(line(), positions=places, radius=2, how=how).equals(expected)


def test_against_a_loop_in_three_dimensions():
    random = np.random.default_rng(1)
    places, values = random.integers(0, 4, size=(80, 3)), random.normal(size=80)
    result = smooth(line(values), positions=places, radius=1.5)
    for j, place in enumerate(places):
        near = np.linalg.norm(places - place, axis=1) <= 1.5
        assert result.values[j] == pytest.approx(values[near].mean())


@pytest.mark.parametrize("how", ["mean", "distribute"])
def test_without_neighbours_nothing_changes(how):
    options = line((0.1, 0.2, 0.3, 0.7))
    nothing = sparse.csr_array((4, 4))
    assert smooth(options, nothing, how=how).values.tolist() == options.values.tolist()
    apart = smooth(options, positions=np.arange(4.0)[:, np.newaxis], radius=0, how=how)
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
        (None, {}, "either neighbors or positions must be given"),
        (CHAIN, {"positions": np.zeros((4, 1)), "radius": 1}, "and not both"),
        (None, {"positions": np.zeros((4, 1))}, "radius must be given with positions"),
        (CHAIN, {"radius": 1.0}, "radius must be given with positions, and only then"),
        (np.eye(3), {}, r"neighbors must have shape \(4, 4\), .* got \(3, 3\)"),
        (-CHAIN, {}, "finite and at least 0"),
        (CHAIN * np.nan, {}, "finite and at least 0"),
        (None, {"positions": np.zeros((3, 1)), "radius": 1}, r"of shape \(4, d\)"),
        (None, {"positions": np.zeros(4), "radius": 1}, r"of shape \(4, d\)"),
        (None, {"positions": np.full((4, 1), np.nan), "radius": 1}, "positions must be finite"),
        (None, {"positions": np.zeros((4, 1)), "radius": -1}, "radius must be finite and at least"),
        (None, {"positions": np.zeros((4, 1)), "radius": np.inf}, "radius must be finite"),
        (CHAIN, {"how": "max"}, 'how must be "mean" or "distribute", got \'max\''),
    ],
)
def test_clear_errors(neighbors, options, message):
    with pytest.raises(ValueError, match=f"smooth: .*{message}"):
        smooth(line(), neighbors, **options)


def test_too_many_pairs_are_refused_before_they_are_listed(leave_memory):
    leave_memory(100)
    with pytest.raises(MemoryError, match=r"smoothing over 6 pairs .* give a smaller radius"):
        smooth(line(), positions=np.zeros((4, 2)), radius=1)
