"""Versions of the packages that a result was computed with, and sources of its methods."""

from __future__ import annotations

import inspect
import platform
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_PACKAGES = ("duramen", "numpy", "scipy", "scikit-learn")


def versions(*more: str) -> dict[str, str]:
    """Return the versions of Python, of this package and of those that its numbers depend on.

    Parameters
    ----------
    *more : str
        Names of further distributions; those that are not installed are left out.
    """
    found = {"python": platform.python_version()}
    for name in (*_PACKAGES, *more):
        number = _version(name)
        if number is not None:
            found[name] = number
    return found


def references(*functions: Callable[..., Any]) -> tuple[str, ...]:
    """Return the sources that docstrings of functions name in their section References."""
    found = []
    for function in functions:
        after = (inspect.getdoc(function) or "").partition("References\n----------\n")[2]
        found.append(" ".join(after.partition("\n\n")[0].split()))
    return tuple(filter(None, found))


@cache  # reading the metadata of a package takes longer than growing a small forest
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
