"""Time of a call, and memory of a process."""

from __future__ import annotations

import re
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Clock = Callable[[], float]


def timed(call: Callable[[], Any], clock: Clock = time.perf_counter) -> tuple[float, Any]:
    """Return the seconds of a call, and its result."""
    start = clock()
    result = call()
    return clock() - start, result


def median_seconds(
    call: Callable[[], Any], rounds: int = 5, clock: Clock = time.perf_counter
) -> float:
    """Return the median time of a call, after a warm-up."""
    call()
    return statistics.median(timed(call, clock)[0] for _ in range(rounds))


def status(field: str) -> int | None:
    """Return a line of /proc/self/status in bytes, or None without such a file."""
    try:
        text = Path("/proc/self/status").read_text()
    except OSError:
        return None
    match = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def peak() -> int:
    """Return the peak memory of this process in bytes.

    ``VmHWM`` where there is one: ``ru_maxrss`` starts at the peak of the parent on Linux.
    """
    measured = status("VmHWM")
    if measured is not None:
        return measured
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
