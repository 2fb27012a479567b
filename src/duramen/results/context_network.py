"""Links between variables that depend on a context: one context analysis a target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, small
from duramen.results.context_importances import (
    EFFECTS,
    ContextImportances,
    Control,
    check_level,
)
from duramen.results.fields import checked_names
from duramen.results.multiplicity import adjusted
from duramen.results.network import Network
from duramen.results.summary import Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray, native_frame
from duramen.support.text import fixed, quoted

_LEVEL = 0.05
_OWNER = "ContextNetwork"
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
    >>> network = dm.context_network(X, [0, 1] * 10, n_estimators=5, n_permutations=0)
    >>> network.contexts, network.in_context("0").weights.shape
    (('0', '1'), (3, 3))
    """

    analyses: Mapping[str, ContextImportances] = field(default_factory=dict)

    def __post_init__(self) -> None:
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
        names = checked_names(_OWNER, "names", names)
        _check(names, analyses)
        units = sorted({one.unit for one in analyses.values()})
        return cls(
            names,
            _square(names, analyses, [one.importances for one in analyses.values()], 0.0),
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
        checks.check_choice(_OWNER, "effect", effect, _MATRICES)
        row = self._context(context)
        parts = [getattr(one, effect) for one in self.analyses.values()]
        if any(part is None for part in parts):
            raise ValueError(f"{_OWNER}: the effect {effect!r} was not computed.")
        p_values = None
        if getattr(self._first, f"{effect}_p_values", None) is not None:
            tested = [one.p_values(effect)[row] for one in self.analyses.values()]
            p_values = _square(self.names, self.analyses, tested, 1.0)
        return self.reweighted(
            _square(self.names, self.analyses, [part[row] for part in parts], 0.0),
            measure=f"{effect} effect in {self.context_name} = {context}",
            p_values=p_values,
        )

    def mask(
        self,
        effect: str,
        context: str,
        alpha: float = 0.05,
        control: Control = "fdr",
    ) -> NDArray[np.bool_]:
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
        check_level(_OWNER, alpha, control)
        row = self._context(context)
        chosen = self._adjusted(effect, control)[:, row] <= alpha
        return _square(self.names, self.analyses, list(chosen.astype(np.float64)), 0.0) > 0

    def _adjusted(self, effect: str, control: Control) -> FloatArray:
        """Return the p-values adjusted over all links and contexts, shape (targets, C, p - 1)."""
        return adjusted(np.stack([a.p_values(effect) for a in self.analyses.values()]), control)

    def _context(self, context: str) -> int:
        if context not in self.contexts:
            raise ValueError(
                f"{_OWNER}: context must be one of {list(self.contexts)}, got {quoted(context)}."
            )
        return self.contexts.index(context)

    def links(
        self, effect: str = "absolute", *, alpha: float = 0.05, control: Control = "fdr"
    ) -> Any:
        """Return a data frame of the links that depend on the context, the surest first.

        Columns as `link_columns`; arguments as `mask`.
        """
        check_level(_OWNER, alpha, control)
        self._first.p_values(effect)  # or an error that says why there are none
        columns = self.link_columns(effect, control)
        order = np.lexsort((-np.abs(columns[effect]), columns["p_value"]))
        order = order[columns["adjusted"][order] <= alpha]
        return native_frame(
            {
                name: [values[i] for i in order] if isinstance(values, list) else values[order]
                for name, values in columns.items()
            }
        )

    def link_columns(self, effect: str = "absolute", control: Control = "fdr") -> dict[str, Any]:
        """Return one row for each source, target and context.

        Its columns are ``source``, ``target``, ``context``, ``importance``, ``absolute``,
        ``signed``, ``plain`` (where known), ``p_value`` of the effect and ``adjusted`` for all of
        them (where the context was permuted), and ``kind``.
        """
        check_level(_OWNER, 0.0, control)
        n_contexts = len(self.contexts)
        tested = self._first.n_permutations > 0
        columns: dict[str, Any] = {"source": [], "target": [], "context": []}
        parts: dict[str, list[FloatArray]] = {}
        kinds: list[str] = []
        for target, one in self.analyses.items():
            columns["source"] += list(one.names) * n_contexts
            columns["target"] += [target] * (len(one.names) * n_contexts)
            columns["context"] += [value for value in self.contexts for _ in one.names]
            parts.setdefault("importance", []).append(np.tile(one.importances, n_contexts))
            for what in EFFECTS:
                if (values := getattr(one, what)) is not None:
                    parts.setdefault(what, []).append(values.ravel())
            if tested:
                parts.setdefault("p_value", []).append(one.p_values(effect).ravel())
            kinds += one.kind.ravel().tolist()
        columns |= {name: np.concatenate(values) for name, values in parts.items()}
        if tested:
            columns["adjusted"] = self._adjusted(effect, control).ravel()
        columns["kind"] = kinds
        return columns

    def to_frame(self) -> Any:
        """Return a data frame of `link_columns`, of all links; `edges` has those on all rows."""
        return native_frame(self.link_columns())

    def _summary(self, rows: int) -> Summary:
        heading = (
            f"ContextNetwork: {len(self.names)} variables, {len(self.analyses)} targets, "
            f"{len(self.contexts)} contexts of {quoted(self.context_name)}"
        )
        if self._first.absolute_p_values is None:
            return Summary((heading, "no permutations, no p-values"))
        links = self.link_columns()
        order = np.lexsort((-links["absolute"], links["p_value"]))[:rows]
        found = int((links["adjusted"] <= _LEVEL).sum())
        count = f"{found} of {len(links['kind'])} links depend on the context (q <= {_LEVEL:g})"
        words = ("source", "source"), ("target", "target"), ("context", self.context_name)
        signed = links["signed"][order]
        columns = [
            *(
                Column(title, [links[what][i] for i in order], kind="words")
                for what, title in words
            ),
            Column("absolute", fixed(links["absolute"][order], 4)),
            Column("signed", fixed(signed, 4), bars=signed),
            Column("p", small(links["p_value"][order])),
            Column("kind", [links["kind"][i] for i in order], kind="words"),
        ]
        return Summary((heading, count), columns, notes=self.notes)


def _check(names: tuple[str, ...], analyses: Mapping[str, ContextImportances]) -> None:
    """Raise unless the analyses have all variables but their targets as features."""
    if not analyses:
        raise ValueError(f"{_OWNER}: analyses must hold at least one target.")
    contexts = next(iter(analyses.values())).contexts
    for target, one in analyses.items():
        sources = tuple(name for name in names if name != target)
        if target not in names or one.names != sources or one.contexts != contexts:
            raise ValueError(
                f"{_OWNER}: the analysis of {target!r} must have all other variables as "
                "features, and the contexts of the others."
            )


def _square(
    names: tuple[str, ...],
    analyses: Mapping[str, ContextImportances],
    parts: Sequence[FloatArray],
    other: float,
) -> FloatArray:
    """Return a column a target, shape (p, p), with `other` where there is no link."""
    square = np.full((len(names), len(names)), other)
    for target, part in zip(analyses, parts, strict=True):
        j = names.index(target)
        square[:, j] = np.insert(part, j, other)
    return square


def _notes(analyses: Mapping[str, ContextImportances]) -> tuple[str, ...]:
    """Return the limits of the p-values on these data, counted over the targets."""
    noted = [target for target, one in analyses.items() if one.notes]
    if not noted:
        return ()
    tested = [one.shift_p_values for one in analyses.values()]
    shifted = sum(
        int((adjusted(p_values, "fdr") <= _LEVEL).sum())
        for p_values in tested
        if p_values is not None
    )
    pairs = sum(map(len, analyses.values()))
    first = next(iter(analyses.values()))
    name = first.context_name
    what = "effects" if first.permute == "conditional" else "p-values"
    text = (
        f"{name} shifts the source among rows of the same target in {shifted:,} of {pairs:,} pairs "
        f"(q <= {_LEVEL:g}); their {what} then also reflect the shift. "
        if shifted
        else ""
    )
    return (
        f"{text}The analyses of {len(noted):,} of {len(analyses):,} targets have notes, such as "
        f"that of {noted[0]}: {analyses[noted[0]].notes[0]}",
    )
