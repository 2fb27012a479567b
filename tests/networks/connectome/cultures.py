"""Small simulated cultures: Poisson spikes that cross known links, decay, noise."""

import numpy as np
from scipy.signal import lfilter


def culture(links, n_frames=4000, p=3, *, rate=0.02, chance=0.6, noise=0.01, seed=0):
    """Return fluorescence (frames x neurons); spikes cross links within a frame, in their order."""
    rng = np.random.default_rng(seed)
    spikes = rng.random((n_frames, p)) < rate
    for i, j in links:
        spikes[:, j] |= spikes[:, i] & (rng.random(n_frames) < chance)
    calcium = lfilter([1.0], [1.0, -0.97], 0.2 * spikes, axis=0)
    return calcium + noise * rng.standard_normal((n_frames, p))


def bursting(n_frames=1500, p=12, seed=0):
    """Return fluorescence with bursts of many neurons, on random links."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(p) for j in range(i + 1, p) if rng.random() < 0.15]
    result = culture(pairs, n_frames, p, seed=seed, noise=0.02)
    for t in rng.integers(0, n_frames - 40, 8):
        result[t : t + 30] += np.linspace(0.3, 0, 30)[:, None] * (rng.random(p) < 0.8)
    return result
