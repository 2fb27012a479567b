"""Memory that is left, to refuse what cannot fit before any work is done."""

import os
from pathlib import Path

from duramen.support.threads import addresses_left

SELDOM_LACKING = 1 << 20  # bytes; asking the system takes longer than to grow a small forest


def available_bytes() -> int | None:
    """Memory this process may still take, in bytes; None where the system does not say."""
    limits = [_from_meminfo(), _from_control_group(), addresses_left()]
    limits_known = [limit for limit in limits if limit is not None]
    if limits_known:
        return min(limits_known)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def require_memory(n_bytes: int, *, what: str, function: str, hint: str) -> None:
    """Raise MemoryError, before any work, when `n_bytes` cannot be had.

    `what` it is needed for is the subject of a sentence; `hint` says what the user can do.
    """
    if n_bytes < SELDOM_LACKING:
        return
    available = available_bytes()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{function}: {what} needs at least {readable_bytes(n_bytes)}, "
            f"and {readable_bytes(available)} are available; {hint}"
        )


def _from_meminfo() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _from_control_group() -> int | None:
    """Return the memory left to a container that has a limit; its file caches count as free."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text(encoding="ascii"))
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        reclaimable = 0
        for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines():
            if line.startswith(("inactive_file ", "active_file ")):
                reclaimable += int(line.split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return max(0, limit - used + reclaimable)


def readable_bytes(n_bytes: float) -> str:
    """Return a number of bytes as text, such as 1.2 GB."""
    size = float(n_bytes)
    for unit in ("bytes", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.3g} {unit}" if size < 1000 else f"{size:,.0f} {unit}"
        size /= 1000
    return f"{n_bytes:.0f} bytes"
