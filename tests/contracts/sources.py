"""The source of the package, parsed once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "duramen"


@cache
def texts() -> dict[str, str]:
    """Return the text of each file by its path within the package."""
    files = sorted(SOURCE.rglob("*.py"))
    return {file.relative_to(SOURCE).as_posix(): file.read_text("utf-8") for file in files}


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of each file by its path within the package."""
    return {file: ast.parse(text, file) for file, text in texts().items()}


def nodes(*kinds: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the nodes of some kinds, each with its file."""
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, kinds):
                yield file, node
