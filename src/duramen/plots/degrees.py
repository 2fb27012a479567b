"""The decomposition by interaction degree as a heat map."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from duramen.plots.canvas import INK, MUTED, ON_ACCENT, axes_or_new, label, signed_colors, tidy
from duramen.plots.layout import beside_names
from duramen.results.figures import ResultFigure
from duramen.results.importances import Importances
from duramen.support import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW_COLUMNS = 9


def by_degree(
    importances: Importances, *, k: int = 20, columns: int = _FEW_COLUMNS, ax: Axes | None = None
) -> Axes:
    """Draw how much each of the `k` most important features adds at each interaction degree.

    The degree is the number of splits above the one on the feature. With one candidate at a node
    (K = 1), 0 is what it explains alone, more is what it adds given others; with more candidates,
    which feature is at degree 0 depends on its rivals. Where there are more than `columns` degrees,
    the highest have one column together. Color is opacity of one hue, none at 0 and for amounts
    below 0 (of corrected or held-out values). Cells that matter are labeled, in a power of 1000
    that the axis names.

    Parameters
    ----------
    importances : Importances
        A measure with `by_degree`.
    k : int
        Number of features to show.
    columns : int
        The most columns, at least 2.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which is `ax.figure`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no decomposition, no feature, `k` is less than 1 or `columns` less than 2.

    Examples
    --------
    >>> import duramen as dm
    >>> parts = [[0.2, 0.1], [0.0, 0.1]]
    >>> result = dm.Importances(("a", "b"), [0.3, 0.1], "mdi", "bits", by_degree=parts)
    >>> dm.plots.by_degree(result).get_xlabel()
    'interaction degree; cells in 0.001 bits'
    """
    if importances.by_degree is None:
        raise ValueError(
            "plots.by_degree: importances must have by_degree, got None. "
            "Hint: mdi(forest, by_degree=True)."
        )
    checks.check_integer("plots.by_degree", "columns", columns, 2)
    checks.check_integer("plots.by_degree", "k", k, 1)
    if not len(importances):
        raise ValueError("plots.by_degree: importances must have a feature, got none.")
    best = importances.top(k)
    parts, titles = folded(np.asarray(best.by_degree), columns)
    ax = axes_or_new(ax, 6.4, 1.1 + 0.26 * len(best))
    most = float(parts.max()) if parts.max() > 0 else 1.0
    positive = np.maximum(parts, 0.0)
    ax.pcolormesh(positive, cmap=signed_colors(), vmin=-most, vmax=most, snap=True)
    scale = 10.0 ** (3 * math.floor(math.log10(most) / 3))
    for row, column in np.argwhere(parts >= 0.005 * most):
        strong = parts[row, column] > 0.75 * most
        amount = parts[row, column] / scale
        ax.text(
            column + 0.5,
            row + 0.5,
            f"{amount:.0f}" if amount >= 9.95 else f"{amount:.1f}",
            ha="center",
            va="center",
            fontsize=7.5 if len(titles) <= _FEW_COLUMNS else 6,
            color=ON_ACCENT if strong else INK,
        )
    ax.set_xticks(np.arange(len(titles)) + 0.5, titles)
    ax.set_yticks(np.arange(len(best)) + 0.5, [label(name) for name in best.names])
    ax.set_ylim(len(best), 0)
    unit = "" if best.unit == "1" else f" {best.unit}"
    ax.set_xlabel(f"interaction degree; cells in {scale:g}{unit}")
    for edge in range(len(best) + 1):
        ax.axhline(edge, color=MUTED, alpha=0.2, linewidth=0.6)
    tidy(ax)
    return ax


def folded(
    parts: NDArray[np.float64], columns: int = _FEW_COLUMNS
) -> tuple[NDArray[np.float64], list[str]]:
    """Return the columns to show and their titles: high degrees summed up in the last one."""
    depth = parts.shape[1]
    if depth <= columns:
        return parts, [str(k) for k in range(depth)]
    last = columns - 1
    together = np.column_stack([parts[:, :last], parts[:, last:].sum(axis=1)])
    return together, [*(str(k) for k in range(last)), f"{last}+"]


BY_DEGREE = ResultFigure(
    "by_degree", by_degree, (Importances,), lambda best, _: beside_names(best.names)
)
