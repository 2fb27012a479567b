"""Bases of all results, and of results with a number for each feature."""

from __future__ import annotations

import json
import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, fields, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.results.archive import Saved, is_sparse, unpacked_fields
from duramen.results.summary import Column, Framed, Summary, features, hidden, places
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.checks import warn
from duramen.support.provenance import frozen_metadata
from duramen.support.text import quoted

ANY, POSITIVE, PROBABILITY = (-np.inf, np.inf), (0.0, np.inf), (0.0, 1.0)
"""Bounds of numbers."""

_ROWS = 256  # of a matrix, that are checked together

# --- checks of fields -----------------------------------------------------------------------------


def checked_names(owner: str, what: str, names: Any) -> tuple[str, ...]:
    """Return `names` as a tuple of different strings; `what` is the field of the class `owner`."""
    if isinstance(names, str):
        raise TypeError(f"{owner}: {what} must be a sequence of strings, got {names!r} alone.")
    checked = tuple(names)
    if set(map(type, checked)) <= {str} and len(set(checked)) == len(checked):
        return checked
    seen: set[str] = set()
    for name in checked:
        if not isinstance(name, str):
            raise TypeError(f"{owner}: {what} must be strings, got {quoted(name)}.")
        if name in seen:
            raise ValueError(f"{owner}: {what} must be different, {quoted(name)} occurs twice.")
        seen.add(name)
    return checked


def frozen(
    owner: str,
    what: str,
    values: ArrayLike,
    shape: tuple[int | str, ...],
    bounds: tuple[float, float] = ANY,
    *,
    names: tuple[str, ...] | None = None,
    dtype: Any = np.float64,
) -> NDArray[Any]:
    """Return a read-only copy of finite numbers, the field `what` of the class `owner`.

    The shape has a letter for any length; `bounds` are the least and the greatest number allowed,
    and `names` those of the rows, for errors.
    """
    array = np.array(values, dtype=dtype, order="C")
    if len(shape) != array.ndim or any(
        isinstance(size, int) and size != length
        for size, length in zip(shape, array.shape, strict=True)
    ):
        sizes = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
        rows = ", one row per name" if names is not None else ""
        raise ValueError(f"{owner}: {what} must have shape {sizes}{rows}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{owner}: {what} must be finite, got NaN or infinity.")
    low, high = bounds
    outside = (array < low) | (array > high)
    if outside.any():
        allowed = f"at least {low:g}" if high == np.inf else f"in [{low:g}, {high:g}]"
        place = tuple(np.argwhere(outside)[0])
        row = "" if names is None else f" for {quoted(names[place[0]])}"
        raise ValueError(f"{owner}: {what} must be {allowed}, got {array[place]:g}{row}.")
    array.setflags(write=False)
    return array


def checked_matrix(owner: str, what: str, values: Any, shape: tuple[int, int]) -> Any:
    """Return a read-only matrix of finite numbers, dense or sparse; copied if it can be changed.

    Numbers that are neither float32 nor float64 become float64.
    """
    from scipy.sparse import csr_array, issparse  # the help of commands needs no SciPy

    sparse: bool = issparse(values)
    matrix: Any = csr_array(values) if sparse else np.asarray(values)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if matrix.shape != shape:
        raise ValueError(f"{owner}: {what} must have shape {shape}, got {matrix.shape}.")
    if sparse:
        matrix = matrix.copy()
        matrix.sum_duplicates()
        parts = [matrix.data, matrix.indices, matrix.indptr]
    else:
        matrix = matrix.copy() if matrix.flags.writeable else matrix
        parts = [matrix]
    for rows in (parts[0][k : k + _ROWS] for k in range(0, len(parts[0]), _ROWS)):
        if not np.isfinite(rows).all():
            raise ValueError(f"{owner}: {what} must be finite, got NaN or infinity.")
    for part in parts:
        part.setflags(write=False)
    return matrix


def dense(matrix: Any) -> NDArray[Any]:
    """Return a dense or sparse matrix as a dense one."""
    return np.asarray(matrix.toarray() if is_sparse(matrix) else matrix)


def entries(matrix: Any, i: IntArray, j: IntArray) -> FloatArray:
    """Return some entries of a dense or sparse matrix, shape (m,)."""
    if not len(i):  # of which SciPy makes a sparse array
        return np.empty(0)
    return np.asarray(matrix[i, j], dtype=np.float64).ravel()


def ranks(order: NDArray[np.intp]) -> IntArray:
    """Return the place of each feature, from 1, in an order of all of them."""
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(1, order.size + 1)
    return rank


def warn_of(function: str, notes: Iterable[str]) -> None:
    """Emit each note as a warning of a public function."""
    for note in notes:
        warn(f"{function}: {note}")


# --- figures --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ResultFigure:
    """Function that draws results, called by its own name."""

    draw: Callable[..., Any]  # takes the result, and its options as keywords
    of: tuple[type, ...] = ()  # classes of results that it draws
    # Inches on the page of a report, from the result and the options.
    height: Callable[[Any, Mapping[str, Any]], float] = lambda *_: 6.0
    svg: bool = False  # whether it can be drawn on `plots.svg.SvgAxes`, without matplotlib
    width: float = 4.4  # inches there


FIGURES: dict[str, ResultFigure] = {}


def figure(
    draw: Callable[..., Any],
    of: tuple[type, ...] = (),
    height: Callable[[Any, Mapping[str, Any]], float] = lambda *_: 6.0,
    *,
    svg: bool = False,
    width: float = 4.4,
) -> ResultFigure:
    """Register a function under its own name; the first that fits a result draws it by default."""
    FIGURES[draw.__name__] = ResultFigure(draw, of, height, svg, width)
    return FIGURES[draw.__name__]


# --- results --------------------------------------------------------------------------------------


class Result(Saved, Framed):
    """Base of the results, which are frozen dataclasses.

    Their fields are arrays, text, numbers, tuples and mappings of such, other results, or None;
    those of ``metadata`` are what JSON can hold, and are not compared, nor are ``notes``. The
    arrays are read-only.
    """

    _NAMES: ClassVar[Mapping[str, str]] = {"names": "p"}
    """Fields of different names, each with the letter of their number."""
    _ARRAYS: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """Arrays of numbers: shape in letters, such as "pD", bounds, and dtype if not float64."""
    _WHAT: ClassVar[str] = "rows"
    """Noun for the rows of the table."""

    def __post_init__(self, **sizes: int) -> None:
        """Check the fields of names, metadata, notes and arrays, and make arrays read-only.

        The same letter is the same number in all shapes; `sizes` has those that no names give.
        """
        owner = type(self).__name__
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]
        for what in values.keys() & self._NAMES:
            values[what] = checked_names(owner, what, values[what])
            sizes[self._NAMES[what]] = len(values[what])
        names = values.get("names")
        for what, value in values.items():
            if what == "metadata":
                value = frozen_metadata(owner, value)
            elif what == "notes":
                if isinstance(value, str) or not all(isinstance(note, str) for note in value):
                    raise TypeError(f"{owner}: notes must be a sequence of strings, got {value!r}.")
                if not all(map(str.strip, value)):
                    raise ValueError(f"{owner}: notes must not be empty, got {value!r}.")
                value = tuple(dict.fromkeys(value))
            elif what == "details":
                value = MappingProxyType(
                    {
                        key: frozen(owner, f"details[{key!r}]", column, (sizes["p"],))
                        for key, column in value.items()
                    }
                )
            elif what in self._ARRAYS and value is not None:
                letters, bounds, *dtype = self._ARRAYS[what]
                of_rows = names if letters[:1] == "p" else None
                shape = tuple(sizes.get(letter, letter) for letter in letters)
                kind = dtype[0] if dtype else np.float64
                value = frozen(owner, what, value, shape, bounds, names=of_rows, dtype=kind)
                sizes.update(zip(letters, value.shape, strict=True))
                value = value if letters else float(value)
            elif type(value) is np.ndarray and value.flags.writeable:
                value = value.view()
                value.setflags(write=False)
            object.__setattr__(self, what, value)

    @property
    def notes(self) -> tuple[str, ...]:
        """Limits of the result, a sentence each; the results of tests have a field for it."""
        return ()

    def table(self) -> list[Column]:
        """Return the columns; columns with a title are shown, columns with a name are saved."""
        return []

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name."""
        return {column.name: copy(column.values) for column in self.table() if column.name}

    def _heading(self) -> tuple[str, ...]:
        """Return the lines above the table of a summary."""
        return (type(self).__name__,)

    def _best(self, n: int) -> NDArray[np.integer]:
        """Return the indices of the n rows in the order of a summary."""
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
        import_module("duramen.plots")  # which registers the figures
        owner = f"{type(self).__name__}.plot"
        fitting = [name for name, entry in FIGURES.items() if isinstance(self, entry.of)]
        if not fitting:
            hint = f"Hint: {type(self).__name__}.to_frame()."
            raise TypeError(f"{owner}: no figure shows this result. {hint}")
        name = checks.check_choice(owner, "figure", figure or fitting[0], fitting)
        return FIGURES[name].draw(self, **options)

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
            _same(getattr(self, entry.name), getattr(other, entry.name), rtol, atol)
            for entry in fields(self)  # type: ignore[arg-type]
            if entry.name not in ("metadata", "notes")
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

    ``len(result)`` is the number p of features, ``result[name]`` the number of one feature, that
    of the first array in `_ARRAYS`, and iterating gives pairs of name and number. `numpy.asarray`
    gives the numbers, and `pandas.DataFrame` a frame of names and numbers.
    """

    names: tuple[str, ...]

    _TITLE: ClassVar[str] = "feature"
    """Title of the column of names in a summary."""

    @abstractmethod
    def order(self) -> NDArray[np.intp]:
        """Return the indices of the features, the best first."""

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name.

        They are ``name``, ``rank`` (1 is the best feature by `order`), the columns of `table`, and
        those of `details`.
        """
        first: dict[str, Any] = {"name": list(self.names), "rank": ranks(self.order())}
        details: Mapping[str, Any] = getattr(self, "details", {})
        copies = {what: column.copy() for what, column in details.items()}
        return {**first, **super().columns(), **copies}

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
        return cast("list[NumberT]", getattr(self, next(iter(self._ARRAYS))).tolist())

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Scored[NumberT]]:
        return map(Scored, self.names, self._numbers())

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Numbers of the features, as `numpy.asarray` takes them.

        There is no ``__array__``, by which pandas would take a frame of them without the names.
        """
        numbers: NDArray[Any] = getattr(self, next(iter(self._ARRAYS)))
        return numbers.__array_interface__

    def __getitem__(self, name: str | int) -> NumberT:
        if not isinstance(name, str):
            return self._numbers()[operator.index(name)]
        try:
            return self._numbers()[self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def top(self, k: int) -> Self:
        """Return the `k` best features by `order` (all when p < k), the best first.

        Adjusted p-values stay those among all features.

        Raises
        ------
        ValueError
            If `k` is negative.
        """
        checks.check_integer(f"{type(self).__name__}.top", "k", k, 0, most=np.inf)
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
        changes: dict[str, Any] = {"names": [self.names[j] for j in index]}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, np.ndarray):
                changes[entry.name] = value[index]
            elif entry.name == "details":
                changes["details"] = {what: column[index] for what, column in value.items()}
            elif entry.metadata.get("of_features"):  # a tuple with one part a feature
                changes[entry.name] = tuple(value[j] for j in index)
        return replace(self, **changes if names is None else {**changes, "names": names})

    def of(self, names: Iterable[str]) -> Self:
        """Return the features of these names, in their order, with all that is known of them.

        Raises
        ------
        ValueError
            If the result lacks one.
        """
        place = {name: j for j, name in enumerate(self.names)}
        asked = list(names)
        if lacking := [name for name in asked if name not in place]:
            raise ValueError(
                f"{type(self).__name__}: names must be features of the result, but it lacks "
                f"{lacking[0]!r}."
            )
        return self.take(np.array([place[name] for name in asked], dtype=np.intp))
