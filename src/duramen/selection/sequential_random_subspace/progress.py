"""Progress bar of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from duramen.selection.sequential_random_subspace.search import State


@contextmanager
def search_bar(total: int, what: str, verbose: int) -> Iterator[Callable[[State], object] | None]:
    """Progress bar over trees with the features found and the memory in use."""
    if not verbose:
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=what, unit="tree") as bar:

        def report(state: State) -> None:
            bar.set_postfix_str(f"{len(state.found)} found{_memory_in_use()}", refresh=False)
            bar.update(state.n_trees - bar.n)

        yield report


def _memory_in_use() -> str:
    """Resident memory, where the system tells it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return ""
    import mmap

    return f", {pages * mmap.PAGESIZE / 1e6:.0f} MB"
