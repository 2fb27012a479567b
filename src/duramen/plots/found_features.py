"""Number of relevant features found against the number of trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from duramen.plots.canvas import ACCENT, INK, axes_or_new, finish, label
from duramen.plots.layout import Layout
from duramen.results.figures import ResultFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 400
_DASHES = ((4.0, 2.0), (1.0, 1.5), (6.0, 2.0, 1.0, 2.0), (2.0, 3.0))


def found(
    curves: Mapping[str, ArrayLike], *, best: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the number of features found after 0, 1, 2, ... trees, one line a setting.

    Parameters
    ----------
    curves : mapping of str to array-like of shape (T + 1,)
        Expected number found after each tree, as of `duramen.theory.found_curve`, by the name of
        the setting.
    best : str, optional
        The setting that stands out; by default the first.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no curve, one holds no finite number, or `best` is none of them.

    Examples
    --------
    >>> import duramen as dm
    >>> ax = dm.plots.found({"alpha = 0": [0, 1, 1.5], "alpha = 1": [0, 1, 2]}, best="alpha = 1")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('number of trees', 'features found')
    """
    lines = {name: np.asarray(curve, dtype=np.float64) for name, curve in curves.items()}
    for name, line in lines.items():
        if line.ndim != 1 or not line.size or not np.isfinite(line).all():
            raise ValueError(
                f"plots.found: each curve must be finite numbers, one per tree; {name!r} is not."
            )
    if not lines:
        raise ValueError("plots.found: curves must hold at least one curve, got none.")
    chosen = next(iter(lines)) if best is None else best
    if chosen not in lines:
        raise ValueError(f"plots.found: best must be one of {list(lines)}, got {best!r}.")
    ax = axes_or_new(ax, 6.4, 2.8)
    others = 0
    for name, line in lines.items():
        trees = _places(line.size)
        stands_out = name == chosen
        (drawn,) = ax.plot(
            trees,
            line[trees],
            color=ACCENT if stands_out else INK,
            linewidth=2.2 if stands_out else 1.2,
            zorder=3 if stands_out else 2,
            label=label(name),
        )
        if not stands_out:
            drawn.set_dashes(_DASHES[others % len(_DASHES)])
            others += 1
    ax.set_xlim(0, max(1, *(line.size - 1 for line in lines.values())) * 1.02)
    ax.set_ylim(0, max(float(line.max()) for line in lines.values()) * 1.1 or 1.0)
    ax.legend(frameon=False, fontsize=9, labelcolor=INK, loc="best", handlelength=2.6)
    return finish(ax, "number of trees", "features found")


def _places(n: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the points of a line of n that are drawn: all of a short one, the ends of any."""
    return np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.intp))


FOUND = ResultFigure("found", found, (), lambda *_: Layout(2.5, 6))
