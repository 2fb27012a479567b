"""Changes of importances by a context: of features, and of the links between variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from duramen.results.adjustment import adjusted
from duramen.results.network import Network
from duramen.results.result import ANY, POSITIVE, PROBABILITY, Result, checked_names
from duramen.results.summary import Column, Summary, counted, small
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, native_frame
from duramen.support.text import fixed, quoted

Control: TypeAlias = Literal["fdr", "fwer", "none"]
EFFECTS = ("absolute", "signed", "plain")
"""Effects of each context on each feature, the arrays of shape (C, p) that have p-values."""
PERMUTE = ("conditional", "within_target", "all")
"""Schemes of permutations of the context, the default first."""
EMPTY = ("skip", "zero")
"""Treatments of nodes without rows of a context, the default first."""
SPLITS = ("auto", "multiway", "ordered")
"""Families of splits of the trees, the default first."""

INDEPENDENT = "independent"
COMPLEMENTARY = "complementary"
REDUNDANT = "redundant"
IRRELEVANT = "irrelevant"
MIXED = "mixed"
MIXED_COMPLEMENTARY = "mixed, complementary"
MIXED_REDUNDANT = "mixed, redundant"
KINDS = (
    INDEPENDENT,
    COMPLEMENTARY,
    REDUNDANT,
    IRRELEVANT,
    MIXED_COMPLEMENTARY,
    MIXED_REDUNDANT,
    MIXED,
)

_OWNER = "ContextImportances"


@dataclass(frozen=True, eq=False, repr=False)
class ContextImportances(Result):
    r"""Changes of the importances of p features by a context :math:`X_c` of C values.

    ``len(result)`` is p. All importances are in `unit`; G is the decrease of impurity (the mutual
    information, for the entropy), t a node that splits on :math:`X_m`, p(t) its part of the rows.

    Parameters
    ----------
    names : tuple of str
        Names of the p features.
    contexts : tuple of str
        Values of the context, as text.
    fractions : ndarray of float64, shape (C,)
        Fraction of the rows, or probability, of each context.
    importances : ndarray of float64, shape (p,)
        :math:`Imp(X_m)`, on all rows (thesis, eq. 6.7).
    absolute : ndarray of float64, shape (C, p)
        :math:`Imp^{|x_c|}(X_m) = \sum_t p(t) |G(Y;X_m|t) - G(Y;X_m|t,x_c)|` (eq. 6.10). It is 0
        for all contexts if and only if the feature is context-independent (theorem 6.2).
    signed : ndarray of float64, shape (C, p)
        :math:`Imp_s^{x_c}(X_m)`, the same without the absolute value (eq. 6.12): below 0 where the
        context makes the feature more informative on average, above 0 where less.
    conditional : ndarray of float64, shape (C, p)
        :math:`\sum_t p(t) G(Y;X_m|t,x_c)`: what is left of the importance in the context.
    overall : ndarray of float64, shape (p,)
        :math:`Imp^{X_c}(X_m) = \sum_t p(t) (G(Y;X_m|t) - G(Y;X_m|t,X_c))`.
    plain, within : ndarray of float64, shape (C, p), optional
        :math:`Imp(X_m|X_c=x_c)` (`within`), from the rows of the context alone, and
        :math:`Imp^{x_c}(X_m) = Imp(X_m) - Imp(X_m|X_c=x_c)` (`plain`, eq. 6.9).
    absolute_p_values, signed_p_values, plain_p_values : ndarray of shape (C, p), optional
        P-values under permutations of the context; two-sided but for `absolute`.
    overall_p_values : ndarray of float64, shape (p,), optional
        The same of `overall`, two-sided.
    relevance : float
        Importance of the context itself among the p features and the context. Where it is 0, a
        feature can still depend on a context that changes the distribution of features.
    relevance_p_value : float, optional
        Its p-value, one-sided, under permutations of the context among all rows, whatever
        `permute`: that the context is irrelevant to the target is what is tested.
    context_name : str
        Name of the context.
    unit : str
        Unit of the importances.
    empty : {"skip", "zero"}
        What counts for a node without rows of a context: nothing, or G = 0 there.
    tolerance : float
        What the verdicts take for equal, .05 on samples; see `verdicts`.
    n_permutations : int
        Permutations behind the p-values.
    permute : {"conditional", "within_target", "all"}
        How the context was permuted for the p-values of the effects: within the classes (or bins)
        of the target, also with probabilities that keep what other features have to do with it, or
        among all rows; see `null`.
    notes : tuple of str
        What limits the p-values on these data, such as few permutations.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data.

    Raises
    ------
    TypeError
        If a name is not a string.
    ValueError
        If shapes disagree, names repeat or a number is out of bounds.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y, context = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, [0, 1] * 10
    >>> result = dm.contexts.context_importances(X, y, context, n_permutations=0)
    >>> result.contexts, result.absolute.shape
    (('0', '1'), (2, 2))
    """

    names: tuple[str, ...]
    contexts: tuple[str, ...]
    fractions: FloatArray
    importances: FloatArray
    absolute: FloatArray
    signed: FloatArray
    conditional: FloatArray
    overall: FloatArray
    relevance: float
    plain: FloatArray | None = None
    within: FloatArray | None = None
    absolute_p_values: FloatArray | None = None
    signed_p_values: FloatArray | None = None
    plain_p_values: FloatArray | None = None
    overall_p_values: FloatArray | None = None
    relevance_p_value: float | None = None
    context_name: str = "Xc"
    unit: str = "bits"
    empty: str = "skip"
    tolerance: float = 1e-9
    n_permutations: int = 0
    permute: str = "all"
    notes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    _NAMES: ClassVar = {"names": "p", "contexts": "C"}
    _ARRAYS: ClassVar = {
        "fractions": ("C", ANY),
        **dict.fromkeys(("importances", "overall"), ("p", ANY)),
        "absolute": ("Cp", POSITIVE),
        **dict.fromkeys(("signed", "conditional", "plain", "within"), ("Cp", ANY)),
        **{f"{effect}_p_values": ("Cp", PROBABILITY) for effect in EFFECTS},
        "overall_p_values": ("p", PROBABILITY),
        "relevance": ("", ANY),
        "relevance_p_value": ("", PROBABILITY),
    }

    def __post_init__(self, **_: int) -> None:
        super().__post_init__()
        checks.check_choice(_OWNER, "empty", self.empty, EMPTY)
        checks.check_real(_OWNER, "tolerance", self.tolerance, 0, 1, ends="[)")
        checks.check_choice(_OWNER, "permute", self.permute, PERMUTE)

    # --- what the context does -------------------------------------------------------------

    @property
    def kind(self) -> NDArray[np.str_]:
        """Kinds of dependence of each feature, shape (C, p): `verdicts` with its defaults."""
        return self.verdicts()

    def verdicts(
        self, alpha: float = 0.05, control: Control = "fdr", tolerance: float | None = None
    ) -> NDArray[np.str_]:
        r"""Classify the effect of each context on each feature (thesis, section 6.3.3).

        Parameters
        ----------
        alpha : float
            Level for the adjusted p-value of `absolute` at which a feature depends on the context;
            without p-values, what exceeds the tolerance does.
        control : {"fdr", "fwer", "none"}
            Error rate over all features and contexts that `alpha` bounds: p-values are adjusted
            after Benjamini and Hochberg, after Holm, or not. With "none", each feature that does
            not depend on the context is called dependent with probability `alpha` in each context.
        tolerance : float, optional
            Fraction that counts as equal, 0 <= tolerance < 1; by default that of the result.

        Returns
        -------
        ndarray of str, shape (C, p)
            ``"independent"``
                `absolute` is not significant, or at most tolerance times the largest importance or
                absolute effect.
            ``"complementary"``, ``"redundant"``
                The feature is always more, or always less, informative in the context: `signed`
                is below or above 0 and \|signed\| >= (1 - tolerance) absolute (theorem 6.3).
            ``"irrelevant"``
                Redundant, and nothing is left of it: conditional <= tolerance * importance.
            ``"mixed, complementary"``, ``"mixed, redundant"``, ``"mixed"``
                Both occur; which of them outweighs, if any does by more than tolerance * absolute.

        Raises
        ------
        ValueError
            If `alpha`, `control` or `tolerance` is not allowed.
        """
        check_level(f"{_OWNER}.verdicts", alpha, control)
        fraction = self.tolerance if tolerance is None else tolerance
        checks.check_real(f"{_OWNER}.verdicts", "tolerance", fraction, 0, 1, ends="[)")
        scale = max(float(self.importances.max(initial=0)), float(self.absolute.max(initial=0)))
        dependent = self.absolute > fraction * scale
        if self.absolute_p_values is not None:
            dependent &= self.mask("absolute", alpha, control)
        one_signed = np.abs(self.signed) >= (1 - fraction) * self.absolute
        lost = self.conditional <= fraction * self.importances
        even = np.abs(self.signed) <= fraction * self.absolute
        more = self.signed < 0
        cases = [
            (~dependent, INDEPENDENT),
            (one_signed & more, COMPLEMENTARY),
            (one_signed & lost, IRRELEVANT),
            (one_signed, REDUNDANT),
            (even, MIXED),
            (more, MIXED_COMPLEMENTARY),
        ]
        chosen = np.select(
            [condition for condition, _ in cases],
            [np.array(word, dtype="<U20") for _, word in cases],
            np.array(MIXED_REDUNDANT, dtype="<U20"),
        )
        return cast("NDArray[np.str_]", chosen)

    # --- how surely ------------------------------------------------------------------------

    @property
    def null(self) -> str:
        """The null hypothesis of the p-values of the effects, in one sentence."""
        name = self.context_name
        what = {
            "all": f"The context {name} is independent of the features and the target together.",
            "within_target": f"The context {name} is independent of the features among rows of the "
            "same target.",
            "conditional": "Given the other features, the association of the feature with the "
            f"target, as odds ratios, is the same in all contexts of {name}.",
        }[self.permute]
        clause = self.metadata.get("context", {}).get("clause", "")
        return f"{what}{clause}"

    def p_values(self, effect: str = "absolute") -> FloatArray:
        """Return the p-values of an effect, shape (C, p).

        Raises
        ------
        ValueError
            If the effect is none of "absolute", "signed" and "plain", or has no p-values.
        """
        checks.check_choice(_OWNER, "effect", effect, EFFECTS)
        p_values = getattr(self, f"{effect}_p_values")
        if p_values is None:
            raise ValueError(
                f"{_OWNER}: there are no p-values of the effect {effect!r}. Hint: use "
                "n_permutations above 0 and, for the plain effect, plain='p_values'."
            )
        return cast(FloatArray, p_values)

    def q_values(self, effect: str = "absolute") -> FloatArray:
        """Return the p-values adjusted after Benjamini and Hochberg over all C p of an effect."""
        return adjusted(self.p_values(effect), "fdr")

    def mask(
        self, effect: str = "absolute", alpha: float = 0.05, control: Control = "fdr"
    ) -> BoolArray:
        """Tell which effects are significant, shape (C, p).

        Parameters
        ----------
        effect : {"absolute", "signed", "plain"}
            Which effect.
        alpha : float
            Level, in [0, 1].
        control : {"fdr", "fwer", "none"}
            Error rate over all features and contexts that is at most `alpha`.
        """
        check_level(_OWNER, alpha, control)
        return adjusted(self.p_values(effect), control) <= alpha

    # --- as a collection -------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features by decreasing dependence on the context.

        By the smallest p-value of `absolute` over the contexts, where there are p-values; ties,
        and all without, by its largest value.
        """
        largest = self.absolute.max(axis=0, initial=0)
        if self.absolute_p_values is None:
            return np.argsort(-largest, kind="stable")
        return np.lexsort((-largest, self.absolute_p_values.min(axis=0, initial=1)))

    # --- in and out ------------------------------------------------------------------------

    _WHAT = "effects"

    def table(self) -> list[Column]:
        """Return the effect of each context on each feature, context by context.

        Columns of a frame are ``name``, ``context``, ``importance``, ``absolute``, ``signed``,
        ``conditional``, ``within`` and ``plain`` (where known), ``overall``, p- and q-values of
        each effect (where known) and ``kind``.
        """
        shape = len(self.contexts), len(self.names)

        def column(name: str, values: FloatArray, title: str = "", **more: Any) -> Column:
            numbers = np.broadcast_to(values, shape).ravel()
            return Column(title, name=name, numbers=numbers, **more)

        columns = [
            Column("feature", [*self.names] * shape[0], "name", name="name"),
            Column(
                self.context_name,
                [value for value in self.contexts for _ in self.names],
                "words",
                name="context",
            ),
            column("importance", self.importances, "importance", digits=4),
            column("absolute", self.absolute, "absolute", digits=4),
            column("signed", self.signed, "signed", digits=4, bars=self.signed.ravel()),
            column("conditional", self.conditional),
        ]
        for what in ("within", "plain"):
            if (values := getattr(self, what)) is not None:
                columns.append(column(what, values))
        columns.append(column("overall", self.overall))
        for effect in EFFECTS:
            if (values := getattr(self, f"{effect}_p_values")) is not None:
                titles = ("p", "q") if effect == "absolute" else ("", "")
                columns.append(column(f"{effect}_p_value", values, titles[0], digits=0))
                q_values = self.q_values(effect)
                columns.append(column(f"{effect}_q_value", q_values, titles[1], digits=0))
        if self.overall_p_values is not None:
            columns.append(column("overall_p_value", self.overall_p_values))
        return [*columns, Column("kind", self.kind.ravel().tolist(), "words", name="kind")]

    def _best(self, n: int) -> NDArray[np.integer]:
        """Return the rows of the features in order, with a row for each context."""
        starts = np.arange(len(self.contexts)) * len(self.names)
        return (self.order()[:, np.newaxis] + starts).ravel()

    def _heading(self) -> tuple[str, ...]:
        own = f"importance of the context itself: {self.relevance:.4g}"
        if self.relevance_p_value is not None:
            own += f" (p = {self.relevance_p_value:.2g})"
        count = counted(len(self.names), "feature")
        where = f"{len(self.contexts)} contexts of {quoted(self.context_name)}"
        return (f"ContextImportances: {count} in {where}, in {self.unit}", own)


def check_level(owner: str, alpha: float, control: str) -> None:
    """Check a level, and the name of the error rate that it holds for."""
    checks.check_real(owner, "alpha", alpha, 0, 1)
    checks.check_choice(owner, "control", control, ("fdr", "fwer", "none"))


_LEVEL = 0.05
_NETWORK = "ContextNetwork"
_MATRICES = (*EFFECTS, "conditional", "within")


@dataclass(frozen=True, eq=False, repr=False)
class ContextNetwork(Network):
    """Network whose links depend on a context of C values.

    Its weights are the importances on all rows; `in_context` returns the network of an effect in
    one context.

    Parameters
    ----------
    names, weights, sources, targets, directed, measure, unit, p_values, notes, metadata
        As of `Network`.
    analyses : mapping of str to ContextImportances
        For each target, the importances of the other variables: the features of an analysis are all
        variables but its target, in the order of `names`.

    Raises
    ------
    ValueError
        If an analysis has other features or contexts.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0]] * 5
    >>> network = dm.contexts.context_network(X, [0, 1] * 10, n_permutations=0)
    >>> network.contexts, network.in_context("0").weights.shape
    (('0', '1'), (3, 3))
    """

    analyses: Mapping[str, ContextImportances] = field(default_factory=dict)

    def __post_init__(self, **_: int) -> None:
        super().__post_init__()
        object.__setattr__(self, "analyses", MappingProxyType(dict(self.analyses)))
        _check(self.names, self.analyses)

    @classmethod
    def of(
        cls,
        names: Iterable[str],
        analyses: Mapping[str, ContextImportances],
        metadata: Mapping[str, Any] | None = None,
    ) -> ContextNetwork:
        """Return the network of one analysis a target.

        Parameters
        ----------
        names : iterable of str
            Names of the p variables.
        analyses : mapping of str to ContextImportances
            As of the class.
        metadata : mapping, optional
            Settings, seed, versions and fingerprint of the data.
        """
        names = checked_names(_NETWORK, "names", names)
        _check(names, analyses)
        units = sorted({analysis.unit for analysis in analyses.values()})
        return cls(
            names,
            _square(names, analyses, [analysis.importances for analysis in analyses.values()], 0.0),
            targets=np.array([name in analyses for name in names]),
            measure="mdi",
            unit=" or ".join(units),
            notes=_notes(analyses),
            metadata=metadata or {},
            analyses=analyses,
        )

    # --- contexts --------------------------------------------------------------------------

    @property
    def contexts(self) -> tuple[str, ...]:
        """Values of the context."""
        return self._first.contexts

    @property
    def context_name(self) -> str:
        """Name of the context."""
        return self._first.context_name

    @property
    def _first(self) -> ContextImportances:
        return next(iter(self.analyses.values()))

    def in_context(self, context: str, effect: str = "absolute") -> Network:
        """Return the network of an effect in one context, with its p-values where known.

        Parameters
        ----------
        context : str
            One of `contexts`.
        effect : {"absolute", "signed", "plain", "conditional", "within"}
            As in `ContextImportances`.
        """
        checks.check_choice(_NETWORK, "effect", effect, _MATRICES)
        checks.check_choice(_NETWORK, "context", context, self.contexts)
        row = self.contexts.index(context)
        parts = [getattr(analysis, effect) for analysis in self.analyses.values()]
        if any(part is None for part in parts):
            raise ValueError(f"{_NETWORK}: the effect {effect!r} was not computed.")
        p_values = None
        if getattr(self._first, f"{effect}_p_values", None) is not None:
            tested = [analysis.p_values(effect)[row] for analysis in self.analyses.values()]
            p_values = _square(self.names, self.analyses, tested, 1.0)
        return self.reweighted(
            _square(self.names, self.analyses, [part[row] for part in parts], 0.0),
            measure=f"{effect} effect in {self.context_name} = {context}",
            p_values=p_values,
        )

    def mask(
        self, effect: str, context: str, alpha: float = 0.05, control: Control = "fdr"
    ) -> BoolArray:
        """Tell which links depend on the context significantly, shape (p, p).

        Parameters
        ----------
        effect : {"absolute", "signed", "plain"}
            Which effect.
        context : str
            One of `contexts`.
        alpha : float
            Level, in [0, 1].
        control : {"fdr", "fwer", "none"}
            Error rate over all links and contexts that is at most `alpha`.
        """
        check_level(_NETWORK, alpha, control)
        checks.check_choice(_NETWORK, "context", context, self.contexts)
        adjusted_values = self._adjusted(effect, control)[:, self.contexts.index(context)]
        return _square(self.names, self.analyses, list(adjusted_values), np.inf) <= alpha

    def _adjusted(self, effect: str, control: Control) -> FloatArray:
        """Return the p-values adjusted over all links and contexts, shape (targets, C, p - 1)."""
        return adjusted(np.stack([a.p_values(effect) for a in self.analyses.values()]), control)

    def links(
        self, effect: str = "absolute", *, alpha: float = 0.05, control: Control = "fdr"
    ) -> Any:
        """Return a data frame of the links that depend on the context, the surest first.

        Columns as `link_columns`; arguments as `mask`.
        """
        check_level(_NETWORK, alpha, control)
        self._first.p_values(effect)  # or an error that says why there are none
        columns = self.link_columns(effect, control)
        order = np.lexsort((-np.abs(columns[effect]), columns["p_value"]))
        order = order[columns["adjusted"][order] <= alpha]
        return native_frame({name: np.asarray(some)[order] for name, some in columns.items()})

    def link_columns(self, effect: str = "absolute", control: Control = "fdr") -> dict[str, Any]:
        """Return one row for each source, target and context.

        Its columns are ``source``, ``target``, ``context``, ``importance``, ``absolute``,
        ``signed``, ``plain`` (where known), ``p_value`` of the effect and ``adjusted`` for all of
        them (where the context was permuted), and ``kind``.
        """
        check_level(_NETWORK, 0.0, control)
        analyses = self.analyses.values()
        parts = [analysis.columns() for analysis in analyses]
        sizes = [(name, analysis.absolute.size) for name, analysis in self.analyses.items()]
        columns: dict[str, Any] = {
            "source": [name for part in parts for name in part["name"]],
            "target": [name for name, n in sizes for _ in range(n)],
            "context": [value for part in parts for value in part["context"]],
        }
        for what in ("importance", *(name for name in EFFECTS if name in parts[0])):
            columns[what] = np.concatenate([part[what] for part in parts])
        if self._first.n_permutations > 0:
            columns["p_value"] = np.concatenate(
                [analysis.p_values(effect).ravel() for analysis in analyses]
            )
            columns["adjusted"] = self._adjusted(effect, control).ravel()
        columns["kind"] = [kind for part in parts for kind in part["kind"]]
        return columns

    def to_frame(self) -> Any:
        """Return a data frame of the `link_columns` of all links."""
        return native_frame(self.link_columns())

    def _summary(self, rows: int) -> Summary:
        heading = (
            f"ContextNetwork: {len(self.names)} variables, {len(self.analyses)} targets, "
            f"{len(self.contexts)} contexts of {quoted(self.context_name)}"
        )
        if self._first.absolute_p_values is None:
            return Summary((heading, "no permutations, no p-values"))
        links = {name: np.asarray(some) for name, some in self.link_columns().items()}
        order = np.lexsort((-links["absolute"], links["p_value"]))[:rows]
        n_links = int((links["adjusted"] <= _LEVEL).sum())
        count = f"{n_links} of {len(links['kind'])} links depend on the context (q <= {_LEVEL:g})"
        first = {name: some[order] for name, some in links.items()}
        words = {"source": "source", "target": "target", self.context_name: "context"}
        columns = [
            *(Column(title, first[name].tolist(), "words") for title, name in words.items()),
            Column("absolute", fixed(first["absolute"], 4)),
            Column("signed", fixed(first["signed"], 4), bars=first["signed"]),
            Column("p", small(first["p_value"])),
            Column("kind", first["kind"].tolist(), "words"),
        ]
        return Summary((heading, count), columns, notes=self.notes)


def _check(names: tuple[str, ...], analyses: Mapping[str, ContextImportances]) -> None:
    """Raise unless the analyses have all variables but their targets as features."""
    if not analyses:
        raise ValueError(f"{_NETWORK}: analyses must hold at least one target.")
    contexts = next(iter(analyses.values())).contexts
    for target, analysis in analyses.items():
        sources = tuple(name for name in names if name != target)
        if target not in names or analysis.names != sources or analysis.contexts != contexts:
            raise ValueError(
                f"{_NETWORK}: the analysis of {target!r} must have all other variables as "
                "features, and the contexts of the others."
            )


def _square(
    names: tuple[str, ...],
    analyses: Mapping[str, ContextImportances],
    parts: Sequence[FloatArray],
    other: float,
) -> FloatArray:
    """Return a column for each target, shape (p, p), with `other` for absent links."""
    square = np.full((len(names), len(names)), other)
    for target, part in zip(analyses, parts, strict=True):
        j = names.index(target)
        square[:, j] = np.insert(part, j, other)
    return square


def _notes(analyses: Mapping[str, ContextImportances]) -> tuple[str, ...]:
    """Return the limits of the p-values on these data, counted over the targets."""
    noted = [target for target, analysis in analyses.items() if analysis.notes]
    if not noted:
        return ()
    return (
        f"The analyses of {len(noted):,} of {len(analyses):,} targets have notes, such as that of "
        f"{noted[0]}: {analyses[noted[0]].notes[0]}",
    )
