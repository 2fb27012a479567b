"""Kaplan-Meier curves of groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.plots.canvas import ACCENT, AGAINST, INK, MUTED, finish, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOOKS = ((ACCENT, "-"), (AGAINST, "--"), (INK, ":"), (MUTED, "-."))


def survival_curves(
    ax: Axes,
    values: NDArray[Any],
    target: NDArray[Any],
    name: str,
    target_name: str,
    order: Sequence[str] = (),
) -> Axes:
    """Draw a Kaplan-Meier curve for each of some groups of rows.

    Numbers are put into the lowest, middle and highest third of the rows, or one group a value
    where there are at most three; of categories the four largest are drawn, in this order. Events
    and times are the fields of the target.
    """
    for k, (title, rows) in enumerate(_groups(values, order)):
        times, surviving = _curve(target["time"][rows], target["event"][rows])
        color, dashes = _LOOKS[k % len(_LOOKS)]
        ax.step(
            times,
            surviving,
            where="post",
            color=color,
            linestyle=dashes,
            linewidth=1.6,
            label=title,
        )
    finish(ax, label(target_name), "without the event", nbins=5)
    ax.set_ylim(-0.03, 1.03)
    ax.legend(frameon=False, fontsize=8, labelcolor=INK, title=label(name, 16), title_fontsize=8)
    return ax


def in_order(categories: NDArray[Any], order: Sequence[str]) -> list[str]:
    """Return the categories that occur: first those in `order`, then the others by name."""
    here: list[str] = np.unique(categories).tolist()
    return [*(one for one in order if one in here), *(one for one in here if one not in order)]


def _groups(values: NDArray[Any], order: Sequence[str] = ()) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return groups of rows with their titles."""
    distinct, sizes = np.unique(values, return_counts=True)
    if values.dtype.kind != "f":
        largest = distinct[np.argsort(-sizes, kind="stable")[: len(_LOOKS)]]
        return [(label(str(one), 16), values == one) for one in in_order(largest, order)]
    if len(distinct) <= 3:
        return [(f"{one:.4g}", values == one) for one in distinct.tolist()]
    low, high = np.quantile(values, [1 / 3, 2 / 3], method="inverted_cdf")
    parts = [
        (f"up to {low:.4g}", values <= low),
        (f"up to {high:.4g}", (values > low) & (values <= high)),
        (f"above {high:.4g}", values > high),
    ]
    return [(title, rows) for title, rows in parts if rows.any()]


def _curve(
    times: NDArray[np.float64], events: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the Kaplan-Meier estimate from time 0 to the last time."""
    distinct, place, rows = np.unique(times, return_inverse=True, return_counts=True)
    at_risk = np.cumsum(rows[::-1])[::-1]
    surviving = np.cumprod(1.0 - np.bincount(place, events, len(distinct)) / at_risk)
    return np.append(0.0, distinct), np.append(1.0, surviving)
