"""One column in a form that does not depend on where it came from.

A column is either an array of numbers, NaN standing for missing, in one of the types that the
kernel reads, or `Categories`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen.support.arrays import is_missing
from duramen.support.arrow import is_number, is_text, pa, pc
from duramen.support.text import quoted

LARGEST_EXACT = 2**53
"""float64 holds every integer up to here, and not every one beyond."""


def refuse_merged(numbers: NDArray[Any] | Iterable[Any], what: str, function: str) -> None:
    """Raise ValueError if two different numbers are equal as float64; `what` names the column.

    The numbers are an array of any type, or of Python: int, float, Decimal or Fraction, finite.
    """
    pair = None
    if isinstance(numbers, np.ndarray) and numbers.dtype != object:
        distinct = np.unique(numbers)
        equal = np.flatnonzero(np.diff(distinct.astype(np.float64)) == 0)
        pair = (distinct[equal[0]], distinct[equal[0] + 1]) if len(equal) else None
    else:
        wide = np.dtype(np.longdouble).itemsize > 8  # such numbers stay as NumPy has them
        first: dict[float, Any] = {}
        for number in numbers:
            if isinstance(number, np.generic) and not (wide and isinstance(number, np.longdouble)):
                number = number.item()
            other = first.setdefault(float(number), number)
            if other != number:
                pair = other, number
                break
    if pair is not None:
        raise ValueError(
            f"{function}: {what} holds different numbers that are equal as float64, such as "
            f"{pair[0]} and {pair[1]}; if they are identifiers, leave the column out or convert it "
            "to categories, else subtract an offset"
        )


@dataclass(frozen=True)
class Categories:
    """A column of categories."""

    codes: NDArray[np.uint32]  # dense codes; ``len(labels)`` where the value is missing
    labels: NDArray[Any]  # in code order; each occurs in the column
    ordered: bool  # whether the order of the labels was declared
    missing: bool  # whether any value is missing
    text: bool = False  # whether it came as plain text, not as categories that somebody declared


Column: TypeAlias = NDArray[Any] | Categories

_EXACT_DIGITS = 15  # decimals of so many digits stay different
_WIDER = {"i1": np.int16, "u2": np.int32, "u4": np.int64, "f2": np.float32}


def describe(name: str | None) -> str:
    """Return the name of a column for errors."""
    return "X" if name is None else f"column {quoted(name)}"


def numbers(array: NDArray[Any], *, function: str, name: str | None = None) -> NDArray[Any]:
    """Return an array in a type that the kernel reads; a view where possible.

    Raises
    ------
    ValueError
        If the numbers are complex, unsigned integers beyond 2**53, or different ones that are
        equal as float64.
    TypeError
        If it holds dates, times, bytes or records.
    """
    kind = array.dtype.kind
    if kind == "b":
        return array.view(np.uint8)
    if kind == "c":
        raise ValueError(
            f"{function}: Complex data not supported: {describe(name)} is of type {array.dtype}; "
            "pass its real and imaginary parts, or modulus and angle, as columns of their own"
        )
    if kind not in "iuf":
        raise TypeError(refusal(str(array.dtype), function, name))
    odd_strides = any(stride % array.itemsize for stride in array.strides)
    if not array.dtype.isnative or not array.flags.aligned or odd_strides:
        array = array.astype(array.dtype.newbyteorder("="), order="K")
    if array.dtype == np.uint64:
        if array.size and int(array.max()) >= 2**63:
            raise ValueError(too_large(function, name))
        return array.astype(np.int64, order="K")
    if array.dtype.itemsize > 8:
        if array.ndim == 1:
            refuse_merged(array, describe(name), function)
        else:
            for j, column in enumerate(array.T):
                refuse_merged(column, describe(f"x{j}"), function)
        return array.astype(np.float64, order="K")
    wider = _WIDER.get(array.dtype.str[1:])
    return array if wider is None else array.astype(wider, order="K")


def too_large(function: str, name: str | None) -> str:
    """Return the message for integers that float64 cannot hold."""
    return (
        f"{function}: {describe(name)} holds integers beyond 2**53, which cannot be told apart as "
        "float64; if they are identifiers, leave the column out or give it kinds='nominal', else "
        "subtract an offset or convert the column to float64"
    )


def infinite(function: str, name: str | None) -> str:
    """Return the message for infinities."""
    return (
        f"{function}: {describe(name)} contains infinity (inf); only finite values and missing "
        "ones (NaN) are allowed: replace infinities by NaN (na_values=['inf'] in files of text) or "
        "by a large finite value"
    )


def refusal(type_name: str, function: str, name: str | None) -> str:
    """Return the message for a type that has no codes, with what to do about it."""
    lower = type_name.lower()
    if lower.startswith(("datetime", "date", "timestamp", "time", "duration", "period")):
        hint = "turn it into numbers first, for instance days since a date, or the month"
    elif lower.startswith(("bytes", "binary", "large_binary", "|s", "fixed_size_binary")):
        hint = "decode it to text first"
    elif lower.startswith(("list", "struct", "array", "large_list", "map", "fixed_size_list")):
        hint = "unnest it into columns of their own first"
    else:
        hint = "convert it to numbers, booleans or strings first"
    return (
        f"{function}: {describe(name)} is of type {type_name}; columns hold numbers, booleans, "
        f"strings or categories: {hint}"
    )


_NUMBERS = (bool, int, float, np.number, np.bool_, Decimal, Fraction)
_INTEGERS = (int, np.integer, bool, np.bool_)


def from_objects(array: NDArray[Any], *, function: str, name: str | None) -> Column:
    """Make a column from an array of Python objects: all numbers, or all strings, or missing."""
    values = [None if is_missing(value) else value for value in array]
    present = [value for value in values if value is not None]
    types = set(map(type, present))
    if all(issubclass(t, str) for t in types) and types:
        try:
            texts = pa.array([None if v is None else str(v) for v in values], pa.large_string())
        except UnicodeEncodeError:
            raise ValueError(
                f"{function}: {describe(name)} holds text that is not valid Unicode (a lone "
                "surrogate); decode the file that it came from with the right encoding"
            ) from None
        return from_arrow(texts, function=function, name=name)
    if not all(issubclass(t, _NUMBERS) for t in types):
        odd = sorted(t.__name__ for t in types if not issubclass(t, (*_NUMBERS, str)))
        if not odd:
            shown = " and ".join(sorted(t.__name__ for t in types))
            raise TypeError(
                f"{function}: {describe(name)} mixes {shown}; a column holds numbers or strings, "
                "not both: convert it to one type"
            )
        if odd[0] in {"datetime", "date", "time", "timedelta", "Timestamp", "Timedelta", "bytes"}:
            raise TypeError(refusal(odd[0], function, name))
        raise TypeError(
            f"{function}: {describe(name)} holds a {odd[0]}; every entry, or argument must be a "
            "string or a number (or missing)"
        )
    if any(issubclass(t, (complex, np.complexfloating)) for t in types):
        return numbers(array.astype(complex), function=function, name=name)
    try:
        if all(issubclass(t, _INTEGERS) for t in types) and types and len(present) == len(values):
            return np.array([int(value) for value in present], dtype=np.int64)
        if any(isinstance(v, _INTEGERS) and abs(int(v)) > LARGEST_EXACT for v in present):
            raise ValueError(too_large(function, name))
        refuse_merged(present, describe(name), function)
        return np.array([np.nan if v is None else float(v) for v in values], dtype=np.float64)
    except OverflowError:
        raise ValueError(too_large(function, name)) from None


def from_arrow(
    array: pa.Array | pa.ChunkedArray,
    *,
    function: str,
    name: str | None,
    ordered: bool | None = None,
) -> Column:
    """Make a column from an Arrow array.

    Whether the order of a dictionary is one of meaning is by default what its type says.
    """
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    if pa.types.is_boolean(kind):
        array = array.cast(pa.uint8())
    elif pa.types.is_decimal(kind):
        array = of_decimals(array, describe(name), function)
    kind = array.type
    if is_number(kind):
        values = np.asarray(array)
        if array.null_count and pa.types.is_integer(kind):
            values = values.astype(np.float64)
            if np.nanmax(np.abs(values), initial=0.0) >= LARGEST_EXACT:
                raise ValueError(too_large(function, name))
        return numbers(values, function=function, name=name)
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks else pa.array([], kind)
    if pa.types.is_dictionary(kind):
        declared = bool(kind.ordered) if ordered is None else ordered
        return _from_dictionary(array, declared, function, name)
    if is_text(kind) or "string_view" in str(kind):
        encoded = pc.dictionary_encode(array.cast(pa.large_string()))
        return replace(_from_dictionary(encoded, False, function, name), text=True)
    raise TypeError(refusal(str(kind), function, name))


def of_decimals(array: Any, what: str, function: str) -> Any:
    """Return decimals of Arrow as float64; refuse different ones that would become equal."""
    if array.type.precision > _EXACT_DIGITS:
        distinct = [number for number in array.unique().to_pylist() if number is not None]
        refuse_merged(distinct, what, function)
    return array.cast(pa.float64())


def _from_dictionary(array: Any, ordered: bool, function: str, name: str | None) -> Categories:
    """Dense codes of what occurs; labels sorted, unless their order is one of meaning."""
    dictionary = array.dictionary
    if "string_view" in str(dictionary.type):
        dictionary = dictionary.cast(pa.large_string())
    kind = dictionary.type
    as_objects = is_text(kind) or pa.types.is_null(kind)
    if not (as_objects or is_number(kind) or pa.types.is_boolean(kind)):
        raise TypeError(refusal(str(kind), function, name))
    if pa.types.is_floating(kind):
        dictionary = pc.if_else(pc.is_nan(dictionary), pa.scalar(None, kind), dictionary)
    index = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    # A dictionary may repeat a value or hold a null; afterwards each value has one position.
    single = pc.dictionary_encode(dictionary)
    if len(single.dictionary) < len(dictionary):
        position = single.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        index = np.where(index < 0, -1, position[index])
        dictionary = single.dictionary

    occurs = np.zeros(len(dictionary) + 1, dtype=bool)
    occurs[index] = True
    order = np.arange(len(dictionary))
    if not ordered:
        order = pc.array_sort_indices(dictionary).to_numpy(zero_copy_only=False).astype(np.int64)
    order = order[occurs[order]]
    code = np.full(len(dictionary) + 1, len(order), dtype=np.uint32)
    code[order] = np.arange(len(order), dtype=np.uint32)
    labels = dictionary.take(pa.array(order)).to_numpy(zero_copy_only=False)
    if as_objects:
        labels = labels.astype(object)
    return Categories(code[index], labels, ordered, bool(occurs[-1]))


def categories_of_numbers(array: NDArray[Any]) -> Categories:
    """Numbers taken as categories, exactly, whatever their size."""
    values, codes = np.unique(array, return_inverse=True)
    missing = bool(len(values) and values[-1] != values[-1])
    return Categories(
        codes.astype(np.uint32), values[: len(values) - missing], ordered=False, missing=missing
    )


def numbers_of_categories(
    labels: NDArray[Any], codes: NDArray[Any], *, function: str, name: str | None
) -> NDArray[Any]:
    """Return the values of a column whose categories are numbers."""
    if labels.dtype == object and len(labels):
        example = labels[0]
        raise ValueError(
            f"{function}: {describe(name)} must hold numbers to be numeric, got strings such as "
            f"{example!r}; convert it to numbers, or let it be nominal"
        )
    return np.asarray(np.append(labels.astype(np.float64), np.nan)[codes])
