"""Progress bars with the time left: on standard error, or as widgets in a notebook."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from duramen.configuration import config_context, shows_progress
from duramen.support.text import duration

_SOON = 5.0  # seconds of work before the rest is estimated
_LONG = 10.0  # seconds that the rest has to take to be told

Say = Callable[[str], object]
_say: ContextVar[Say | None] = ContextVar("say", default=None)
_title: ContextVar[str | None] = ContextVar("title", default=None)


@contextmanager
def titled(title: str) -> Iterator[None]:
    """Give the bars within the block this title in place of the name of a function or class.

    They vanish when they are full, so that there is one bar at a time.
    """
    token = _title.set(title)
    try:
        yield
    finally:
        _title.reset(token)


@contextmanager
def estimates(say: Say | None) -> Iterator[None]:
    """Tell, within the block, how long work without a bar will take, once that is known.

    Work that goes on for more than a few seconds is told once, by `say`; None for nothing.
    """
    token = _say.set(say)
    try:
        yield
    finally:
        _say.reset(token)


class Estimate:
    """Progress that is told in one line, where there is no bar; it takes the calls of a bar.

    Attributes
    ----------
    n : int
        Steps that are done.
    """

    def __init__(self, total: int, what: str, done: int, say: Say) -> None:
        self.n = done
        self._total, self._what, self._say = total, what, say
        self._first, self._start, self._told = done, time.monotonic(), False
        if done:
            say(f"{what}: {done:,} of {total:,} kept")

    def update(self, steps: int = 1) -> None:
        """Count steps that are done; tell how long the rest will take if that is long."""
        self.n += steps
        took = time.monotonic() - self._start
        if self._told or took < _SOON or self.n <= self._first:
            return
        self._told = True
        left = took / (self.n - self._first) * (self._total - self.n)
        if left > _LONG:
            self._say(
                f"{self._what}: {self.n / self._total:.1%} done after {duration(took)}, about "
                f"{duration(left)} left"
            )

    def set_postfix_str(self, *_: object, **__: object) -> None:
        """Ignore words beside a bar."""


@contextmanager
def shown_bar(
    total: int, what: str, unit: str, verbose: int, *, done: int = 0
) -> Iterator[Any | None]:
    """Give a bar of tqdm, an `Estimate`, or None where neither is asked for.

    Calls inside it show none. Steps that are done before, as a checkpoint has kept them, are said.
    """
    what, alone = _title.get() or what, _title.get() is None
    if not shows_progress(verbose):
        say = _say.get()
        with estimates(None):
            yield None if say is None else Estimate(total, what, done, say)
        return
    from tqdm.auto import tqdm

    if done:
        what = f"{what}, {done:,} of {total:,} kept"
    with (
        tqdm(total=total, initial=done, desc=what, unit=unit, leave=alone) as bar,
        config_context(progress="off"),
    ):
        yield bar


@contextmanager
def progress_bar(total: int, what: str, verbose: int) -> Iterator[Callable[[int], None] | None]:
    """Give a function that is told how many trees are done, or None without a bar."""
    with shown_bar(total, what, "tree", verbose) as bar:

        def report(done: int) -> None:
            if bar is not None:
                bar.update(done - bar.n)

        yield None if bar is None else report
        report(total)


@contextmanager
def stepwise_bar(
    total: int,
    what: str,
    unit: str,
    verbose: int,
    *,
    done: int = 0,
    beside: Callable[[], str] | None = None,
) -> Iterator[Callable[[], object]]:
    """Give a function that is called after each step; it does nothing without a bar.

    Work that needs fewer steps than `total`, which is what it takes at most, ends with a full bar.
    Words that `beside` returns stand beside the bar.
    """
    with shown_bar(total, what, unit, verbose, done=done) as bar:

        def advance() -> None:
            if bar is not None:
                if beside is not None:
                    bar.set_postfix_str(beside(), refresh=False)
                bar.update()

        yield advance
        if bar is not None:
            bar.total = bar.n
