"""Networks as graphs, and curves of their scores."""

import numpy as np
import pytest

import duramen as dm


def made(p=6, **options):
    weights = np.random.default_rng(0).random((p, p))
    np.fill_diagonal(weights, 0)
    return dm.Network(tuple(f"g{i}" for i in range(p)), weights, **options)


def arrows(ax):
    return [text for text in ax.texts if text.arrow_patch is not None]


def test_graph_has_an_arrow_for_each_link_and_the_names_of_its_ends():
    network = made()
    ax = network.plot(n=4)
    assert len(arrows(ax)) == 4
    ends = {name for source, target, _ in network.top(4) for name in (source, target)}
    assert {text.get_text() for text in ax.texts} - {""} == ends
    widths = [arrow.arrow_patch.get_linewidth() for arrow in arrows(ax)]
    assert widths == sorted(widths, reverse=True)


def test_graph_on_positions_has_all_variables_there():
    positions = np.random.default_rng(1).random((6, 2))
    ax = dm.plots.network_graph(made(), n=2, positions=positions)
    assert np.allclose(ax.lines[0].get_xydata(), positions)
    with pytest.raises(ValueError, match=r"positions must be finite, of shape \(6, 2\)"):
        dm.plots.network_graph(made(), positions=positions[:3])
    with pytest.raises(ValueError, match="n must be"):
        dm.plots.network_graph(made(), n=0)


def test_curves_hold_the_points_of_the_scores():
    scores = made().score([("g0", "g1"), ("g2", "g4"), ("g5", "g0")])
    ax = scores.plot()
    assert np.allclose(ax.lines[0].get_xydata(), np.column_stack([scores.recall, scores.precision]))
    both = dm.plots.precision_recall({"one": scores, "two $": scores})
    labels = [text.get_text() for text in both.get_legend().get_texts()]
    assert labels[0].startswith("one: AUPR")
    assert labels[1].startswith(r"two \$: AUPR")
    with pytest.raises(ValueError, match="at least"):
        dm.plots.precision_recall({})
