"""Columns on disk, as stores read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from duramen.data.encoded import EncodedTable

if TYPE_CHECKING:
    import pyarrow as pa


class Columns(Protocol):
    """Columns of a packed folder, or of a file that is used in place."""

    where: str
    n_rows: int
    n_columns: int

    def kind_codes(self) -> NDArray[np.uint8]:
        """Return the kind of each column."""
        ...

    def names(self, chosen: NDArray[np.int64]) -> list[str]:
        """Return names of columns."""
        ...

    def find(self, name: str) -> int | None:
        """Return the number of the column of that name."""
        ...

    def take(self, chosen: NDArray[np.int64]) -> EncodedTable:
        """Return columns, in memory."""
        ...

    def table(self) -> EncodedTable:
        """Return all columns."""
        ...

    def records(self) -> Iterator[NDArray[Any]]:
        """Records of all columns, as in `layout.COLUMN`."""
        ...

    def fingerprint(self) -> str:
        """As `layout.fingerprint_of`."""
        ...

    def verify(self) -> None:
        """Raise ValueError where something is damaged."""
        ...

    def samples(self) -> pa.Table | None:
        """Sample annotations; None where there are none."""
        ...

    def variants(self) -> pa.Table | None:
        """Places of the columns on the genome; None where they are not known."""
        ...
