"""Times of the steps of a command."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from duramen.cli.ending import raise_lost_stop


@dataclass
class Clock:
    """Seconds that the steps took."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step; raise a stop that was lost before it."""
        raise_lost_stop()
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 4)
