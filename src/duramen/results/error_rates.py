"""Error rates of the beginnings of a ranking: what taking its first i features costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from duramen import checks
from duramen.results.fields import FloatArray, checked_names, frozen, frozen_between
from duramen.results.frames import native_frame
from duramen.results.metadata import frozen_metadata
from duramen.results.notes import checked_notes, note_lines
from duramen.results.result import Result
from duramen.results.text import aligned, fixed

_SHOWN = 10
_LEVEL = 0.05
_COLUMNS = ("name", "rank", "score", "rate", "known")


@dataclass(frozen=True, eq=False, repr=False)
class ErrorRates(Result):
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

    def __post_init__(self) -> None:
        owner, settle = "ErrorRates", object.__setattr__
        names = checked_names(owner, "names", self.names)
        settle(self, "names", names)
        settle(self, "scores", frozen(owner, "scores", self.scores, names))
        settle(self, "rates", frozen_between(owner, "rates", self.rates, names, high=1.0))
        if (np.diff(self.scores) > 0).any():
            raise ValueError(f"{owner}: scores must not increase; features are the best first.")
        if (np.diff(self.rates) < 0).any():
            raise ValueError(f"{owner}: rates must not decrease along the ranking.")
        if not isinstance(self.meaning, str) or not self.meaning.strip():
            raise ValueError(f"{owner}: meaning must be a sentence that says what the rates are.")
        n_known = len(names) if self.n_known is None else self.n_known
        n_known = checks.check_integer(owner, "n_known", n_known, 0, most=len(names))
        settle(self, "n_known", n_known)
        for name in checked_names(owner, "details", self.details):
            if name in _COLUMNS:
                raise ValueError(f"{owner}: details must not be called {name!r}, a column is.")
        details = {
            what: frozen(owner, f"details[{what!r}]", column, names)
            for what, column in self.details.items()
        }
        settle(self, "details", MappingProxyType(details))
        settle(self, "metadata", frozen_metadata(owner, self.metadata))
        settle(self, "notes", checked_notes(owner, self.notes))

    # --- as a collection -------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self.names, self.rates.tolist(), strict=True)

    def __getitem__(self, name: str) -> float:
        try:
            return float(self.rates[self.names.index(name)])
        except ValueError:
            raise KeyError(name) from None

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

    def top(self, k: int) -> ErrorRates:
        """Return the first `k` features (all when p < k).

        Raises
        ------
        ValueError
            If `k` is negative.
        """
        checks.check_integer("ErrorRates.top", "k", k, 0)
        return replace(
            self,
            names=self.names[:k],
            scores=self.scores[:k],
            rates=self.rates[:k],
            n_known=min(self.n_known, k),
            details={what: column[:k] for what, column in self.details.items()},
        )

    # --- in and out ------------------------------------------------------------------------

    def to_frame(self) -> Any:
        """Return a data frame with one row a feature, in the order of the ranking.

        Its columns are those of `columns`.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The first of these libraries that is installed.
        """
        return native_frame(self.columns())

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank``, ``score``, ``rate``, ``known`` (False where the rate was not
        computed, and is 1) and those of `details`.
        """
        place = np.arange(1, len(self) + 1)
        numbers = (place, self.scores.copy(), self.rates.copy(), place <= self.n_known)
        columns = dict(zip(_COLUMNS, (list(self.names), *numbers), strict=True))
        return {**columns, **{what: column.copy() for what, column in self.details.items()}}

    def __repr__(self) -> str:
        best = self.top(_SHOWN)
        count = f"{len(self)} feature" + ("" if len(self) == 1 else "s")
        low = np.count_nonzero(self.rates <= _LEVEL)
        lines = [f"ErrorRates: {self.method} of {count}, {low} with rate <= {_LEVEL:g}"]
        lines.append(f"rate: {self.meaning}")
        if len(self):
            rates = [f"{rate:.2g}" for rate in best.rates[: best.n_known]]
            columns = [
                [str(i + 1) for i in range(len(best))],
                list(best.names),
                fixed(best.scores, 4),
                rates + ["not computed"] * (len(best) - best.n_known),
            ]
            header = ["", "up to", "score" if self.unit == "1" else self.unit, "rate"]
            lines += aligned(header, columns, right=[True, False, True, True])
        if len(self) > len(best):
            lines.append(f"... and {len(self) - len(best)} more")
        return "\n".join([*lines, *note_lines(self.notes)])
