"""Provenance of results: versions, sources, fingerprints of data, settings as JSON."""

from __future__ import annotations

import inspect
import json
import platform
import re
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel

_PACKAGES = ("duramen", "numpy", "scipy", "scikit-learn")


def versions(*more: str) -> dict[str, str]:
    """Return the versions of Python, of this package and of its numerical dependencies.

    Parameters
    ----------
    *more : str
        Names of further distributions; those that are not installed are left out.
    """
    numbers = {"python": platform.python_version()}
    for name in (*_PACKAGES, *more):
        number = _version(name)
        if number is not None:
            numbers[name] = number
    return numbers


def references(*functions: Callable[..., Any]) -> tuple[str, ...]:
    """Return the sources that docstrings of functions name in their section References."""
    cited = []
    for function in functions:
        after = (inspect.getdoc(function) or "").partition("References\n----------\n")[2]
        cited.append(" ".join(after.partition("\n\n")[0].split()))
    return tuple(filter(None, cited))


def cited(text: str, *references: str) -> str:
    """Return a text followed by the authors and years of its sources, such as (Breiman 2001)."""
    sources = list[str]()
    for reference in references:
        match = re.match(r"([^()]+) \((\d{4})\)", reference)
        if match is not None:
            first, *others = re.sub(r"(?:\b\w\.-?)+ ", "", match[1]).split(", ")
            several = len(others) > 1 or " et al." in match[1]
            authors = first.removesuffix(" et al.")
            authors += " et al." if several else f" and {others[0]}" if others else ""
            sources.append(f"{authors} {match[2]}")
    return f"{text} ({'; '.join(sources)})" if sources else text


@cache  # reading the metadata of a package takes longer than growing a small forest
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


class ArrayDigest(NamedTuple):
    """Type, shape and digest of an array that is not in memory as a whole."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    first: int
    second: int


def fingerprint(*parts: str | NDArray[Any] | ArrayDigest | None) -> str:
    """Return a fingerprint of texts and arrays in this order.

    It is made to notice that data changed by accident, not to withstand forgery: arrays enter it
    by a fast digest of their bytes.

    Parameters
    ----------
    *parts : str, ndarray, ArrayDigest or None
        Arrays of objects enter by the printed form of their entries, all others by type, shape
        and bytes.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    total = sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype == object:
            text = repr(part.tolist())
        elif isinstance(part, np.ndarray | ArrayDigest):
            if isinstance(part, np.ndarray):
                flat = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
                part = ArrayDigest(part.dtype, part.shape, *_kernel.digest(flat))
            text = f"{part.dtype.str} {part.shape} {part.first:016x}{part.second:016x}"
        else:
            text = repr(part)
        total.update(f"{text}\n".encode())
    return total.hexdigest()


def frozen_metadata(owner: str, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a read-only copy of `metadata`, equal to its saved and loaded form.

    Metadata that are read-only, such as those that several results share, are such a copy already.
    """
    if isinstance(metadata, MappingProxyType):
        return metadata
    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(metadata), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{owner}: metadata must be valid JSON: {error}.") from None
    return MappingProxyType(copy)
