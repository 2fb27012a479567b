"""Progress bars with the time left: on standard error, or as widgets in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from duramen.configuration import config_context, shows_progress


@contextmanager
def shown_bar(
    total: int, what: str, unit: str, verbose: int, *, done: int = 0
) -> Iterator[Any | None]:
    """Give a bar of tqdm, or None where none is to be seen; calls inside it show none."""
    if not shows_progress(verbose):
        yield None
        return
    from tqdm.auto import tqdm

    with (
        tqdm(total=total, initial=done, desc=what, unit=unit) as bar,
        config_context(progress="off"),
    ):
        yield bar


@contextmanager
def progress_bar(total: int, what: str, verbose: int) -> Iterator[Callable[[int], None] | None]:
    """Give a function that is told how many trees are done, or None without a bar."""
    with shown_bar(total, what, "tree", verbose) as bar:
        if bar is None:
            yield None
            return

        def report(done: int) -> None:
            bar.update(done - bar.n)

        yield report
        report(total)


@contextmanager
def stepwise_bar(
    total: int, what: str, unit: str, verbose: int, *, done: int = 0
) -> Iterator[Callable[[], object]]:
    """Give a function that is called after each step; it does nothing without a bar."""
    with shown_bar(total, what, unit, verbose, done=done) as bar:
        yield (lambda: None) if bar is None else bar.update
