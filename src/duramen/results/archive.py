"""Results and checkpoints on disk: arrays and a header in JSON, in one npz file, without pickle."""

from __future__ import annotations

import json
import math
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Self
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from duramen.support.files import InUseError, held, naming, replacing, unfinished
from duramen.support.provenance import fingerprint, versions
from duramen.support.text import first_line, printable

_HEADER, _DIGEST = "json", "digest"
_FORMAT = 1
_ENCRYPTED = 1  # flag of a member of a ZIP archive


def write_archive(
    path: str | PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a header and arrays to one file of this very name, whole or not at all.

    The header holds what JSON can, with ``"what"``, the kind of thing that is saved, and
    ``"format"``, the number of its format; the arrays hold no objects, and none is called
    ``"json"``. A digest of all of them goes into the header.
    """
    text = json.dumps({**header, _DIGEST: _digest(header, arrays)}, allow_nan=False)
    content = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    members: dict[str, Any] = {_HEADER: content, **arrays}
    with replacing(Path(path)) as file:
        np.savez(file, **members)


def read_archive(
    path: str | PathLike[str], *, what: str | None, newest: int, function: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays of a file of `write_archive`.

    Memory is bounded by the size of the file: members are not compressed, and their shapes are
    compared with their sizes before anything is allocated. A file that holds anything but `what`
    (None where the caller looks for itself), or a format after `newest`, is refused, as is a file
    whose digest does not fit: the checksums of a ZIP archive miss a member that another replaced.
    """
    arrays: dict[str, NDArray[Any]] = {}
    with as_damage(path, function):
        # A pipe or a device could be waited for without end.
        nonblocking = getattr(os, "O_NONBLOCK", 0)
        with open(path, "rb", opener=lambda p, flags: os.open(p, flags | nonblocking)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError("not a regular file")
            size = file.seek(0, os.SEEK_END)
            with ZipFile(file) as archive:
                members = archive.infolist()
                if any(member.compress_type != ZIP_STORED for member in members):
                    raise ValueError("a member is compressed")
                if any(member.flag_bits & _ENCRYPTED for member in members):
                    raise ValueError("a member is encrypted")
                if sum(member.file_size for member in members) > size:
                    raise ValueError("its members claim more bytes than it has")
                for entry in members:
                    arrays[entry.filename.removesuffix(".npy")] = _member(archive, entry)
        header = json.loads(arrays.pop(_HEADER).tobytes())
        kind, number = printable(str(header["what"])), int(header["format"])
        digest = header.pop(_DIGEST, None)
    if what is not None and kind != what:
        raise ValueError(f"{function}: {path} holds a {kind}, not {what}; load it with that class")
    if number > newest:
        raise ValueError(
            f"{function}: {path} has format {number} of {kind}, this version reads up to "
            f"{newest}; it was written by a later version: upgrade duramen"
        )
    with as_damage(path, function):
        if digest != _digest(header, arrays):
            raise ValueError("its content does not have the digest in its header")
    return header, arrays


def _member(archive: ZipFile, entry: Any) -> NDArray[Any]:
    """Read an array of an npz file, once its shape is no larger than its bytes.

    Items of no bytes, such as texts of no characters, could be any number, and take memory later.
    """
    headers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    with archive.open(entry) as member:
        shape, *_ = headers[npy.read_magic(member)](member)
    if math.prod(shape) > entry.file_size:
        claimed = f"{math.prod(shape):,} items in {entry.file_size:,} bytes"
        raise ValueError(f"an array claims {claimed}")
    with archive.open(entry) as member:
        array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
        if member.read(1):  # also checks the CRC-32 of the member
            raise ValueError(f"{entry.filename} has more bytes than its array")
    return array


@contextmanager
def as_damage(path: str | PathLike[str], function: str) -> Iterator[None]:
    """Turn any error about the content of a file into a ValueError that names the file.

    A file that is not there stays a FileNotFoundError.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:  # a crafted file can raise anything that its parser does
        reason = "it lacks" if isinstance(error, KeyError) else f"{type(error).__name__}:"
        raise ValueError(
            f"{function}: {path} is not a file saved by duramen, or was altered "
            f"({reason} {first_line(error)})"
        ) from None


def _digest(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    parts = (part for name in sorted(arrays) for part in (name, arrays[name]))
    return fingerprint(json.dumps(header, allow_nan=False), *parts)


# --- frozen dataclasses: arrays as npz, all other fields as JSON beside them ----------------------

# Keys of the objects by which JSON stands for what it does not have.
_ARRAY, _NUMBER, _RESULT, _SPARSE = "$array", "$number", "$result", "$sparse"
_OBJECTS, _TUPLE, _ITEMS, _MASKED, _ARROW = "$objects", "$tuple", "$items", "$masked", "$arrow"


class Savable:
    """Base of frozen dataclasses that archives may hold."""


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
        """Return the fields as JSON values, and the arrays beside them."""
        arrays: dict[str, NDArray[Any]] = {}
        header = {
            entry.name: self._packed(getattr(self, entry.name), entry.name, arrays)
            for entry in fields(self)  # type: ignore[arg-type]
            if entry.init and entry.metadata.get("saved", True)
        }
        return header, arrays

    def _packed(self, value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
        """Return a value as JSON, and add its arrays to `arrays`."""
        if isinstance(value, str):
            return value
        if isinstance(value, np.ma.MaskedArray):
            masked = {"data": value.data, "mask": np.ma.getmaskarray(value)}
            return {_MASKED: self._packed(masked, name, arrays)}
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                objects = value.tolist()
                for item in objects:
                    if item is not None and not isinstance(item, str | bool | int | float):
                        raise TypeError(
                            f"{type(self).__name__}.save: {name} holds {item!r} of type "
                            f"{type(item).__name__}; only strings, numbers, truth values and "
                            "dates of NumPy can be saved."
                        )
                return {_OBJECTS: [self._packed(item, name, {}) for item in objects]}
            name = f"{name}/{len(arrays)}" if name in arrays else name
            arrays[name] = value
            return {_ARRAY: name}
        if is_sparse(value):
            parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
            inside = {
                key: self._packed(part, f"{name}/{key}", arrays) for key, part in parts.items()
            }
            return {_SPARSE: list(value.shape), **inside}
        if hasattr(value, "to_pylist"):  # an Arrow array, as the bytes of a stream
            from duramen.support.arrow import pa

            table = pa.table({"": value})
            buffer = pa.BufferOutputStream()
            with pa.ipc.new_stream(buffer, table.schema) as stream:
                stream.write_table(table)
            content = np.frombuffer(buffer.getvalue(), dtype=np.uint8)
            return {_ARROW: self._packed(content, name, arrays)}
        if isinstance(value, Savable):
            inside = {
                entry.name: self._packed(getattr(value, entry.name), f"{name}/{entry.name}", arrays)
                for entry in fields(value)  # type: ignore[arg-type]
                if entry.init
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

    def __reduce__(self) -> tuple[Any, ...]:
        # Mappings of results are views, which cannot be pickled.
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]
        plain = {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in values.items()
        }
        return partial(type(self), **plain), ()


def unpacked_fields(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a saved dataclass by name."""
    return {name: _tuples(_unpacked(value, arrays)) for name, value in header.items()}


def is_sparse(value: Any) -> bool:
    """Tell whether a value is a sparse matrix in rows."""
    return hasattr(value, "indptr")


def _kinds(base: type[Savable]) -> Iterator[type[Savable]]:
    """Yield the classes that archives may hold."""
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


# --- checkpoints ----------------------------------------------------------------------------------

# How many times longer than a write the time between two of them is, at least.
_PATIENCE = 10


def identity_of(identity: Mapping[str, Any], **more: Any) -> str:
    """Return a fingerprint of the inputs of a run, from their repr, and of all versions."""
    parts = [f"{key}={identity[key]!r}" for key in sorted(identity)]
    parts.append(f"versions={versions()}")
    return fingerprint(*parts, *(f"{key}={value}" for key, value in more.items()))


class Checkpoint:
    """File of one run.

    `kind` names the content, such as "replicates". A file with another `identity`, as
    `identity_of` gives it, is refused. Two writes are at least `interval` seconds apart.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        kind: str,
        identity: str,
        function: str,
        interval: float,
    ) -> None:
        self._path = Path(path)
        self._kind = kind
        self._identity = identity
        self._function = function
        self._interval = interval
        self.due = time.monotonic() + interval
        """Time, as of `time.monotonic`, of the next write."""
        if not self._path.absolute().parent.is_dir():
            raise ValueError(
                f"{function}: the folder of the checkpoint {self._path} does not exist."
            )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the file for the time of a run, so that no other run keeps its own work there."""
        path = self._path.absolute()
        with ExitStack() as stack:
            try:
                with naming(self._path):
                    stack.enter_context(held(path))
            except InUseError:
                raise InUseError(
                    f"{self._function}: another run uses the checkpoint {self._path}; wait for it, "
                    "or give another file"
                ) from None
            for left in unfinished(path):
                if left.is_file():
                    left.unlink(missing_ok=True)
            yield

    def read(self, take: Callable[[dict[str, NDArray[Any]]], int]) -> int:
        """Call `take` with the arrays of the file; return its result, or 0 without a file.

        Raises
        ------
        ValueError
            If the file is of another run, or `take` can make nothing of it.
        """
        if not self._path.exists():
            return 0
        header, arrays = read_archive(
            self._path, what=self._kind, newest=_FORMAT, function=self._function
        )
        if header.get("identity") != self._identity:
            raise ValueError(
                f"{self._function}: the checkpoint {self._path} is of another run: other data, "
                "settings, seed or version. Hint: give another file, or remove this one."
            )
        with as_damage(self._path, self._function):
            return take(arrays)

    def write(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Save arrays in place of the last ones."""
        start = time.monotonic()
        header = {"what": self._kind, "format": _FORMAT, "identity": self._identity}
        write_archive(self._path, header, arrays)
        took = time.monotonic() - start
        self.due = time.monotonic() + max(self._interval, _PATIENCE * took)
