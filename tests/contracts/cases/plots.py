"""Plots without tests of their own: what is drawn, as numbers and labels, not as pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts.inputs import NAMES, estimator, jobs, table, target
from tests.contracts.registry import case

import duramen as dm
from duramen import plots, significance


def drawn(figure: Any) -> Any:
    """The data of a figure: of each axes the bars, lines, images, points and tick labels."""
    figure = getattr(figure, "figure", figure)
    return [_axes(ax) for ax in figure.axes]


def _axes(ax: Any) -> Any:
    bars = [[bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height()] for bar in ax.patches]
    lines = [np.asarray(line.get_xydata(), dtype=float) for line in ax.lines]
    shown = [
        np.ma.filled(np.ma.asarray(image.get_array(), dtype=float), np.nan)
        for image in (*ax.images, *ax.collections)
        if image.get_array() is not None
    ]
    names = [label.get_text() for axis in (ax.xaxis, ax.yaxis) for label in axis.get_ticklabels()]
    return (bars, lines, shown, sorted({name for name in names if name in NAMES}), len(ax.texts))


@case("plots/direct_features")
def _direct_features() -> Any:
    result = significance.ConditionalSignificance(
        ("a", "b", "c", "d"),
        scores=np.array([3.0, 0.1, 2.0, 0.0]),
        p_values=np.array([0.001, 0.4, 0.004, 0.8]),
        method="conditional",
        null="The feature is independent of the target given all others.",
        association=np.array([0.001, 0.01, 0.002, 0.7]),
        explained_by=((), ("a",), (), ()),
    )
    clusters = [("a", "b"), ("c",)]
    return (
        drawn(plots.direct_features(result, clusters=clusters, k=2)),
        drawn(plots.direct_features(result)),
    )


@case("plots/selection_curves")
def _curves() -> Any:
    forest, methods = estimator(), {"mdi": "mdi", "all": None}
    settings = {"n_features": (1, 2, 4), "n_resamples": 4, "random_state": 3, "n_jobs": jobs()}
    evaluation = dm.evaluate_selection(
        methods, table(), target("classification"), estimator=forest, learner=forest, **settings
    )
    return [drawn(plots.selection_curves(evaluation, what)) for what in (None, "stability")]
