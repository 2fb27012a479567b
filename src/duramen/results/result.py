"""Bases of all results, and of those with one number a feature."""

from __future__ import annotations

import json
import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from duramen.catalogue import Catalogue, Entry
from duramen.results.archive import Saved, is_sparse, unpacked_fields
from duramen.results.fields import ANY, checked_names, checked_notes, frozen, ranks
from duramen.results.summary import Column, Framed, Summary, counted, features, hidden, places
from duramen.support import checks
from duramen.support.provenance import frozen_metadata

_PLOTS = "duramen.plots"


@dataclass(frozen=True, eq=False)
class ResultFigure(Entry):
    """Function that draws results."""

    draw: Callable[..., Any]  # takes the result, and its options as keywords
    of: tuple[type, ...] = ()  # classes of results that it draws
    # Inches on the page of a report, from the result and the options; None for a figure that no
    # report shows.
    height: Callable[[Any, Mapping[str, Any]], float] | None = None


FIGURES: Catalogue[ResultFigure] = Catalogue("figure", ())


def figure(
    draw: Callable[..., Any],
    of: tuple[type, ...] = (),
    height: Callable[[Any, Mapping[str, Any]], float] | None = None,
) -> ResultFigure:
    """Register a function under its own name; the first that fits a result draws it by default."""
    return FIGURES.register(ResultFigure(draw.__name__, draw, of, height))


def draw(result: object, name: str | None, **options: Any) -> Any:
    """Draw a result with the figure of a name, by default the first for its class."""
    import_module(_PLOTS)
    kind = type(result).__name__
    fitting = {entry.name: entry for entry in FIGURES if isinstance(result, entry.of)}
    if not fitting:
        raise TypeError(f"{kind}.plot: no figure shows this result. Hint: {kind}.to_frame().")
    if name is not None and name not in fitting:
        allowed = ", ".join(map(repr, fitting))
        raise ValueError(f"{kind}.plot: figure must be one of {allowed}, got {name!r}.")
    return fitting[next(iter(fitting)) if name is None else name].draw(result, **options)


# Fields that may differ between two results of equal numbers: they hold versions and words.
_NOT_COMPARED = ("metadata", "notes")
_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "names": lambda owner, names: checked_names(owner, "names", names),
    "metadata": frozen_metadata,
    "notes": checked_notes,
}


class Result(Saved, Framed):
    """Base of the results, which are frozen dataclasses.

    Their fields are arrays, text, numbers, tuples and mappings of such, other results, or None;
    those of ``metadata`` are what JSON can hold, and are not compared, nor are ``notes``. The
    arrays are read-only.
    """

    _WHAT: ClassVar[str] = "rows"
    """Noun for the rows of the table."""

    def __post_init__(self) -> None:
        """Check names, metadata and notes, where there are such fields, and lock the arrays."""
        owner = type(self).__name__
        for what, value in [*vars(self).items()]:
            if what in _CHECKS:
                object.__setattr__(self, what, _CHECKS[what](owner, value))
            elif type(value) is np.ndarray and value.flags.writeable:
                locked = value.view()
                locked.setflags(write=False)
                object.__setattr__(self, what, locked)

    def _freeze(
        self,
        fields: Iterable[str],
        shape: tuple[int, ...],
        bounds: tuple[float, float] = ANY,
        dtype: Any = np.float64,
        names: tuple[str, ...] | None = None,
    ) -> None:
        """Replace fields that are not None by read-only copies, checked as by `frozen`."""
        for what in fields:
            if (values := getattr(self, what)) is not None:
                array = frozen(
                    type(self).__name__, what, values, shape, bounds, names=names, dtype=dtype
                )
                object.__setattr__(self, what, array)

    @property
    def notes(self) -> tuple[str, ...]:
        """Limits of the result, a sentence each; the results of tests have a field for it."""
        return ()

    def table(self) -> list[Column]:
        """Return the columns, of which those with a title are shown and those with a name saved."""
        return []

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name."""
        return {column.name: copy(column.values) for column in self.table() if column.name}

    def _heading(self) -> tuple[str, ...]:
        """Return the lines above the table of a summary."""
        return (type(self).__name__,)

    def _best(self, n: int) -> NDArray[np.integer]:
        """Return the rows of the table, of which there are n, in the order of a summary."""
        return np.arange(n)

    def _summary(self, rows: int) -> Summary:
        columns = [column for column in self.table() if column.title]
        n = len(columns[0].values) if columns else 0
        best = self._best(n)[:rows]
        shown = [places(len(best)), *(column.take(best) for column in columns)]
        return Summary(self._heading(), shown, hidden(n, len(best), self._WHAT), self.notes)

    def plot(self, figure: str | None = None, **options: Any) -> Any:
        """Draw the result with a function of `duramen.plots`.

        Parameters
        ----------
        figure : str, optional
            Name of the function, such as ``"by_degree"``; by default the first that fits.
        **options
            Passed on to it, such as ``k=10``, or ``ax=`` for where to draw.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        TypeError
            If no figure shows a result of this class.
        ValueError
            If `figure` is none of those that do.
        """
        return draw(self, figure, **options)

    def equals(self, other: object, *, rtol: float = 0.0, atol: float = 0.0) -> bool:
        """Tell whether two results hold the same labels and numbers.

        Metadata and notes are not compared: they hold versions and words, which may differ for
        equal numbers.

        Parameters
        ----------
        other : object
            Anything; what is no result of this class is not equal.
        rtol, atol : float, default=0.0
            Tolerances as in `numpy.allclose`; 0 asks for equal bits.
        """
        return isinstance(other, type(self)) and all(
            _same(mine, getattr(other, name), rtol, atol)
            for name, mine in vars(self).items()
            if name not in _NOT_COMPARED
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the fields as arrays by name, with all that is no array as JSON in "json"."""
        header, arrays = self._parts()
        text = json.dumps(header, allow_nan=False).encode("ascii")
        return {"json": np.frombuffer(text, dtype=np.uint8), **arrays}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the result that `to_arrays` was called on."""
        return cls(**unpacked_fields(json.loads(arrays["json"].tobytes()), arrays))


NumberT = TypeVar("NumberT")


class Scored(NamedTuple, Generic[NumberT]):
    """Feature and its number; `pandas.DataFrame` of a result has these columns.

    Examples
    --------
    >>> import duramen as dm
    >>> importances = dm.Importances(("a", "b"), [0.1, 0.3], "mdi", "bits")
    >>> import pandas as pd
    >>> pd.DataFrame(importances).columns.to_list()
    ['name', 'value']
    """

    name: str
    value: NumberT


@dataclass(frozen=True, eq=False, repr=False)
class FeatureResult(Result, Generic[NumberT]):
    """Base of the results whose arrays have one row a feature.

    ``len(result)`` is the number p of features, ``result[name]`` the number of one feature, and
    iterating gives pairs of name and number. `numpy.asarray` gives the numbers, and
    `pandas.DataFrame` a frame of names and numbers.
    """

    names: tuple[str, ...]

    _NUMBERS: ClassVar[Mapping[str, tuple[float, float]]] = {}
    """Arrays of shape (p,) with their bounds; the first is what ``result[name]`` looks up."""
    _TABLES: ClassVar[tuple[str, ...]] = ()
    """Arrays of shape (p, D)."""
    _TITLE: ClassVar[str] = "feature"
    """Title of the column of names in a summary."""

    def __post_init__(self) -> None:
        super().__post_init__()
        owner, names = type(self).__name__, self.names
        for what, bounds in self._NUMBERS.items():
            self._freeze([what], (len(names),), bounds, names=names)
        self._freeze(self._TABLES, (len(names), -1), names=names)
        if hasattr(self, "details"):
            details = {
                what: frozen(owner, f"details[{what!r}]", self.details[what], (len(names),))
                for what in checked_names(owner, "details", self.details)
            }
            object.__setattr__(self, "details", MappingProxyType(details))

    def table(self) -> list[Column]:
        """Return the columns after the names, one row a feature.

        Columns with a name are those of `columns`; columns with a title are shown by `summary`.
        """
        return []

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is the best feature by `order`), the columns of `table`, and
        those of `details`.
        """
        first: dict[str, Any] = {"name": list(self.names), "rank": ranks(self.order())}
        details: Mapping[str, Any] = getattr(self, "details", {})
        copies = {what: column.copy() for what, column in details.items()}
        return {**first, **super().columns(), **copies}

    def _heading(self) -> tuple[str, ...]:
        """Return the lines above the table of a summary."""
        return (f"{type(self).__name__} of {counted(len(self), 'feature')}",)

    def _summary(self, rows: int) -> Summary:
        best = self.order()[:rows]
        shown = [column.take(best) for column in self.table() if column.title]
        columns = [
            *features(self.names, best, self._TITLE),
            *(c for c in shown if any(c.cells) or not len(best)),
        ]
        return Summary(self._heading(), columns, hidden(len(self), len(best)), self.notes)

    def _numbers(self) -> list[NumberT]:
        """Return the number of each feature."""
        return cast("list[NumberT]", getattr(self, next(iter(self._NUMBERS))).tolist())

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Scored[NumberT]]:
        return map(Scored, self.names, self._numbers())

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Numbers of the features, as `numpy.asarray` takes them.

        There is no ``__array__``, by which pandas would take a frame of them without the names.
        """
        numbers: NDArray[Any] = getattr(self, next(iter(self._NUMBERS)))
        return numbers.__array_interface__

    def __getitem__(self, name: str | int) -> NumberT:
        if not isinstance(name, str):
            return self._numbers()[operator.index(name)]
        try:
            return self._numbers()[self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    @abstractmethod
    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features, the best first."""

    def top(self, k: int) -> Self:
        """Return the `k` best features by `order` (all when p < k), the best first.

        Adjusted p-values stay those among all features.

        Raises
        ------
        ValueError
            If `k` is negative.
        """
        most = min(k, len(self.order())) if checks.is_integer(k) else k
        checks.check_integer(f"{type(self).__name__}.top", "k", most, 0)
        return self.take(self.order()[:k])

    def take(self, index: NDArray[np.integer], *, names: Iterable[str] | None = None) -> Self:
        """Return the features at these indices, in their order, with all that is known of them.

        Parameters
        ----------
        index : ndarray of int, shape (q,)
            Indices of features; one may come several times where `names` tell its copies apart.
        names : iterable of str, optional
            New names of the q features; by default they keep theirs.
        """
        chosen = tuple(self.names[j] for j in index) if names is None else tuple(names)
        return replace(self, names=chosen, **self._taken(index))

    def places(self, names: Iterable[str]) -> NDArray[np.intp]:
        """Return the indices of features by their names.

        Raises
        ------
        ValueError
            If the result lacks one.
        """
        place = {name: j for j, name in enumerate(self.names)}
        wanted = list(names)
        if lacking := [name for name in wanted if name not in place]:
            raise ValueError(
                f"{type(self).__name__}: names must be features of the result, but it lacks "
                f"{lacking[0]!r}."
            )
        return np.array([place[name] for name in wanted], dtype=np.intp)

    def of(self, names: Iterable[str]) -> Self:
        """Return the features of these names, in their order, with all that is known of them."""
        return self.take(self.places(names))

    def _taken(self, index: NDArray[np.integer]) -> dict[str, Any]:
        """Return what the other fields are for these features, where it changes."""
        taken: dict[str, Any] = {
            name: value[index]
            for name, value in vars(self).items()
            if isinstance(value, np.ndarray)
        }
        if hasattr(self, "details"):
            taken["details"] = {what: column[index] for what, column in self.details.items()}
        return taken


def _same(a: Any, b: Any, rtol: float, atol: float) -> bool:
    if isinstance(a, Result):
        return a.equals(b, rtol=rtol, atol=atol)
    if is_sparse(a) or is_sparse(b):
        return type(a) is type(b) and _same(a.toarray(), b.toarray(), rtol, atol)
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(_same(a[key], b[key], rtol, atol) for key in a)
    if isinstance(a, np.ndarray | float) and b is not None:
        return np.shape(a) == np.shape(b) and bool(
            np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        )
    return bool(a is b if a is None or b is None else a == b)
