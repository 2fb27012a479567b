"""Digests of results: equal wherever the numbers that a user sees are equal.

A digest depends neither on the class of a result nor on the names of its fields: a case hands over
plain values (numbers, text, arrays, and tuples, lists and mappings of them) in an order of its own.
Floats count to nine significant digits, so that the last bits, which differ between processors and
versions of libraries, do not matter.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

_TINY = 1e-12
# Means of short decimals often end in a 5 at the tenth digit, where the last bit would decide how
# the ninth is rounded. Multiples of this number do not.
_SCALE = 1.1447298858494002
_LENGTH = 16
_HEAD = 3


def digest(value: Any) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a value's canonical text."""
    text = "".join(_canonical(value))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def head(value: Any) -> list[Any]:
    """Return the first three numbers of a value, or its first texts if it has no numbers."""
    leaves = list(_leaves(value))
    numbers = [leaf for leaf in leaves if not isinstance(leaf, str)]
    return [_readable(leaf) for leaf in (numbers or leaves)[:_HEAD]]


def _canonical(value: Any) -> Iterator[str]:
    """Yield the parts of a text that is equal for equal values."""
    if value is None:
        yield "none;"
    elif isinstance(value, bool | np.bool_):
        yield f"b{int(value)};"
    elif isinstance(value, int | np.integer):
        yield f"i{int(value)};"
    elif isinstance(value, float | np.floating):
        yield f"f{_rounded(float(value))};"
    elif isinstance(value, str):
        yield f"s{json.dumps(str(value))};"
    elif isinstance(value, np.ndarray):
        yield f"a{value.shape}:"
        for item in value.ravel().tolist():
            yield from _canonical(item)
    elif isinstance(value, Mapping):
        yield f"m{len(value)}:"
        items = (("".join(_canonical(key)), "".join(_canonical(value[key]))) for key in value)
        for key, item in sorted(items):
            yield from (key, item)
    elif isinstance(value, Sequence):
        yield f"l{len(value)}:"
        for item in value:
            yield from _canonical(item)
    else:
        raise TypeError(
            f"digest: a case must return numbers, text, arrays, and sequences and mappings of "
            f"them, got {type(value).__name__}. Hint: take them out of the result in the case."
        )


def _rounded(number: float) -> str:
    """Write a multiple of a number to nine digits; what is next to 0 is 0, without a sign."""
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return "0" if abs(number) < _TINY else f"{number * _SCALE:.9g}"


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers and texts of a value in their order."""
    if isinstance(value, np.ndarray):
        yield from value.ravel()[: 8 * _HEAD].tolist()
    elif isinstance(value, Mapping):
        for key in value:
            yield from _leaves(value[key])
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield value


def _readable(leaf: Any) -> Any:
    """Return what JSON can hold of a number or a text, short."""
    if isinstance(leaf, bool | np.bool_):
        return bool(leaf)
    if isinstance(leaf, int | np.integer):
        return int(leaf)
    if isinstance(leaf, float | np.floating):
        number = float(leaf)
        return (
            float(f"{number:.6g}")
            if math.isfinite(number) and abs(number) >= _TINY
            else (0.0 if math.isfinite(number) else _rounded(number))
        )
    return leaf[:60]
