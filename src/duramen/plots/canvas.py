"""Axes without global state, a plain look, safe labels and colors."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from duramen.plots.svg import INK as INK
from duramen.plots.svg import MUTED as MUTED
from duramen.plots.svg import SvgAxes
from duramen.results.summary import ACCENT as ACCENT
from duramen.results.summary import AGAINST as AGAINST
from duramen.support import checks
from duramen.support.arrays import FloatArray
from duramen.support.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap

    from duramen.data.dates import Dates

ON_ACCENT = "#fffffe"
DASHES = ("-", "--", ":", "-.")


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or the axes of a new figure of that many inches, unknown to pyplot."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def tidy(ax: Any) -> None:
    """Leave out frame and tick marks; gray the rest."""
    if isinstance(ax, SvgAxes):  # which have this look
        return
    ax.set_axisbelow(True)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0, labelcolor=INK, labelsize=9)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(MUTED)
        axis.label.set_fontsize(9)
        axis.get_offset_text().set_color(MUTED)


def finish(
    ax: Axes,
    xlabel: str,
    ylabel: str = "",
    *,
    grid: Literal["x", "y"] = "y",
    ticks: Literal["x", "y", "both"] = "both",
    nbins: int = 6,
) -> Axes:
    """Label the axes, add a faint grid in the background, and return the axes."""
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.locator_params(axis=ticks, nbins=nbins)
    ax.grid(axis=grid, color=MUTED, alpha=0.25, linewidth=0.6)
    tidy(ax)
    return ax


def feature_axis(ax: Axes, names: Sequence[str]) -> Axes:
    """Write names of features beside horizontal bars, the first on top."""
    ax.set_yticks(range(len(names)), [label(name) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.axvline(0, color=MUTED, linewidth=0.8)
    return ax


def fill_cells(ax: Any, values: FloatArray, most: float) -> None:
    """Fill the cells of a heat map, from nothing for 0 and less to the accent color for `most`."""
    positive = np.maximum(values, 0.0)
    if isinstance(ax, SvgAxes):
        ax.cells(positive / most, ACCENT)
    else:
        ax.pcolormesh(positive, cmap=signed_colors(), vmin=-most, vmax=most, snap=True)


def in_cell(ax: Axes, row: int, column: int, text: str, *, strong: bool, size: float = 9) -> None:
    """Write into a cell of a heat map, in a light color on a strong background."""
    color = ON_ACCENT if strong else INK
    ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=size, color=color)


def robust_limits(
    ax: Axes, values: FloatArray, axis: Literal["x", "y"] = "x", dates: Dates | None = None
) -> None:
    """Limit an axis to the bulk of some values, and say in its label how many lie beyond.

    Values are beyond that lie more than three times the distance of the 5 % and 95 % quantiles
    outside of these; without any, the axis stays as it is. Numbers that stand for dates have dates
    on the axis.
    """
    low = float(np.quantile(values, 0.05, method="higher"))
    high = float(np.quantile(values, 0.95, method="lower"))
    reach = 3.0 * (high - low)
    inside = (values >= low - reach) & (values <= high + reach)
    beyond = int(np.count_nonzero(~inside)) if reach > 0 else 0
    shown = values[inside] if beyond else values
    first, last = float(shown.min()), float(shown.max())
    if dates is not None:
        getattr(ax, f"set_{axis}ticks")(*dates.ticks(first, last))
    if not beyond:
        return
    margin = 0.04 * (last - first)
    note = f"{beyond:,} value{'s' * (beyond > 1)} beyond the axis"
    title = getattr(ax, f"get_{axis}label")()
    ax.set(**{f"{axis}lim": (first - margin, last + margin), f"{axis}label": f"{title} ({note})"})


def signed_colors(faintest: float = 0.0) -> LinearSegmentedColormap:
    """Return a map from -1 (vermilion) over nothing to 1 (blue), the fuller the larger.

    It fades into the page, white or dark; next to 0 an opacity of `faintest` is left, so that what
    is drawn at all can be told from what is not.
    """
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    below, above = to_rgb(AGAINST), to_rgb(ACCENT)
    stops = [(0.0, (*below, 1.0)), (0.5, (*below, faintest)), (0.5, (*above, faintest))]
    return LinearSegmentedColormap.from_list("signed", [*stops, (1.0, (*above, 1.0))])


def label(name: str, widest: int = 28) -> str:
    """Return a name as matplotlib shall draw it: one line, not too long, `$` not mathematics."""
    return printable(name, widest).replace("$", r"\$")


def check_shown(owner: str, result: Sized, k: int) -> None:
    """Check that a result has a feature, and the number of features to show."""
    checks.check_integer(owner, "k", k, 1)
    if not len(result):
        raise ValueError(f"{owner}: result must have a feature, got none.")


def circle(n: int) -> FloatArray:
    """Return n places on a circle, clockwise from the top, shape (n, 2)."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angles), np.sin(angles)])


def rows_height(n: int, k: int = 20) -> float:
    """Return the inches of a figure with a row for each of n features, at most k of them."""
    return 0.75 + 0.24 * min(n, k)
