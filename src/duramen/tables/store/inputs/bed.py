"""PLINK .bed files as inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from duramen.tables.store import layout
from duramen.tables.store.bed import BedColumns
from duramen.tables.store.budget import columns_within
from duramen.tables.store.inputs.input import Input
from duramen.tables.store.runs import Runs

if TYPE_CHECKING:
    import pyarrow as pa

_CELL_BYTES = 8  # codes, checks, and what stands behind the bits
_NUMBER_BYTES = 40  # of a genotype that is encoded as a number


class Names(Sequence[str]):
    """Names that stay in their bytes until they are asked for."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, index: Any) -> Any:
        chosen = np.arange(len(self._runs))[index]
        if chosen.ndim:
            return [layout.name_of_bytes(name) for name in self._runs.take(chosen)]
        return layout.name_of_bytes(self._runs.take(chosen.reshape(1))[0])

    def __iter__(self) -> Iterator[str]:
        for names in self._runs.chunks():
            yield from map(layout.name_of_bytes, names)


class BedInput(Input):
    """A .bed file with its neighbours."""

    def __init__(self, path: Path, budget: int, function: str) -> None:
        self.where = str(path.with_suffix(".bim"))
        self.files = (path, path.with_suffix(".bim"), path.with_suffix(".fam"))
        self._columns = BedColumns(path, function)
        self.n_columns = self._columns.n_columns
        self.names = Names(self._columns.variants)
        self._budget = budget
        self.as_numbers = False  # set where kinds are asked for, which codes do not have

    def samples(self) -> pa.Table:
        """The .fam file."""
        return self._columns.samples()

    def groups(self, start: int, work: Path) -> Iterator[Any]:
        """Neighbouring variants."""
        cell = _NUMBER_BYTES if self.as_numbers else _CELL_BYTES
        width = columns_within(self._budget, self._columns.n_rows, cell)
        if not self.as_numbers:
            yield from self._columns.groups(start, width)
            return
        for begin in range(start, self.n_columns, width):
            chosen = np.arange(begin, min(begin + width, self.n_columns))
            yield self._columns.numbers(chosen)
