"""Results of tests: scores and p-values, adjusted or not, and error rates along a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from duramen.results.adjustment import (
    ADJUSTMENTS,
    Adjustment,
    false_discovery,
    holm,
)
from duramen.results.result import ANY, POSITIVE, PROBABILITY, FeatureResult, frozen
from duramen.results.summary import Column, counted
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.text import quoted

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
        or positively dependent), ``"storey"`` (the same times an estimate of the fraction of true
        null hypotheses: more power where many are false, for tests that are nearly independent;
        Storey, Taylor and Siegmund 2004 with the level of Blanchard and Roquain 2009), or
        ``"by"`` (Benjamini and Yekutieli, for any dependence). With `q_values` that were computed
        otherwise, a name for that.
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

    _ARRAYS: ClassVar = {
        "p_values": ("p", PROBABILITY),
        "scores": ("p", ANY),
        "q_values": ("p", PROBABILITY),
    }

    def __post_init__(self, **_: int) -> None:
        super().__post_init__()
        owner, settle = "Significance", object.__setattr__
        if not isinstance(self.null, str) or not self.null.strip():
            raise ValueError(f"{owner}: null must be a sentence with the null hypothesis.")
        n_tests = len(self) if self.n_tests is None else int(self.n_tests)
        if n_tests < len(self):
            raise ValueError(
                f"{owner}: n_tests must be at least the number of features, {len(self)}, got "
                f"{n_tests}."
            )
        settle(self, "n_tests", n_tests)
        if self.q_values is None:
            checks.check_choice(owner, "adjustment", self.adjustment, ADJUSTMENTS)
            adjustment = cast("Adjustment", self.adjustment)
            q_values = false_discovery(self.p_values, adjustment, n_tests)
            settle(self, "q_values", frozen(owner, "q_values", q_values, (len(self),)))

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
    ) -> BoolArray:
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

    def table(self) -> list[Column]:
        """Return the columns ``score``, ``p_value``, ``q_value`` and ``p_holm``."""
        return [
            self._scored(),
            Column("p", digits=0, name="p_value", numbers=self.p_values),
            Column("q", digits=0, name="q_value", numbers=self.q_values),
            Column(name="p_holm", numbers=self.holm()),
        ]

    def _heading(self) -> tuple[str, ...]:
        count = f"{np.count_nonzero(self.mask())} with q <= {_LEVEL:g}"
        return f"Significance: {self.method} of {self._tested()}, {count}", f"null: {self.null}"

    def _tested(self) -> str:
        """Return words on the numbers of features and of tested features."""
        grouped = "feature_groups" in self.metadata
        count = (
            f"{self.n_tests:,} groups and features" if grouped else counted(self.n_tests, "feature")
        )
        return count if len(self) == self.n_tests else f"{len(self)} of {count}"

    def _scored(self) -> Column:
        """Return the column of the scores."""
        title = "score" if self.unit == "1" else self.unit
        return Column(title, digits=4, bars=self.scores, name="score", numbers=self.scores)


@dataclass(frozen=True, eq=False, repr=False)
class VoteChange(Significance):
    """Index of the change of the votes of p features, with the tables of votes.

    Parameters
    ----------
    names, scores, p_values, method, null, unit, q_values, adjustment, n_tests, details, metadata
        As for `Significance`.
    notes : tuple of str
        As for `Significance`.
    classes : tuple of C str
        Class labels.
    votes : ndarray of int64, shape (p, C, C, 2)
        Votes for each feature by class of the row, class voted for, and whether the feature is
        permuted.

    Raises
    ------
    TypeError
        If a name is not a string.
    ValueError
        If a field is missing or not as described.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.vote_change(forest, data.X, data.y)
    >>> list(result.contingency("x0"))
    ['class', 'vote', 'votes', 'permuted']
    """

    classes: tuple[str, ...] = ()
    votes: IntArray = None  # type: ignore[assignment]

    _NAMES: ClassVar = {**Significance._NAMES, "classes": "C"}
    _ARRAYS: ClassVar = {**Significance._ARRAYS, "votes": ("pCC2", POSITIVE, np.int64)}

    def __post_init__(self, **_: int) -> None:
        if self.votes is None:
            raise ValueError("VoteChange: votes must be given, a table for each feature.")
        super().__post_init__(**{"2": 2})

    def contingency(self, name: str) -> dict[str, Any]:
        """Return the table of votes of a feature, for two classes 4 x 2, as columns.

        They are ``class`` (of the row), ``vote``, ``votes`` (number without permutation) and
        ``permuted`` (number with the feature permuted), each of length C^2; see (2) of Paul et al.
        (2013), section 3.1.

        Raises
        ------
        KeyError
            If no feature has this name.
        """
        if name not in self.names:
            raise KeyError(name)
        table = self.votes[self.names.index(name)].reshape(-1, 2)
        pairs = [(label, vote) for label in self.classes for vote in self.classes]
        return {
            "class": [label for label, _ in pairs],
            "vote": [vote for _, vote in pairs],
            "votes": table[:, 0].copy(),
            "permuted": table[:, 1].copy(),
        }


CONFIRMED, CANDIDATE, NOISE = "confirmed", "candidate", "noise"
ALONE, JOINTLY, WITH_OTHERS = "alone", "jointly", "with others"


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

    _ARRAYS: ClassVar = {
        **Significance._ARRAYS,
        "p_adjusted": ("p", PROBABILITY),
        "statistics": ("p", ANY),
    }

    def __post_init__(self, **_: int) -> None:
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
            at most `alpha`, and so is the p-value of the feature alone: of confirmed features and
            candidates together, a fraction of at most `alpha` is expected to be false; else
            ``"noise"``: not distinguished from noise.

        Raises
        ------
        ValueError
            If `alpha` is no probability.
        """
        checks.check_real("AdjustedSignificance", "alpha", alpha, 0, 1)
        sure = self.p_adjusted <= alpha
        likely = (self.q_values <= alpha) & (self.p_values <= alpha)
        return tuple(np.where(sure, CONFIRMED, np.where(likely, CANDIDATE, NOISE)).tolist())

    def mask(
        self, alpha: float = _LEVEL, control: Literal["fdr", "fwer", "none"] = "fdr"
    ) -> BoolArray:
        """Return whether each feature is significant, of shape (p,); arguments as in `selected`.

        ``"fwer"`` compares `p_adjusted`, ``"fdr"`` the false discovery rates in `q_values`.
        """
        if control == "fwer" and 0 <= alpha <= 1:
            return self.p_adjusted <= alpha
        return super().mask(alpha, control)

    def evidence(self, alpha: float = _LEVEL) -> tuple[str, ...]:
        """Return whether each feature is selected by itself, jointly, or only with others.

        Parameters
        ----------
        alpha : float
            Level of both error rates, in [0, 1].

        Returns
        -------
        tuple of str
            In the order of the columns: ``"alone"`` if the marginal statistic of a confirmed
            feature confirms it, or is the largest one of a candidate; else ``"jointly"`` if the
            joint statistic does, which is that of the feature in a linear model of all features;
            ``"with others"`` if only the importance in forests does; and ``""`` for noise, and
            where no marginal statistics were compared.
        """
        verdicts, details = np.array(self.verdicts(alpha)), self.details
        words = np.full(len(self), WITH_OTHERS, dtype=object)
        if "marginal_statistic" not in details:
            return ("",) * len(self)
        for kind, word in (("joint", JOINTLY), ("marginal", ALONE)):
            if f"{kind}_statistic" in details:
                confirms = details[f"{kind}_p_adjusted"] <= alpha
                largest = details[f"{kind}_statistic"] >= self.statistics
                words[confirms | (largest & (verdicts != CONFIRMED))] = word
        return tuple(np.where(verdicts == NOISE, "", words).tolist())

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
        """Name of the `statistics` for axes and sentences."""
        several = "marginal_statistic" in self.details
        return "test statistic" if several else "standardized importance"

    # --- in and out ------------------------------------------------------------------------

    def table(self) -> list[Column]:
        """Return the columns after the names; verdict and evidence are at .05.

        They are ``score``, ``statistic``, ``p_value``, ``p_adjusted``, ``fdr``, ``verdict`` and
        ``evidence``.
        """
        return [
            self._scored(),
            Column(name="statistic", numbers=self.statistics),
            Column(name="p_value", numbers=self.p_values),
            Column("p adjusted", digits=0, name="p_adjusted", numbers=self.p_adjusted),
            Column("fdr", digits=0, name="fdr", numbers=self.q_values),
            Column("verdict", self.verdicts(), "words", name="verdict"),
            Column("evidence", self.evidence(), "words", name="evidence"),
        ]

    def _heading(self) -> tuple[str, ...]:
        verdicts = self.verdicts()
        likely = counted(verdicts.count(CANDIDATE), "more candidate")
        heading = (
            f"AdjustedSignificance: {self.method} of {self._tested()}, {verdicts.count(CONFIRMED)} "
            f"confirmed (family-wise error rate {_LEVEL:g}), {likely} (false discovery rate "
            f"{_LEVEL:g})"
        )
        return heading, f"null: {self.null}"


DIRECT, SHARED, UNDECIDED = "direct", "shared", "undecided"

LEVEL = 0.1
"""False discovery rate of the verdicts of a conditional test."""


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalSignificance(Significance):
    """Scores of p features with p-values for association given all other features.

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
    explained_by: tuple[tuple[str, ...], ...] = field(default=(), metadata={"of_features": True})

    _ARRAYS: ClassVar = {**Significance._ARRAYS, "association": ("p", PROBABILITY)}

    def __post_init__(self, **_: int) -> None:
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
            ``"direct"`` if the q-value is at most `alpha`: the feature is associated with the
            target given all others. Else ``"shared with A, B"`` if it is associated with the target
            (`association` at most `alpha`), where A and B carry most of that association, or
            ``"shared"`` if no feature stands out; else ``"undecided"``. These two verdicts are no
            evidence that a feature is irrelevant given the others.

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
                "draws: a forest separates them from the data with an AUC of "
                f"{diagnosis['auc']:.2f} (95% interval {diagnosis['low']:.2f} to "
                f"{diagnosis['high']:.2f}), .5 or less if they fit"
            )
        return tuple(lines)


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

    _ARRAYS: ClassVar = {"rates": ("p", PROBABILITY), "scores": ("p", ANY)}
    _TITLE = "up to"

    def __post_init__(self, **_: int) -> None:
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
            raise ValueError(f"{owner}: meaning must be a sentence that defines the rates.")
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
        """Return the indices of the features, which are in the order of the ranking."""
        return np.arange(len(self))

    def take(self, index: NDArray[np.integer], *, names: Iterable[str] | None = None) -> Self:
        """Return the features at these indices, in their order; see `FeatureResult.take`."""
        n_known = int(np.count_nonzero(np.asarray(index) < self.n_known))
        taken = FeatureResult.take(replace(self, n_known=0), index, names=names)
        return replace(taken, n_known=n_known)

    # --- in and out ------------------------------------------------------------------------

    def table(self) -> list[Column]:
        """Return the columns ``score``, ``rate`` and ``known``.

        ``known`` is False where the rate was not computed, and is 1.
        """
        known = self.order() < self.n_known
        rates = zip(self.rates.tolist(), known.tolist(), strict=True)
        cells = [f"{rate:.2g}" if here else "not computed" for rate, here in rates]
        title = "score" if self.unit == "1" else self.unit
        return [
            Column(title, digits=4, name="score", numbers=self.scores),
            Column("rate", cells, bars=self.rates, name="rate", numbers=self.rates),
            Column(name="known", numbers=known),
        ]

    def _heading(self) -> tuple[str, ...]:
        low, count = np.count_nonzero(self.rates <= _LEVEL), counted(len(self), "feature")
        heading = f"ErrorRates: {self.method} of {count}, {low} with rate <= {_LEVEL:g}"
        return heading, f"rate: {self.meaning}"


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(FeatureResult[tuple[float, float]]):
    """Importances of p features with their standard errors over data and confidence intervals.

    ``len(result)`` is p, ``result[name]`` the interval ``(low, high)`` of one feature, and
    iterating gives ``(name, (low, high))`` pairs in the order of the columns.

    Parameters
    ----------
    names : tuple of str
        Names of the p features, in the order of the table's columns, all different.
    values : ndarray of float64, shape (p,)
        Importance of each feature in a forest on all the rows, in `unit`.
    standard_error : ndarray of float64, shape (p,)
        Estimated standard deviation of each value over learning sets and forests.
    low, high : ndarrays of float64, shape (p,)
        Ends of the intervals; each holds for its feature alone, not for all of them at once.
    confidence_level : float
        Probability, in (0, 1), with which an interval is to cover.
    measure, unit : str
        What the values are, as in `Importances`.
    method : str
        How the spread was found: ``"subsampling"``, ``"delete-d"`` or ``"double-bootstrap"``.
    kind : str
        How the ends were found from it: ``"wilson"``, ``"normal"`` or ``"percentile"``.
    p_values : ndarray of float64, shape (p,), optional
        One-sided, of the hypothesis that the expected value is 0 or less; None for measures that
        irrelevant features do not have 0 of.
    replicate_mean : ndarray of float64, shape (p,), optional
        Mean over the replicates. Its distance from `values` is the effect of the smaller
        samples on the measure.
    degrees_of_freedom : ndarray of float64, shape (p,), optional
        Of the standard errors, at least 1: how much a t distribution has to allow for their own
        uncertainty.
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
        If shapes disagree, names repeat, a number is not finite or out of its range, or an interval
        ends below where it begins.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> result = dm.significance.confidence_intervals(
    ...     dm.RandomForestRegressor(20), X, X[:, 0], n_resamples=20, random_state=0)
    >>> bool((result.low <= result.high).all())
    True
    """

    names: tuple[str, ...]
    values: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    confidence_level: float
    measure: str
    unit: str
    method: str
    kind: str
    p_values: FloatArray | None = None
    replicate_mean: FloatArray | None = None
    degrees_of_freedom: FloatArray | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    _ARRAYS: ClassVar = {
        **dict.fromkeys(("values", "low", "high", "replicate_mean"), ("p", ANY)),
        "standard_error": ("p", POSITIVE),
        "p_values": ("p", PROBABILITY),
        "degrees_of_freedom": ("p", (1.0, np.inf)),
    }

    def __post_init__(self, **_: int) -> None:
        super().__post_init__()
        owner, settle = "Intervals", object.__setattr__
        settle(
            self,
            "confidence_level",
            checks.check_real(owner, "confidence_level", self.confidence_level, 0, 1, ends="()"),
        )
        crossed = np.flatnonzero(self.low > self.high)
        if crossed.size:
            j = int(crossed[0])
            raise ValueError(
                f"{owner}: low must not exceed high, got {self.low[j]:g} and {self.high[j]:g} for "
                f"{quoted(self.names[j])}."
            )

    def _numbers(self) -> list[tuple[float, float]]:
        return list(zip(self.low.tolist(), self.high.tolist(), strict=True))

    # --- ranking and selection -------------------------------------------------------------

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by decreasing value; ties keep column order."""
        return np.argsort(-self.values, kind="stable")

    def above(self, threshold: float = 0.0) -> tuple[str, ...]:
        """Return the names of features whose interval lies above a value, in the order of `order`.

        Of m features whose expected importance is `threshold`, about m (1 - level) / 2 are among
        them by chance.
        """
        return tuple(self.names[j] for j in self.order() if self.low[j] > threshold)

    # --- in and out ------------------------------------------------------------------------

    def table(self) -> list[Column]:
        """Return the columns after the names.

        They are ``importance``, ``standard_error``, ``low``, ``high``, and ``p_value``,
        ``replicate_mean`` and ``degrees_of_freedom`` (if known).
        """
        title = "importance" if self.unit == "1" else self.unit
        ends, error = (self.low, self.high), self.standard_error
        columns = [
            Column(
                title,
                digits=4,
                bars=self.values,
                whiskers=ends,
                name="importance",
                numbers=self.values,
            ),
            Column("std. error", digits=2, name="standard_error", numbers=error),
            Column("low", digits=4, name="low", numbers=self.low),
            Column("high", digits=4, name="high", numbers=self.high),
        ]
        if self.p_values is not None:
            columns.append(Column("p", digits=0, name="p_value", numbers=self.p_values))
        for name in ("replicate_mean", "degrees_of_freedom"):
            if (numbers := getattr(self, name)) is not None:
                columns.append(Column(name=name, numbers=numbers))
        return columns

    def _heading(self) -> tuple[str, ...]:
        heading = (
            f"Intervals: {self.measure} of {counted(len(self), 'feature')}, "
            f"{100 * self.confidence_level:g} % {self.kind} intervals by {self.method}"
        )
        return (heading,)
