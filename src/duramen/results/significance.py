"""Result of a significance test: a score and a p-value a feature, and the null hypothesis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, counted, features, hidden, small
from duramen.results.fields import ANY, PROBABILITY, frozen
from duramen.results.multiplicity import ADJUSTMENTS, Adjustment, false_discovery, holm
from duramen.results.result import FeatureResult
from duramen.results.summary import Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed

_LEVEL = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Significance(FeatureResult[float]):
    """Scores of p features with their p-values, adjusted ones too, and the hypothesis tested.

    ``len(result)`` is p, ``result[name]`` the p-value of one feature, and iterating gives
    ``(name, p-value)`` pairs in the order of the columns.

    Parameters
    ----------
    names : tuple of str
        Names of the p features, in the order of the table's columns, all different.
    scores : ndarray of float64, shape (p,)
        What was tested, in `unit`: an importance or a test statistic.
    p_values : ndarray of float64, shape (p,)
        P-value of each feature, in [0, 1]. A feature that was not tested has 1.
    method : str
        Name of the test, such as ``"vote_change"``.
    null : str
        The null hypothesis of a feature's p-value, in one sentence.
    unit : str
        Unit of the scores, as in `Importances`; ``"1"`` is a pure number.
    q_values : ndarray of float64, shape (p,), optional
        P-values adjusted for the false discovery rate, in [0, 1]. By default computed from
        `p_values` as `adjustment` says.
    adjustment : str
        How `q_values` came about: ``"bh"`` (Benjamini and Hochberg, for tests that are independent
        or positively dependent) or ``"by"`` (Benjamini and Yekutieli, for any dependence). With
        `q_values` that were computed otherwise, a name for that.
    n_tests : int, optional
        Number m of hypotheses that were tested together, at least p, by default p. Where it is
        more, the other p-values are taken to be no smaller than these, as for `top`.
    details : mapping of str to ndarray of float64, shape (p,)
        Further columns, such as ``"degrees_of_freedom"``.
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
        If shapes disagree, names repeat, a number is not finite, a p- or q-value lies outside
        [0, 1], `null` is empty, `n_tests` is less than p or `adjustment` unknown.

    Examples
    --------
    >>> import duramen as dm
    >>> result = dm.Significance(("a", "b"), [2.0, 1.0], [0.01, 0.6], "test", "No association.")
    >>> result.selected(alpha=0.05), result.q_values.tolist()
    (('a',), [0.02, 0.6])
    """

    names: tuple[str, ...]
    scores: FloatArray
    p_values: FloatArray
    method: str
    null: str
    unit: str = "1"
    q_values: FloatArray = None  # type: ignore[assignment]
    adjustment: str = "bh"
    n_tests: int = None  # type: ignore[assignment]
    details: Mapping[str, FloatArray] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    _NUMBERS: ClassVar = {"p_values": PROBABILITY, "scores": ANY, "q_values": PROBABILITY}
    _COLUMNS: ClassVar[tuple[str, ...]] = ("name", "rank", "score", "p_value", "q_value", "p_holm")

    def __post_init__(self) -> None:
        super().__post_init__()
        owner, settle = "Significance", object.__setattr__
        if not isinstance(self.null, str) or not self.null.strip():
            raise ValueError(f"{owner}: null must be a sentence that says what was tested.")
        n_tests = len(self) if self.n_tests is None else int(self.n_tests)
        if n_tests < len(self):
            raise ValueError(
                f"{owner}: n_tests must be at least the number of features, {len(self)}, got "
                f"{n_tests}."
            )
        settle(self, "n_tests", n_tests)
        if self.q_values is None:
            settle(self, "q_values", frozen(owner, "q_values", self._computed(), (len(self),)))

    def _computed(self) -> FloatArray:
        if self.adjustment not in ADJUSTMENTS:
            raise ValueError(
                f"Significance: adjustment must be one of {list(ADJUSTMENTS)}, got "
                f"{self.adjustment!r}. Hint: with q_values, any text can describe the adjustment."
            )
        return false_discovery(self.p_values, cast("Adjustment", self.adjustment), self.n_tests)

    # --- what is significant ---------------------------------------------------------------

    def selected(
        self, alpha: float = _LEVEL, control: Literal["fdr", "fwer", "none"] = "fdr"
    ) -> tuple[str, ...]:
        """Return the names of the significant features, in the order of `order`.

        Parameters
        ----------
        alpha : float
            Level of the error rate, in [0, 1].
        control : {"fdr", "fwer", "none"}
            What is at most `alpha`, if the p-values are valid:

            * ``"fdr"``: the expected fraction of false ones among the selected (q-value <= alpha);
            * ``"fwer"``: the probability that any selected one is false (Holm's adjusted p-value
              <= alpha);
            * ``"none"``: the probability that a given irrelevant feature is selected (p-value
              <= alpha): of many, some are.

        Raises
        ------
        ValueError
            If `alpha` is no probability or `control` unknown.
        """
        chosen = self.mask(alpha, control)
        return tuple(self.names[j] for j in self.order() if chosen[j])

    def mask(
        self, alpha: float = _LEVEL, control: Literal["fdr", "fwer", "none"] = "fdr"
    ) -> NDArray[np.bool_]:
        """Return whether each feature is significant, of shape (p,); arguments as in `selected`."""
        checks.check_real("Significance", "alpha", alpha, 0, 1)
        checks.check_choice("Significance", "control", control, ("fdr", "fwer", "none"))
        if control == "fdr":
            return self.q_values <= alpha
        if control == "fwer":
            return self.holm() <= alpha
        return self.p_values <= alpha

    def holm(self) -> FloatArray:
        """Return the p-values adjusted for the family-wise error rate after Holm, shape (p,)."""
        return holm(self.p_values, self.n_tests)

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by p-value; ties by decreasing score, then column."""
        return np.lexsort((-self.scores, self.p_values))

    # --- in and out ------------------------------------------------------------------------

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is the most significant), ``score``, ``p_value``,
        ``q_value``, ``p_holm`` and those of `details`.
        """
        return self._framed(self.scores, self.p_values, self.q_values, self.holm())

    def _summary(self, rows: int) -> Summary:
        best = self.top(rows)
        found = f"{np.count_nonzero(self.mask())} with q <= {_LEVEL:g}"
        heading = f"Significance: {self.method} of {self._tested()}, {found}"
        columns = [*best._scored(), Column("p", small(best.p_values))]
        columns.append(Column("q", small(best.q_values)))
        below = hidden(len(self), len(best))
        return Summary((heading, f"null: {self.null}"), columns, below, self.notes)

    def _tested(self) -> str:
        """Return the number of features, and of how many that were tested."""
        count = counted(self.n_tests, "feature")
        return count if len(self) == self.n_tests else f"{len(self)} of {count}"

    def _scored(self) -> list[Column]:
        """Return the columns of ranks, names and scores."""
        title = "score" if self.unit == "1" else self.unit
        return [*features(self.names), Column(title, fixed(self.scores, 4), bars=self.scores)]
