"""Links between variables that depend on a context: one context analysis a target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import checks
from duramen.results.columns import Column, small
from duramen.results.context_importances import (
    EFFECTS,
    ContextImportances,
    Control,
    check_level,
)
from duramen.results.fields import checked_names
from duramen.results.frames import native_frame
from duramen.results.metadata import frozen_metadata
from duramen.results.multiplicity import adjusted
from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.results.text import fixed, quoted

FloatArray = NDArray[np.float64]

_LEVEL = 0.05
_OWNER = "ContextNetwork"
_MATRICES = (*EFFECTS, "conditional", "within")


@dataclass(frozen=True, eq=False, repr=False)
class ContextNetwork(Result):
    """Dependence of the links between p variables on a context of C values.

    Parameters
    ----------
    names : tuple of str
        Names of the p variables.
    analyses : mapping of str to ContextImportances
        For each target, the importances of the other variables: the features of an analysis are all
        variables but its target, in the order of `names`.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data.

    Raises
    ------
    ValueError
        If an analysis has other features or contexts.

    Examples
    --------
    >>> import duramen as dm
    >>> X = [[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0]] * 5
    >>> network = dm.context_network(X, [0, 1] * 10, n_estimators=5, n_permutations=0)
    >>> network.targets, network.matrix("absolute", "0").shape
    (('x0', 'x1', 'x2'), (3, 3))
    """

    names: tuple[str, ...]
    analyses: Mapping[str, ContextImportances]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settle = object.__setattr__
        settle(self, "names", checked_names(_OWNER, "names", self.names))
        settle(self, "analyses", MappingProxyType(dict(self.analyses)))
        if not self.analyses:
            raise ValueError(f"{_OWNER}: analyses must hold one target at least.")
        contexts = next(iter(self.analyses.values())).contexts
        for target, one in self.analyses.items():
            sources = tuple(name for name in self.names if name != target)
            if target not in self.names or one.names != sources or one.contexts != contexts:
                raise ValueError(
                    f"{_OWNER}: the analysis of {target!r} must have all other variables as "
                    "features, and the contexts of the others."
                )
        settle(self, "metadata", frozen_metadata(_OWNER, self.metadata))

    # --- as matrices -----------------------------------------------------------------------

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the variables that were targets, in their order."""
        return tuple(self.analyses)

    @property
    def contexts(self) -> tuple[str, ...]:
        """Values of the context."""
        return self._first.contexts

    @property
    def context_name(self) -> str:
        """Name of the context."""
        return self._first.context_name

    @property
    def notes(self) -> tuple[str, ...]:
        """Limits of the p-values on these data, counted over the targets."""
        noted = [target for target, one in self.analyses.items() if one.notes]
        if not noted:
            return ()
        tested = [one.shift_p_values for one in self.analyses.values()]
        shifted = sum(
            int((adjusted(p_values, "fdr") <= _LEVEL).sum())
            for p_values in tested
            if p_values is not None
        )
        pairs = sum(map(len, self.analyses.values()))
        text = (
            f"{self.context_name} shifts the source among rows of the same target in {shifted:,} "
            f"of {pairs:,} pairs (q <= {_LEVEL:g}); their p-values then also reflect the shift. "
            if shifted
            else ""
        )
        return (
            f"{text}The analyses of {len(noted):,} of {len(self):,} targets have notes, such as "
            f"that of {noted[0]}: {self.analyses[noted[0]].notes[0]}",
        )

    @property
    def _first(self) -> ContextImportances:
        return next(iter(self.analyses.values()))

    def matrix(self, effect: str, context: str) -> FloatArray:
        """Return an effect in a context, from source to target: shape (p, targets).

        Parameters
        ----------
        effect : {"absolute", "signed", "plain", "conditional", "within"}
            As in `ContextImportances`; 0 for a variable and itself, and for pairs not analysed.
        context : str
            One of `contexts`.
        """
        checks.check_choice(_OWNER, "effect", effect, _MATRICES)
        row = self._context(context)
        parts = []
        for one in self.analyses.values():
            values = getattr(one, effect)
            if values is None:
                raise ValueError(f"{_OWNER}: the effect {effect!r} was not computed.")
            parts.append(values[row])
        return self._square(parts, 0.0)

    def importances(self) -> FloatArray:
        """Return the importances on all rows, from source to target: shape (p, targets)."""
        return self._square([one.importances for one in self.analyses.values()], 0.0)

    def p_values(self, effect: str, context: str) -> FloatArray:
        """Return the p-values of an effect in a context, shape (p, targets); 1 on the diagonal."""
        row = self._context(context)
        return self._square([one.p_values(effect)[row] for one in self.analyses.values()], 1.0)

    def mask(
        self,
        effect: str,
        context: str,
        alpha: float = 0.05,
        control: Control = "fdr",
    ) -> NDArray[np.bool_]:
        """Tell which links depend on the context significantly, shape (p, targets).

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
        return self._square(list(chosen.astype(np.float64)), 0.0) > 0

    def _adjusted(self, effect: str, control: Control) -> FloatArray:
        """Return the p-values adjusted over all links and contexts, shape (targets, C, p - 1)."""
        return adjusted(np.stack([a.p_values(effect) for a in self.analyses.values()]), control)

    def _context(self, context: str) -> int:
        if context not in self.contexts:
            raise ValueError(
                f"{_OWNER}: context must be one of {list(self.contexts)}, got {quoted(context)}."
            )
        return self.contexts.index(context)

    def _square(self, parts: Sequence[FloatArray], own: float) -> FloatArray:
        """Return one column a target, with `own` put in where a variable meets itself."""
        columns = [
            np.insert(part, self.names.index(target), own)
            for target, part in zip(self.analyses, parts, strict=True)
        ]
        return np.stack(columns, axis=1)

    # --- as links --------------------------------------------------------------------------

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

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: those of `link_columns`, of all links."""
        return self.link_columns()

    # --- as a collection, in and out -------------------------------------------------------

    def __len__(self) -> int:
        return len(self.analyses)

    def __iter__(self) -> Iterator[str]:
        return iter(self.analyses)

    def __getitem__(self, target: str) -> ContextImportances:
        return self.analyses[target]

    def _summary(self, rows: int) -> Summary:
        heading = (
            f"ContextNetwork: {len(self.names)} variables, {len(self)} targets, "
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
            *(Column(title, [links[what][i] for i in order], left=True) for what, title in words),
            Column("absolute", fixed(links["absolute"][order], 4)),
            Column("signed", fixed(signed, 4), bars=signed),
            Column("p", small(links["p_value"][order])),
            Column("kind", [links["kind"][i] for i in order], left=True),
        ]
        return Summary((heading, count), columns, notes=self.notes)
