"""Noise and a deterministic measure for the tests of probes and null samples."""

import numpy as np

import duramen as dm

# As small as a forest can be, for measures that do not look at it.
TINY = dm.ExtraTreesClassifier(1, max_depth=1)


def noise(seed, n=60, p=30):
    """Columns of normal noise, and two classes of equal size that have nothing to do with them."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n, p)), random.permutation(np.arange(n) % 2)


def signal(seed=0, n=80, p=8):
    """Two columns that make up two classes, and noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


def one_relevant(seed=0, n=60, p=6):
    """Two classes by the first of p columns; the last one is constant."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    X[:, -1] = 1.0
    return X, np.where(X[:, 0] + 0.5 * random.normal(size=n) > 0, "yes", "no")


def two_relevant(seed=0, n=80, p=12):
    """Two classes by two of p columns; the last two are constant."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    X[:, -2:] = 1.0
    return X, (X[:, 3] + X[:, 5] + 0.3 * random.normal(size=n) > 0).astype(int)


def correlation(forest, table, y):
    """Absolute correlation of every column with the target."""
    columns = np.stack([table.values(j)[table.codes(j)] for j in range(table.n_columns)])
    columns = columns - columns.mean(axis=1, keepdims=True)
    target = np.unique(y, return_inverse=True)[1] - np.mean(np.unique(y, return_inverse=True)[1])
    return np.abs(columns @ target) / np.linalg.norm(columns, axis=1)


def scripted(runs):
    """A measure that returns these importances, one run after the other."""
    upcoming = iter(runs)
    return lambda forest, table, y: np.array(next(upcoming), dtype=float)


def band(probability, count, width=3.3):
    """Half-width of the interval that holds a binomial share with probability .999."""
    return width * np.sqrt(probability * (1 - probability) / count)


class Interrupted(Exception):
    """Stands for a run that is killed."""


def killed_after(measure, calls):
    """The measure, raising at its (calls + 1)-th call."""
    count = 0

    def killing(forest, table, y):
        nonlocal count
        count += 1
        if count > calls:
            raise Interrupted
        return measure(forest, table, y)

    killing.__name__ = measure.__name__
    return killing
