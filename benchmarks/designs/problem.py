"""A problem: a table, its target, and the features that the target depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm

Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class Problem:
    """A table, its target, and the features that the target depends on."""

    X: Any
    y: NDArray[Any]
    """Classes as text or integers; numbers as floats; (event, time) as a structured array."""
    relevant: Bool
    """The others are independent of the target and of the relevant features together."""
    rows: Mapping[str, Any] = field(default_factory=dict)
    """Any of `sample_weight`, `strata` and `groups`."""

    @property
    def task(self) -> str:
        if self.y.dtype.names is not None:
            return "survival"
        return "regression" if self.y.dtype.kind == "f" else "classification"

    def learning_set(self) -> Any:
        return dm.learning_set(self.X, self.y, task=self.task, **self.rows)
