"""Searches that move from set to set, one feature at a time."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import FloatArray

Subset = frozenset[int]
Scores = Generator[list[Subset], list[float], None]
Move = Generator[list[Subset], list[float], tuple[Subset, float]]


@dataclass
class Path:
    """Sets that a search came to, with their scores; and the best one of each size."""

    visited: list[tuple[Subset, float]] = field(default_factory=list)
    best: dict[int, tuple[Subset, float]] = field(default_factory=dict)
    first: list[float] = field(default_factory=list)  # scores of the sets of the first step

    def go(self, current: Subset, score: float) -> Subset:
        """Go to a set."""
        self.visited.append((current, score))
        size = len(current)
        if size not in self.best or score > self.best[size][1]:
            self.best[size] = current, score
        return current


def _step(current: Subset, p: int, add: bool) -> Move:
    """Score all sets of one feature more or fewer, and return the best, the first of equal ones."""
    features = sorted(set(range(p)) - current if add else current)
    sets = [current ^ {j} for j in features]
    scores = yield sets
    best = int(np.argmax(scores))
    return sets[best], scores[best]


def search(
    path: Path, p: int, goal: int, *, forward: bool, plus: int, minus: int, floating: bool
) -> Scores:
    """Yield sets that are to be scored, and take their scores, until a set of `goal` features.

    Parameters
    ----------
    path : Path
        Takes the sets that the search comes to.
    p : int
        Number of features.
    goal : int
        Number of features of the last set.
    forward : bool
        Whether the search starts from no feature, else from all.
    plus, minus : int
        Number of features that are added, and then removed, in turn; the other way round backward.
    floating : bool
        Whether to go back as long as the set is better than all others of its size so far.
    """
    current: Subset = frozenset() if forward else frozenset(range(p))
    if not forward:
        score = (yield [current])[0]
        current = path.go(current, score)
    while len(current) != goal:
        for _ in range(plus):
            move = _step(current, p, forward)
            current = path.go(*(yield from _noting(path, move)))
            if len(current) == goal:
                return
        for _ in range(minus):
            current = path.go(*(yield from _step(current, p, not forward)))
        while floating and (len(current) > 1 if forward else len(current) < p):
            back, score = yield from _step(current, p, not forward)
            known = path.best.get(len(back))
            if known is not None and score <= known[1]:
                break
            current = path.go(back, score)


def _noting(path: Path, move: Move) -> Move:
    """Note the scores of the first step of a search."""
    if path.first:
        return (yield from move)
    sets = next(move)
    path.first = list((yield sets))
    try:
        move.send(path.first)
    except StopIteration as end:
        found: tuple[Subset, float] = end.value
        return found
    raise RuntimeError("a step yields once")


class Course:
    """Sets to score in the order of a search, each once.

    Parameters
    ----------
    steps : generator
        The search.
    """

    def __init__(self, steps: Scores) -> None:
        self._steps = steps
        self._known: dict[Subset, float] = {}
        self._taken = 0
        self._asked: list[Subset] | None = next(steps, None)
        self.new = self._unknown()

    def _unknown(self) -> list[Subset]:
        return [one for one in self._asked or () if one not in self._known]

    def ready(self, scores: FloatArray) -> int:
        """Return how many sets can be scored without knowing more than these scores."""
        while self._asked is not None:
            until = self._taken + len(self.new)
            if len(scores) < until:
                return until
            values = scores[self._taken : until, 0].tolist()
            self._known.update(zip(self.new, values, strict=True))
            self._taken = until
            try:
                self._asked = self._steps.send([self._known[one] for one in self._asked])
            except StopIteration:
                self._asked = None
            self.new = self._unknown()
        return self._taken

    def arguments(self, number: int) -> tuple[NDArray[np.int64]]:
        """Return the columns of a set that is to be scored."""
        return (np.array(sorted(self.new[number - self._taken]), dtype=np.int64),)
