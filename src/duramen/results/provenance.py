"""Versions of the packages that a result was computed with."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

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


@cache  # reading the metadata of a package takes longer than growing a small forest
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
