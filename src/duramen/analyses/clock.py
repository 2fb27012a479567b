"""Times of the steps of an analysis."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Clock:
    """Seconds that the steps took."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step, whose name is the title of progress bars."""
        from duramen.jobs.progress import titled  # imports that take long

        start = time.perf_counter()
        with titled(name.replace("_", "-")):
            yield
        self.seconds[name] = round(time.perf_counter() - start, 4)
