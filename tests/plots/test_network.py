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


def drawn_boxes(ax):
    """Corners of the names, rotated with the text."""
    ax.get_figure().draw_without_rendering()
    for text in ax.texts:
        if not text.get_text():
            continue
        turned = text.get_rotation()
        text.set_rotation(0)
        flat = text.get_window_extent()
        text.set_rotation(turned)
        anchor = text.get_transform().transform(text.get_position())
        corners = np.array([(x, y) for x in (flat.x0, flat.x1) for y in (flat.y0 + 1, flat.y1 - 1)])
        c, s = np.cos(np.radians(turned)), np.sin(np.radians(turned))
        yield (corners - anchor) @ [[c, s], [-s, c]] + anchor


def overlaps(ax):
    """Number of pairs of names whose boxes no line separates."""
    angles = np.linspace(0, np.pi, 181)
    along = np.array(list(drawn_boxes(ax))) @ [np.cos(angles), np.sin(angles)]
    low, high = along.min(axis=1), along.max(axis=1)
    apart = (high[:, None] < low).any(axis=2)
    return np.count_nonzero(np.triu(~(apart | apart.T), 1))


@pytest.mark.slow
@pytest.mark.parametrize("p", [3, 12, 40])
def test_names_do_not_overlap(p):
    weights = np.random.default_rng(2).random((p, p))
    np.fill_diagonal(weights, 0)
    network = dm.Network(tuple(f"regulator of gene {i:03}" for i in range(p)), weights)
    assert not overlaps(dm.plots.network_graph(network, n=p * (p - 1)))
    crowded = np.random.default_rng(3).normal(size=(p, 2)) * [1.0, 0.1]
    ax = dm.plots.network_graph(network, positions=crowded)
    assert not overlaps(ax)
    assert sum(bool(text.get_text()) for text in ax.texts) >= 2
