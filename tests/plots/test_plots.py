from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from tests.grid import one_test

from duramen import Importances
from duramen.plots import by_degree, found_curves, oob_error, ranking


def example(names=None, p=30, degrees=3, **changes):
    parts = np.arange(p * degrees, 0, -1, dtype=float).reshape(p, degrees) / 100
    options = {
        "names": names or tuple(f"f{j}" for j in range(p)),
        "values": parts.sum(axis=1),
        "measure": "mdi",
        "unit": "bits",
        "by_degree": parts,
        "standard_error": np.linspace(0.3, 0.1, p),
    }
    return Importances(**{**options, **changes})


def drawn(ax):
    """The figure as SVG with text as text."""
    buffer = BytesIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        ax.figure.savefig(buffer, format="svg")
    return buffer.getvalue().decode()


def test_ranking_shows_the_best_on_top_with_error_bars():
    result = example()
    ax = ranking(result, k=5)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["f0", "f1", "f2", "f3", "f4"]
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, result.values[:5])
    low, high = ax.get_ylim()
    assert low > high
    (bars,) = (c for c in ax.collections if hasattr(c, "get_segments"))
    spans = [segment[1, 0] - segment[0, 0] for segment in bars.get_segments()]
    np.testing.assert_allclose(spans, 2 * result.standard_error[:5])
    assert ax.get_xlabel() == "importance (bits)"


def test_heat_map_shows_parts_by_degree():
    result = example(degrees=3)
    ax = by_degree(result, k=4)
    (mesh,) = ax.collections
    np.testing.assert_allclose(np.asarray(mesh.get_array()).reshape(4, 3), result.by_degree[:4])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1", "2"]
    assert ax.get_xlabel() == "interaction degree; cells in 0.001 bits"
    assert [text.get_text() for text in ax.texts[:3]] == ["900", "890", "880"]


def test_heat_map_has_as_many_columns_as_asked_for():
    result = example(p=2, degrees=14)
    (mesh,) = by_degree(result, columns=14).collections
    np.testing.assert_allclose(np.asarray(mesh.get_array()).reshape(2, 14), result.by_degree)
    ax = by_degree(result, columns=3)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1", "2+"]
    with pytest.raises(ValueError, match="columns must be an int >= 2, got 1"):
        by_degree(result, columns=1)


def test_oob_error_draws_the_curve_and_names_its_end():
    errors = np.r_[np.nan, np.linspace(0.5, 0.125, 99)]
    ax = oob_error(errors)
    line = ax.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 101))
    np.testing.assert_array_equal(line.get_ydata(), errors)
    assert ax.texts[0].get_text() == "0.125"
    assert ax.get_ylim()[0] == 0


def test_found_draws_a_line_a_setting_and_one_stands_out():
    curves = {"alpha = 0": np.linspace(0, 2, 50), "alpha = 1": np.linspace(0, 3, 50)}
    ax = found_curves(curves, best="alpha = 1")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(curves)
    for line, curve in zip(ax.lines, curves.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(50))
        np.testing.assert_array_equal(line.get_ydata(), curve)
    plain, best = ax.lines
    assert best.get_linewidth() > plain.get_linewidth()
    assert best.get_color() != plain.get_color()
    assert ax.get_ylim()[1] > 3
    assert found_curves(curves).lines[0].get_linewidth() == best.get_linewidth()


def test_found_thins_long_curves_and_keeps_their_ends():
    curve = np.sqrt(np.arange(100_001.0))
    (line,) = found_curves({"a": curve}).lines
    trees = line.get_xdata()
    assert (trees[0], trees[-1], len(trees)) == (0, 100_000, 400)
    np.testing.assert_array_equal(line.get_ydata(), curve[trees])


@pytest.mark.parametrize("plot", [ranking, by_degree])
def test_names_are_drawn_as_they_are(plot):
    names = ("$\\frac{1}$", "a$b$c", "<b>&amp;", "x\ty\n", "é β Я", "_^{}\\", "q" * 99)
    svg = drawn(plot(example(names, p=7)))
    assert "a$b$c" in svg
    assert "$\\frac{1}$" in svg
    assert "&lt;b&gt;&amp;amp;" in svg
    assert "x\\ty\\n" in svg
    assert "é β Я" in svg
    assert "q" * 99 not in svg
    assert "…" in svg


@one_test
@pytest.mark.parametrize("plot", [ranking, by_degree])
@pytest.mark.parametrize("k", [0, -1])
def test_refuses_k_below_one(plot, k):
    with pytest.raises(ValueError, match=f"k must be an int >= 1, got {k}"):
        plot(example(), k=k)


def test_refuses_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="must have by_degree, got None"):
        by_degree(example(by_degree=None))
    with pytest.raises(ValueError, match="must have a feature"):
        ranking(Importances((), [], "mdi", "bits"))
    for errors in ([], [np.nan], [[0.1]]):
        with pytest.raises(ValueError, match="one number per tree"):
            oob_error(errors)
    with pytest.raises(ValueError, match="at least one curve"):
        found_curves({})
    for curve in ([], [np.nan], [[0.1]]):
        with pytest.raises(ValueError, match="'a' is not"):
            found_curves({"a": curve})
    with pytest.raises(ValueError, match="best must be one of"):
        found_curves({"a": [0.0, 1.0]}, best="b")
