"""A figure in one file: it draws a result, in a notebook and on the page of a report."""

from typing import Any

from duramen import Importances
from duramen.plots.canvas import axes_or_new, finish
from duramen.results.result import figure


def toy_points(result: Importances, *, size: float = 3.0, ax: Any = None) -> Any:
    """Draw the importances as points, in the order of the features."""
    ax = axes_or_new(ax, 4.0, 2.0)
    ax.plot(range(len(result)), result.values, "o", markersize=size)
    return finish(ax, "feature", "toy importance")


TOY = figure(toy_points, (Importances,), lambda *_: 2.0)
