"""Effects on the predictions of a forest: of one feature, and interactions of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from duramen.results.result import Result
from duramen.results.summary import Column, Kind
from duramen.support.arrays import FloatArray

METHODS = {
    "ale": "accumulated local effect",
    "partial_dependence": "partial dependence",
    "within_strata": "effect within strata",
}


@dataclass(frozen=True, eq=False, repr=False)
class FeatureEffect(Result):
    """Effect of a feature on predictions, at G of its values.

    Attributes
    ----------
    name : str
        The feature.
    kind : str
        "numeric", "ordinal" or "nominal".
    method : str
        "ale" (accumulated local effect), "partial_dependence" or "within_strata" (least-squares
        means of the target, adjusted for strata, in intervals or categories of the feature).
    points : ndarray of float64, shape (G,)
        Values of a numeric feature, ascending; 0, 1, ... for categories.
    labels : tuple of str, length G, or empty
        The categories; those of a nominal feature by the mean prediction of their rows.
    values : ndarray of float64, shape (G, C)
        Effect at each point, on the probability of each of C classes or, with C = 1, on the mean.
    classes : tuple of str
        The classes; empty in regression.
    missing : ndarray of float64, shape (C,), or None
        Partial dependence where the feature is missing; None where it never is.
    dates : Dates or None
        How dates are read as the points; None for other features.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[float(i), float(i % 3)] for i in range(30)]
    >>> forest = dm.RandomForestRegressor(20, random_state=0).fit(X, [row[0] for row in X])
    >>> effect = dm.effects.accumulated_local_effects(forest, X, "x0")
    >>> bool(effect.values[0, 0] < 0 < effect.values[-1, 0])
    True
    """

    name: str
    kind: str
    method: str
    points: FloatArray
    labels: tuple[str, ...]
    values: FloatArray
    classes: tuple[str, ...] = ()
    missing: FloatArray | None = None
    dates: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.points)

    def table(self) -> list[Column]:
        """Return the points and the effect on each class, or on the mean."""
        text = "{:.4g}".format if self.dates is None else self.dates.label
        cells = list(self.labels) or [*map(text, self.points.tolist())]
        points = None if self.labels else self.points
        kind: Kind = "words" if self.labels else "number"
        return [
            Column(self.name, cells, kind, name=self.name, numbers=points),
            *(
                Column(output, digits=4, name=output, numbers=numbers)
                for output, numbers in zip(self.classes or ("effect",), self.values.T, strict=True)
            ),
        ]

    _WHAT = "points"

    def _heading(self) -> tuple[str, ...]:
        return (f"FeatureEffect: {METHODS[self.method]} of {self.name} at {len(self)} points",)


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
    strengths: FloatArray
    h: FloatArray
    mains: Mapping[str, float]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.pairs)

    def table(self) -> list[Column]:
        """Return the two features, the strength and H of each pair."""
        first, second = zip(*self.pairs, strict=True) if self.pairs else ((), ())
        return [
            Column("feature", first, "words", name="feature"),
            Column("other", second, "words", name="other"),
            Column("strength", digits=4, name="strength", numbers=self.strengths),
            Column("H", digits=3, name="h", numbers=self.h),
        ]

    _WHAT = "pairs"

    def _heading(self) -> tuple[str, ...]:
        return (f"InteractionStrengths of {len(self)} pairs",)
