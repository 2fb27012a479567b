"""Settings of a method, and the recording that it is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.networks.connectome.correlations import PRECISIONS, components_kept
from duramen.networks.connectome.filters import LOW_PASS, WEIGHTINGS, Processing, blocks
from duramen.results.fields import checked_names
from duramen.support import checks
from duramen.support.text import quoted

FUNCTION = "connectome"
NO_FILTER = "none"
DIRECTIVITIES = ("none", "weighted", "masked")


@dataclass(frozen=True)
class Settings:
    """Filters and estimators of a method.

    Attributes
    ----------
    filters : mapping of str to float
        Weights of the low-pass filters, "none" for signals without one.
    thresholds : tuple of float
        Thresholds; the scores of all are averaged for each filter.
    exponent : float or None
        Exponent of r.
    weighting : {"none", "w", "w_star", "w_star_paper"}
        Filter against activity of the whole network.
    precision, n_components
        As for :func:`partial_correlation`.
    directivity : {"none", "weighted", "masked"}
        Formula that directs the links.
    quiet_below : float
        Mean fluorescence below which transfer entropy keeps frames.
    n_estimators, max_depth : int
        Number of trees for each neuron, and their maximum depth, of GENIE3.
    """

    filters: Mapping[str, float]
    thresholds: tuple[float, ...]
    exponent: float | None
    weighting: str
    precision: str
    n_components: int | float
    directivity: str
    quiet_below: float
    n_estimators: int
    max_depth: int

    def check(self, n_neurons: int) -> None:
        """Raise where a setting is not allowed."""
        if not self.filters:
            raise checks.refuse(FUNCTION, "filters", "weights by name of filter", self.filters)
        for name, weight in self.filters.items():
            checks.check_choice(FUNCTION, "filters", name, (*LOW_PASS, NO_FILTER))
            checks.check_real(FUNCTION, f"filters[{name!r}]", weight, 0.0, ends="()")
        if not self.thresholds:
            raise checks.refuse(FUNCTION, "thresholds", "at least one number", self.thresholds)
        for threshold in self.thresholds:
            checks.check_real(FUNCTION, "thresholds", threshold, 0.0, ends="()")
        if self.exponent is not None:
            checks.check_real(FUNCTION, "exponent", self.exponent, 0.0, ends="()")
        checks.check_choice(FUNCTION, "weighting", self.weighting, WEIGHTINGS)
        checks.check_choice(FUNCTION, "precision", self.precision, PRECISIONS)
        checks.check_choice(FUNCTION, "directivity", self.directivity, DIRECTIVITIES)
        checks.check_real(FUNCTION, "quiet_below", self.quiet_below, -np.inf)
        checks.check_integer(FUNCTION, "n_estimators", self.n_estimators, 1)
        checks.check_integer(FUNCTION, "max_depth", self.max_depth, 1)
        components_kept(self.n_components, n_neurons)

    def processing(self, name: str, threshold: float) -> Processing:
        """Return the filters of one low-pass filter and threshold."""
        low_pass = None if name == NO_FILTER else name
        return Processing(low_pass, threshold, self.exponent, self.weighting)


@dataclass(frozen=True, eq=False)
class Recording:
    """Fluorescence of T frames by p neurons, and the names of these.

    Attributes
    ----------
    frames : array of shape (T, p)
        Fluorescence, of a real type; it may be mapped from a file.
    names : tuple of str
        Names of the neurons.
    """

    frames: NDArray[Any]
    names: tuple[str, ...]

    @classmethod
    def of(cls, recording: Any, names: Iterable[str] | None) -> Recording:
        """Read an array, a data frame, or an object with `fluorescence` and `names`.

        Raises
        ------
        ValueError
            If it is not numbers in frames by neurons, all finite, or names do not fit.
        """
        own_names: Any = None
        if hasattr(recording, "fluorescence"):
            own_names, recording = getattr(recording, "names", None), recording.fluorescence
        elif hasattr(recording, "columns"):
            import narwhals.stable.v2 as nw

            frame = nw.from_native(recording, eager_only=True)
            text = [name for name in frame.columns if not frame[name].dtype.is_numeric()]
            if text:
                raise checks.refuse(FUNCTION, "fluorescence", "numbers in all columns", text[0])
            own_names, recording = frame.columns, frame.to_numpy()
        frames = np.asanyarray(recording)
        if frames.ndim != 2 or frames.dtype.kind not in "fiu" or min(frames.shape) < 2:
            came = f"{frames.dtype} of shape {frames.shape}"
            raise checks.refuse(
                FUNCTION, "fluorescence", "numbers, at least 2 frames of 2 neurons", came
            )
        _refuse_gaps(frames)
        if names is None:
            names = (
                own_names
                if own_names is not None
                else [f"N{i + 1}" for i in range(frames.shape[1])]
            )
        checked = checked_names(FUNCTION, "names", tuple(map(str, names)))
        if len(checked) != frames.shape[1]:
            raise checks.refuse(FUNCTION, "names", f"{frames.shape[1]} names", len(checked))
        return cls(frames, checked)


def _refuse_gaps(frames: NDArray[Any]) -> None:
    for first, last in blocks(frames):
        finite = np.isfinite(frames[first:last])
        if not finite.all():
            t, i = (int(place) for place in np.argwhere(~finite)[0])
            raise ValueError(
                f"{FUNCTION}: fluorescence must be finite, got {quoted(frames[first + t, i])} in "
                f"frame {first + t} of neuron {i}. Hint: leave out or fill such frames."
            )
