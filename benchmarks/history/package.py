"""For asv: the bars of the package as a whole that depend on the code alone."""

from __future__ import annotations

from benchmarks.speed import bars


def track_multiway_trees() -> float:
    return bars.multiway()


def track_import() -> float:
    return bars.importing()


def track_two_threads() -> float:
    return bars.two_threads()


track_multiway_trees.unit = "s"  # type: ignore[attr-defined]
track_import.unit = "s"  # type: ignore[attr-defined]
track_two_threads.unit = "times as fast"  # type: ignore[attr-defined]
