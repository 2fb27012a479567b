"""Record of a data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table, its target, and what is known about them.

    Attributes
    ----------
    name : str
        Short name.
    X : ndarray of shape (n, p), or pyarrow.Table
        The features: an array where all are numbers, else a table.
    y : ndarray of shape (n,)
        The target.
    names : tuple of str
        Names of the p features.
    description : str
        What the rows, the features and the target are.
    citation : str
        Source to cite; empty for a simulated problem without one.
    relevant : tuple of str or None
        Names of the features that are relevant to the target; None where they are not known.
    details : mapping
        Further truths of a simulated problem, such as the weights of a linear one.

    Examples
    --------
    >>> import duramen as dm
    >>> digits = dm.datasets.digits7()
    >>> digits.n_rows, digits.n_features, digits.relevant[0]
    (10, 7, 'X1')
    """

    name: str
    X: Any
    y: NDArray[Any]
    names: tuple[str, ...]
    description: str
    citation: str = ""
    relevant: tuple[str, ...] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows n."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return len(self.names)

    def __repr__(self) -> str:
        known = "" if self.relevant is None else f", {len(self.relevant)} relevant"
        return f"Dataset({self.name}: {self.n_rows} rows x {self.n_features} features{known})"
