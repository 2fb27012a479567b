"""One column in a form that does not depend on where it came from.

A column is either an array of numbers, NaN standing for missing, in one of the types that the
kernel reads, or `Categories`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def merged(numbers: NDArray[Any] | Iterable[Any]) -> tuple[Any, Any] | None:
    """Return two different numbers that are equal as float64, if there are any.

    The numbers are an array of any type, or of Python: int, float, Decimal or Fraction, finite.

    Examples
    --------
    >>> from duramen.data.columns import merged
    >>> merged([2**60, 2**60 + 1])
    (1152921504606846976, 1152921504606846977)
    >>> merged([0.1, 0.2]) is None
    True
    """
    if isinstance(numbers, np.ndarray) and numbers.dtype != object:
        distinct = np.unique(numbers)
        equal = np.flatnonzero(np.diff(distinct.astype(np.float64)) == 0)
        return (distinct[equal[0]], distinct[equal[0] + 1]) if len(equal) else None
    first: dict[float, Any] = {}
    for number in numbers:
        exact = number if isinstance(number, int | Decimal | Fraction) else _plain(number)
        other = first.setdefault(float(exact), exact)
        if other != exact:
            return other, exact
    return None


def _plain(number: Any) -> Any:
    """Return a number of NumPy as one of Python; those of more digits than float64 stay."""
    if isinstance(number, np.longdouble) and np.dtype(np.longdouble).itemsize > 8:
        return number
    return number.item() if isinstance(number, np.generic) else number


def refusal_of(pair: tuple[Any, Any], what: str, function: str) -> ValueError:
    """Return the error for numbers that float64 cannot tell apart; `what` names the column."""
    first, second = pair
    return ValueError(
        f"{function}: {what} holds different numbers that are equal as float64, such as {first} "
        f"and {second}; if they are identifiers, leave the column out or convert it to categories, "
        "else subtract an offset"
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
        return _as_float64(array, function, name)
    wider = _WIDER.get(array.dtype.str[1:])
    return array if wider is None else array.astype(wider, order="K")


def _as_float64(array: NDArray[Any], function: str, name: str | None) -> NDArray[Any]:
    """Return numbers of more digits as float64; refuse those that would become equal."""
    for j in range(array.shape[1] if array.ndim == 2 else 1):
        pair = merged(array[:, j] if array.ndim == 2 else array)
        if pair is not None:
            raise refusal_of(pair, describe(f"x{j}" if array.ndim == 2 else name), function)
    return array.astype(np.float64, order="K")


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


def from_objects(array: NDArray[Any], *, function: str, name: str | None) -> Column:
    """Make a column from an array of Python objects: all numbers, or all strings, or missing."""
    present = [not is_missing(value) for value in array]
    types = {type(value) for value, there in zip(array, present, strict=True) if there}
    if all(issubclass(t, _NUMBERS) for t in types):
        return _numbers_of_objects(array, present, types, function, name)
    if all(issubclass(t, str) for t in types):
        values = [str(v) if there else None for v, there in zip(array, present, strict=True)]
        try:
            return from_arrow(pa.array(values, pa.large_string()), function=function, name=name)
        except UnicodeEncodeError:
            raise ValueError(
                f"{function}: {describe(name)} holds text that is not valid Unicode (a lone "
                "surrogate); decode the file that it came from with the right encoding"
            ) from None
    shown = " and ".join(sorted(t.__name__ for t in types if issubclass(t, (*_NUMBERS, str))))
    other = sorted(t.__name__ for t in types if not issubclass(t, (*_NUMBERS, str)))
    if not other:
        raise TypeError(
            f"{function}: {describe(name)} mixes {shown}; a column holds numbers or strings, not "
            "both: convert it to one type"
        )
    if other[0] in {"datetime", "date", "time", "timedelta", "Timestamp", "Timedelta", "bytes"}:
        raise TypeError(refusal(other[0], function, name))
    raise TypeError(
        f"{function}: {describe(name)} holds a {other[0]}; every entry, or argument must be a "
        "string or a number (or missing)"
    )


_NUMBERS = (bool, int, float, np.number, np.bool_, Decimal, Fraction)


def _numbers_of_objects(
    array: NDArray[Any], present: Sequence[bool], types: set[type], function: str, name: str | None
) -> NDArray[Any]:
    if any(issubclass(t, (complex, np.complexfloating)) for t in types):
        return numbers(array.astype(complex), function=function, name=name)
    integers = (int, np.integer, bool, np.bool_)
    try:
        if all(issubclass(t, integers) for t in types) and all(present) and types:
            return np.array([int(value) for value in array], dtype=np.int64)
        numbers_present = [v for v, there in zip(array, present, strict=True) if there]
        if any(isinstance(v, integers) and abs(int(v)) > LARGEST_EXACT for v in numbers_present):
            raise ValueError(too_large(function, name))
        pair = merged(numbers_present)
        if pair is not None:
            raise refusal_of(pair, describe(name), function)
        pairs = zip(array, present, strict=True)
        return np.array([float(v) if there else np.nan for v, there in pairs], dtype=np.float64)
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
        return _numbers_of_arrow(array, function, name)
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks else pa.array([], kind)
    if pa.types.is_dictionary(kind):
        dictionary, indices = array.dictionary, array.indices
        declared = bool(kind.ordered) if ordered is None else ordered
        return _from_dictionary(dictionary, indices, declared, function, name)
    if is_text(kind) or "string_view" in str(kind):
        encoded = pc.dictionary_encode(array.cast(pa.large_string()))
        column_codes = _from_dictionary(encoded.dictionary, encoded.indices, False, function, name)
        return replace(column_codes, text=True)
    raise TypeError(refusal(str(kind), function, name))


def of_decimals(array: Any, what: str, function: str) -> Any:
    """Return decimals of Arrow as float64; refuse different ones that would become equal."""
    numbers = array.cast(pa.float64())
    if array.type.precision > _EXACT_DIGITS:
        pair = merged([number for number in array.unique().to_pylist() if number is not None])
        if pair is not None:
            raise refusal_of(pair, what, function)
    return numbers


def _numbers_of_arrow(array: Any, function: str, name: str | None) -> NDArray[Any]:
    integer = pa.types.is_integer(array.type)
    if array.null_count and integer:
        values = array.to_numpy(zero_copy_only=False).astype(np.float64)
        if np.nanmax(np.abs(values), initial=0.0) >= LARGEST_EXACT:
            raise ValueError(too_large(function, name))
        return np.asarray(values)
    chunked = isinstance(array, pa.ChunkedArray)
    values = array.to_numpy() if chunked else array.to_numpy(zero_copy_only=False)
    return numbers(np.asarray(values), function=function, name=name)


def _from_dictionary(
    dictionary: Any, indices: Any, ordered: bool, function: str, name: str | None
) -> Categories:
    """Dense codes of what occurs; labels sorted, unless their order is one of meaning."""
    if isinstance(dictionary.type, pa.DataType) and "string_view" in str(dictionary.type):
        dictionary = dictionary.cast(pa.large_string())
    kind = dictionary.type
    text = is_text(kind)
    if not text and not pa.types.is_null(kind):
        if not (is_number(kind) or pa.types.is_boolean(kind)):
            raise TypeError(refusal(str(kind), function, name))
        if pa.types.is_floating(kind):
            dictionary = pc.if_else(pc.is_nan(dictionary), pa.scalar(None, kind), dictionary)
    # A dictionary may repeat a value or hold a null; afterwards each value has one position.
    single = pc.dictionary_encode(dictionary)
    if len(single.dictionary) < len(dictionary):
        position = single.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        dictionary = single.dictionary
    else:
        position = np.arange(len(dictionary))
    index = indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    if len(position):
        index = np.where(index < 0, -1, position[index])

    occurs = np.zeros(len(dictionary) + 1, dtype=bool)
    occurs[index] = True
    missing = bool(occurs[-1])
    if ordered:
        order = np.arange(len(dictionary))
    else:
        order = pc.array_sort_indices(dictionary).to_numpy(zero_copy_only=False).astype(np.int64)
    order = order[occurs[order]]
    code = np.full(len(dictionary) + 1, len(order), dtype=np.uint32)
    code[order] = np.arange(len(order), dtype=np.uint32)
    categories = dictionary.take(pa.array(order))
    if text or pa.types.is_null(kind):
        labels = np.empty(len(order), dtype=object)
        labels[:] = categories.to_pylist()
    else:
        labels = categories.to_numpy(zero_copy_only=False)
    return Categories(code[index], labels, ordered, missing)


def categories_of_numbers(array: NDArray[Any]) -> Categories:
    """Numbers taken as categories, exactly, whatever their size."""
    values, codes = np.unique(array, return_inverse=True)
    missing = bool(len(values) and values[-1] != values[-1])
    return Categories(
        codes.astype(np.uint32), values[: len(values) - missing], ordered=False, missing=missing
    )


def numbers_of_categories(column: Categories, *, function: str, name: str | None) -> NDArray[Any]:
    """Return the values of a column whose categories are numbers."""
    if column.labels.dtype == object and len(column.labels):
        example = column.labels[0]
        raise ValueError(
            f"{function}: {describe(name)} must hold numbers to be numeric, got strings such as "
            f"{example!r}; convert it to numbers, or let it be nominal"
        )
    labels = np.append(column.labels.astype(np.float64), np.nan)
    return np.asarray(labels[column.codes])
