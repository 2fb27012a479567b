"""Room of a figure on the page of a report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from duramen.plots.canvas import label
from duramen.support.text import width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Options: TypeAlias = Mapping[str, Any]

INCHES = 4.4
"""Width of a figure."""
RIGHT = 0.13
LETTER = 0.58 * 9 / 72
"""Inches that a letter takes."""
_LINE = 0.14
_SLANTED, _STEEP = 35, 65


@dataclass(frozen=True)
class Layout:
    """Room of a figure: inches, and letters to the left of the axes.

    The letters must fit. They are reckoned from the text itself: the fonts of the reader's browser
    are not known here.
    """

    height: float
    margin: int
    top: float = 0.1
    right: float = RIGHT
    bottom: float = 0.52
    finish: Callable[[Axes], object] | None = None
    """Change of the axes once they are drawn."""


def beside_names(names: Sequence[str]) -> Layout:
    """Return the room for a row a name."""
    return Layout(0.75 + 0.24 * len(names), max(width(label(name)) for name in names))


def room(margin: int, right: float = RIGHT) -> float:
    """Return the width of the axes, in inches."""
    return INCHES - (margin + 2) * LETTER - right


def slant(distance: float) -> int:
    """Return the angle, in degrees, at which titles do not touch that are so many inches apart."""
    return _SLANTED if distance * math.sin(math.radians(_SLANTED)) > _LINE else _STEEP
