"""Parameters in docstrings are those of the signatures."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

from tests.contracts.public import public
from tests.contracts.sources import nodes

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def described(docstring: str) -> set[str]:
    """Return the names in the section Parameters of a numpydoc docstring."""
    section = inspect.cleandoc(docstring).partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n\w[\w ]*\n-+\n", section)[0]
    entries = re.findall(r"^(\S.*?)(?: : .*)?$", section, re.MULTILINE)
    return {name.lstrip("*") for entry in entries for name in entry.split(", ")}


def parameters(thing: Callable[..., Any] | ast.AST) -> set[str]:
    """Return the parameters of a function or class, or of the source of a function."""
    if isinstance(thing, FUNCTION):
        return {node.arg for node in ast.walk(thing.args) if isinstance(node, ast.arg)}
    try:
        return set(inspect.signature(thing).parameters)  # type: ignore[arg-type]
    except ValueError:  # of a class of Python itself
        return set()


def test_parameters_of_public_functions_are_described() -> None:
    """A docstring may refer to the parameters of another function."""
    left = {
        name: parameters(thing) - described(thing.__doc__ or "")
        for name, thing in public().items()
        if inspect.isfunction(thing) and "whose parameters these are" not in str(thing.__doc__)
    }
    assert {name: names for name, names in left.items() if names} == {}


def test_described_parameters_exist() -> None:
    """In every function of the package, and in public classes, which may inherit parameters."""
    absent = {}
    for file, node in nodes(*FUNCTION):
        assert isinstance(node, FUNCTION)
        absent[f"{file}:{node.lineno}"] = described(ast.get_docstring(node) or "") - parameters(
            node
        )
    for name, thing in public().items():
        if inspect.isclass(thing):
            absent[name] = described(thing.__doc__ or "") - parameters(thing)
    assert len(absent) > 2500
    assert {place: names for place, names in absent.items() if names} == {}


def test_described_names_of_a_section() -> None:
    docstring = """Return a sum.

    Parameters
    ----------
    first, second : int
        Numbers, such as : 1.
    *rest
        More.

    See Also
    --------
    sum : of Python
    """
    assert described(docstring) == {"first", "second", "rest"}
