"""Markov chain of columns with known probabilities: exact draws and exact knockoffs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.support.arrays import FloatArray, IntArray

_OWNER = "MarkovChain"
_SLACK = 1e-6  # of sums of probabilities


class MarkovChain:
    r"""Distribution of columns that depend on the one before them, with known probabilities.

    It is a sampler for :func:`conditional` and :func:`knockoffs`: with it, p-values of
    ``method="crt"`` and the error rate of knockoffs are exact.

    Parameters
    ----------
    rows : array-like of shape (n, p)
        States of the rows, whole numbers from 0 to K - 1, as in the table that is tested.
    initial : array-like of shape (K,)
        Probabilities of the states of the first column.
    transitions : array-like of shape (K, K) or (p - 1, K, K)
        Probability of each state (last axis) given that of the column before it, the same for all
        columns or one matrix for each column from the second on.

    Raises
    ------
    ValueError
        If a state is no whole number from 0 to K - 1, probabilities are negative or do not add up
        to 1, shapes disagree, or a row has probability 0.

    References
    ----------
    M. Sesia, C. Sabatti, E. J. Candes (2019). Gene hunting with hidden Markov model knockoffs.
    Biometrika 106.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> random = np.random.default_rng(0)
    >>> rows = np.cumsum(random.random((200, 5)) < 0.2, axis=1) % 2  # each flips with .2
    >>> chain = dm.significance.MarkovChain(rows, [0.8, 0.2], [[0.8, 0.2], [0.2, 0.8]])
    >>> chain.knockoffs(random).shape
    (200, 5)
    """

    def __init__(self, rows: ArrayLike, initial: ArrayLike, transitions: ArrayLike) -> None:
        self.initial = _probabilities("initial", initial, (1,))
        n_states = len(self.initial)
        states = np.asarray(rows)
        whole = states.ndim == 2 and states.dtype.kind in "biuf" and states.size > 0
        if not whole or not np.isin(states, np.arange(n_states)).all():
            raise ValueError(
                f"{_OWNER}: rows must be a table of whole numbers from 0 to {n_states - 1}, one "
                f"for each of the {n_states} probabilities in initial."
            )
        self.rows: IntArray = states.astype(np.int64)
        p = states.shape[1]
        matrices = _probabilities("transitions", transitions, (2, 3))
        if matrices.ndim == 2:
            matrices = np.broadcast_to(matrices, (p - 1, *matrices.shape))
        if matrices.shape != (p - 1, n_states, n_states):
            raise ValueError(
                f"{_OWNER}: transitions must have shape {(n_states, n_states)} or "
                f"{(p - 1, n_states, n_states)}, got {np.shape(transitions)}."
            )
        self.transitions: FloatArray = matrices
        possible = self.initial[self.rows[:, 0]] > 0
        for j in range(1, p):
            possible &= (
                self._given_before(j, self.rows)[np.arange(len(states)), self.rows[:, j]] > 0
            )
        if not possible.all():
            raise ValueError(
                f"{_OWNER}: row {int(np.argmin(possible))} of rows has probability 0 by initial "
                "and transitions."
            )

    def sample(self, feature: int, random: np.random.Generator) -> IntArray:
        """Draw a column for every row given all its other columns, shape (n,)."""
        weights = self._given_before(feature, self.rows) * self._of_next(feature)
        return _drawn(weights, random)

    def knockoffs(self, random: np.random.Generator) -> IntArray:
        r"""Draw knockoffs of all columns, shape (n, p) (Sesia et al. 2019, proposition 1).

        The j-th is drawn given its neighbors in the row and the knockoff before it, with
        probabilities

        .. math:: \frac{Q_j(k \mid x_{j-1}) \, Q_j(k \mid \tilde x_{j-1})}{N_{j-1}(k)} \,
                  \frac{Q_{j+1}(x_{j+1} \mid k)}{N_j(x_{j+1})}

        and N_j the denominators that make them add up to 1 for each value of x_{j+1}.
        """
        drawn = np.empty_like(self.rows)
        p = drawn.shape[1]
        sums = np.ones((len(drawn), len(self.initial)))
        for j in range(p):
            weights = self._given_before(j, self.rows)
            if j:
                weights = weights * self._given_before(j, drawn)
                weights = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
            drawn[:, j] = _drawn(weights * self._of_next(j), random)
            if j < p - 1:
                sums = weights @ self.transitions[j]
        return drawn

    def __repr__(self) -> str:
        """Return the shape of the rows and the number of states."""
        n, p = self.rows.shape
        return f"{_OWNER}({n} rows, {p} columns, {len(self.initial)} states)"

    def _given_before(self, j: int, states: IntArray) -> FloatArray:
        """Return the probabilities of the j-th column given the one before it, shape (n, K)."""
        if j == 0:
            return np.broadcast_to(self.initial, (len(states), len(self.initial)))
        return np.asarray(self.transitions[j - 1][states[:, j - 1]])

    def _of_next(self, j: int) -> Any:
        """Return the probability of the next column's state given each of this one, (n, K)."""
        if j == self.rows.shape[1] - 1:
            return 1.0
        return self.transitions[j][:, self.rows[:, j + 1]].T


def _probabilities(name: str, numbers: ArrayLike, dimensions: tuple[int, ...]) -> FloatArray:
    """Return probabilities that add up to 1 along the last axis."""
    values = np.asarray(numbers, dtype=np.float64)
    if values.ndim not in dimensions or not values.size:
        raise ValueError(
            f"{_OWNER}: {name} must have {' or '.join(map(str, dimensions))} dimensions, got shape "
            f"{values.shape}."
        )
    if not (values >= 0).all() or not np.allclose(values.sum(axis=-1), 1.0, atol=_SLACK):
        raise ValueError(
            f"{_OWNER}: {name} must be probabilities that add up to 1 along the last axis."
        )
    return values


def _drawn(weights: FloatArray, random: np.random.Generator) -> IntArray:
    """Draw a state for each row in proportion to its weights."""
    ends = np.cumsum(weights, axis=1)
    places = random.random((len(ends), 1)) * ends[:, -1:]
    return np.asarray((places >= ends[:, :-1]).sum(axis=1), dtype=np.int64)
