"""Times of the steps of a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from duramen.analyses.execution import Clock as ClockOfSteps
from duramen.cli.ending import raise_lost_stop


class Clock(ClockOfSteps):
    """Seconds that the steps took; no step begins after a stop that was lost."""

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a step, whose name is the title of progress bars; raise a lost stop before it."""
        raise_lost_stop()
        with super().step(name):
            yield
