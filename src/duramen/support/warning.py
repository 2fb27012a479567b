"""Warnings that point at the line of the caller of this package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_PACKAGE = __name__.partition(".")[0]
# Frames of these lie between functions of the package, as decorators and context managers do.
_BETWEEN = ("contextlib", "functools")


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package, however deep inside it this is called.

    The text begins with the name of the public function.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _inside(str(frame.f_globals.get("__name__", ""))):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def gathered_warnings() -> Iterator[list[Warning]]:
    """Gather the warnings of a block in place of showing them; each text once."""
    gathered: list[Warning] = []
    texts: set[str] = set()

    def gather(message: Warning, *_: Any) -> None:
        if f"{message}" not in texts:
            texts.add(f"{message}")
            gathered.append(message)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = gather  # type: ignore[assignment]
        yield gathered


def _inside(module: str) -> bool:
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.") or module in _BETWEEN
