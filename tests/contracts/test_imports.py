"""Tests import a public name from the package that exports it, not from the module that holds it.

A refactoring that moves a public name within its package then leaves the tests alone. What no
package exports is imported from its module: such a test is about an internal, and says so.
"""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def public_home(module: str, name: str) -> str:
    """Return the package nearest to the root that exports a name of a module, or the module."""
    holder = import_module(module)
    if not hasattr(holder, name) or inspect.ismodule(getattr(holder, name)):
        return module  # a module of a package, which need not be imported yet
    value = getattr(holder, name)
    parts = module.split(".")
    if len(parts) == 2 and exports(module, name, value):
        return module
    packages = [".".join(parts[:n]) for n in range(2, len(parts))] + ["duramen"]
    return next((package for package in packages if exports(package, name, value)), module)


def exports(package: str, name: str, value: object) -> bool:
    module = import_module(package)
    return name in getattr(module, "__all__", ()) and getattr(module, name) is value


def names_from_deep_modules(source: str) -> Iterator[str]:
    """Yield the imports of a file that take a public name from elsewhere than its package."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("duramen."):
            for alias in node.names:
                home = public_home(node.module, alias.name)
                if home != node.module:
                    yield f"{node.lineno}: import {alias.name} from {home}, not from {node.module}"


@pytest.mark.slow
def test_public_names_are_imported_from_their_packages() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in ("tests", "benchmarks")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in names_from_deep_modules(path.read_text(encoding="utf-8"))
    ] == []


def test_imports_of_deep_modules_are_seen() -> None:
    assert list(names_from_deep_modules("from duramen.data.learning_sets import LearningSet")) == [
        "1: import LearningSet from duramen.data, not from duramen.data.learning_sets"
    ]
    assert list(names_from_deep_modules("from duramen.results.network import Network")) == [
        "1: import Network from duramen, not from duramen.results.network"
    ]
    internals = "from duramen.data import recoding\nfrom duramen.jobs.replicates import Plan"
    assert list(names_from_deep_modules(internals)) == []
