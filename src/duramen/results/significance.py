"""The result of every test of importance: a score and a p-value a feature, and what was tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from types import MappingProxyType
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from duramen import checks
from duramen.results.fields import FloatArray, checked_names, frozen, frozen_between, ranks
from duramen.results.frames import native_frame
from duramen.results.metadata import frozen_metadata
from duramen.results.multiplicity import ADJUSTMENTS, Adjustment, false_discovery, holm
from duramen.results.notes import checked_notes, note_lines
from duramen.results.result import Result
from duramen.results.text import aligned, fixed

_SHOWN = 10
_LEVEL = 0.05
_COLUMNS = ("name", "rank", "score", "p_value", "q_value", "p_holm")


@dataclass(frozen=True, eq=False, repr=False)
class Significance(Result):
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

    def __post_init__(self) -> None:
        owner, settle = "Significance", object.__setattr__
        names = checked_names(owner, "names", self.names)
        settle(self, "names", names)
        settle(self, "scores", frozen(owner, "scores", self.scores, names))
        settle(self, "p_values", frozen_between(owner, "p_values", self.p_values, names, high=1.0))
        if not isinstance(self.null, str) or not self.null.strip():
            raise ValueError(f"{owner}: null must be a sentence that says what was tested.")
        n_tests = len(names) if self.n_tests is None else int(self.n_tests)
        if n_tests < len(names):
            raise ValueError(
                f"{owner}: n_tests must be at least the number of features, {len(names)}, got "
                f"{n_tests}."
            )
        settle(self, "n_tests", n_tests)
        q_values = self._computed() if self.q_values is None else self.q_values
        settle(self, "q_values", frozen_between(owner, "q_values", q_values, names, high=1.0))
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

    def _computed(self) -> FloatArray:
        if self.adjustment not in ADJUSTMENTS:
            raise ValueError(
                f"Significance: adjustment must be one of {list(ADJUSTMENTS)}, got "
                f"{self.adjustment!r}. Hint: any text describes q_values that are given."
            )
        return false_discovery(self.p_values, cast("Adjustment", self.adjustment), self.n_tests)

    # --- as a collection -------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self.names, self.p_values.tolist(), strict=True)

    def __getitem__(self, name: str) -> float:
        try:
            return float(self.p_values[self.names.index(name)])
        except ValueError:
            raise KeyError(name) from None

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

            * ``"fdr"``: the expected share of false ones among the selected (q-value <= alpha);
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

    def top(self, k: int) -> Self:
        """Return the `k` most significant features (all when p < k), the best first.

        Adjusted p-values stay those among all features.

        Raises
        ------
        ValueError
            If `k` is negative.
        """
        checks.check_integer("Significance.top", "k", k, 0)
        index = self.order()[:k]
        fields = ((one.name, getattr(self, one.name)) for one in dataclass_fields(self))
        taken: dict[str, Any] = {
            name: value[index] for name, value in fields if isinstance(value, np.ndarray)
        }
        return replace(
            self,
            names=tuple(self.names[j] for j in index),
            details={what: column[index] for what, column in self.details.items()},
            **taken,
        )

    # --- in and out ------------------------------------------------------------------------

    def to_frame(self) -> Any:
        """Return a data frame with one row a feature, in the order of the columns.

        Its columns are those of `columns`.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The first of these libraries that is installed.
        """
        return native_frame(self.columns())

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is the most significant), ``score``, ``p_value``,
        ``q_value``, ``p_holm`` and those of `details`.
        """
        numbers = (self.scores.copy(), self.p_values.copy(), self.q_values.copy(), self.holm())
        columns = dict(
            zip(_COLUMNS, (list(self.names), ranks(self.order()), *numbers), strict=True)
        )
        return {**columns, **{what: column.copy() for what, column in self.details.items()}}

    def __repr__(self) -> str:
        best = self.top(_SHOWN)
        count = f"{self.n_tests} feature" + ("" if self.n_tests == 1 else "s")
        if len(self) < self.n_tests:
            count = f"{len(self)} of {count}"
        found = f"{np.count_nonzero(self.mask())} with q <= {_LEVEL:g}"
        lines = [f"Significance: {self.method} of {count}, {found}", f"null: {self.null}"]
        if len(self):
            columns = [
                [str(i + 1) for i in range(len(best))],
                list(best.names),
                fixed(best.scores, 4),
                [f"{p:.2g}" for p in best.p_values],
                [f"{q:.2g}" for q in best.q_values],
            ]
            header = ["", "feature", "score" if self.unit == "1" else self.unit, "p", "q"]
            lines += aligned(header, columns, right=[True, False, True, True, True])
        if len(self) > len(best):
            lines.append(f"... and {len(self) - len(best)} more")
        return "\n".join([*lines, *note_lines(self.notes)])
