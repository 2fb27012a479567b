"""Plots of local importances: bars that join start and end, points of each feature, clusters."""

import numpy as np
import pytest

import duramen as dm
from duramen.importances import LocalImportances
from duramen.plots import beeswarm, waterfall
from duramen.plots.local import swarm


def local(n=30):
    random = np.random.default_rng(0)
    values = random.normal(size=(n, 4)) * [3.0, 0.0, 2.0, 1.0]
    return LocalImportances(
        ("a", "b", "c", "d"), values, "local mdi", "bits", np.full(n, 1 / n), np.full(n, -1.0)
    )


def tick_names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_bars_of_a_waterfall_join_start_and_end():
    result = local()
    ax = waterfall(result, 4, k=2)
    values = result.row(4).values
    order = np.argsort(-np.abs(values))
    assert tick_names(ax) == [result.names[order[0]], result.names[order[1]], "1 other feature"]
    edge = -1.0
    for bar, step in zip(ax.patches, [*values[order[:2]], values[order[2]]], strict=True):
        assert (bar.get_x(), bar.get_width()) == pytest.approx((edge, step))
        edge += step
    assert edge == pytest.approx(result.end[4])
    assert [line.get_xdata()[0] for line in ax.lines[1:]] == pytest.approx([-1.0, edge])
    right = max(bar.get_x() + max(0.0, bar.get_width()) for bar in ax.patches)
    assert len({text.get_position()[0] for text in ax.texts}) == 1  # a column beside the bars
    assert ax.texts[0].get_position()[0] > right
    with pytest.raises(ValueError, match="row must be"):
        waterfall(result, 30)


def test_a_row_of_zeros_has_a_waterfall():
    result = LocalImportances(("a",), [[0.0]], "local mdi", "bits", [1.0], [0.0])
    assert [bar.get_width() for bar in waterfall(result).patches] == [0.0]


def test_points_of_a_swarm():
    result = local()
    ax = beeswarm(result, k=3)
    assert tick_names(ax) == ["a", "c", "d"]
    points = ax.collections[0].get_offsets()
    np.testing.assert_allclose(points[:, 0], result.values[:, 0])
    assert np.abs(points[:, 1]).max() < 0.5
    X = np.arange(120.0).reshape(30, 4)
    X[3, 0] = np.nan
    colored = beeswarm(result, X=X).collections[0].get_array()
    assert np.isnan(np.ma.filled(colored, np.nan)[3])
    assert (colored[0], colored[29]) == (-1.0, 1.0)
    with pytest.raises(ValueError, match=r"X must have the shape \(30, 4\)"):
        beeswarm(result, X=X[:, :2])
    with pytest.raises(ValueError, match="k must be"):
        beeswarm(result, k=0)


def test_equal_values_of_a_swarm_lie_apart():
    heights = swarm(np.zeros(5))
    assert sorted(heights) == pytest.approx([-0.8, -0.4, 0.0, 0.4, 0.8])
    assert swarm(np.array([0.0, 1.0])).tolist() == [0.0, 0.0]


def test_sparse_results_are_drawn_alike():
    from scipy.sparse import csr_array

    dense = local()
    parts = {**{name: getattr(dense, name) for name in ("names", "measure", "unit", "weights")}}
    sparse = LocalImportances(values=csr_array(dense.values), start=dense.start, **parts)
    for draw in (waterfall, beeswarm):
        assert tick_names(draw(sparse)) == tick_names(draw(dense))
    assert dm.plots.beeswarm(sparse).get_xlabel() == "local mdi (bits)"
