"""Figures on axes that are written as SVG: places, ticks and texts beside those of matplotlib."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import duramen as dm
from duramen.plots import against_target, by_degree, effect, found_curves, oob_error, p_values
from duramen.plots.effects import AGAINST_TARGET
from duramen.plots.svg import SvgAxes

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(50, 10, 40)
CLASSES = np.where(X > 50, "tumor", "normal")
PLACES = np.resize(["here", "there", "elsewhere"], 40)
TIMES = np.array([*zip(PLACES != "here", X, strict=True)], [("event", "?"), ("time", "f8")])


def elements(axes):
    """The elements of a figure, which must be well-formed."""
    return ElementTree.fromstring(f"<svg>{axes.drawn()}</svg>")


def texts(axes):
    return [element.text for element in elements(axes).iter("text")]


def numbers(root, tag, attribute):
    return np.array([float(element.get(attribute)) for element in root.iter(tag)])


def scaled(axes, x, y):
    """Where the axes put points, by the box that clips what is drawn and the limits."""
    box = next(elements(axes).iter("clipPath"))[0]
    left, top, width, height = (float(box.get(name)) for name in ("x", "y", "width", "height"))
    (x0, x1), (y0, y1) = (axes._scales[axis].ends() for axis in "xy")
    return left + (x - x0) / (x1 - x0) * width, top + height - (y - y0) / (y1 - y0) * height


@pytest.fixture(scope="module")
def forest():
    return dm.RandomForestClassifier(10, random_state=0).fit(np.c_[X, X[::-1]], CLASSES)


DRAWN = {
    "numbers by class": lambda ax: against_target(X, CLASSES, ax=ax),
    "numbers by number": lambda ax: against_target(X, 1e8 * X, name="age", ax=ax),
    "numbers by category": lambda ax: against_target(PLACES, X, ax=ax),
    "classes by category": lambda ax: against_target(PLACES, CLASSES, ax=ax),
    "survival": lambda ax: against_target(X, TIMES, name="age", ax=ax),
    "errors": lambda ax: oob_error([float("nan"), 0.5, 0.3, 0.25], ax=ax),
    "p-values": lambda ax: p_values(
        dm.Significance(("a", "b", "c"), [3.0, 2, 1], [0.01, 0.02, 0.6], "test", "None."), ax=ax
    ),
    "curves": lambda ax: found_curves(
        {"b": [0, 1, 1.5], "a": [0, 1, 2], "c": [0, 0, 1]}, step="round", ax=ax
    ),
    "degrees": lambda ax: by_degree(
        dm.Importances(("a", "b"), [0.3, 0.1], "mdi", "bits", by_degree=[[0.2, 0.1], [0, 0.1]]),
        ax=ax,
    ),
}


def in_matplotlib(draw):
    ax = Figure(figsize=(4.4, 2.3), layout="constrained").add_subplot()
    draw(ax)
    ax.figure.draw_without_rendering()
    return ax


@pytest.mark.parametrize("name", DRAWN)
def test_texts_and_limits_are_those_of_matplotlib(name):
    ours = SvgAxes(4.4, 2.3)
    theirs = in_matplotlib(lambda ax: DRAWN[name](ax))
    DRAWN[name](ours)
    if name != "numbers by number":  # whose axis has a power of ten
        assert {theirs.get_xlabel(), theirs.get_ylabel()} - {""} <= {*texts(ours)}
    legend = theirs.get_legend()
    written = [*theirs.texts, *(legend.get_texts() if legend else ())]
    fixed = [*theirs.get_xticklabels(), *theirs.get_yticklabels()]
    written += [text for text in fixed if any(c.isalpha() for c in text.get_text())]
    assert {text.get_text() for text in written} <= {*texts(ours)}
    for axis, limits in (("x", theirs.get_xlim()), ("y", theirs.get_ylim())):
        low, high = sorted(limits)
        # The margin of matplotlib is for the corners of boxes, too; a tenth is the same to an eye.
        np.testing.assert_allclose(
            sorted(ours._scales[axis].ends()), [low, high], atol=0.06 * (high - low)
        )


def test_points_lines_and_bars_lie_at_their_values(forest):
    points = SvgAxes(4.4, 2.3)
    against_target(X, np.arange(40.0), ax=points)
    root = elements(points)
    x, y = scaled(points, X, np.arange(40.0))
    np.testing.assert_allclose(numbers(root, "circle", "cx"), x, atol=0.2)
    np.testing.assert_allclose(numbers(root, "circle", "cy"), y, atol=0.2)

    line, curve = SvgAxes(4.4, 2.3), dm.effects.partial_dependence(forest, np.c_[X, X[::-1]], "x0")
    effect(curve, ax=line)
    (path,) = (
        path.get("d") for path in elements(line).iter("path") if path.get("d").count("L") > 5
    )
    places = np.array(re.findall(r"([\d.]+) ([\d.]+)", path), dtype=float)
    expected = np.column_stack(scaled(line, np.asarray(curve.points), curve.values[:, 1]))
    np.testing.assert_allclose(places, expected, atol=0.2)

    bars, p = SvgAxes(4.4, 2.3), [0.01, 0.02, 0.6]
    p_values(dm.Significance(("a", "b", "c"), [3.0, 2, 1], p, "test", "None."), ax=bars)
    heights = numbers(elements(bars).find("g"), "rect", "height")
    top = (scaled(bars, 0.0, 0.0)[1] - scaled(bars, 0.0, 2.0)[1]) / 2
    np.testing.assert_allclose(heights / top, [2, *[0] * 10, 1, *[0] * 8], atol=0.01)


def test_a_band_lies_between_its_limits():
    axes, x = SvgAxes(4, 2), [0.0, 1.0, 2.0, 3.0]
    low, high = [0.5, 0.4, 0.2, np.nan], [1.0, 0.9, 0.8, np.nan]
    axes.fill_between(x, low, high, step="post", color="#000000", alpha=0.1)
    (band,) = elements(axes).iter("polygon")
    points = np.array(re.findall(r"([\d.]+),([\d.]+)", band.get("points")), dtype=float)
    steps = np.array([[0, 0.5], [1, 0.5], [1, 0.4], [2, 0.4], [2, 0.2]])
    np.testing.assert_allclose(points[:5], np.column_stack(scaled(axes, *steps.T)), atol=0.1)
    assert len(points) == 10


def test_nan_interrupts_a_line():
    axes = SvgAxes(4, 2)
    axes.plot([0, 1, 2, 3, 4], [0, 1, np.nan, 1, 0], color="#000000")
    (path,) = (path.get("d") for path in elements(axes).find("g").iter("path"))
    assert re.sub(r"[^ML]", "", path) == "MLML"


@pytest.mark.parametrize(
    ("limits", "most", "expected", "label"),
    [
        ((0, 1), 5, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"], "n"),
        ((0, 1020), 6, ["0", "200", "400", "600", "800", "1,000"], "n"),
        ((-0.6, 0.6), 5, ["−0.50", "−0.25", "0.00", "0.25", "0.50"], "n"),
        ((1000.1, 1000.4), 3, ["1,000.1", "1,000.2", "1,000.3", "1,000.4"], "n"),
        ((0, 3e8), 3, ["0", "1", "2", "3"], "n (×10⁸)"),
        ((2e-5, 6e-5), 4, ["2", "3", "4", "5", "6"], "n (×10⁻⁵)"),
        ((5, -1), 6, ["−1", "0", "1", "2", "3", "4", "5"], "n"),
    ],
)
def test_ticks_are_round_numbers(limits, most, expected, label):
    axes = SvgAxes(4, 2)
    axes.set(xlim=limits, xlabel="n")
    axes.locator_params("x", most)
    assert axes._scales["x"].ticked()[1:] == (expected, label)


def test_data_of_one_value_have_an_axis():
    axes = SvgAxes(4, 2)
    axes.plot([3, 3], [0, 0], "o", color="#000000")
    assert np.isfinite(numbers(elements(axes), "circle", "cx")).all()


def test_each_class_of_many_has_room_on_a_page():
    classes = np.resize([f"class {k}" for k in range(19)], 40)
    height = AGAINST_TARGET.height(X, {"target": classes})
    axes = SvgAxes(4.4, height)
    against_target(X, classes, ax=axes)
    places = [float(e.get("y")) for e in elements(axes).iter("text") if "class " in e.text]
    assert len(places) == 19
    assert np.diff(sorted(places)).min() > 10
    for values, target in ((X, X), (PLACES, CLASSES), (X, CLASSES)):
        assert AGAINST_TARGET.height(values, {"target": target}) == 2.3
    assert AGAINST_TARGET.height(X, {"target": TIMES}) == pytest.approx(2.3 + 3 * 0.24)


def test_names_are_text_and_have_room():
    axes = SvgAxes(4.4, 2.3)
    names = [f"category {k} <b>&" for k in range(12)]
    against_target(np.resize(names, 48), np.resize(["yes", "n$o"], 48), name="$x$", ax=axes)
    assert {"$x$", "n$o", "yes"} <= {*texts(axes)}
    assert "<b>" not in axes.drawn()
    turned = [e for e in elements(axes).iter("text") if "rotate(-30" in e.get("transform", "")]
    assert len(turned) == 12
    assert max(float(e.get("y")) for e in turned) < 0.9 * axes.height
