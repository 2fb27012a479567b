"""Result of a test of each feature given all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from duramen.results.fields import PROBABILITY
from duramen.results.significance import Significance
from duramen.results.summary import Column
from duramen.support import checks
from duramen.support.arrays import FloatArray

DIRECT, SHARED, UNDECIDED = "direct", "shared", "undecided"

LEVEL = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalSignificance(Significance):
    """Scores of p features with p-values for what each tells that the others do not.

    Parameters
    ----------
    names, scores, p_values, method, null, unit, q_values, adjustment, n_tests, details, metadata
        As for `Significance`; the hypotheses are about a feature given all others.
    notes : tuple of str
        As for `Significance`.
    association : ndarray of float64, shape (p,)
        Q-values of the association of each feature with the target, whatever the others tell.
    explained_by : tuple of p tuples of str
        Features through which most of the association of each feature with the target goes, the
        largest part first.

    Raises
    ------
    TypeError
        If a name is not a string.
    ValueError
        If a field is missing or not as described.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.significance import ConditionalSignificance
    >>> result = ConditionalSignificance(
    ...     ("a", "b", "c"),
    ...     scores=np.array([3.0, 0.1, 0.0]),
    ...     p_values=np.array([0.001, 0.4, 0.7]),
    ...     method="conditional",
    ...     null="The feature is independent of the target given all others.",
    ...     association=np.array([0.001, 0.01, 0.6]),
    ...     explained_by=((), ("a",), ()),
    ... )
    >>> result.verdicts()
    ('direct', 'shared with a', 'undecided')
    """

    association: FloatArray = None  # type: ignore[assignment]
    explained_by: tuple[tuple[str, ...], ...] = ()

    _NUMBERS: ClassVar = {**Significance._NUMBERS, "association": PROBABILITY}

    def __post_init__(self) -> None:
        owner = "ConditionalSignificance"
        if self.association is None:
            raise ValueError(f"{owner}: association must be given, one number per feature.")
        super().__post_init__()
        if len(self.explained_by) != len(self):
            raise ValueError(
                f"{owner}: explained_by must have one tuple of names per feature, "
                f"{len(self)}, got {len(self.explained_by)}."
            )
        object.__setattr__(self, "explained_by", tuple(map(tuple, self.explained_by)))

    def verdicts(self, alpha: float = LEVEL) -> tuple[str, ...]:
        """Return the verdict on each feature, in the order of the columns.

        Parameters
        ----------
        alpha : float
            Bound of the false discovery rate, in [0, 1].

        Returns
        -------
        tuple of str
            ``"direct"`` if the q-value is at most `alpha`: the feature tells something that the
            others do not; else ``"shared with A, B"`` if it is associated with the target
            (`association` at most `alpha`), where A and B carry most of that association, or
            ``"shared"`` where none stands out; else ``"undecided"``. Neither of these two says that
            a feature tells nothing beside the others, only that the rows do not show it.

        Raises
        ------
        ValueError
            If `alpha` is no probability.
        """
        checks.check_real("ConditionalSignificance", "alpha", alpha, 0, 1)
        return tuple(
            DIRECT
            if direct
            else UNDECIDED
            if associated > alpha
            else f"{SHARED} with {', '.join(others)}"
            if others
            else SHARED
            for direct, associated, others in zip(
                self.mask(alpha), self.association, self.explained_by, strict=True
            )
        )

    def _taken(self, index: NDArray[np.integer]) -> dict[str, Any]:
        explained_by = tuple(self.explained_by[j] for j in index)
        return {**super()._taken(index), "explained_by": explained_by}

    def table(self) -> list[Column]:
        """Return the columns of `Significance`, then ``association`` and the verdict at .1."""
        return [
            *super().table(),
            Column(name="association", numbers=self.association),
            Column("given the others", self.verdicts(), "words", name="direct"),
        ]

    def _heading(self) -> tuple[str, ...]:
        verdicts = [verdict.split(" ")[0] for verdict in self.verdicts()]
        heading = (
            f"ConditionalSignificance: {self.method} of {self._tested()}, "
            f"{verdicts.count(DIRECT)} direct (false discovery rate {LEVEL:g}), "
            f"{verdicts.count(SHARED)} more associated, {verdicts.count(UNDECIDED)} undecided"
        )
        lines = [heading, f"null: {self.null}"]
        if (diagnosis := self.metadata.get("diagnosis")) is not None:
            lines.append(
                f"draws: a forest tells them from the data with an AUC of {diagnosis['auc']:.2f} "
                f"(95% interval {diagnosis['low']:.2f} to {diagnosis['high']:.2f}), .5 or less if "
                "they fit"
            )
        return tuple(lines)
