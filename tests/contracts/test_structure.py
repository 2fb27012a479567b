"""Structure of the source: no import circles, no results in what threads share."""

import re
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest


def import_circles() -> list[set[str]]:
    """Sets of files that import each other, at any depth, under TYPE_CHECKING or in a function."""
    graph = grimp.build_graph("duramen", cache_dir=None)
    files = graph.modules - {"duramen"}  # the root lists all public names for type checkers
    imports = {file: graph.find_modules_directly_imported_by(file) & files for file in files}
    return [
        {module.removeprefix("duramen.") for module in component}
        for component in strong_components(imports)
        if len(component) > 1
    ]


def strong_components(edges: dict[str, set[str]]) -> Iterator[set[str]]:
    """Strongly connected components of a directed graph (Tarjan 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []

    def visit(node: str) -> Iterator[set[str]]:
        number[node] = lowest[node] = len(number)
        open_.append(node)
        for other in sorted(edges[node]):
            if other not in number:
                yield from visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in open_:
                lowest[node] = min(lowest[node], number[other])
        if lowest[node] == number[node]:
            start = open_.index(node)
            yield set(open_[start:])
            del open_[start:]

    for node in sorted(edges):
        if node not in number:
            yield from visit(node)


def test_no_import_circles() -> None:
    assert import_circles() == []


def test_components_of_a_graph() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"d", "f"}, "f": {"e"}}
    assert sorted(map(sorted, strong_components(edges))) == [["a", "b", "c"], ["d"], ["e", "f"]]


@pytest.mark.parametrize("file", ["problem.hpp", "guidance.hpp"])
def test_growth_writes_nothing_into_the_problem(root: Path, file: str) -> None:
    text = (root / "cpp" / "grow" / file).read_text(encoding="utf-8")
    pointers = re.findall(r"^  (?!return)((?:const )?[\w:]+)\* \w+ *=[^=]", text, re.MULTILINE)
    writable = {kind for kind in pointers if not kind.startswith("const ")}
    assert len(pointers) > 1
    assert writable <= {"Monitor"}
    assert "mutable" not in text


def test_every_package_is_described(root: Path) -> None:
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    described = re.findall(r"^\| `src/duramen/(\w+)/` \| \S", text, re.MULTILINE)
    packages = [path.parent.name for path in (root / "src" / "duramen").glob("*/__init__.py")]
    assert sorted(described) == sorted(packages)
