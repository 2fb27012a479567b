"""Figures of results by name: `duramen.plots` registers its functions here.

Results lie below the plots and import nothing of them: the package of plots is found by its name
when a result is first drawn, as a plug-in is, and matplotlib is imported then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from duramen.catalogue import Catalogue, Entry

_PLOTS = "duramen.plots"


@dataclass(frozen=True, eq=False)
class ResultFigure(Entry):
    """Function that draws results."""

    draw: Callable[..., Any]  # takes the result, and its options as keywords
    of: tuple[type, ...] = ()  # classes of results that it draws
    # Room on the page of a report, a `duramen.plots.canvas.Layout`, from the result and the
    # options; None for a figure that no report shows.
    layout: Callable[[Any, Mapping[str, Any]], Any] | None = None
    panels: bool = False  # whether it returns a figure of several panels and takes no axes


FIGURES: Catalogue[ResultFigure] = Catalogue("figure", ())


def figure(
    draw: Callable[..., Any],
    of: tuple[type, ...] = (),
    layout: Callable[[Any, Mapping[str, Any]], Any] | None = None,
    *,
    panels: bool = False,
) -> ResultFigure:
    """Register a function under its own name; the first that fits a result draws it by default."""
    return FIGURES.register(ResultFigure(draw.__name__, draw, of, layout, panels))


def draw(result: object, name: str | None, **options: Any) -> Any:
    """Draw a result with the figure of a name, by default the first for its class."""
    import_module(_PLOTS)
    kind = type(result).__name__
    fitting = {entry.name: entry for entry in FIGURES if isinstance(result, entry.of)}
    if not fitting:
        raise TypeError(f"{kind}.plot: no figure shows this result. Hint: {kind}.to_frame().")
    if name is not None and name not in fitting:
        allowed = ", ".join(map(repr, fitting))
        raise ValueError(f"{kind}.plot: figure must be one of {allowed}, got {name!r}.")
    if options.get("ax") is not None and name is None:
        fitting = {key: entry for key, entry in fitting.items() if not entry.panels}
    return fitting[next(iter(fitting)) if name is None else name].draw(result, **options)
