"""Dense codes the slow way: one column at a time, by np.unique."""

from __future__ import annotations

import numpy as np


def dense_codes(column: list | np.ndarray) -> tuple[np.ndarray, list, bool]:
    """Codes, distinct values in order, and whether any value is missing (None or NaN)."""
    cells = list(column)
    absent = np.array([cell is None or cell != cell for cell in cells], dtype=bool)
    present = [cell for cell, gone in zip(cells, absent, strict=True) if not gone]
    values = sorted(set(present))
    position = {value: code for code, value in enumerate(values)}
    codes = np.full(len(cells), len(values), dtype=np.int64)
    codes[~absent] = [position[cell] for cell in present]
    if present and not isinstance(present[0], str):
        by_unique, inverse = np.unique(np.array(present), return_inverse=True)
        assert by_unique.tolist() == values
        assert inverse.tolist() == codes[~absent].tolist()
    return codes, values, bool(absent.any())


def width_of(n_codes: int) -> int:
    """Return the block for a number of codes: 0 for uint8, 1 for uint16, 2 for uint32."""
    return 0 if n_codes <= 2**8 else 1 if n_codes <= 2**16 else 2
