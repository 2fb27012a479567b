"""Table whose codes and values are mapped from files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.encoded import Blocks, EncodedTable
from duramen.io.store.reader import File


class MappedTable(EncodedTable):
    """Encoded table of a store, whose files must keep their lengths.

    The system ends a process (SIGBUS) that reads beyond the end of a file that was truncated since
    it was mapped. So the lengths are checked whenever codes or values are taken, and whenever the
    kernel is given the table; a truncation while the kernel works still ends the process.
    """

    _blocks: Blocks
    _files: Sequence[File] = ()

    def over(self, files: Sequence[File]) -> MappedTable:
        """Set the files that are mapped, and return the table."""
        vars(self)["_files"] = tuple(files)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_files"}

    def _check(self) -> None:
        for file in self._files:
            file.check_length()

    @property
    def blocks(self) -> Blocks:
        """The codes; one row of a block is one column of the table."""
        self._check()
        return self._blocks

    @blocks.setter
    def blocks(self, given: Blocks) -> None:
        vars(self)["_blocks"] = given

    @property
    def kernel(self) -> _kernel.Table:
        """The table as it is lent to the kernel."""
        self._check()
        return super().kernel

    def values(self, j: int) -> NDArray[Any]:
        """Return the values of the j-th column in code order, without missing."""
        self._check()
        return super().values(j)
