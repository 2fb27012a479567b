"""Result of a test of a ranking: the error rate of taking its first i features, for each i."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, counted, features, hidden, small
from duramen.results.fields import ANY, PROBABILITY
from duramen.results.result import FeatureResult
from duramen.results.summary import Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed

_LEVEL = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class ErrorRates(FeatureResult[float]):
    """A ranking of p features, and an error rate of taking the first i of them, for each i.

    A rate belongs to the beginning of a ranking that ends with a feature, not to that feature: it
    is no p-value, and must not be adjusted for the number of features. So it has a class of its
    own beside `Significance`.

    ``len(result)`` is p, ``result[name]`` the rate of the features up to this one, and iterating
    gives ``(name, rate)`` pairs in the order of the ranking.

    Parameters
    ----------
    names : tuple of str
        Names of the p features (or groups of features), all different, the best first.
    scores : ndarray of float64, shape (p,)
        What they are ranked by, in `unit`; decreasing.
    rates : ndarray of float64, shape (p,)
        Error rate of the first i features, i = 1 .. p, in [0, 1]; it never decreases with i.
    method : str
        Name of the method, such as ``"conditional_error_rate"``.
    meaning : str
        What the rate of the first i features is, in one sentence.
    unit : str
        Unit of the scores, as in `Importances`.
    n_known : int, optional
        Number of features at the beginning whose rates were computed, by default p. Those of the
        others are set to 1.
    details : mapping of str to ndarray of float64, shape (p,)
        Further columns.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data: whatever `json` can hold.
    notes : tuple of str
        What limits the result, a sentence each, such as where its numbers are known to be too
        small. They are printed, saved and loaded with it, and shown by reports.

    Raises
    ------
    TypeError
        If a name or a note is not a string.
    ValueError
        If shapes disagree, names repeat, a number is not finite, scores increase, rates decrease
        or lie outside [0, 1], `meaning` is empty, or `n_known` is not in 0..p.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.significance.ErrorRates(
    ...     ("a", "b"), scores=[2.0, 1.0], rates=[0.01, 0.2], method="fdr_curve", meaning="Rate.")
    >>> result.selected(0.05)
    ('a',)
    """

    names: tuple[str, ...]
    scores: FloatArray
    rates: FloatArray
    method: str
    meaning: str
    unit: str = "1"
    n_known: int = None  # type: ignore[assignment]
    details: Mapping[str, FloatArray] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    _NUMBERS: ClassVar = {"rates": PROBABILITY, "scores": ANY}
    _COLUMNS = ("name", "rank", "score", "rate", "known")

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = "ErrorRates"
        if (np.diff(self.scores) > 0).any():
            raise ValueError(
                f"{owner}: scores must not increase; features must be ordered from the best to "
                "the worst."
            )
        if (np.diff(self.rates) < 0).any():
            raise ValueError(f"{owner}: rates must not decrease along the ranking.")
        if not isinstance(self.meaning, str) or not self.meaning.strip():
            raise ValueError(f"{owner}: meaning must be a sentence that says what the rates are.")
        n_known = len(self) if self.n_known is None else self.n_known
        n_known = checks.check_integer(owner, "n_known", n_known, 0, most=len(self))
        object.__setattr__(self, "n_known", n_known)

    # --- what is taken ---------------------------------------------------------------------

    def selected(self, alpha: float = _LEVEL) -> tuple[str, ...]:
        """Return the names of the most features whose rate is at most `alpha`, the best first.

        Raises
        ------
        ValueError
            If `alpha` is not in [0, 1], or more features than there are known rates of may have
            a rate of at most `alpha`.
        """
        checks.check_real("ErrorRates", "alpha", alpha, 0, 1)
        count = int(np.count_nonzero(self.rates <= alpha))
        if self.n_known < len(self) and count >= self.n_known:
            raise ValueError(
                f"ErrorRates: the rates of the first {self.n_known} of {len(self)} features are "
                f"known, and all of them are at most alpha={alpha:g}; more features may be. "
                "Hint: compute them with a larger stop_at."
            )
        return self.names[:count]

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features, which are ranked already."""
        return np.arange(len(self))

    def _taken(self, index: NDArray[np.integer]) -> dict[str, Any]:
        known = int(np.count_nonzero(np.asarray(index) < self.n_known))
        return {**super()._taken(index), "n_known": known}

    # --- in and out ------------------------------------------------------------------------

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank``, ``score``, ``rate``, ``known`` (False where the rate was not
        computed, and is 1) and those of `details`.
        """
        return self._framed(self.scores, self.rates, self.order() < self.n_known)

    def _summary(self, rows: int) -> Summary:
        best = self.top(rows)
        low = np.count_nonzero(self.rates <= _LEVEL)
        count = counted(len(self), "feature")
        heading = f"ErrorRates: {self.method} of {count}, {low} with rate <= {_LEVEL:g}"
        unknown = ["not computed"] * (len(best) - best.n_known)
        columns = [
            *features(best.names, title="up to"),
            Column("score" if self.unit == "1" else self.unit, fixed(best.scores, 4)),
            Column("rate", small(best.rates[: best.n_known]) + unknown, bars=best.rates),
        ]
        below = hidden(len(self), len(best))
        return Summary((heading, f"rate: {self.meaning}"), columns, below, self.notes)
