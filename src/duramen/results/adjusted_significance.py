"""Result of a joint test of all features: its error rates and verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, hidden, small
from duramen.results.fields import ANY, PROBABILITY
from duramen.results.significance import Significance
from duramen.results.summary import Summary
from duramen.support.arrays import FloatArray

CONFIRMED, CANDIDATE, NOISE = "confirmed", "candidate", "noise"
ALONE, WITH_OTHERS = "alone", "with others"

_LEVEL = 0.05


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
        `q_values` decrease as it decreases, stage by stage where `details` hold the "stage" in
        which each feature was tested last.

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

    _NUMBERS: ClassVar = {**Significance._NUMBERS, "p_adjusted": PROBABILITY, "statistics": ANY}
    _COLUMNS = (
        *("name", "rank", "score", "statistic", "p_value", "p_adjusted", "fdr", "verdict"),
        "evidence",
    )

    def __post_init__(self) -> None:
        owner = "AdjustedSignificance"
        for what in ("q_values", "p_adjusted", "statistics"):
            if getattr(self, what) is None:
                raise ValueError(f"{owner}: {what} must be given, one number per feature.")
        super().__post_init__()
        order = self.order()
        for what in ("p_adjusted", "q_values"):
            if (np.diff(getattr(self, what)[order]) < 0).any():
                raise ValueError(f"{owner}: {what} must not decrease as the statistics decrease.")

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

    def evidence(self, alpha: float = _LEVEL) -> tuple[str, ...]:
        """Return whether each feature is selected by itself or only together with others.

        Parameters
        ----------
        alpha : float
            Level of both error rates, in [0, 1].

        Returns
        -------
        tuple of str
            In the order of the columns: ``"alone"`` if the marginal statistic of a confirmed
            feature confirms it, or is the larger one of a candidate, ``"with others"`` if only its
            importance in forests does, and ``""`` for noise, and where no marginal statistics were
            compared.
        """
        marginal, verdicts = self.details.get("marginal_statistic"), self.verdicts(alpha)
        if marginal is None:
            return ("",) * len(self)
        confirms = self.details["marginal_p_adjusted"] <= alpha
        larger = marginal >= self.details["importance_statistic"]
        alone = np.where(np.array(verdicts) == CONFIRMED, confirms, larger | confirms)
        words = np.where(alone, ALONE, WITH_OTHERS)
        return tuple(np.where(np.array(verdicts) == NOISE, "", words).tolist())

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by decreasing statistic; ties by score, column.

        Statistics of different stages are not compared: features of a test in stages are ordered
        by adjusted p-value, and by the stage that tested them last.
        """
        by_statistic = (-self.scores, -self.statistics)
        if "stage" not in self.details:
            return np.lexsort(by_statistic)
        return np.lexsort((*by_statistic, self.details["stage"], self.p_adjusted))

    @property
    def statistic_title(self) -> str:
        """Name of `statistics` on an axis or in a sentence."""
        both = "marginal_statistic" in self.details
        return "test statistic" if both else "standardized importance"

    # --- in and out ------------------------------------------------------------------------

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is the most significant), ``score``, ``statistic``,
        ``p_value``, ``p_adjusted``, ``fdr``, ``verdict`` and ``evidence`` (at .05), and those of
        `details`.
        """
        numbers = (self.scores, self.statistics, self.p_values, self.p_adjusted, self.q_values)
        columns = self._framed(*numbers, self.verdicts(), self.evidence())
        texts = {name: columns[name].tolist() for name in ("verdict", "evidence")}
        return {**columns, **texts}

    def _summary(self, rows: int) -> Summary:
        best, found = self.top(rows), self.verdicts()
        likely = found.count(CANDIDATE)
        heading = (
            f"AdjustedSignificance: {self.method} of {self._tested()}, {found.count(CONFIRMED)} "
            f"confirmed (family-wise error rate {_LEVEL:g}), {likely} more "
            f"candidate{'' if likely == 1 else 's'} (false discovery rate {_LEVEL:g})"
        )
        columns = [
            *best._scored(),
            Column("p adjusted", small(best.p_adjusted)),
            Column("fdr", small(best.q_values)),
            Column("verdict", best.verdicts(), kind="words"),
        ]
        evidence = self.evidence()
        if any(shown := [evidence[j] for j in self.order()[:rows]]):
            columns.append(Column("evidence", shown, kind="words"))
        below = hidden(len(self), len(best))
        return Summary((heading, f"null: {self.null}"), columns, below, self.notes)
