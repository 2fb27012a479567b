"""Tables that give their columns in groups, as packing takes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

FIRST_ROWS = 32  # that `Input.beginning` returns


class Input(ABC):
    """A table that gives its columns in groups, in their order.

    Attributes
    ----------
    where : str
        How errors call it.
    files : sequence of Path
        What it is read from: where one of them changed, it is another input.
    n_columns : int
    names : sequence of str or None
        Names that the input itself gives; None where it gives none.
    encoded : bool
        Whether the groups are encoded already, so that kinds cannot be chosen.
    kinds_chosen : bool
        Whether kinds are asked for, so that groups cannot be codes; set before the first group.
    on_spooled : callable
        Is told of bytes that were cut into tiles, before there is a first group.
    """

    where: str
    files: Sequence[Path] = ()
    n_columns: int
    names: Sequence[str] | None = None
    encoded: bool = False
    kinds_chosen: bool = False
    on_spooled: Callable[[int], None] = staticmethod(lambda n_bytes: None)

    def samples(self) -> pa.Table | None:
        """Return the sample annotations; None where there are none."""
        return None

    def variants(self) -> Iterator[pa.Table] | None:
        """Yield where the columns lie on the genome, as in `layout.variants_schema`, in parts."""
        return None

    def beginning(self) -> tuple[pa.Table, Callable[[Sequence[int]], pa.Table]] | None:
        """Return the first rows, and a function that reads whole columns; None without them."""
        return None

    @abstractmethod
    def groups(self, start: int, work: Path) -> Iterator[Any]:
        """Give the columns from `start` on: tables that `encode` takes, or sources.

        `work` is a folder for what does not fit into memory; what an interrupted call with the
        same input left there may be used.
        """
