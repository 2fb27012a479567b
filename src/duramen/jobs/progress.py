"""Progress bars with the time left: on standard error, or as widgets in a notebook."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from duramen.configuration import config_context, shows_progress
from duramen.support.text import duration

_SOON = 5.0  # seconds of work before the rest is estimated
_LONG = 10.0  # seconds that the rest has to take to be told

Say = Callable[[str], object]
Report = Callable[[int], None]
_say: ContextVar[Say | None] = ContextVar("say", default=None)
_title: ContextVar[str | None] = ContextVar("title", default=None)


@contextmanager
def titled(title: str) -> Iterator[None]:
    """Set the title of progress bars within the block, in place of a function's name.

    They vanish when they are full, so that there is one bar at a time.
    """
    token = _title.set(title)
    try:
        yield
    finally:
        _title.reset(token)


@contextmanager
def estimates(say: Say | None) -> Iterator[None]:
    """Report time estimates of work without a progress bar within the block.

    Work that goes on for more than a few seconds is told once, by `say`; None for nothing.
    """
    token = _say.set(say)
    try:
        yield
    finally:
        _say.reset(token)


@contextmanager
def progress_bar(
    total: int, what: str, verbose: int, unit: str = "tree", *, done: int = 0
) -> Iterator[Report | None]:
    """Show the progress of a block, without the progress of calls inside it.

    Parameters
    ----------
    total : int
        Steps at most; a block that needs fewer ends with a full bar.
    what : str
        Title of the bar, unless `titled` gives another.
    verbose : int
        Above 0: a bar of tqdm. Without one, the time left is told within `estimates`.
    unit : str
        Name of a step.
    done : int
        Steps that were done before, which a checkpoint has kept.

    Returns
    -------
    context manager of a callable or None
        The callable takes the number of steps that are done; None where nothing is shown.
    """
    title = _title.get()
    what = what if title is None else title
    if shows_progress(verbose):
        from tqdm.auto import tqdm

        if done:
            what = f"{what}, {done:,} of {total:,} kept"
        with (
            tqdm(total=total, initial=done, desc=what, unit=unit, leave=title is None) as bar,
            config_context(progress="off"),
        ):

            def advance(steps: int) -> None:
                bar.update(steps - bar.n)

            yield advance
            bar.total = bar.n
        return
    say = _say.get()
    if say is None:
        yield None
        return
    start, announced = time.monotonic(), False
    if done:
        say(f"{what}: {done:,} of {total:,} kept")

    def estimate(steps: int) -> None:
        nonlocal announced
        took = time.monotonic() - start
        if announced or took < _SOON or steps <= done:
            return
        announced = True
        left = took / (steps - done) * (total - steps)
        if left > _LONG:
            say(
                f"{what}: {steps / total:.1%} done after {duration(took)}, about "
                f"{duration(left)} left"
            )

    with estimates(None):
        yield estimate
