"""Connectome inference by the formulas, frame by frame and densely. Slow."""

import numpy as np

LAGS = {
    "f1": {-1: 1, 0: 1, 1: 1},
    "f2": {0: 1, -1: 1, -2: 0.8, -3: 0.4},
    "f3": {-1: 1, 0: 1, 1: 1, 2: 1},
    "f4": {0: 1, 1: 1, 2: 1, 3: 1},
}


def low_pass(x, name):
    """Sum neighbors; beyond its ends the recording repeats its first and last frame."""
    last = len(x) - 1
    return np.array(
        [
            sum(c * x[min(max(t + lag, 0), last)] for lag, c in LAGS[name].items())
            for t in range(len(x))
        ]
    )


def difference(x):
    result = np.zeros(x.shape)
    for t in range(1, len(x)):
        result[t] = x[t] - x[t - 1]
    return result


def power_of_w_star(name, rho):
    if name in ("f1", "f2"):
        return 1.9 if 0.05 < rho < 0.23 else 1.6 if rho < 0.75 else 1.4
    if name == "f3":
        return 1.9 if 0.04 < rho < 0.22 else 1.7 if rho < 0.75 else 1.5
    return 1.9 if 0.08 < rho < 0.22 else 1.5


def weigh(x, name=None, form="program"):
    """Return w, or w* for the low-pass filter of a name."""
    sums = [float(sum(frame)) for frame in x]
    result = np.ones(x.shape)
    if name is not None and form == "program":
        sums = [s + 0.5 * (sums[t - 1] if t else 0.0) for t, s in enumerate(sums)]
    for t, s in enumerate(sums):
        if s == 0:
            continue
        if name is None:
            result[t] = (x[t] + 1) ** (1 + 1 / s)
        elif form == "program":
            result[t] = ((x[t] + 1) ** (1 + 1 / s)) ** power_of_w_star(name, s / max(sums))
        else:
            result[t] = (x[t] + 1) ** ((1 + 1 / s) ** power_of_w_star(name, s / max(sums)))
    return result


def processed(x, name, threshold, *, exponent=None, weighting="w", form="program"):
    x = difference(x if name is None else low_pass(x, name))
    x = np.where(x >= threshold, x, 0.0)
    if exponent is not None:
        x = x**exponent
    if weighting == "none":
        return x
    return weigh(x, name if weighting == "w_star" else None, form)


def partial_correlation(x, components=None):
    """Return partial correlations of a dense signal, the diagonal 0; None components for all."""
    changing = np.flatnonzero(x.std(axis=0) > 0)
    sigma = np.cov(x[:, changing], rowvar=False)
    if components is not None:
        values, vectors = np.linalg.eigh(sigma)
        values, vectors = values[::-1], vectors[:, ::-1]
        m = int(components * len(changing))
        noise = values[m:].mean()
        leading = vectors[:, :m]
        sigma = leading @ np.diag(values[:m] - noise) @ leading.T + noise * np.eye(len(values))
    inverse = np.linalg.inv(sigma)
    result = np.zeros((x.shape[1], x.shape[1]))
    for a, i in enumerate(changing):
        for b, j in enumerate(changing):
            if i != j:
                result[i, j] = -inverse[a, b] / np.sqrt(inverse[a, a] * inverse[b, b])
    return result


def averaged(x, filters, thresholds, components=0.8, **given):
    total, weight = 0.0, 0.0
    for name, c in filters.items():
        for threshold in thresholds:
            signal = processed(x, name, threshold, **given)
            total = total + c * partial_correlation(signal, components)
            weight += c
    return total / weight


def precedence(x, low=0.2, high=0.5):
    p = x.shape[1]
    counts = np.zeros((p, p), dtype=int)
    for i in range(p):
        for j in range(p):
            if i != j:
                ahead = x[1:, j] - x[:-1, i]
                counts[i, j] = ((ahead > low) & (ahead < high)).sum()
    return counts


def transfer_entropy(source, target, order=2, same_frame=True, counted=None):
    """Return the entropy that a source adds, in bits, from a table of joint states."""
    joint = {}
    frames = range(order, len(target))
    for t in frames:
        if counted is not None and not counted[t]:
            continue
        own = tuple(target[t - k] for k in range(1, order + 1))
        shift = 0 if same_frame else 1
        other = tuple(source[t - k - shift] for k in range(order))
        key = (target[t], own, other)
        joint[key] = joint.get(key, 0) + 1
    n = sum(joint.values())

    def total(*of):
        results = {}
        for key, count in joint.items():
            part = tuple(key[k] for k in of)
            results[part] = results.get(part, 0) + count
        return results

    both, past, own = total(1, 2), total(0, 1), total(1)
    entropy = 0.0
    for (now, mine, other), count in joint.items():
        with_source = count / both[mine, other]
        without = past[now, mine] / own[mine,]
        entropy += count / n * np.log2(with_source / without)
    return entropy
