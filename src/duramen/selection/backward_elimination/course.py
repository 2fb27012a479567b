"""Sets of features that an elimination visits, and the one that it selects."""

from __future__ import annotations

import numpy as np

from duramen.support.arrays import FloatArray, IntArray


def sizes(p: int, least: int, drop: float) -> list[int]:
    """Return the numbers of features of the rounds: of each, a fraction is dropped, at least 1."""
    found = [p]
    while found[-1] > least:
        found.append(max(least, min(found[-1] - 1, round(found[-1] * (1.0 - drop)))))
    return found


def smallest_within(errors: FloatArray, standard_errors: FloatArray, factor: float) -> int:
    """Return the last set whose error is within `factor` standard errors of the smallest one.

    Parameters
    ----------
    errors, standard_errors : float64 array of shape (rounds,)
        Of sets that get smaller and smaller. The standard error is that at the smallest error, of
        the smallest set that has it.
    factor : float

    Returns
    -------
    int
    """
    best = len(errors) - 1 - int(np.argmin(errors[::-1]))
    return int(np.flatnonzero(errors <= errors[best] + factor * standard_errors[best])[-1])


class Course:
    """Chains of eliminations, side by side: one of all rows, and one without each fold.

    Parameters
    ----------
    p : int
        Number of features.
    rounds : list of int
        Numbers of features of the rounds.
    n_chains : int
        Number of chains.
    again : bool
        Whether importances are computed in every round, not in the first alone.
    """

    def __init__(self, p: int, rounds: list[int], n_chains: int, again: bool) -> None:
        self.rounds, self.n_chains, self.again = rounds, n_chains, again
        self._done = 0
        self.columns = [[np.arange(p)] for _ in range(n_chains)]  # of each chain, round by round

    @property
    def n_trials(self) -> int:
        """Number of trials in all."""
        return len(self.rounds) * self.n_chains

    def ready(self, trials: FloatArray) -> int:
        """Return how many trials can be computed without knowing more than these."""
        size, known = self.n_chains, len(self.columns[0])
        if known < len(self.rounds) and len(trials) >= known * size:
            for chain in range(size):
                row = trials[(known - 1) * size + chain]
                for count in self.rounds[known : known + 1 if self.again else None]:
                    there = self.columns[chain][-1]
                    best = there[np.argsort(-row[there], kind="stable")]
                    self.columns[chain].append(np.sort(best[:count]))
        known = len(self.columns[0])
        if known < len(self.rounds) and len(trials) >= known * size:
            return self.ready(trials)
        return known * size

    def arguments(self, number: int) -> tuple[IntArray, bool, int]:
        """Return columns, whether importances are wanted, and the fold of a trial."""
        step, chain = divmod(number, self.n_chains)
        return self.columns[chain][step], self.again or step == 0, chain - 1
