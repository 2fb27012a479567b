import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from tests.grid import one_test
from tests.plots.test_plots import drawn

from duramen import ContextImportances, ContextNetwork
from duramen.plots import context_effects, context_links
from duramen.plots.canvas import ACCENT, AGAINST

P_VALUES = np.array([[0.001, 0.2, 0.9], [0.6, 0.002, 0.03]])


def result(names=("a", "b", "c"), contexts=("day", "night"), p=P_VALUES, **changes):
    shape = (len(contexts), len(names))
    absolute = 0.1 * (1 + np.arange(np.prod(shape)).reshape(shape))
    sign = np.where(np.indices(shape).sum(axis=0) % 2, -1.0, 0.5)
    options = {
        "names": names,
        "contexts": contexts,
        "fractions": np.full(len(contexts), 1 / len(contexts)),
        "importances": np.linspace(0.9, 0.5, len(names)),
        "absolute": absolute,
        "signed": sign * absolute,
        "conditional": np.ones(shape),
        "overall": np.zeros(len(names)),
        "relevance": 0.3,
        "absolute_p_values": p,
        "context_name": "time",
        "tolerance": 0.05,
    }
    return ContextImportances(**{**options, **changes})


def network(names=("a", "b", "c", "d"), targets=None, contexts=("day", "night"), **changes):
    random = np.random.default_rng(0)
    analyses = {}
    for target in targets or names:
        sources = tuple(name for name in names if name != target)
        shape = (len(contexts), len(sources))
        p = {
            "p": random.uniform(size=shape),
            "plain": random.normal(size=shape),
            "plain_p_values": random.uniform(size=shape),
            "signed": random.normal(size=shape),
        }
        p["absolute"] = np.abs(p["signed"]) + 0.1
        analyses[target] = result(sources, contexts, **{**p, **changes})
    return ContextNetwork.of(tuple(names), analyses)


def panel_bars(ax):
    return [(bar.get_width(), bar.get_facecolor()) for bar in ax.patches]


def dots(ax):
    """Places and fillings of the dots, by the row that they are in."""
    results = {}
    for line in ax.lines:
        if line.get_marker() == "o":
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True):
                results[round(y)] = (x, line.get_markerfacecolor() != "none")
    return results


def cells(ax):
    """The cells that are drawn in color, as (row, column): value."""
    mesh = next(c for c in ax.collections if c.get_array() is not None)
    places = [tuple(np.floor(path.vertices.min(axis=0)).astype(int)) for path in mesh.get_paths()]
    values = np.asarray(mesh.get_array()).tolist()
    return {(row, column): v for (column, row), v in zip(places, values, strict=True)}


# --- effects -------------------------------------------------------------------------------------


def test_all_contexts_have_the_same_features_and_scale():
    contextual = result()
    day, night = (context_effects(contextual, value) for value in contextual.contexts)
    assert [text.get_text() for text in day.get_yticklabels()] == ["a", "b", "c"]
    assert day.get_xlim() == night.get_xlim()
    assert day.get_ylim()[0] > day.get_ylim()[1]
    assert day.get_xlabel() == "less important here  <  0  <  more important here (bits)"
    for ax, c in ((day, 0), (night, 1)):
        order = contextual.order()
        more = -contextual.signed[c, order]  # the signed effect is that on all rows less that here
        np.testing.assert_allclose([w for w, _ in panel_bars(ax)], more)
        reach = np.sign(more) * contextual.absolute[c, order]
        np.testing.assert_allclose([dots(ax)[i][0] for i in range(3)], reach)
        (ticks,) = (line for line in ax.lines if line.get_marker() == "|")
        np.testing.assert_allclose(ticks.get_xdata(), contextual.importances[order])
        low, high = ax.get_xlim()
        assert low < -contextual.absolute[contextual.signed > 0].max()
        most = contextual.absolute[contextual.signed < 0].max()
        assert max(most, contextual.importances.max()) < high


def test_sign_and_significance_are_marked():
    contextual = result()
    night = context_effects(contextual, "night", control="none")
    names = [contextual.names[j] for j in contextual.order()]
    assert {name: dots(night)[i][1] for i, name in enumerate(names)} == {
        **{"a": False, "b": True, "c": True}
    }
    for (width, color), name in zip(panel_bars(night), names, strict=True):
        alpha = 0.85 if name != "a" else 0.25
        assert color == pytest.approx(to_rgba(AGAINST if width > 0 else ACCENT, alpha))
    night = context_effects(contextual, "night", control="fwer")
    assert [dots(night)[i][1] for i in range(3)] == [name == "b" for name in names]
    assert not any(full for _, full in dots(context_effects(contextual, alpha=0)).values())


@one_test
@pytest.mark.parametrize(
    "words, message",
    [
        ({"k": 0}, "k must be an int >= 1, got 0"),
        ({"context": "noon"}, "context must be one of 'day', 'night', got 'noon'"),
        ({"control": "bh"}, "control"),
    ],
)
def test_effects_refuse(words, message):
    with pytest.raises(ValueError, match=message):
        context_effects(result(), **words)


# --- links ---------------------------------------------------------------------------------------


def test_cells_are_the_significant_links_target_by_source():
    net = network()
    day, night = (context_links(net, v, alpha=0.4, control="none") for v in net.contexts)
    for ax, value in zip((day, night), net.contexts, strict=True):
        expected = {
            (net.names.index(target), net.names.index(source)): analysis.signed[c, j]
            for target, analysis in net.analyses.items()
            for j, source in enumerate(analysis.names)
            for c in [net.contexts.index(value)]
            if analysis.absolute_p_values[c, j] <= 0.4
        }
        assert expected
        actual = cells(ax)
        assert actual.keys() == expected.keys()
        for cell, amount in expected.items():
            assert actual[cell] == pytest.approx(amount)
    assert [text.get_text() for text in night.get_xticklabels()] == list(net.names)
    assert [text.get_text() for text in day.get_yticklabels()] == list(net.names)
    assert day.get_ylim() == (4, 0)
    assert (day.get_xlabel(), day.get_ylabel()) == ("source", "target")


def test_plain_effects_have_colors_of_their_own():
    net = network()
    ax = context_links(net, effect="plain", alpha=0.4, control="none")
    mask = net.mask("plain", "day", 0.4, "none").T
    plain = net.in_context("day", "plain").weights.T
    expected = {(i, j): plain[i, j] for i, j in np.argwhere(mask).tolist()}
    assert cells(ax) == pytest.approx(expected)
    most = max(map(abs, expected.values()))
    assert ax.collections[0].get_clim() == (-most, most)
    assert context_links(net, limit=9.0).collections[0].get_clim() == (-9, 9)


def test_a_variable_and_itself_is_grey_and_targets_can_be_few():
    net = network(targets=["b", "d"])
    ax = context_links(net, "day", alpha=1.0, control="none")
    own = next(c for c in ax.collections if c.get_array() is None)
    assert isinstance(own, PolyCollection)
    places = [tuple(path.vertices.min(axis=0)) for path in own.get_paths()]
    assert places == [(1, 0), (3, 1)]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["b", "d"]
    assert len(cells(ax)) == 6


def test_hostile_names_are_drawn_as_they_are():
    names = ("$x$", "a\nb", "<script>", "z" * 90)
    page = drawn(context_links(network(names), control="none"))
    assert "$x$" in page
    assert "<script>" not in page
    page = drawn(context_effects(result(names[:3], ("$u$", "<b>"))))
    assert "$x$" in page
    assert "<script>" not in page


@one_test
@pytest.mark.parametrize(
    "words, message",
    [
        ({"effect": "overall"}, "got 'overall'"),
        ({"effect": "signed"}, "no p-values of the effect 'signed'"),
        ({"context": "noon"}, "got 'noon'"),
        ({"control": "bh"}, "control must be"),
    ],
)
def test_links_refuse(words, message):
    with pytest.raises(ValueError, match=message):
        context_links(network(), **words)


def test_without_p_values_the_tolerance_decides():
    contextual = result(absolute_p_values=None, tolerance=0.3)
    day = context_effects(contextual, "day")
    names = [contextual.names[j] for j in contextual.order()]
    full = {name for i, name in enumerate(names) if dots(day)[i][1]}
    assert full == {
        name for j, name in enumerate(contextual.names) if contextual.absolute[0, j] > 0.3 * 0.9
    }
