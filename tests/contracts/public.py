"""Public names of the package, walked once."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from typing import Any

import duramen


@cache
def packages() -> tuple[Any, ...]:
    """Return the package and those within it, without the command line."""
    names = [
        module.name
        for module in pkgutil.walk_packages(duramen.__path__, "duramen.")
        if module.ispkg and not module.name.startswith("duramen.cli")
    ]
    return duramen, *map(importlib.import_module, names)


@cache
def exported() -> tuple[tuple[str, str, Any], ...]:
    """Return the package, the name and the value of what every `__all__` lists."""
    examples = importlib.import_module("duramen.theory.distributions.examples")
    return tuple(
        (module.__name__, name, getattr(module, name))
        for module in (*packages(), examples)
        for name in getattr(module, "__all__", ())
    )


@cache
def public() -> dict[str, Any]:
    """Return functions and classes by the first, shortest name that each has."""
    things: dict[int, tuple[str, Any]] = {}
    for package, name, thing in exported():
        if inspect.isfunction(thing) or inspect.isclass(thing):
            things.setdefault(id(thing), (f"{package}.{name}", thing))
    return dict(things.values())
