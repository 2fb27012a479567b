"""Colours for effects that add or take: opacity of one hue above 0, of another below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duramen.plots.canvas import ACCENT

if TYPE_CHECKING:
    from matplotlib.colors import LinearSegmentedColormap

ABOVE = ACCENT
BELOW = "#b04a00"
"""The vermilion of Okabe and Ito, darker; colour-blind readers tell it from the blue."""

_FAINTEST = 0.1


def signed_colours() -> LinearSegmentedColormap:
    """Return a map from -1 (vermilion) over nothing to 1 (blue), the fuller the larger.

    It fades into the page, white or dark; next to 0 a trace is left, so that what is drawn at all
    can be told from what is not.
    """
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    below, above = to_rgb(BELOW), to_rgb(ABOVE)
    stops = [(0.0, (*below, 1.0)), (0.5, (*below, _FAINTEST)), (0.5, (*above, _FAINTEST))]
    return LinearSegmentedColormap.from_list("signed", [*stops, (1.0, (*above, 1.0))])
