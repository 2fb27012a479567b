"""Events at the leaves of survival trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.schema import KernelOwner


@dataclass(frozen=True, eq=False)
class LeafEvents(KernelOwner):
    """Event times of every leaf, with the rows of the tree's bag that were at risk.

    From them follow the Nelson-Aalen estimate of the cumulative hazard of a leaf, the sum of
    ``events / at_risk`` up to a time, and the Kaplan-Meier estimate of its survival function, the
    product of ``1 - events / at_risk``. ``D`` is the number of distinct event times of the training
    rows, ``L`` of leaves and ``E`` of event times of leaves.

    Attributes
    ----------
    event_times : float64 array of shape (D,)
        Distinct event times, ascending.
    event_offsets : int64 array of shape (L + 1,)
        First event time of each leaf, and E; the leaves of all trees in their order.
    event_index : uint32 array of shape (E,)
        Number of the event time among `event_times`, ascending within a leaf.
    events, at_risk : uint32 arrays of shape (E,)
        Rows with the event then, and rows at risk; multiplicities in the bag count.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0.0], [0.0], [1.0]], [[2.0, True], [3.0, False], [4.0, True]]
    >>> forest = dm.RandomSurvivalForest(2, bootstrap=False, random_state=0).fit(X, y).forest_
    >>> forest.leaf_events.event_times, forest.leaf_events.at_risk
    (array([2., 4.]), array([3, 1, 3, 1], dtype=uint32))
    """

    event_times: NDArray[np.float64]
    event_offsets: NDArray[np.int64]
    event_index: NDArray[np.uint32]
    events: NDArray[np.uint32]
    at_risk: NDArray[np.uint32]

    @cached_property
    def kernel(self) -> _kernel.LeafEvents:
        """The events as they are lent to the kernel, which checks them."""
        return _kernel.LeafEvents(
            self.event_offsets, self.event_index, self.events, self.at_risk, len(self.event_times)
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return {name: getattr(self, name) for name in EVENT_ARRAYS}

    def part(self, leaves: slice) -> LeafEvents:
        """Return the events of some consecutive leaves; the arrays of these are views."""
        offsets = self.event_offsets[leaves.start : leaves.stop + 1]
        entries = slice(int(offsets[0]), int(offsets[-1]))
        own = (self.event_index[entries], self.events[entries], self.at_risk[entries])
        return LeafEvents(self.event_times, offsets - offsets[0], *own)

    @classmethod
    def joined(cls, parts: Sequence[LeafEvents]) -> LeafEvents:
        """Return the events of the leaves of several runs of trees, in their order."""
        sizes = np.concatenate([[0], *(np.diff(part.event_offsets) for part in parts)])
        own = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("event_index", "events", "at_risk")
        )
        return cls(parts[0].event_times, np.cumsum(sizes, dtype=np.int64), *own)

    def check(self, n_leaves: int) -> None:
        """Check that the arrays are the events of so many leaves.

        Raises
        ------
        ValueError
            When they are not.
        """
        times = self.event_times
        if times.ndim != 1 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise ValueError("Forest.check: event_times must be finite and ascend")
        if len(self.event_offsets) != n_leaves + 1:
            raise ValueError(f"Forest.check: event_offsets must have {n_leaves + 1} entries")
        try:
            _ = self.kernel
        except (TypeError, ValueError) as error:
            raise ValueError(f"Forest.check: events of leaves: {error}") from None


EVENT_ARRAYS = tuple(field.name for field in fields(LeafEvents))
