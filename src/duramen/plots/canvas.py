"""What all plots share: axes without global state, a plain look, safe labels, safe colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duramen.results.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The blue of Okabe and Ito, which colour-blind readers see; ink and grey for text, white on blue.
ACCENT = "#0072b2"
INK = "#1f2933"
MUTED = "#7b8794"
ON_ACCENT = "#fffffe"


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or the axes of a new figure of that many inches, unknown to pyplot."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def tidy(ax: Axes) -> None:
    """Leave out what does not inform: frame, ticks' marks; grey the rest."""
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0, labelcolor=INK, labelsize=9)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(MUTED)
        axis.label.set_fontsize(9)
        axis.get_offset_text().set_color(MUTED)


def label(name: str, widest: int = 28) -> str:
    """Return a name as matplotlib shall draw it: one line, not too long, `$` not mathematics."""
    return printable(name, widest).replace("$", r"\$")
