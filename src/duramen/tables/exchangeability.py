"""Rows that the null hypothesis allows to be exchanged: all, within strata, or whole blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.fingerprint import fingerprint
from duramen.results.masked import unmasked

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Exchangeability:
    """Which rows of a table may exchange their targets under the null hypothesis.

    Without `strata` and `blocks` all rows may. With `strata`, rows exchange within their stratum
    only. With `blocks`, the rows of a block stay together: blocks that have one target value each
    exchange these values; other blocks exchange all of their rows, in order, with blocks of as many
    rows.

    Attributes
    ----------
    n_rows : int
        Number n of rows.
    strata : int64 array of shape (n,) or None
        Number of the stratum of each row.
    blocks : int64 array of shape (n,) or None
        Number of the block of each row.
    """

    n_rows: int
    strata: IntArray | None = None
    blocks: IntArray | None = None

    @classmethod
    def checked(
        cls, n_rows: int, strata: Any = None, blocks: Any = None, *, function: str
    ) -> Exchangeability:
        """Check and number strata and blocks.

        Parameters
        ----------
        n_rows : int
            Number n of rows.
        strata, blocks : array-like of shape (n,) or None
            Label of the stratum, and of the block, of each row. None is not a label.
        function : str
            Who asks, for errors.

        Raises
        ------
        ValueError
            If there are not n labels, one is missing, or a block lies in several strata.
        """
        of_strata = _numbered(strata, n_rows, "strata", function)
        of_blocks = _numbered(blocks, n_rows, "blocks", function)
        if of_strata is not None and of_blocks is not None:
            pairs = np.unique(np.stack([of_blocks, of_strata]), axis=1)[0]
            if len(pairs) > len(np.unique(pairs)):
                torn = pairs[1:][pairs[1:] == pairs[:-1]][0]
                label = np.asarray(blocks)[of_blocks == torn].tolist()[0]
                raise ValueError(
                    f"{function}: a block must lie in one stratum, but block {label!r} has rows in "
                    "several. Hint: give strata that contain whole blocks."
                )
        return cls(n_rows, of_strata, of_blocks)

    @property
    def restricted(self) -> bool:
        """Whether some rows must not be exchanged."""
        return self.strata is not None or self.blocks is not None

    def identity(self) -> dict[str, str]:
        """Return fingerprints of strata and blocks, for checkpoints; empty where there are none."""
        given = {"strata": self.strata, "blocks": self.blocks}
        return {name: fingerprint(codes) for name, codes in given.items() if codes is not None}

    def permutation(self, random: np.random.Generator, values: Any = None) -> IntArray:
        """Draw the row whose value each row takes.

        Parameters
        ----------
        random : Generator
            Source of randomness.
        values : array of shape (n,), optional
            What is exchanged. Where it has one value in each block, blocks of different sizes
            exchange it.

        Returns
        -------
        int64 array of shape (n,)
            A permutation of the rows, unless blocks of different sizes exchange values.
        """
        if self.blocks is None:
            return self._within(self.strata, self.n_rows, random)
        _, first, sizes = np.unique(self.blocks, return_index=True, return_counts=True)
        strata = np.zeros(len(first), np.int64) if self.strata is None else self.strata[first]
        if values is not None:
            given = np.asarray(values)
            if np.all(given == given[first][self.blocks]):  # one value a block
                taken = self._within(strata, len(first), random)
                return np.asarray(first[taken][self.blocks], dtype=np.int64)
        alike = np.unique(np.stack([strata, sizes]), axis=1, return_inverse=True)[1].reshape(-1)
        taken = self._within(alike, len(first), random)
        rows = np.argsort(self.blocks, kind="stable")
        starts = np.cumsum(sizes) - sizes
        order = np.empty(self.n_rows, dtype=np.int64)
        order[rows] = np.concatenate(
            [rows[starts[b] : starts[b] + sizes[b]] for b in taken.tolist()]
        )
        return order

    @staticmethod
    def _within(groups: IntArray | None, n: int, random: np.random.Generator) -> IntArray:
        """Draw a permutation of n things that keeps each in its group."""
        drawn: IntArray = random.permutation(n)
        if groups is None:
            return drawn
        order = np.empty(n, dtype=np.int64)
        order[np.argsort(groups, kind="stable")] = drawn[np.argsort(groups[drawn], kind="stable")]
        return order


def _numbered(labels: Any, n_rows: int, parameter: str, function: str) -> IntArray | None:
    """Return the number of the label of each row."""
    if labels is None:
        return None
    given = np.asarray(unmasked(labels))
    if given.shape != (n_rows,):
        raise ValueError(
            f"{function}: {parameter} must have a label for each of the {n_rows} rows, got an "
            f"array of shape {given.shape}."
        )
    missing = np.array([value is None or value != value for value in given.tolist()])
    if missing.any():
        raise ValueError(
            f"{function}: {parameter} must have a label for every row, but that of row "
            f"{int(np.argmax(missing))} is missing. Hint: give such rows a label of their own, or "
            "leave them out."
        )
    if given.dtype == object:
        given = given.astype(str)
    return np.unique(given, return_inverse=True)[1].astype(np.int64).reshape(-1)
