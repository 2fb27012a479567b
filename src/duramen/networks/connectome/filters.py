r"""Filters of calcium signals (thesis, section 8.3.3 and appendix 8.A.1).

Each takes an array of T frames by p neurons and returns one of the same shape, so that they can be
composed as in the thesis: ``emphasize(hard_threshold(difference(low_pass(x, "f1")), 0.12))`` is
:math:`w \circ h \circ g \circ f_1`. Filters that look at neighboring frames continue the recording
beyond its ends with its first and its last frame.

After `hard_threshold` signals are sparse. As :math:`w(0) = 1`, `emphasize` returns :math:`w - 1` of
a sparse signal: it is sparse, too, and has the same covariances as w.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray
from duramen.support.threads import Pool

# A csr_array of shape (T, p). The overloads of its stubs say less than this name.
Signal: TypeAlias = Any


def as_signal(x: Any) -> Signal:
    """Return a dense or sparse array of frames by neurons as a sparse signal."""
    return sparse.csr_array(x, dtype=np.float64)


def assembled(values: Any, columns: Any, starts: Any, shape: tuple[int, int]) -> Signal:
    """Return the sparse signal of these values, their neurons, and where each frame starts."""
    parts: Any = (values, columns, starts)
    return sparse.csr_array(parts, shape=shape)


def where(x: NDArray[Any], mask: BoolArray) -> Signal:
    """Return the values of a dense array where `mask` is true."""
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(mask, axis=1))])
    columns = np.flatnonzero(mask) % np.int64(x.shape[1])
    return assembled(x[mask], columns.astype(np.int32), starts, (x.shape[0], x.shape[1]))


def with_values(x: Signal, values: FloatArray) -> Signal:
    """Return a signal with other values at the stored entries."""
    return assembled(values, x.indices, x.indptr, x.shape)


def at_least(x: Signal, threshold: float) -> Signal:
    """Return the stored values that reach a threshold."""
    above = x.data >= threshold
    if above.all():
        return x
    before = np.concatenate([[0], np.cumsum(above)])
    return assembled(x.data[above], x.indices[above], before[x.indptr], x.shape)


def frame_sums(x: Signal) -> FloatArray:
    """Return the sum of each frame; the values of a frame are added in their order."""
    starts = x.indptr[:-1]
    some = np.diff(x.indptr) > 0
    sums = np.zeros(len(starts))
    if some.any():
        sums[some] = np.add.reduceat(x.data, starts[some])
    return sums


FORMS = ("program", "paper")


@dataclass(frozen=True)
class LowPass:
    """Weighted sum of neighboring frames, and the constants of w* that were tuned for it.

    Attributes
    ----------
    terms : tuple of (int, float)
        Lags of the frames, negative for earlier ones, and their weights.
    quiet : (float, float)
        Bounds of the relative activity rho between which the exponent is the first of `powers`.
    loud : float
        Relative activity from which on the exponent is the last of `powers`.
    powers : (float, float, float)
        Exponents k: between the bounds, elsewhere below `loud`, and from `loud` on.
    """

    terms: tuple[tuple[int, float], ...]
    quiet: tuple[float, float]
    loud: float
    powers: tuple[float, float, float]

    @property
    def before(self) -> int:
        """Number of earlier frames that it looks at."""
        return max(0, *(-lag for lag, _ in self.terms))

    @property
    def after(self) -> int:
        """Number of later frames that it looks at."""
        return max(0, *(lag for lag, _ in self.terms))

    def exponents(self, activity: FloatArray) -> FloatArray:
        """Return k for each frame of a relative activity in 0..1."""
        low, high = self.quiet
        first, middle, last = self.powers
        between = (activity > low) & (activity < high)
        return np.where(between, first, np.where(activity < self.loud, middle, last))


LOW_PASS: Mapping[str, LowPass] = MappingProxyType(
    {
        "f1": LowPass(((-1, 1.0), (0, 1.0), (1, 1.0)), (0.05, 0.23), 0.75, (1.9, 1.6, 1.4)),
        "f2": LowPass(
            ((0, 1.0), (-1, 1.0), (-2, 0.8), (-3, 0.4)), (0.05, 0.23), 0.75, (1.9, 1.6, 1.4)
        ),
        "f3": LowPass(
            ((-1, 1.0), (0, 1.0), (1, 1.0), (2, 1.0)), (0.04, 0.22), 0.75, (1.9, 1.7, 1.5)
        ),
        "f4": LowPass(
            ((0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0)), (0.08, 0.22), np.inf, (1.9, 1.5, 1.5)
        ),
    }
)


def low_pass(x: ArrayLike, name: str = "f1") -> FloatArray:
    r"""Sum neighboring frames with weights, which smooths out fast noise.

    .. math::
        f_1 &= x^{t-1} + x^t + x^{t+1} \qquad
        f_2 = x^t + x^{t-1} + .8 x^{t-2} + .4 x^{t-3} \\
        f_3 &= x^{t-1} + x^t + x^{t+1} + x^{t+2} \qquad
        f_4 = x^t + x^{t+1} + x^{t+2} + x^{t+3}

    Parameters
    ----------
    x : array-like of shape (T, p)
        Frames by neurons.
    name : {"f1", "f2", "f3", "f4"}
        Filter; (8.2), (8.3), (8.8) and (8.9) of the thesis.

    Returns
    -------
    float64 array of shape (T, p)

    Raises
    ------
    ValueError
        If `x` is not two-dimensional or the filter is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import low_pass
    >>> low_pass(np.array([[0.0], [1.0], [0.0], [0.0]]), "f1").ravel()
    array([1., 1., 1., 0.])
    """
    kernel = LOW_PASS[checks.check_choice("low_pass", "name", name, LOW_PASS)]
    x = _frames("low_pass", x)
    before, after, n = kernel.before, kernel.after, len(x)
    padded = np.concatenate([np.repeat(x[:1], before, 0), x, np.repeat(x[-1:], after, 0)])
    total = np.zeros(x.shape)
    for lag, weight in kernel.terms:
        shifted = padded[before + lag : before + lag + n]
        total += shifted if weight == 1.0 else weight * shifted
    return total


def difference(x: ArrayLike) -> FloatArray:
    r"""Subtract the previous frame from each frame, :math:`g(x^t) = x^t - x^{t-1}` (8.4).

    The first frame, which has none before, becomes 0.

    Parameters
    ----------
    x : array-like of shape (T, p)
        Frames by neurons.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import difference
    >>> difference(np.array([[1.0], [3.0], [2.0]])).ravel()
    array([ 0.,  2., -1.])
    """
    x = _frames("difference", x)
    return np.diff(x, axis=0, prepend=x[:1])


def hard_threshold(x: ArrayLike, threshold: float) -> Signal:
    r"""Keep the values from a threshold on, :math:`h(x) = x\,1(x \geq \tau)` (8.5).

    Parameters
    ----------
    x : array-like of shape (T, p)
        Frames by neurons.
    threshold : float
        Threshold, above 0.

    Returns
    -------
    scipy.sparse.csr_array of shape (T, p)
        Float64 values; what is below the threshold is not stored.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import hard_threshold
    >>> hard_threshold(np.array([[0.3, 0.1], [-0.5, 0.2]]), 0.2).toarray()
    array([[0.3, 0. ],
           [0. , 0.2]])
    """
    x = _frames("hard_threshold", x)
    checks.check_real("hard_threshold", "threshold", threshold, 0.0, ends="()")
    return where(x, x >= threshold)


def power(x: Any, exponent: float = 0.9) -> Any:
    r"""Raise the values of a signal that is nowhere negative, :math:`r(x) = x^c` (8.10).

    With an exponent below 1 it evens out the heights of peaks.

    Parameters
    ----------
    x : array-like or scipy sparse array of shape (T, p)
        Frames by neurons, after `hard_threshold`.
    exponent : float
        Exponent c, above 0.

    Returns
    -------
    float64 array, or csr_array where `x` is sparse

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import power
    >>> power(np.array([[0.0, 4.0]]), 0.5)
    array([[0., 2.]])
    """
    checks.check_real("power", "exponent", exponent, 0.0, ends="()")
    if sparse.issparse(x):
        x = as_signal(x)
        return with_values(x, np.power(x.data, exponent))
    return np.power(_frames("power", x), exponent)


def emphasize(
    x: Any, *, tuned: str | None = None, form: str = "program", k: float | None = None
) -> Any:
    r"""Raise peaks the more, the less active the network is (w, and w* with `tuned`).

    .. math::
        w(x_i^t) = (x_i^t + 1)^{1 + 1/S_t}, \qquad S_t = \sum_j x_j^t

    (8.6), and 1 where :math:`S_t = 0`. The tuned filter w* has an exponent k that depends on the
    relative activity :math:`\rho`, with constants for each low-pass filter. Its printed form (8.11)
    and the form of the program that gave the printed results differ:

    .. math::
        \text{paper:}\; (x + 1)^{(1 + 1/S_t)^k}, \; \rho = S_t / \max S, \qquad
        \text{program:}\; (x + 1)^{(1 + 1/S'_t)\, k}, \; S'_t = S_t + .5\, S_{t-1},
        \; \rho = S'_t / \max S'

    Parameters
    ----------
    x : array-like or scipy sparse array of shape (T, p)
        Frames by neurons, nowhere negative.
    tuned : {"f1", "f2", "f3", "f4"}, optional
        Low-pass filter whose constants w* takes; w by default.
    form : {"program", "paper"}
        Form of w*.
    k : float, optional
        Exponent of w* for all frames in place of the tuned ones.

    Returns
    -------
    float64 array, or csr_array where `x` is sparse
        Values of the filter; of a sparse `x` those of :math:`w - 1`, which is 0 where x is 0.

    Raises
    ------
    ValueError
        If a value is negative, or a parameter is not as described.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import emphasize
    >>> emphasize(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])).round(3)
    array([[4.   , 1.   ],
           [2.828, 2.828],
           [1.   , 1.   ]])
    """
    checks.check_choice("emphasize", "form", form, FORMS)
    if tuned is not None:
        checks.check_choice("emphasize", "tuned", tuned, LOW_PASS)
    if k is not None:
        checks.check_real("emphasize", "k", k, 0.0)
    if not sparse.issparse(x):
        x = _frames("emphasize", x)
        raised = emphasize(as_signal(x), tuned=tuned, form=form, k=k)
        return raised.toarray() + 1.0
    x = as_signal(x)
    if x.nnz and x.data.min() < 0:
        raise ValueError(
            f"emphasize: x must not be negative, got {x.data.min():g}. Hint: hard_threshold."
        )
    sums = frame_sums(x)
    powers: float | FloatArray | None = k
    if (tuned is not None or k is not None) and form == "program":
        sums = sums + 0.5 * np.concatenate([[0.0], sums[:-1]])
    if tuned is not None and k is None:
        powers = LOW_PASS[tuned].exponents(sums / (sums.max(initial=0.0) or 1.0))
    active = sums > 0
    exponents = np.where(active, 1.0 + 1.0 / np.where(active, sums, 1.0), 0.0)
    if powers is not None:
        exponents = exponents * powers if form == "program" else exponents**powers
    # exp and log run on several values at a time, unlike expm1, log1p and power.
    raised = np.exp(np.log(x.data + 1.0) * np.repeat(exponents, np.diff(x.indptr)))
    return with_values(x, raised - 1.0)


def _frames(function: str, x: Any) -> FloatArray:
    """Return frames by neurons as float64."""
    if sparse.issparse(x):
        raise checks.refuse(function, "x", "a dense array of frames by neurons", type(x).__name__)
    array = np.asarray(x, dtype=np.float64)
    if array.ndim != 2 or not array.size:
        raise checks.refuse(function, "x", "frames by neurons, not empty", array.shape)
    return array


_FRAMES = 1 << 20  # numbers of a block of frames that is filtered at a time

NO_FILTER = "none"
"""Name of no low-pass filter."""
WEIGHTINGS = ("none", "w", "w_star", "w_star_paper")


def process(
    peaks: Signal,
    name: str,
    threshold: float,
    exponent: float | None = None,
    weighting: str = "w",
) -> Signal:
    """Filter peaks by h, r and w; the result is less 1 where it is weighted.

    Parameters
    ----------
    peaks : csr_array of shape (T, p)
        Values of :func:`peaks_of` for a low-pass filter, and no higher a threshold.
    name : {"f1", "f2", "f3", "f4", "none"}
        The low-pass filter.
    threshold : float
        Threshold of the differences.
    exponent : float or None
        Exponent of r.
    weighting : {"none", "w", "w_star", "w_star_paper"}
        Filter against activity of the whole network; w* as the program computed it, or as printed.
    """
    x = at_least(peaks, threshold)
    if exponent is not None:
        x = power(x, exponent)
    if weighting == "none":
        return x
    tuned = None if weighting == "w" else "f1" if name == NO_FILTER else name
    return emphasize(x, tuned=tuned, form="paper" if weighting == "w_star_paper" else "program")


def peaks_of(recording: NDArray[Any], name: str, threshold: float, *, n_threads: int = 1) -> Signal:
    """Return values of at least a threshold after low-pass filter and difference.

    Parameters
    ----------
    recording : array of shape (T, p)
        Frames by neurons, of any real type; it may be mapped from a file.
    name : {"f1", "f2", "f3", "f4", "none"}
        Low-pass filter.
    threshold : float
        Lowest threshold that is asked for later.
    n_threads : int
        Threads over blocks of frames.

    Returns
    -------
    csr_array of shape (T, p)
        The same values as ``hard_threshold(difference(low_pass(recording)))``.
    """
    filters = name != NO_FILTER

    def filtered(first: int, last: int) -> Signal:
        before, after = (LOW_PASS[name].before + 1, LOW_PASS[name].after) if filters else (1, 0)
        start, stop = max(0, first - before), min(len(recording), last + after)
        x = np.asarray(recording[start:stop], dtype=np.float64)
        x = difference(low_pass(x, name) if filters else x)[first - start : last - start]
        return where(x, x >= threshold)

    with Pool(n_threads) as pool:
        parts = list(pool.map(lambda edges: filtered(*edges), blocks(recording)))
    return sparse.vstack(parts, format="csr")


def blocks(recording: NDArray[Any], numbers: int = _FRAMES) -> Iterator[tuple[int, int]]:
    """Yield the first and last frame (exclusive) of blocks of about `numbers` numbers."""
    n_frames, p = recording.shape
    step = max(1, numbers // p)
    for first in range(0, n_frames, step):
        yield first, min(n_frames, first + step)
