"""Joining and separation of the flat arrays of trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests.arrays import ARRAY_NAMES, TreeArrays
from duramen.forests.forest import Forest

Arrays = Mapping[str, NDArray[Any]]


def arrays_on(forest: Forest, columns: NDArray[np.integer]) -> dict[str, NDArray[Any]]:
    """Return the flat arrays of a forest with its columns numbered anew, as `columns` says.

    Cuts and thresholds keep their meaning where the columns keep their codes, as those of
    `take_columns` do.
    """
    arrays = forest.arrays()
    feature = arrays["feature"]
    arrays["feature"] = np.where(feature < 0, -1, columns[feature]).astype(np.int32)
    return arrays


def joined(parts: Sequence[Arrays]) -> dict[str, NDArray[Any]]:
    """Return the flat arrays of several runs of trees as those of one, in their order."""
    arrays: dict[str, NDArray[Any]] = {}
    for name in ARRAY_NAMES:
        own = [part[name] for part in parts]
        if name.endswith("offsets"):
            sizes = np.concatenate([[0], *map(np.diff, own)])
            arrays[name] = np.cumsum(sizes, dtype=np.int64)
        else:
            arrays[name] = np.concatenate(own)
    return arrays


def extended(forest: Forest, more: Forest) -> Forest:
    """Return a forest with further trees of its target, which come next in the same stream."""
    events = forest.leaf_events
    if events is not None and more.leaf_events is not None:
        events = events.followed_by(more.leaf_events)
    changes: dict[str, Any] = {**joined([forest.arrays(), more.arrays()]), "leaf_events": events}
    return replace(forest, **changes)


def separated(arrays: Arrays) -> list[dict[str, NDArray[Any]]]:
    """Return the flat arrays of each tree of a forest by itself: views."""
    trees = TreeArrays(**arrays)
    return [trees.part(t, t + 1).arrays() for t in range(trees.n_trees)]
