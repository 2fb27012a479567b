"""Limits of the system on this process."""

from __future__ import annotations


def addresses_left() -> int | None:
    """Return how many bytes of addresses the process may take yet; None without a limit.

    The limit is that of ``ulimit -v``; systems other than Linux tell no use of it.
    """
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY:
            return None
        with open("/proc/self/statm", "rb") as file:
            pages = int(file.read().split()[0])
    except (ImportError, OSError, ValueError):
        return None
    return max(0, most - pages * resource.getpagesize())
