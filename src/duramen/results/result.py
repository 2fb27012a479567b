"""What every result can: be compared, be saved to a file and read again, be pickled."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from duramen.results.archive import as_damage, read_archive, write_archive

_FORMAT = 1
# Fields that may differ between two results of equal numbers: they hold versions and words.
_NOT_COMPARED = ("metadata", "notes")
_ARRAY, _NUMBER, _RESULT = "$array", "$number", "$result"


class Result:
    """Base of the results, which are frozen dataclasses.

    Their fields are arrays, text, numbers, tuples and mappings of such, other results, or None;
    those of ``metadata`` are what JSON can hold, and are not compared, nor are ``notes``.
    """

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits the result, a sentence each; the results of tests have a field for it."""
        return ()

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
            for name, mine in _items(self)
            if name not in _NOT_COMPARED
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to one file: arrays as npz, the rest as JSON inside it.

        The file appears whole or not at all. Nothing in it is executed on loading.
        """
        header, arrays = self._parts()
        kind = type(self).__name__
        write_archive(path, {"what": kind, "format": _FORMAT, "fields": header}, arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a result that `save` wrote.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file holds something else, or was written by a later version.
        """
        kind = cls.__name__
        header, arrays = read_archive(path, what=kind, newest=_FORMAT, function=f"{kind}.load")
        with as_damage(path, f"{kind}.load"):
            return cls(**_fields(header["fields"], arrays))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the fields as arrays by name, with all that is no array as JSON in "json"."""
        header, arrays = self._parts()
        text = json.dumps(header, allow_nan=False).encode("ascii")
        return {"json": np.frombuffer(text, dtype=np.uint8), **arrays}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the result that `to_arrays` was called on."""
        return cls(**_fields(json.loads(arrays["json"].tobytes()), arrays))

    def _parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what JSON can hold, and the arrays beside it."""
        arrays: dict[str, NDArray[Any]] = {}
        return {name: _packed(value, name, arrays) for name, value in _items(self)}, arrays

    def __reduce__(self) -> tuple[Any, ...]:
        # Mappings of results are views, which cannot be pickled.
        values = (dict(v) if isinstance(v, Mapping) else v for _, v in _items(self))
        return type(self), tuple(values)


def _items(result: Any) -> Iterator[tuple[str, Any]]:
    """Return the fields by name."""
    return ((one.name, getattr(result, one.name)) for one in fields(result))


def _same(a: Any, b: Any, rtol: float, atol: float) -> bool:
    if isinstance(a, Result):
        return a.equals(b, rtol=rtol, atol=atol)
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(_same(a[key], b[key], rtol, atol) for key in a)
    if isinstance(a, np.ndarray | float) and b is not None:
        return np.shape(a) == np.shape(b) and bool(
            np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        )
    return bool(a is b if a is None or b is None else a == b)


def _packed(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return a value in what JSON can hold, with its arrays beside it."""
    if isinstance(value, np.ndarray):
        name = f"{name}/{len(arrays)}" if name in arrays else name
        arrays[name] = value
        return {_ARRAY: name}
    if isinstance(value, Result):
        inside = {key: _packed(one, f"{name}/{key}", arrays) for key, one in _items(value)}
        return {_RESULT: type(value).__name__, "fields": inside}
    if isinstance(value, Mapping):
        return {key: _packed(one, name, arrays) for key, one in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return {_NUMBER: repr(value)}
    return value


def _fields(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a result by name."""
    values = {name: _unpacked(value, arrays) for name, value in header.items()}
    return {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}


def _unpacked(value: Any, arrays: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return arrays[value[_ARRAY]]
    if _NUMBER in value:
        return float(value[_NUMBER])
    if _RESULT in value:
        kind = {one.__name__: one for one in Result.__subclasses__()}[value[_RESULT]]
        return kind(**_fields(value["fields"], arrays))
    return {key: _unpacked(one, arrays) for key, one in value.items()}
