"""The one face of everything that can be packed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


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
    on_spooled : callable
        Is told of bytes that were cut into tiles, before there is a first group.
    """

    where: str
    files: Sequence[Path] = ()
    n_columns: int
    names: Sequence[str] | None = None
    encoded: bool = False
    on_spooled: Callable[[int], None] = staticmethod(lambda n_bytes: None)

    def samples(self) -> pa.Table | None:
        """What is known of the rows; None where nothing is."""
        return None

    @abstractmethod
    def groups(self, start: int, work: Path) -> Iterator[Any]:
        """The columns from `start` on: tables that `encode` takes, or sources.

        `work` is a folder for what does not fit into memory; what an interrupted call with the
        same input left there may be used.
        """
