"""The table of cases: a stable key, a function without arguments, and the names it covers."""

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
    "effects",
    "networks",
    "significance",
    "error_rates",
    "selection",
    "evaluation",
    "plots",
    "context",
    "distributions",
    "survival",
    "theory",
    "tables",
    "stores",
    "datasets",
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
    covers : tuple
        Public functions and classes whose result it is, beside the one that begins the key.
    """

    key: str
    compute: Callable[[], Any]
    covers: tuple[Any, ...] = ()


_CASES: dict[str, Case] = {}


def add(case: Case) -> None:
    """Add a case to the table."""
    if case.key in _CASES:
        raise ValueError(f"case: key must be new, got {case.key!r}")
    _CASES[case.key] = case


def case(key: str, *covers: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that adds a function, with these arguments, to the table.

    A key begins with the name of the function or class whose result it is; `covers` has others.
    """

    def register(compute: Callable[..., Any]) -> Callable[..., Any]:
        add(Case(key, partial(compute, **options), covers))
        return compute

    return register


def cases() -> dict[str, Case]:
    """Return all cases by their keys."""
    for file in _FILES:
        import_module(f"tests.contracts.cases.{file}")
    return dict(_CASES)
