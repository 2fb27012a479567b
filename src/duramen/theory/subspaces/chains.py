"""Markov chains of the number of relevant features found by random subspaces, tree by tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray
from duramen.support.checks import check_integer, check_real, refuse

# A transition matrix, or a table of distributions, larger than this is refused.
_MOST_CELLS = 2**26


def kept_places(subspace: int, keep: float) -> int:
    """Return floor(keep * subspace): the most places that features found before may take."""
    places = keep * subspace
    near = round(places)
    return near if abs(places - near) < 1e-9 * subspace else math.floor(places)


def rounded_up(number: float) -> int:
    """Return the least whole number not below a number, but for the rounding of the latter."""
    near = round(number)
    return near if abs(number - near) <= 1e-14 * abs(number) else math.ceil(number)


# --- one step of each chain -----------------------------------------------------------------------
#
# A step function gives, with i of r features found, the probabilities that i, i+1, .., r are found
# after the next tree. `a` places are taken by features that were found before.


def _chain_step(p: int, q: int, r: int, a: int, i: int) -> FloatArray:
    """P(i -> j) = C(p-j-1, q-j) / C(p-a, q-a) for i < j < r, and C(p-r, q-r) / C(p-a, q-a)."""
    place = np.arange(a, r)
    all_of = np.concatenate([[1.0], np.cumprod(ratio_of_places(p, q, place))])[i - a :]
    first_missing = np.append((p - q) / (p - np.arange(i, r)), 1.0)
    step: FloatArray = all_of * first_missing
    # With feature i+1 missing, or some of those found that it needs, nothing new is found.
    step[0] = 1.0 - all_of[1] if i < r else 1.0
    return step


def _clique_step(p: int, q: int, r: int, a: int, i: int) -> FloatArray:
    """P(i -> i+1) = C(p-r, q-r) / C(p-a, q-a) * (r-i) / r."""
    step = np.zeros(r - i + 1)
    found = float(np.prod(ratio_of_places(p, q, np.arange(a, r)))) * (r - i) / r
    step[0] = 1.0 - found
    if i < r:
        step[1] = found
    return step


def _marginal_step(p: int, q: int, r: int, a: int, i: int) -> FloatArray:
    """P(i -> j) = C(r-i, j-i) C(p-a-r+i, q-a-j+i) / C(p-a, q-a): hypergeometric."""
    step = np.zeros(r - i + 1)
    probabilities = hypergeometric(p - a, r - i, q - a)
    step[: probabilities.size] = probabilities
    return step


_STEPS: dict[str, Callable[[int, int, int, int, int], FloatArray]] = {
    "chain": _chain_step,
    "clique": _clique_step,
    "marginal": _marginal_step,
}


def ratio_of_places(p: int, q: int, place: NDArray[np.int64]) -> FloatArray:
    """Return (q-l)/(p-l) for every l, and 0 from l = q on."""
    ratio: FloatArray = np.maximum(q - place, 0) / (p - place)
    return ratio


def hypergeometric(total: int, marked: int, drawn: int) -> FloatArray:
    """Return the hypergeometric distribution: marked ones among `drawn` of `total`, from 0 on.

    Ratios of neighbors are multiplied from the mode on to both sides and the result is divided by
    its sum, so that no factorial is needed and each value keeps its relative precision.
    """
    least, most = max(0, drawn + marked - total), min(marked, drawn)
    mode = min(most, max(least, ((drawn + 1) * (marked + 1)) // (total + 2)))
    k = np.arange(mode, most, dtype=np.float64)
    up = (marked - k) / (k + 1) * ((drawn - k) / (total - marked - drawn + k + 1))
    k = np.arange(mode, least, -1, dtype=np.float64)
    down = k / (marked - k + 1) * ((total - marked - drawn + k) / (drawn - k + 1))
    probabilities = np.zeros(most + 1)
    probabilities[mode] = 1.0
    probabilities[mode + 1 :] = np.cumprod(up)
    probabilities[least:mode] = np.cumprod(down)[::-1]
    scaled: FloatArray = probabilities / probabilities.sum()
    return scaled


class Chain:
    """Markov chain of the number of features found, in one setting; rows are made one by one."""

    def __init__(
        self,
        function: str,
        scenario: str,
        n_features: int,
        subspace: int,
        n_relevant: int,
        keep: float,
    ) -> None:
        if scenario not in _STEPS:
            raise refuse(
                function,
                "scenario",
                "one of 'chain', 'clique', 'marginal'",
                scenario,
                "for others, give their conditionings to simulate",
            )
        self.step = _STEPS[scenario]
        self.p = check_integer(function, "n_features", n_features, 1, most=inf)
        self.q = check_integer(
            function, "subspace", subspace, 1, most=self.p, hint="it holds at most all features"
        )
        self.r = check_integer(function, "n_relevant", n_relevant, 1, most=self.p)
        self.places = kept_places(self.q, check_real(function, "keep", keep, 0.0, 1.0))

    def row(self, i: int) -> FloatArray:
        """Return the probabilities that i, i+1, .., r features are found after the next tree."""
        return self.step(self.p, self.q, self.r, min(self.places, i), i)

    def matrix(self, function: str) -> FloatArray:
        """Return the transition matrix."""
        cells = (self.r + 1) ** 2
        refuse_large(function, cells, f"a matrix of {self.r + 1} by {self.r + 1}")
        matrix = np.zeros((self.r + 1, self.r + 1))
        for i in range(self.r + 1):
            matrix[i, i:] = self.row(i)
        return matrix


def refuse_large(function: str, cells: int, what: str) -> None:
    """Refuse an array of more numbers than fit into memory on most machines."""
    if cells > _MOST_CELLS:
        raise ValueError(
            f"{function}: {what} numbers would be needed, and {_MOST_CELLS} are the most. "
            "Hint: expected_trees needs no matrix; simulate takes any number of features."
        )
