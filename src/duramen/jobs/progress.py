"""Progress bars on standard error, for long calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(total: int, what: str, verbose: int) -> Iterator[Callable[[int], None] | None]:
    """Give a function that is told how many trees are done, or None when not verbose."""
    if not verbose:
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=what, unit="tree") as bar:

        def report(done: int) -> None:
            bar.update(done - bar.n)

        yield report
        report(total)


@contextmanager
def stepwise_bar(
    total: int, what: str, unit: str, verbose: int, *, done: int = 0
) -> Iterator[Callable[[], object]]:
    """Give a function that is called after each step; it does nothing when not verbose."""
    if not verbose:
        yield lambda: None
        return
    from tqdm import tqdm

    with tqdm(total=total, initial=done, desc=what, unit=unit) as bar:
        yield bar.update
