"""Axes that are written as SVG without matplotlib, for the figures that most pages have.

`SvgAxes` has the methods of matplotlib's axes that these figures call, with the arguments that they
give, and the look of :func:`duramen.plots.canvas.finish`. A page needs neither the half second that
importing matplotlib takes nor its layout of each figure.
"""

from __future__ import annotations

import math
import struct
import unicodedata
import zlib
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from markupsafe import escape
from numpy.typing import ArrayLike, NDArray

from duramen.support.arrays import FloatArray

INK = "#1f2933"
MUTED = "#7b8794"

_POINTS = 72  # of an inch
_FONT = 9.0
_PAD, _GAP = 4.0, 5.0  # points around the figure, and between axes, ticks and labels
_LINE = 12.0  # height of a line of text
_MARGIN = 0.05  # of the data on each side of axes without limits
_DASHES = {"--": (3.7, 1.6), ":": (1.0, 1.65), "-.": (6.4, 1.6, 1.0, 1.6)}  # in widths of the line
_TILT = 30.0  # degrees of names that have no room beside each other
_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
_NARROW = frozenset(" !'()*,-./:;I[]fijlrt|")
_BROAD = frozenset("%@MWmw")
# Beyond these powers of ten, the label of an axis has the power.
_LOWEST, _HIGHEST = -4, 7
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Axis = Literal["x", "y"]


def _width(text: str, size: float = _FONT) -> float:
    """Return the approximate width of a text in points."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    narrow = sum(c in _NARROW for c in text)
    capital, broad = sum(c.isupper() for c in text), sum(c in _BROAD for c in text)
    return size * (0.58 * len(text) + 0.42 * wide + 0.08 * capital + 0.25 * broad - 0.2 * narrow)


def _text(x: float, y: float, text: str, size: float = _FONT, **attributes: Any) -> str:
    """Return a text element; names of attributes have _ in place of -."""
    words = {"fill": INK, "font_size": f"{size:g}", **attributes}
    pairs = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in words.items())
    shown = escape(text.replace(r"\$", "$"))  # which matplotlib takes for mathematics
    return f'<text x="{x:.1f}" y="{y:.1f}" {pairs}>{shown}</text>'


def round_numbers(low: float, high: float, most: int) -> tuple[list[float], float]:
    """Return the multiples of a round number between two limits, and that number.

    It is the least one that makes at most so many intervals.
    """
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (nice * ten * power for ten in (1, 10) for nice in _NICE):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first <= most:
            break
    return [k * step for k in range(first, last + 1)], step


class _Scale:
    """Limits, ticks and label of an axis."""

    def __init__(self) -> None:
        self.label = ""
        self.limits: tuple[float, float] | None = None
        self.ticks: tuple[list[float], list[str]] | None = None
        self.n_ticks = 6
        self.grid = False
        self.seen: list[float] = []  # least and greatest number of what is drawn
        self.bases: set[float] = set()  # where bars begin, beside which there is no margin

    def see(self, *values: ArrayLike) -> None:
        """Extend the data by some values."""
        for numbers in (np.asarray(one, dtype=np.float64) for one in values):
            if np.isfinite(numbers).any():
                self.seen += [float(np.nanmin(numbers)), float(np.nanmax(numbers))]

    def ends(self) -> tuple[float, float]:
        """Return the limits that were set, or the range of the data with a margin."""
        if self.limits is not None:
            return self.limits
        low, high = (min(self.seen), max(self.seen)) if self.seen else (0.0, 1.0)
        if low == high:
            low, high = low - max(abs(low), 1.0) * _MARGIN, high + max(abs(low), 1.0) * _MARGIN
        margin = _MARGIN * (high - low)
        return low - margin * (low not in self.bases), high + margin * (high not in self.bases)

    def ticked(self) -> tuple[list[float], list[str], str]:
        """Return the places of the ticks, their texts, and the label of the axis."""
        if self.ticks is not None:
            return *self.ticks, self.label
        low, high = sorted(self.ends())
        places, step = round_numbers(low, high, self.n_ticks)
        largest = max(map(abs, places), default=1.0) or 1.0
        exponent = math.floor(math.log10(largest))
        exponent = exponent if not _LOWEST < exponent < _HIGHEST else 0
        shown = step / 10.0**exponent
        digits = next(d for d in range(20) if math.isclose(round(shown, d), shown, rel_tol=1e-6))
        texts = [f"{place / 10.0**exponent:,.{digits}f}".replace("-", "\u2212") for place in places]
        unit = f" (×10{str(exponent).translate(_RAISED)})" if exponent else ""
        return places, texts, f"{self.label}{unit}"


class SvgAxes:
    """Axes of a figure with a size in inches, drawn as the content of an svg element.

    The methods are those of matplotlib's axes, of the same meaning, as far as figures call them.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = _POINTS * width, _POINTS * height
        self._scales: dict[str, _Scale] = {"x": _Scale(), "y": _Scale()}
        self._marks: list[tuple[float, Callable[..., str]]] = []  # order, and element on a scale
        self._legend: list[tuple[str, Callable[[float, float], str]]] = []
        self._legend_title: str | None = None  # None without a legend

    # --- what is drawn ---

    def _rectangles(
        self,
        x: ArrayLike,
        y: ArrayLike,
        width: ArrayLike,
        height: ArrayLike,
        *,
        color: Any = None,
        facecolor: str | None = None,
        edgecolor: str | None = None,
        alpha: ArrayLike = 1.0,
        linewidth: float = 0.0,
        label: str | None = None,
    ) -> None:
        """Draw rectangles from their left lower corners; colors and opacities are one or many."""
        corners = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (x, y, width, height)))
        left, low, wide, high = map(np.ravel, corners)
        fills = np.broadcast_to(np.asarray(facecolor or color, dtype=object), left.shape).tolist()
        opacities = np.broadcast_to(np.asarray(alpha, np.float64), left.shape).tolist()
        edge = ""
        if edgecolor is not None:
            edge = f' stroke="{edgecolor}" stroke-width="{linewidth:g}"'

        def drawn(place: Callable[[Any, Any], Any]) -> str:
            x0, y0 = place(left, low)
            x1, y1 = place(left + wide, low + high)
            parts = zip(
                np.minimum(x0, x1), np.minimum(y0, y1), abs(x1 - x0), abs(y1 - y0), strict=True
            )
            return "".join(
                f'<rect x="{a:.2f}" y="{b:.2f}" width="{w:.2f}" height="{h:.2f}" fill="{fill}"'
                f' fill-opacity="{opacity:.3g}"{edge}/>'
                for (a, b, w, h), fill, opacity in zip(parts, fills, opacities, strict=True)
            )

        def sample(a: float, b: float) -> str:
            return (
                f'<rect x="{a:.1f}" y="{b - 3:.1f}" width="14" height="6" fill="{fills[0]}" '
                f'fill-opacity="{opacities[0]:.3g}"/>'
            )

        self._scales["x"].see(left, left + wide)
        self._scales["y"].see(low, low + high)
        self._marks.append((1, drawn))
        if label is not None:
            self._legend.append((label, sample))

    def bar(
        self,
        x: ArrayLike,
        height: ArrayLike,
        *,
        width: float,
        align: Literal["center", "edge"] = "center",
        **look: Any,
    ) -> None:
        """Draw vertical bars."""
        middle = np.asarray(x, np.float64)
        self._scales["y"].bases.add(0.0)
        self._rectangles(middle - width / 2 * (align == "center"), 0.0, width, height, **look)

    def barh(
        self, y: ArrayLike, width: ArrayLike, *, left: float, height: float, **look: Any
    ) -> None:
        """Draw horizontal bars."""
        self._rectangles(left, np.asarray(y, np.float64) - height / 2, width, height, **look)

    def cells(self, opacities: FloatArray, color: str) -> None:
        """Fill the unit squares of a heat map, shape (rows, columns), with one color."""
        rows, columns = np.indices(opacities.shape)
        self._rectangles(columns, rows, 1.0, 1.0, color=color, alpha=opacities.ravel())
        for axis, size in zip("yx", opacities.shape, strict=True):
            self._scales[axis].limits = 0.0, float(size)

    def imshow(
        self, image: NDArray[np.uint8], *, extent: tuple[float, float, float, float], **_: Any
    ) -> None:
        """Draw the pixels of an image of shape (rows, columns, 4), the first row on top.

        `extent` has the edges on the left, on the right, at the bottom and on top.
        """
        left, right, bottom, top = extent
        height, width = image.shape[:2]
        lines = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)
        parts = [
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)),
            (b"IDAT", zlib.compress(lines.tobytes(), 9)),
            (b"IEND", b""),
        ]
        png = b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in parts
        )
        source = f"data:image/png;base64,{b64encode(png).decode()}"

        def drawn(place: Callable[[Any, Any], Any]) -> str:
            (x0, x1), (y0, y1) = place(np.array([left, right]), np.array([top, bottom]))
            return (
                f'<image x="{x0:.2f}" y="{y0:.2f}" width="{x1 - x0:.2f}" height="{y1 - y0:.2f}" '
                f'preserveAspectRatio="none" style="image-rendering: pixelated" href="{source}"/>'
            )

        self._scales["x"].see([left, right])
        self._scales["y"].see([bottom, top])
        self._marks.append((1, drawn))

    def plot(
        self,
        x: ArrayLike,
        y: ArrayLike,
        marker: str = "",
        *,
        color: str,
        linewidth: float = 1.5,
        linestyle: Any = None,
        markersize: float = 6.0,
        markeredgewidth: float = 1.0,
        alpha: float = 1.0,
        label: str | None = None,
        zorder: float = 2.0,
    ) -> None:
        """Draw a line, which NaN interrupts, or markers alone where they are given by place.

        The markers are discs ("o") or vertical ticks ("|").
        """
        across, up = (np.atleast_1d(np.asarray(values, np.float64)) for values in (x, y))
        linestyle = linestyle if linestyle is not None else "" if marker else "-"
        stroke = _stroke(color, linewidth, linestyle, alpha)
        radius = (markersize + markeredgewidth) / 2

        def drawn(place: Callable[[Any, Any], Any]) -> str:
            parts, (a, b) = [], place(across, up)
            finite = np.isfinite(a + b)
            if linestyle:
                begins = np.append(True, ~finite[:-1])
                steps = zip(a, b, begins, finite, strict=True)
                path = "".join(
                    f"{'M' if begin else 'L'}{i:.1f} {j:.2f}" for i, j, begin, here in steps if here
                )
                parts.append(f'<path d="{path}" fill="none" {stroke}/>')
            if marker == "|":
                strokes = "".join(
                    f"M{i:.1f} {j - markersize / 2:.1f}v{markersize:g}"
                    for i, j in zip(a[finite], b[finite], strict=True)
                )
                edge = _stroke(color, markeredgewidth, "-", alpha)
                parts.append(f'<path d="{strokes}" fill="none" {edge}/>')
            elif marker:
                discs = "".join(
                    f'<circle cx="{i:.1f}" cy="{j:.1f}" r="{radius:g}"/>'
                    for i, j in zip(a[finite], b[finite], strict=True)
                )
                parts.append(f'<g fill="{color}" fill-opacity="{alpha:g}">{discs}</g>')
            return "".join(parts)

        def sample(a: float, b: float) -> str:
            line = f'<path d="M{a:.1f} {b:.1f}h14" fill="none" {stroke}/>' if linestyle else ""
            place = f'cx="{a + 7:.1f}" cy="{b:.1f}" r="{radius:g}"'
            disc = f'<circle {place} fill="{color}" fill-opacity="{alpha:g}"/>'
            return line + disc * bool(marker)

        self._scales["x"].see(across)
        self._scales["y"].see(up)
        self._marks.append((zorder, drawn))
        if label is not None:
            self._legend.append((label, sample))

    def fill_between(
        self,
        x: ArrayLike,
        y1: ArrayLike,
        y2: ArrayLike,
        *,
        color: str,
        alpha: float,
        linewidth: float = 0.0,
        step: Literal["post"] | None = None,
    ) -> None:
        """Fill the band between two lines, or two lines of steps; NaN ends it."""
        across, low, high = (np.asarray(values, np.float64) for values in (x, y1, y2))
        finite = np.isfinite(across + low + high)
        across, low, high = across[finite], low[finite], high[finite]
        if step is not None:
            across = np.repeat(across, 2)[1:]
            low, high = np.repeat(low, 2)[:-1], np.repeat(high, 2)[:-1]

        def drawn(place: Callable[[Any, Any], Any]) -> str:
            outline = np.append(across, across[::-1]), np.append(low, high[::-1])
            points = " ".join(f"{i:.1f},{j:.2f}" for i, j in zip(*place(*outline), strict=True))
            return f'<polygon points="{points}" fill="{color}" fill-opacity="{alpha:g}"/>'

        self._scales["x"].see(across)
        self._scales["y"].see(low, high)
        self._marks.append((1, drawn))

    def step(self, x: ArrayLike, y: ArrayLike, where: Literal["post"], **look: Any) -> None:
        """Draw a line of steps, each at the next place."""
        across, up = np.repeat(np.asarray(x), 2)[1:], np.repeat(np.asarray(y), 2)[:-1]
        self.plot(across, up, **look)

    def hlines(self, y: ArrayLike, xmin: ArrayLike, xmax: ArrayLike, **look: Any) -> None:
        """Draw horizontal lines."""
        ends = np.broadcast_arrays(*(np.atleast_1d(v) for v in (y, xmin, xmax)))
        for at, low, high in zip(*ends, strict=True):
            self.plot([low, high], [at, at], **look)

    def vlines(self, x: ArrayLike, ymin: ArrayLike, ymax: ArrayLike, **look: Any) -> None:
        """Draw vertical lines."""
        ends = np.broadcast_arrays(*(np.atleast_1d(v) for v in (x, ymin, ymax)))
        for at, low, high in zip(*ends, strict=True):
            self.plot([at, at], [low, high], **look)

    def axhline(
        self,
        y: float,
        *,
        color: str,
        linewidth: float,
        linestyle: str = "-",
        alpha: float = 1.0,
        label: str | None = None,
    ) -> None:
        """Draw a horizontal line across the axes."""
        stroke = _stroke(color, linewidth, linestyle, alpha)

        def drawn(place: Callable[[Any, Any], Any]) -> str:
            left, right = self._scales["x"].ends()
            (a, c), (b, _) = place(np.array([left, right]), np.array([y, y]))
            return f'<path d="M{a:.1f} {b:.1f}H{c:.1f}" {stroke}/>'

        def sample(a: float, b: float) -> str:
            return f'<path d="M{a:.1f} {b:.1f}h14" {stroke}/>'

        self._scales["y"].see(y)
        self._marks.append((2, drawn))
        if label is not None:
            self._legend.append((label, sample))

    def text(
        self, x: float, y: float, text: str, *, ha: str, va: str, fontsize: float, color: str
    ) -> None:
        """Write a text in the middle of a place."""
        self.annotate(text, (x, y), (0, -0.35 * fontsize), "", ha, color=color, fontsize=fontsize)

    def annotate(
        self,
        text: str,
        xy: tuple[float, float],
        xytext: tuple[float, float],
        textcoords: str,
        ha: str,
        *,
        color: str,
        fontsize: float,
        fontweight: str = "normal",
    ) -> None:
        """Write a text at an offset in points from a place, to the right and up."""
        anchor = {"left": "start", "center": "middle", "right": "end"}[ha]

        def drawn(place: Callable[[Any, Any], Any]) -> str:
            (a,), (b,) = place(np.array([xy[0]]), np.array([xy[1]]))
            look = {"fill": color, "text_anchor": anchor, "font_weight": fontweight}
            return _text(a + xytext[0], b - xytext[1], text, fontsize, **look)

        self._marks.append((3, drawn))

    # --- axes ---

    def set_xlabel(self, label: str) -> None:
        """Set the label below."""
        self._scales["x"].label = label

    def set_ylabel(self, label: str) -> None:
        """Set the label on the left."""
        self._scales["y"].label = label

    def get_xlabel(self) -> str:
        """Return the label below."""
        return self._scales["x"].label

    def get_ylabel(self) -> str:
        """Return the label on the left."""
        return self._scales["y"].label

    def set_xlim(self, left: float, right: float) -> None:
        """Set the limits from left to right."""
        self._scales["x"].limits = left, right

    def set_ylim(self, bottom: float, top: float) -> None:
        """Set the limits from the bottom to the top."""
        self._scales["y"].limits = bottom, top

    def set(self, **given: Any) -> None:
        """Set limits and labels by name."""
        for name, value in given.items():
            getattr(self, f"set_{name}")(*(value if name.endswith("lim") else (value,)))

    def set_xticks(self, ticks: Sequence[float], labels: Sequence[str]) -> None:
        """Set places and texts of the ticks below."""
        self._scales["x"].ticks = list(map(float, ticks)), list(labels)

    def set_yticks(self, ticks: Sequence[float], labels: Sequence[str]) -> None:
        """Set places and texts of the ticks on the left."""
        self._scales["y"].ticks = list(map(float, ticks)), list(labels)

    def locator_params(self, axis: str, nbins: int) -> None:
        """Set the most intervals between ticks."""
        for name in "xy" if axis == "both" else axis:
            self._scales[name].n_ticks = nbins

    def grid(self, axis: Axis, **_: Any) -> None:
        """Draw faint lines at the ticks of an axis."""
        self._scales[axis].grid = True

    def legend(self, *, title: str = "", **_: Any) -> None:
        """Draw the legend of labeled elements above the axes."""
        self._legend_title = title

    # --- writing ---

    def drawn(self) -> str:
        """Return the elements of the figure."""
        xs, x_texts, x_label = self._scales["x"].ticked()
        ys, y_texts, y_label = self._scales["y"].ticked()
        legend, top = self._legend_lines()
        bottom = _PAD + _LINE * bool(x_label) + _LINE + _GAP
        left = _PAD + max(map(_width, y_texts), default=0.0) + _GAP + (_LINE + 2) * bool(y_label)
        widest = max(map(_width, x_texts), default=0.0)
        room = (self.width - left) / max(1, len(x_texts))
        tilted = self._scales["x"].ticks is not None and widest > room - 2
        if tilted:  # the first of which ends at the first tick
            left = max(left, widest * math.cos(math.radians(_TILT)) - room / 2)
            bottom += widest * math.sin(math.radians(_TILT)) - 2
        right, low = self.width - _PAD - (0 if tilted else widest / 3), self.height - bottom
        (x0, x1), (y0, y1) = self._scales["x"].ends(), self._scales["y"].ends()

        def place(x: Any, y: Any) -> tuple[FloatArray, FloatArray]:
            across = left + (np.asarray(x, np.float64) - x0) / (x1 - x0) * (right - left)
            return across, low - (np.asarray(y, np.float64) - y0) / (y1 - y0) * (low - top)

        parts = [*legend]
        faint = _stroke(MUTED, 0.6, "-", 0.25)
        for a, text in zip(place(xs, np.full(len(xs), y0))[0], x_texts, strict=True):
            if self._scales["x"].grid:
                parts.append(f'<path d="M{a:.1f} {top:.1f}V{low:.1f}" {faint}/>')
            y = low + _GAP + 0.75 * _FONT
            turned: dict[str, Any] = {"text_anchor": "middle"}
            if tilted:
                turned = {"text_anchor": "end", "transform": f"rotate({-_TILT:g} {a:.1f} {y:.1f})"}
            parts.append(_text(a, y, text, **turned))
        for b, text in zip(place(np.full(len(ys), x0), ys)[1], y_texts, strict=True):
            if self._scales["y"].grid:
                parts.append(f'<path d="M{left:.1f} {b:.1f}H{right:.1f}" {faint}/>')
            parts.append(_text(left - _GAP, b + 0.35 * _FONT, text, text_anchor="end"))
        look: dict[str, Any] = {"text_anchor": "middle", "fill": MUTED}
        half = min(_width(x_label) / 2, self.width / 2)
        middle = min(max((left + right) / 2, half), self.width - half)
        parts.append(_text(middle, self.height - _PAD - 2, x_label, **look) if x_label else "")
        a, b = _PAD + 0.75 * _FONT, (top + low) / 2
        turn = f"rotate(-90 {a:.1f} {b:.1f})"
        parts.append(_text(a, b, y_label, **look, transform=turn) if y_label else "")
        box = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{low - top:.1f}"'
        marks = sorted(self._marks, key=lambda mark: mark[0])
        inside = "".join(drawn(place) for order, drawn in marks if order < 3)
        parts.append(f'<clipPath id="axes"><rect {box}/></clipPath>')
        parts.append(f'<g clip-path="url(#axes)">{inside}</g>')
        parts += [drawn(place) for order, drawn in marks if order >= 3]
        return "\n".join(filter(None, parts))

    def _legend_lines(self) -> tuple[list[str], float]:
        """Return the elements of the legend, and where the axes begin below it."""
        if self._legend_title is None:
            return [], _PAD + _LINE / 2
        x, y, parts = _PAD, _PAD + _LINE / 2, list[str]()
        entries: list[tuple[str, Any]] = [(self._legend_title, None)] if self._legend_title else []
        for text, sample in [*entries, *self._legend]:
            size = 8.0
            wide = _width(text, size) + 12 + (0 if sample is None else 18)
            if x > _PAD and x + wide > self.width:
                x, y = _PAD, y + _LINE
            if sample is not None:
                parts.append(sample(x, y))
            parts.append(_text(x + (0 if sample is None else 18), y + 0.35 * size, text, size))
            x += wide
        return parts, y + _LINE


def _stroke(color: str, width: float, style: Any, alpha: float) -> str:
    """Return the attributes of a line; its style is a name, or an offset and lengths of dashes."""
    dashes = style[1] if isinstance(style, tuple) else _DASHES.get(style, ())
    attributes = f'stroke="{color}" stroke-width="{width:g}" stroke-opacity="{alpha:g}"'
    if not dashes:
        return attributes
    pattern = " ".join(f"{width * length:.3g}" for length in dashes)
    return f'{attributes} stroke-dasharray="{pattern}"'
