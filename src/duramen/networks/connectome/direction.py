r"""Directed links: transfer entropy, and the order of rises.

Generalized transfer entropy is that of Stetter et al. (2012). All the counts that a pair needs come
from products of sparse indicator matrices: one for each state of the past and present of the target
by one for each state of the past of the source, but for the commonest state of either, whose counts
are what is left of the totals. The order of rises is that of the thesis, appendix 8.A.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from duramen.networks.connectome.filters import Signal, as_signal, difference
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.threads import Pool

Indicator = Any  # csc_array of int32 ones, or None
_MOST_STATES = 4096
_COLUMNS = 256  # targets at a time
RULES = ("weighted", "masked")
_PAIRS = 1 << 20  # compared at a time


def transfer_entropy(
    states: ArrayLike,
    *,
    order: int = 2,
    same_frame: bool = True,
    frames: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> FloatArray:
    r"""Compute the transfer entropy between discrete series, in bits.

    .. math::
        TE_{J \to I} = \sum p(i_t, i^-, j^-) \log_2 \frac{p(i_t \mid i^-, j^-)}{p(i_t \mid i^-)}

    with the past :math:`i^- = (i_{t-1}, \ldots, i_{t-k})` of the target and that of the source,
    :math:`j^- = (j_t, \ldots, j_{t-k+1})` or, without `same_frame`, one frame earlier.

    Parameters
    ----------
    states : int array-like of shape (T, p)
        State of each series in each frame, from 0 on.
    order : int
        Order k of the past.
    same_frame : bool
        Whether the past of the source begins in the same frame, as where frames last longer than
        the delay of a link.
    frames : bool array-like of shape (T,), optional
        Frames t that count; all from the k-th on by default.
    n_jobs : int, optional
        Threads over targets; the result does not depend on it.

    Returns
    -------
    float64 array of shape (p, p)
        Entropy from source to target, in bits; 0 on the diagonal. It is a plug-in estimate.

    Raises
    ------
    ValueError
        If states are no integers from 0 on, there are too many of them, or no frame is kept.

    Examples
    --------
    The second series repeats the first one, a fair coin, one frame later.

    >>> import numpy as np
    >>> from duramen.networks.connectome import transfer_entropy
    >>> coin = np.random.default_rng(0).integers(0, 2, 20000)
    >>> pair = np.column_stack([coin, np.roll(coin, 1)])
    >>> transfer_entropy(pair).round(2)
    array([[0., 1.],
           [0., 0.]])
    """
    function = "transfer_entropy"
    checks.check_integer(function, "order", order, 1, most=8)
    codes = np.asarray(states)
    if codes.ndim != 2 or codes.dtype.kind not in "iub" or not codes.size or codes.min() < 0:
        raise checks.refuse(function, "states", "integers >= 0, frames by neurons", codes.shape)
    base = int(codes.max()) + 1
    if base ** (order + 1) > _MOST_STATES:
        allowed = f"at most {_MOST_STATES} combinations of {order + 1} states"
        raise checks.refuse(function, "states", allowed, base ** (order + 1))
    n = len(codes)
    mask = np.ones(n, dtype=np.bool_) if frames is None else np.asarray(frames, dtype=np.bool_)
    if mask.shape != (n,):
        raise checks.refuse(function, "frames", f"one entry per frame ({n})", mask.shape)
    rows = np.flatnonzero(mask)
    rows = rows[rows >= order]  # rows that have a past
    if not len(rows):
        raise ValueError(
            f"{function}: no frame is kept. Hint: raise the mean fluorescence below which frames "
            "are kept."
        )
    n_threads = checks.check_jobs(function, n_jobs)
    if base == 1:
        return np.zeros((codes.shape[1], codes.shape[1]))
    # Digits of the target: i_t first, then its past; of the source: its past.
    target = _combined(codes, rows, base, range(order + 1))
    source = _combined(codes, rows, base, range(0 if same_frame else 1, order + (not same_frame)))
    of_target = _indicators(target, base ** (order + 1))
    of_source = _indicators(source, base**order)
    p = codes.shape[1]

    def part(first: int) -> FloatArray:
        columns = slice(first, min(p, first + _COLUMNS))
        counts = _counts(of_source, of_target, columns, len(rows))
        return _information(counts, base)

    with Pool(n_threads) as pool:
        entropies = np.concatenate(list(pool.map(part, range(0, p, _COLUMNS))), axis=1)
    np.fill_diagonal(entropies, 0.0)
    return entropies


def generalized_transfer_entropy(
    fluorescence: ArrayLike,
    *,
    threshold: float = 0.25,
    edges: ArrayLike = (-10.0, 0.12, 10.0),
    order: int = 2,
    same_frame: bool = True,
    n_jobs: int | None = None,
) -> FloatArray:
    """Compute the transfer entropy of rises of fluorescence while the network is quiet, in bits.

    The signal is differenced and cut into bins; frames whose mean fluorescence over all neurons
    reaches a threshold, such as those of bursts, are left out.

    Parameters
    ----------
    fluorescence : array-like of shape (T, p)
        Frames by neurons.
    threshold : float
        Mean fluorescence below which frames are kept.
    edges : array-like of shape (b + 1,)
        Ascending edges of b bins of the differences, each with its lower edge; the first and the
        last bin take what lies beyond.
    order, same_frame, n_jobs
        As for :func:`transfer_entropy`.

    Returns
    -------
    float64 array of shape (p, p)
        Entropy from source to target, in bits; 0 on the diagonal.

    References
    ----------
    O. Stetter, D. Battaglia, J. Soriano, T. Geisel (2012). Model-free reconstruction of excitatory
    neuronal connectivity from calcium imaging signals. PLoS Computational Biology 8(8).

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import generalized_transfer_entropy
    >>> first = 0.2 * np.random.default_rng(0).integers(0, 2, 5000)
    >>> pair = np.column_stack([first, np.roll(first, 1)])
    >>> found = generalized_transfer_entropy(pair)
    >>> bool(found[0, 1] > 10 * found[1, 0])
    True
    """
    function = "generalized_transfer_entropy"
    checks.check_real(function, "threshold", threshold, -np.inf)
    cuts = np.asarray(edges, dtype=np.float64)
    if cuts.ndim != 1 or len(cuts) < 3 or not (np.diff(cuts) > 0).all():
        raise checks.refuse(function, "edges", "at least 3 ascending numbers", edges)
    x = np.asarray(fluorescence)
    if x.ndim != 2 or len(x) < order + 2:
        raise checks.refuse(function, "fluorescence", f"at least {order + 2} frames", x.shape)
    states = np.empty(x.shape, dtype=np.uint8 if len(cuts) < 250 else np.int64)
    quiet = np.empty(len(x), dtype=np.bool_)
    for first in range(0, len(x), 4096):
        last, start = min(len(x), first + 4096), max(0, first - 1)
        block = np.asarray(x[start:last], dtype=np.float64)
        states[first:last] = np.searchsorted(cuts[1:-1], difference(block), side="right")[
            first - start :
        ]
        quiet[first:last] = block[first - start :].mean(axis=1) < threshold
    return transfer_entropy(states, order=order, same_frame=same_frame, frames=quiet, n_jobs=n_jobs)


def _combined(codes: NDArray[Any], rows: IntArray, base: int, lags: range) -> NDArray[np.uint16]:
    """Return one number for the states at these lags, the first lag the leading digit."""
    total = np.zeros((len(rows), codes.shape[1]), dtype=np.uint16)
    for lag in lags:
        total = (total * base + codes[rows - lag]).astype(np.uint16)
    return total


def _indicators(combined: NDArray[np.uint16], number: int) -> list[Indicator]:
    """Return an indicator matrix of each state that occurs, and None for the commonest one."""
    frequency = np.bincount(combined.ravel(), minlength=number)
    commonest = int(frequency.argmax())
    order = np.flatnonzero(combined.T.ravel() != commonest)  # by column, then by row
    state = combined.T.ravel()[order]
    n = len(combined)
    indicators: list[Indicator] = []
    for value in range(number):
        if value == commonest:
            indicators.append(None)
            continue
        places = order[state == value]
        starts = np.searchsorted(places, np.arange(combined.shape[1] + 1) * n)
        ones: Any = np.ones(len(places), dtype=np.int32)
        parts: Any = (ones, (places % n).astype(np.int32), starts.astype(np.int32))
        indicators.append(sparse.csc_array(parts, shape=combined.shape))
    return indicators


def _counts(
    of_source: list[Indicator],
    of_target: list[Indicator],
    columns: slice,
    n: int,
) -> IntArray:
    """Count the frames of each state of a source and of a target.

    Returns
    -------
    int64 array of shape (sources, targets, states of a source, states of a target)
    """
    p = next(indicator.shape[1] for indicator in of_source if indicator is not None)
    width = columns.stop - columns.start
    counts = np.zeros((len(of_source), len(of_target), p, width), dtype=np.int64)
    left, top = of_source.index(None), of_target.index(None)
    sources = [None if a is None else a.sum(axis=0) for a in of_source]
    for v, b in enumerate(of_target):
        if b is None:
            continue
        part = b[:, columns]
        counts[left, v] = part.sum(axis=0)
        for u, a in enumerate(of_source):
            if a is not None and a.nnz and part.nnz:
                counts[u, v] = (a.T @ part).toarray()
                counts[left, v] -= counts[u, v]
    for u, total in enumerate(sources):
        counts[u, top] = n if total is None else np.asarray(total)[:, None]
        if total is None:
            counts[u, top] -= sum(np.asarray(s)[:, None] for s in sources if s is not None)
        counts[u, top] -= counts[u].sum(axis=0) - counts[u, top]
    return counts.transpose(2, 3, 0, 1)


def _information(counts: IntArray, base: int) -> FloatArray:
    """Return I(i_t; past of the source | past of the target) in bits, sources by targets."""
    p, width, sources, targets = counts.shape
    joint = counts.reshape(p, width, sources, base, targets // base)  # j-, i_t, i-
    n = counts[0, 0].sum()

    def entropy(table: IntArray) -> FloatArray:
        flat = table.reshape(p, width, -1).astype(np.float64)
        terms = flat * np.log2(np.where(flat > 0, flat, 1.0))
        return np.asarray(np.log2(n) - terms.sum(axis=-1) / n)

    with_both = entropy(joint)
    with_target = entropy(joint.sum(axis=2))
    pasts = entropy(joint.sum(axis=3))
    own = entropy(joint.sum(axis=(2, 3)))
    return np.asarray(np.maximum(with_target - own - (with_both - pasts), 0.0))


# --- order of rises ---------------------------------------------------------------------------


def precedence(
    signal: Any, *, low: float = 0.2, high: float = 0.5, n_jobs: int | None = None
) -> IntArray:
    r"""Count the frames in which the rise of a neuron follows the rise of another neuron.

    .. math:: s_{ij} = \#\{t : \phi_1 < x_j^{t+1} - x_i^t < \phi_2\}

    (8.12), with open bounds as the program of the authors has them.

    Parameters
    ----------
    signal : array-like or scipy sparse array of shape (T, p)
        Rises, nowhere negative; the authors take r h g f2 with the threshold .12.
    low, high : float
        Bounds :math:`0 < \phi_1 < \phi_2`.
    n_jobs : int, optional
        Threads over frames; the result does not depend on it.

    Returns
    -------
    int64 array of shape (p, p)
        Counts, earlier neuron by later one; 0 on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import precedence
    >>> precedence(np.array([[0.1, 0.0], [0.0, 0.4], [0.0, 0.0]]))
    array([[0, 1],
           [0, 0]])
    """
    checks.check_real("precedence", "low", low, 0.0, ends="()")
    checks.check_real("precedence", "high", high, low, ends="()")
    x = as_signal(signal if sparse.issparse(signal) else np.asarray(signal))
    if x.nnz and x.data.min() < 0:
        raise checks.refuse("precedence", "signal", "without negative values", float(x.data.min()))
    p = x.shape[1]
    # An earlier value of 0 leaves the later one between the bounds; a later one of 0 never is.
    later = x[1:]
    within = later.copy()
    within.data = ((later.data > low) & (later.data < high)).astype(np.float64)
    active = x[:-1].copy()
    active.data = np.ones_like(active.data)
    counts = within.sum(axis=0)[None, :] - (active.T @ within).toarray()
    n_threads = checks.check_jobs("precedence", n_jobs)
    edges = np.linspace(0, x.shape[0] - 1, 2 * n_threads + 1).astype(np.int64)

    def part(k: int) -> IntArray:
        return _both_active(x, int(edges[k]), int(edges[k + 1]), low, high)

    total: IntArray = counts.astype(np.int64).reshape(p, p)
    with Pool(n_threads) as pool:
        for part_counts in pool.map(part, range(2 * n_threads)):
            total += part_counts
    np.fill_diagonal(total, 0)
    return total


def _both_active(x: Signal, first: int, last: int, low: float, high: float) -> IntArray:
    """Count over frames `first` to `last` the pairs of which neither value is 0."""
    p = x.shape[1]
    counts = np.zeros(p * p, dtype=np.int64)
    held: list[IntArray] = []
    n_held = 0
    for t in range(first, last):
        a, b, c = x.indptr[t : t + 3]
        if a == b or b == c:
            continue
        ahead = x.data[b:c] - x.data[a:b, None]
        i, j = np.nonzero((ahead > low) & (ahead < high))
        held.append(x.indices[a:b][i].astype(np.int64) * p + x.indices[b:c][j])
        n_held += len(i)
        if n_held > _PAIRS:
            counts += np.bincount(np.concatenate(held), minlength=p * p)
            held, n_held = [], 0
    if held:
        counts += np.bincount(np.concatenate(held), minlength=p * p)
    return counts.reshape(p, p)


def directed(
    weights: ArrayLike,
    counts: ArrayLike,
    *,
    rule: str = "weighted",
    weight: float = 0.997,
    excess: float = 0.0,
) -> FloatArray:
    r"""Direct symmetric weights by counted precedences.

    With :math:`z_{ij} = s_{ij} - s_{ji}` and scaled matrices (the smallest entry beside the
    diagonal 0, the largest 1) "weighted" is (8.14); "masked", with the weights as they are, (8.13):

    .. math:: q_{ij} = .997\, p_{ij} + .003\, z_{ij}, \qquad r_{ij} = 1(z_{ij} > \phi_3)\, p_{ij}

    Parameters
    ----------
    weights : array-like of shape (p, p)
        Symmetric weights, such as partial correlations.
    counts : array-like of shape (p, p)
        Counts of :func:`precedence`.
    rule : {"weighted", "masked"}
        Formula.
    weight : float
        Weight of p in the sum.
    excess : float
        Count :math:`\phi_3 \geq 0` that z must exceed, for "masked".

    Returns
    -------
    float64 array of shape (p, p)
        Weights from source to target; 0 on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.networks.connectome import directed
    >>> weights = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> directed(weights, np.array([[0, 7], [2, 0]]), rule="masked")
    array([[0. , 0.5],
           [0. , 0. ]])
    """
    checks.check_choice("directed", "rule", rule, RULES)
    checks.check_real("directed", "weight", weight, 0.0, 1.0)
    checks.check_real("directed", "excess", excess, 0.0)
    p, s = np.asarray(weights, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if p.ndim != 2 or p.shape[0] != p.shape[1] or s.shape != p.shape:
        raise checks.refuse("directed", "counts", f"of the shape of weights, {p.shape}", s.shape)
    z = s - s.T
    if rule == "weighted":
        return weight * scaled(p) + (1.0 - weight) * scaled(z)
    result: FloatArray = np.where(z > excess, p, 0.0)
    np.fill_diagonal(result, 0.0)
    return result


def scaled(matrix: FloatArray) -> FloatArray:
    """Return a matrix shifted and divided so that it runs from 0 to 1 beside the diagonal of 0."""
    off = ~np.eye(len(matrix), dtype=np.bool_)
    if len(matrix) < 2:
        return np.zeros(matrix.shape)
    low, high = matrix[off].min(), matrix[off].max()
    return np.asarray(np.where(off, (matrix - low) / ((high - low) or 1.0), 0.0))
