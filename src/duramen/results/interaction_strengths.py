"""Strengths of the interactions of pairs of features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, hidden
from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.support.provenance import frozen_metadata
from duramen.support.text import fixed


@dataclass(frozen=True, eq=False, repr=False)
class InteractionStrengths(Result):
    """Interactions of P pairs of features in a forest, the strongest first.

    Attributes
    ----------
    pairs : tuple of (str, str)
    strengths : ndarray of float64, shape (P,)
        Standard deviation of the interaction, in the unit of the predictions.
    h : ndarray of float64, shape (P,)
        Friedman's H: the square root of the fraction of the variance of the joint effect that is
        interaction; 0 where features have no joint effect.
    mains : mapping of str to float
        Standard deviation of the partial dependence of each feature by itself.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[i % 2, i // 2 % 2, i % 3] for i in range(48)]
    >>> forest = dm.RandomForestClassifier(50, random_state=0).fit(X, [a ^ b for a, b, _ in X])
    >>> dm.effects.interaction_strength(forest, X).pairs[0]
    ('x0', 'x1')
    """

    pairs: tuple[tuple[str, str], ...]
    strengths: NDArray[np.float64]
    h: NDArray[np.float64]
    mains: Mapping[str, float]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for numbers in (self.strengths, self.h):
            numbers.setflags(write=False)
        settled = frozen_metadata("InteractionStrengths", self.metadata)
        object.__setattr__(self, "metadata", settled)

    def __len__(self) -> int:
        return len(self.pairs)

    def columns(self) -> dict[str, Any]:
        """Return the two features, the strength and H of each pair."""
        return {
            "feature": [one for one, _ in self.pairs],
            "other": [other for _, other in self.pairs],
            "strength": self.strengths,
            "h": self.h,
        }

    def _summary(self, rows: int) -> Summary:
        shown = min(rows, len(self))
        columns = [
            Column("feature", [one for one, _ in self.pairs[:shown]], kind="words"),
            Column("other", [other for _, other in self.pairs[:shown]], kind="words"),
            Column("strength", fixed(self.strengths[:shown], 4)),
            Column("H", fixed(self.h[:shown], 3)),
        ]
        heading = f"InteractionStrengths of {len(self)} pairs"
        return Summary((heading,), columns, hidden(len(self), shown, "pairs"))
