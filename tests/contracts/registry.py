"""The table of cases: a stable key, and a function without arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

_FILES = (
    "forests",
    "estimators",
    "importances",
    "significance",
    "selection",
    "plots",
    "context",
    "survival",
    "theory",
)


@dataclass(frozen=True)
class Case:
    """One pinned result.

    Parameters
    ----------
    key : str
        Name of the case in ``pinned.json``.
    compute : callable
        Returns the result as plain values.
    """

    key: str
    compute: Callable[[], Any]


_CASES: dict[str, Case] = {}


def case(key: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that adds a function, with these arguments, to the table.

    A key begins with the name of the function or class whose result it is.
    """

    def register(compute: Callable[..., Any]) -> Callable[..., Any]:
        if key in _CASES:
            raise ValueError(f"case: key must be new, got {key!r}")
        _CASES[key] = Case(key, partial(compute, **options))
        return compute

    return register


def cases() -> dict[str, Case]:
    """Return all cases by their keys."""
    for file in _FILES:
        import_module(f"tests.contracts.cases.{file}")
    return dict(_CASES)
