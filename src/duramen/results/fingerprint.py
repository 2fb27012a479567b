"""Fingerprints of data: the same for the same data, on every machine."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel


def fingerprint(*parts: str | NDArray[Any] | None) -> str:
    """Return a fingerprint of texts and arrays in this order.

    It is made to notice that data changed by accident, not to withstand forgery: arrays enter it
    by a fast digest of their bytes.

    Parameters
    ----------
    *parts : str, ndarray or None
        Arrays of objects enter by the printed form of their entries, all others by type, shape
        and bytes.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    total = sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            total.update(_of_array(part))
        else:
            total.update(repr(part).encode())
        total.update(b"\n")
    return total.hexdigest()


def _of_array(array: NDArray[Any]) -> bytes:
    if array.dtype == object:
        return repr(array.tolist()).encode()
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    first, second = _kernel.digest(flat)
    return f"{array.dtype.str} {array.shape} {first:016x}{second:016x}".encode()
