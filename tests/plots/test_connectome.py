"""Stages of calcium signals, and spectra."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.networks.connectome.cultures import bursting
from tests.oracles import connectome as oracle

import duramen as dm
from duramen import plots


def test_stages_are_the_signals_after_each_filter():
    x = bursting(400, 4)
    figure = plots.calcium_stages(x, neurons=2, low_pass_filter="f2", threshold=0.1)
    smooth = oracle.low_pass(x, "f2")
    rises = oracle.difference(smooth)
    peaks = np.where(rises >= 0.1, rises, 0)
    stages = (x, smooth, rises, peaks, oracle.weigh(peaks))
    assert len(figure.axes) == 5
    for ax, expected in zip(figure.axes, stages, strict=True):
        (line,) = ax.get_lines()
        np.testing.assert_allclose(line.get_ydata(), expected[:, 2], atol=1e-12)
    assert figure.axes[0].get_ylabel() == "fluorescence"


def test_stages_of_some_frames_in_seconds():
    figure = Figure()
    drawn = plots.calcium_stages(
        bursting(400, 4), neurons=[0, 3], frames=(50, 150), frame_time=20, figure=figure
    )
    assert drawn is figure
    first, second = figure.axes[0].get_lines()
    assert first.get_xdata()[[0, -1]] == pytest.approx([1.0, 2.98])
    assert len(second.get_ydata()) == 100
    assert figure.axes[-1].get_xlabel() == "time (s)"


def test_spectrum_is_what_components_draw():
    result = dm.networks.connectome.components(np.diag([3.0, 2.0, 1.0]))
    ax = result.plot()
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), result.explained_variance_ratio)
    ax = plots.component_spectrum({"a": result, "b": result}, quantity="singular_value_ratio")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


@pytest.mark.parametrize(
    "options, words",
    [
        ({"neurons": 9}, "plots.calcium_stages: neurons must be an int in 0..3"),
        ({"frames": (5, 900)}, "plots.calcium_stages: frames must be"),
        ({"frames": (50, 40)}, "plots.calcium_stages: frames must be"),
        ({"low_pass_filter": "f8"}, "low_pass: name must be one of"),
    ],
)
def test_errors(options, words):
    with pytest.raises(ValueError, match=words):
        plots.calcium_stages(bursting(400, 4), **options)
    with pytest.raises(ValueError, match="components must hold at least one network"):
        plots.component_spectrum({})
