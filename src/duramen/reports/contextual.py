"""Context analyses at a level: what depends on the context, as columns of tables and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.columns import Column, small
from duramen.results.context_importances import (
    EFFECTS,
    INDEPENDENT,
    ContextImportances,
    Control,
)
from duramen.results.context_network import ContextNetwork
from duramen.results.multiplicity import adjusted
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed

Cell = tuple[int, int, int]
"""Which analysis, context and feature."""

_NAME, _KIND = 16, len("complementary")  # characters that a narrow terminal leaves to words
_MINOR = {"importance": 3, "p": 2, "signed": 1}  # left out in this order
_ADJUSTED = {"fdr": "q", "fwer": "Holm's p", "none": "p"}


@dataclass(frozen=True)
class Level:
    """Level at which a feature counts as dependent on a context.

    Parameters
    ----------
    alpha : float
    control : {"fdr", "fwer", "none"}
        Error rate that it bounds.
    """

    alpha: float = 0.05
    control: Control = "fdr"

    @property
    def title(self) -> str:
        """Name of the adjusted p-values."""
        return _ADJUSTED[self.control]

    def __str__(self) -> str:
        return f"{self.title} <= {self.alpha:g}"


@dataclass(frozen=True, eq=False)
class Findings:
    """Effects of one context on features, or on links of a network."""

    # One, or one for each target of a network; p-values are adjusted over all together.
    analyses: tuple[ContextImportances, ...]
    level: Level  # what is said to depend on the context
    targets: tuple[str, ...] | None = None  # names of the targets of a network

    @classmethod
    def of(cls, found: ContextImportances | ContextNetwork, level: Level) -> Findings:
        """Return what was found at a level."""
        if isinstance(found, ContextNetwork):
            return cls(tuple(found.analyses.values()), level, tuple(found.analyses))
        return cls((found,), level)

    @property
    def context_name(self) -> str:
        """Name of the context."""
        return self.analyses[0].context_name

    @property
    def tested(self) -> bool:
        """True if there are p-values."""
        return self.analyses[0].absolute_p_values is not None

    @property
    def rule(self) -> str:
        """Criterion of dependence on the context, in a few words."""
        if self.tested:
            return str(self.level)
        return f"more than {self.analyses[0].tolerance:.0%} of the largest importance"

    @cached_property
    def adjusted(self) -> tuple[FloatArray, ...]:
        """Adjusted p-values of the absolute effects, an array of shape (C, p) an analysis."""
        return self._over_all("absolute", self.level.control)

    @cached_property
    def kinds(self) -> tuple[NDArray[np.str_], ...]:
        """Kinds of dependence, an array of shape (C, p) an analysis."""
        found = [one.verdicts(self.level.alpha, "none") for one in self.analyses]
        if self.tested:
            for kinds, values in zip(found, self.adjusted, strict=True):
                kinds[values > self.level.alpha] = INDEPENDENT
        return tuple(found)

    @cached_property
    def dependent(self) -> list[Cell]:
        """Cells that depend on the context: features in their order, or the surest links first."""
        return [(a, c, j) for a, c, j in self.cells if self.kinds[a][c, j] != INDEPENDENT]

    @cached_property
    def cells(self) -> list[Cell]:
        """All that was looked at: features in their order, or the surest links first."""
        if self.targets is None:
            (one,) = self.analyses
            return [(0, c, int(j)) for j in one.order() for c in range(len(one.contexts))]
        every = [(a, c, j) for a, one in enumerate(self.analyses) for c, j in np.ndindex(*_of(one))]
        size = -np.concatenate([one.absolute.ravel() for one in self.analyses])
        if not self.tested:
            return [every[i] for i in np.argsort(size, kind="stable")]
        p = np.concatenate([one.p_values().ravel() for one in self.analyses])
        return [every[i] for i in np.lexsort((size, p))]

    def count(self, context: int | None = None) -> int:
        """Return how many features, or links, depend on the context, or on one value of it."""
        return len({(a, j) for a, c, j in self.dependent if context in (None, c)})

    def values(self, what: str, cells: Sequence[Cell]) -> FloatArray:
        """Return some numbers of the analyses: an attribute of shape (C, p) or (p,)."""
        arrays = [np.asarray(getattr(one, what)) for one in self.analyses]
        return np.array(
            [arrays[a][c, j] if arrays[a].ndim > 1 else arrays[a][j] for a, c, j in cells]
        )

    def table(
        self, cells: Sequence[Cell], *, within: bool = True, context: str = "{value}"
    ) -> list[Column]:
        """Return the columns of a table whose rows are `cells`.

        With `within` it has the importance in the context, where that is known; `context` says how
        a context is named, with ``{name}`` and ``{value}`` for its name and value.
        """
        analyses, name = self.analyses, self.context_name
        feature = "feature" if self.targets is None else "source"
        names = [analyses[a].names[j] for a, _, j in cells]
        columns = [Column(feature, names, "name", least=_NAME)]
        if self.targets is not None:
            targets = [self.targets[a] for a, _, _ in cells]
            columns.append(Column("target", targets, "words", least=_NAME))
        labels = [context.format(name=name, value=analyses[a].contexts[c]) for a, c, _ in cells]
        title = "context" if "{name}" in context else name
        columns.append(Column(title, labels, "words", least=_NAME))
        shown = {"importance": "importances", "absolute": "absolute", "signed": "signed"}
        if within and analyses[0].within is not None:
            shown = {"importance": "importances", "within": "within", **shown}
        for title, what in shown.items():
            minor = _MINOR.get(title, 0)
            columns.append(Column(title, fixed(self.values(what, cells), 4), minor=minor))
        if self.tested:
            adjusted = self.level.control != "none"
            p_values = small(self.values("absolute_p_values", cells))
            columns.append(Column("p", p_values, minor=_MINOR["p"] if adjusted else 0))
            if adjusted:
                q = small(self.adjusted[a][c, j] for a, c, j in cells)
                columns.append(Column(self.level.title, q))
        kinds = [str(self.kinds[a][c, j]) for a, c, j in cells]
        return [*columns, Column("kind", kinds, "words", least=_KIND)]

    def columns(self) -> dict[str, Any]:
        """Return the columns of a file: a row for each feature, or link, and context.

        They are ``context_name``, then those of `ContextImportances.columns` with ``name`` as
        ``source`` and ``target`` for a network, q-values over all links, ``kind`` at the level,
        and, where it bounds the family-wise error rate, Holm's p-values as
        ``absolute_holm_p_value``. Rows are in the order of `cells`.
        """
        columns = _together([one.columns() for one in self.analyses])
        own = columns.pop("name")
        first: dict[str, Any] = {"context_name": [self.context_name] * len(own)}
        if self.targets is None:
            first["name"] = own
        else:
            sizes = [one.absolute.size for one in self.analyses]
            first["source"] = own
            first["target"] = np.repeat(np.array(self.targets, dtype=object), sizes)
        columns["kind"] = _flat(self.kinds)
        for effect in EFFECTS:
            if f"{effect}_q_value" in columns:
                columns[f"{effect}_q_value"] = _flat(self._over_all(effect, "fdr"))
        if self.tested and self.level.control == "fwer":
            columns["absolute_holm_p_value"] = _flat(self.adjusted)
        order = self._rows()
        return {name: np.asarray(values)[order] for name, values in (first | columns).items()}

    def _over_all(self, effect: str, control: Control) -> tuple[FloatArray, ...]:
        """Return the p-values of an effect, adjusted over all analyses together."""
        found = [one.p_values(effect) for one in self.analyses]
        flat = adjusted(_flat(found), control)
        ends = np.cumsum([values.size for values in found])[:-1]
        return tuple(
            part.reshape(values.shape)
            for part, values in zip(np.split(flat, ends), found, strict=True)
        )

    def _rows(self) -> NDArray[np.intp]:
        """Return the places of the cells among all rows of all analyses, as these list them."""
        starts = np.cumsum([0, *(one.absolute.size for one in self.analyses)])
        places = [starts[a] + c * len(self.analyses[a]) + j for a, c, j in self.cells]
        return np.array(places, dtype=np.intp)


def _of(one: ContextImportances) -> tuple[int, int]:
    return len(one.contexts), len(one)


def _flat(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([array.ravel() for array in arrays])


def _together(parts: Sequence[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """Return columns of equal names, one table under the other; text as objects."""
    return {name: np.concatenate([_column(part[name]) for part in parts]) for name in parts[0]}


def _column(values: Any) -> NDArray[Any]:
    return np.array(values, dtype=object) if isinstance(values, list) else np.asarray(values)


def stacked(findings: Sequence[Findings]) -> dict[str, Any]:
    """Return the columns of a file about several contexts, one under the other."""
    every = _together([one.columns() for one in findings])
    return {
        name: values.tolist() if values.dtype.kind in "OU" else values
        for name, values in every.items()
    }
