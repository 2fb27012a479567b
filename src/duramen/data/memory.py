"""Available memory, to refuse arrays that cannot fit before any work is done."""

import os
from contextlib import suppress
from pathlib import Path

from duramen.support.threads import addresses_left

SELDOM_LACKING = 1 << 20  # bytes; asking the system takes longer than to grow a small forest


def available_bytes() -> int | None:
    """Return the available memory of this process in bytes; None if it is unknown."""
    limits = [addresses_left()]
    with (
        suppress(OSError, ValueError, IndexError),
        open("/proc/meminfo", encoding="ascii") as lines,
    ):
        line = next((line for line in lines if line.startswith("MemAvailable:")), "")
        limits.append(int(line.split()[1]) * 1024)
    with suppress(OSError, ValueError, IndexError):  # of a container that has a limit
        folder = Path("/sys/fs/cgroup")
        limit, used = (
            int((folder / name).read_text(encoding="ascii"))
            for name in ("memory.max", "memory.current")
        )
        for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines():
            if line.startswith(("inactive_file ", "active_file ")):  # its caches count as free
                used -= int(line.split()[1])
        limits.append(max(0, limit - used))
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


def readable_bytes(n_bytes: float) -> str:
    """Return a number of bytes as text, such as 1.2 GB."""
    size = float(n_bytes)
    for unit in ("bytes", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.3g} {unit}" if size < 1000 else f"{size:,.0f} {unit}"
        size /= 1000
    return f"{n_bytes:.0f} bytes"
