"""Save and load for frozen dataclasses: arrays as npz, all other fields as JSON beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import partial
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from duramen.results.archive import as_damage, read_archive, write_archive

_FORMAT = 1
_ARRAY, _NUMBER, _RESULT, _SPARSE = "$array", "$number", "$result", "$sparse"
_OBJECTS, _TUPLE, _ITEMS, _MASKED, _ARROW = "$objects", "$tuple", "$items", "$masked", "$arrow"
_OF_JSON = (str, bool, int, float)


class Savable:
    """Base of frozen dataclasses that what is saved may hold."""


class Saved(Savable):
    """Base of frozen dataclasses that are saved to a file, and pickled."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to a file: arrays as npz, all other fields as JSON inside it.

        The file appears whole or not at all. Nothing in it is executed on loading.

        Raises
        ------
        TypeError
            If an array holds an object other than a string, a number or a truth value.
        """
        header, arrays = self._parts()
        kind = type(self).__name__
        write_archive(path, {"what": kind, "format": _FORMAT, "fields": header}, arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a result from a file that `save` wrote.

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
            return cls(**unpacked_fields(header["fields"], arrays))

    def _parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what JSON can hold, and the arrays beside it."""
        arrays: dict[str, NDArray[Any]] = {}
        saved = {entry.name for entry in fields(self) if entry.metadata.get("saved", True)}  # type: ignore[arg-type]
        header = {
            name: self._packed(value, name, arrays)
            for name, value in named_fields(self)
            if name in saved
        }
        return header, arrays

    def _packed(self, value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
        """Return a value in what JSON can hold, with its arrays beside it."""
        if isinstance(value, str):
            return value
        if isinstance(value, np.ma.MaskedArray):
            masked = {"data": value.data, "mask": np.ma.getmaskarray(value)}
            return {_MASKED: self._packed(masked, name, arrays)}
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                return {_OBJECTS: [self._packed_object(part, name) for part in value.tolist()]}
            name = f"{name}/{len(arrays)}" if name in arrays else name
            arrays[name] = value
            return {_ARRAY: name}
        if is_sparse(value):
            parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
            inside = {
                key: self._packed(part, f"{name}/{key}", arrays) for key, part in parts.items()
            }
            return {_SPARSE: list(value.shape), **inside}
        if hasattr(value, "to_pylist"):
            return {_ARROW: self._packed(_as_bytes(value), name, arrays)}
        if isinstance(value, Savable):
            inside = {
                key: self._packed(part, f"{name}/{key}", arrays)
                for key, part in named_fields(value)
            }
            return {_RESULT: type(value).__name__, "fields": inside}
        if isinstance(value, Mapping):
            if not all(isinstance(key, str) for key in value):
                return {_ITEMS: self._packed(tuple(value.items()), name, arrays)}
            inside = {key: self._packed(part, name, arrays) for key, part in value.items()}
            tuples = (key for key, part in value.items() if isinstance(part, tuple))
            return {**inside, **{key: {_TUPLE: inside[key]} for key in tuples}}
        if isinstance(value, tuple):
            return [self._packed(part, f"{name}_{j}", arrays) for j, part in enumerate(value)]
        if isinstance(value, float) and not math.isfinite(value):
            return {_NUMBER: repr(value)}
        return value

    def _packed_object(self, value: Any, name: str) -> Any:
        if value is not None and not isinstance(value, _OF_JSON):
            raise TypeError(
                f"{type(self).__name__}.save: {name} holds {value!r} of type "
                f"{type(value).__name__}; only strings, numbers, truth values and dates of NumPy "
                "can be saved."
            )
        return self._packed(value, name, {})

    def __reduce__(self) -> tuple[Any, ...]:
        # Mappings of results are views, which cannot be pickled.
        values = {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in named_fields(self)
        }
        return partial(type(self), **values), ()


def named_fields(instance: Any) -> Iterator[tuple[str, Any]]:
    """Return the fields of a dataclass by name, without those that it computes."""
    return ((part.name, getattr(instance, part.name)) for part in fields(instance) if part.init)


def unpacked_fields(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a saved dataclass by name."""
    values = {name: _unpacked(value, arrays) for name, value in header.items()}
    return {name: _tuples(value) for name, value in values.items()}


def is_sparse(value: Any) -> bool:
    """Tell whether a value is a sparse matrix in rows."""
    return hasattr(value, "indptr")


def _as_bytes(column: Any) -> NDArray[np.uint8]:
    """Return an Arrow array as the bytes of a stream."""
    from duramen.support.arrow import pa

    table = pa.table({"": column})
    buffer = pa.BufferOutputStream()
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)
    return np.frombuffer(buffer.getvalue(), dtype=np.uint8)


def _kinds(base: type[Savable]) -> Iterator[type[Savable]]:
    """Yield the classes that can be saved, or be part of what is."""
    for subclass in base.__subclasses__():
        yield subclass
        yield from _kinds(subclass)


def _tuples(value: Any) -> Any:
    """Return a value whose lists, of lists too, are tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _unpacked(value: Any, arrays: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_unpacked(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return arrays[value[_ARRAY]]
    if _OBJECTS in value:
        return np.array(_unpacked(value[_OBJECTS], arrays), dtype=object)
    if _SPARSE in value:
        from scipy.sparse import csr_array  # not needed by the exact theory

        parts = (_unpacked(value[name], arrays) for name in ("data", "indices", "indptr"))
        matrix = csr_array(tuple(parts), shape=tuple(value[_SPARSE]))
        matrix.check_format(full_check=True)  # SciPy reads and writes where the indices say
        return matrix
    if _MASKED in value:
        return np.ma.array(**_unpacked(value[_MASKED], arrays))
    if _ARROW in value:
        from duramen.support.arrow import pa

        table = pa.ipc.open_stream(_unpacked(value[_ARROW], arrays).tobytes()).read_all()
        table.validate(full=True)  # offsets of texts, indices of dictionaries
        return table.column(0)
    if _ITEMS in value:
        return dict(_unpacked(value[_ITEMS], arrays))
    if _TUPLE in value:
        return _tuples(_unpacked(value[_TUPLE], arrays))
    if _NUMBER in value:
        return float(value[_NUMBER])
    if _RESULT in value:
        kind = {subclass.__name__: subclass for subclass in _kinds(Savable)}[value[_RESULT]]
        return kind(**unpacked_fields(value["fields"], arrays))
    return {key: _unpacked(part, arrays) for key, part in value.items()}
