"""Memory that packing may take, and the number of columns that fit into it."""

from __future__ import annotations

import re
from typing import Any

LEAST_BYTES = 10**6
COLUMN_BYTES = 400  # names, records and whatever else a column takes beside its cells
_BYTES = {
    "": 1,
    **{letter: 1000**i for i, letter in enumerate("kmgt", start=1)},
    **{f"{letter}i": 1024**i for i, letter in enumerate("kmgt", start=1)},
}


def memory_bytes(memory: Any, function: str) -> int:
    """Parse a size of at least a megabyte, such as ``"512MB"``, ``"2GiB"`` or 10**9 in bytes."""
    if isinstance(memory, str):
        match = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([kmgt]i?)?b?", memory.strip().lower())
        size = None if match is None else int(float(match[1]) * _BYTES[match[2] or ""])
    elif isinstance(memory, int | float) and not isinstance(memory, bool) and memory == memory:
        size = int(min(memory, 2**62))
    else:
        size = None
    if size is None:
        raise ValueError(
            f"{function}: memory must be a size such as '512MB', '2GiB' or a number of bytes, got "
            f"{memory!r}"
        )
    if size < LEAST_BYTES:
        raise ValueError(
            f"{function}: memory must be at least 1MB, got {memory!r}. Hint: 512MB is a good start"
        )
    return size


def columns_within(budget: int, n_rows: int, cell_bytes: float, column_bytes: float = 0) -> int:
    """Return the number of columns of `n_rows` cells that fit into memory; one at the least."""
    return max(1, int(budget // (n_rows * cell_bytes + column_bytes + COLUMN_BYTES)))
