"""A test of all features together: family-wise error rate, false discovery rate, verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from duramen.results.fields import FloatArray, frozen, frozen_between, ranks
from duramen.results.notes import note_lines
from duramen.results.significance import Significance
from duramen.results.text import aligned, fixed

CONFIRMED, CANDIDATE, NOISE = "confirmed", "candidate", "noise"

_SHOWN = 10
_LEVEL = 0.05
_COLUMNS = ("name", "rank", "score", "statistic", "p_value", "p_adjusted", "fdr", "verdict")


@dataclass(frozen=True, eq=False, repr=False)
class AdjustedSignificance(Significance):
    """Scores of p features with p-values and false discovery rates that were adjusted jointly.

    It is a `Significance` whose adjusted p-values do not follow from the p-values of single
    features: `p_adjusted` takes the place of Holm's, and `q_values` hold the false discovery rate
    of the beginning of the ranking that ends with a feature.

    Parameters
    ----------
    names, scores, p_values, method, null, unit, q_values, adjustment, n_tests, details, metadata
        As for `Significance`; `q_values` are required.
    p_adjusted : ndarray of float64, shape (p,)
        P-value of each feature adjusted for the family-wise error rate, in [0, 1].
    statistics : ndarray of float64, shape (p,)
        What features are compared by; larger is more significant. Neither `p_adjusted` nor
        `q_values` decrease as it decreases.

    Raises
    ------
    TypeError
        If a name is not a string.
    ValueError
        If a field is missing or not as described.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.significance import AdjustedSignificance
    >>> result = AdjustedSignificance(
    ...     ("a", "b", "c"),
    ...     scores=np.array([3.0, 2.0, 0.1]),
    ...     p_values=np.array([0.01, 0.01, 0.4]),
    ...     method="max_t",
    ...     null="No feature is associated with the target.",
    ...     q_values=np.array([0.01, 0.03, 0.8]),
    ...     adjustment="pooled permutations",
    ...     p_adjusted=np.array([0.01, 0.12, 0.9]),
    ...     statistics=np.array([9.0, 4.0, 0.2]),
    ... )
    >>> result.verdicts()
    ('confirmed', 'candidate', 'noise')
    """

    p_adjusted: FloatArray = None  # type: ignore[assignment]
    statistics: FloatArray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        owner, settle = "AdjustedSignificance", object.__setattr__
        for what in ("q_values", "p_adjusted", "statistics"):
            if getattr(self, what) is None:
                raise ValueError(f"{owner}: {what} must be given, one number a feature.")
        super().__post_init__()
        adjusted = frozen_between(owner, "p_adjusted", self.p_adjusted, self.names, high=1.0)
        settle(self, "p_adjusted", adjusted)
        settle(self, "statistics", frozen(owner, "statistics", self.statistics, self.names))
        order = self.order()
        for what in ("p_adjusted", "q_values"):
            if (np.diff(getattr(self, what)[order]) < 0).any():
                raise ValueError(f"{owner}: {what} must not decrease as the statistics decrease.")
        for name in self.details:
            if name in _COLUMNS:
                raise ValueError(f"{owner}: details must not be called {name!r}, a column is.")

    # --- what is significant ---------------------------------------------------------------

    def verdicts(self, alpha: float = _LEVEL) -> tuple[str, ...]:
        """Return the verdict on each feature, in the order of the columns.

        Parameters
        ----------
        alpha : float
            Level of both error rates, in [0, 1].

        Returns
        -------
        tuple of str
            ``"confirmed"`` if `p_adjusted` is at most `alpha`: the probability that any confirmed
            feature is false is at most `alpha`; else ``"candidate"`` if the false discovery rate is
            at most `alpha`: of confirmed features and candidates together, a fraction of at most
            `alpha` is expected to be false; else ``"noise"``: not distinguished from noise.

        Raises
        ------
        ValueError
            If `alpha` is no probability.
        """
        sure, likely = self.mask(alpha, "fwer"), self.mask(alpha, "fdr")
        return tuple(np.where(sure, CONFIRMED, np.where(likely, CANDIDATE, NOISE)).tolist())

    def mask(
        self, alpha: float = _LEVEL, control: Literal["fdr", "fwer", "none"] = "fdr"
    ) -> NDArray[np.bool_]:
        """Return whether each feature is significant, of shape (p,); arguments as in `selected`.

        ``"fwer"`` compares `p_adjusted`, ``"fdr"`` the false discovery rates in `q_values`.
        """
        if control == "fwer" and 0 <= alpha <= 1:
            return self.p_adjusted <= alpha
        return super().mask(alpha, control)

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by decreasing statistic; ties by score, column."""
        return np.lexsort((-self.scores, -self.statistics))

    # --- in and out ------------------------------------------------------------------------

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is the most significant), ``score``, ``statistic``,
        ``p_value``, ``p_adjusted``, ``fdr``, ``verdict`` (at .05) and those of `details`.
        """
        numbers = (self.scores, self.statistics, self.p_values, self.p_adjusted, self.q_values)
        copies = [column.copy() for column in numbers]
        columns = (list(self.names), ranks(self.order()), *copies, list(self.verdicts()))
        named = dict(zip(_COLUMNS, columns, strict=True))
        return {**named, **{what: column.copy() for what, column in self.details.items()}}

    def __repr__(self) -> str:
        best, found = self.top(_SHOWN), self.verdicts()
        count = f"{self.n_tests} feature" + ("" if self.n_tests == 1 else "s")
        if len(self) < self.n_tests:
            count = f"{len(self)} of {count}"
        lines = [
            f"AdjustedSignificance: {self.method} of {count}, {found.count(CONFIRMED)} confirmed "
            f"(family-wise error rate {_LEVEL:g}), {found.count(CANDIDATE)} more candidates (false "
            f"discovery rate {_LEVEL:g})",
            f"null: {self.null}",
        ]
        if len(self):
            columns = [
                [str(i + 1) for i in range(len(best))],
                list(best.names),
                fixed(best.scores, 4),
                [f"{p:.2g}" for p in best.p_adjusted],
                [f"{rate:.2g}" for rate in best.q_values],
                list(best.verdicts()),
            ]
            score = "score" if self.unit == "1" else self.unit
            header = ["", "feature", score, "p adjusted", "fdr", "verdict"]
            lines += aligned(header, columns, right=[True, False, True, True, True, False])
        if len(self) > len(best):
            lines.append(f"... and {len(self) - len(best)} more")
        return "\n".join([*lines, *note_lines(self.notes)])
