"""Structure of the source: no import circles, no long files, no long functions.

The lists of exceptions may only shrink: an entry that is no longer needed fails too.
"""

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import grimp

SOURCE = Path(__file__).resolve().parents[2] / "src" / "duramen"
LONGEST_FILE = 500
LONGEST_FUNCTION = 60  # lines without the docstring

LONG_FILES: set[str] = set()
LONG_FUNCTIONS: set[str] = set()


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


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Functions of a file, as module and name, with their lines without the docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = lines_of(node)
            if ast.get_docstring(node, clean=False) is not None:
                lines -= lines_of(node.body[0])
            yield f"{module}.{node.name}", lines


def lines_of(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def differences(found: Collection[str], known: set[str]) -> dict[str, list[str]]:
    new, gone = sorted(set(found) - known), sorted(known - set(found))
    return {"new": new, "gone, take it off the list": gone}


NOTHING = {"new": [], "gone, take it off the list": []}


def test_no_import_circles() -> None:
    assert import_circles() == []


def test_no_long_files() -> None:
    paths = SOURCE.rglob("*.py")
    long = [
        name_of(path)
        for path in paths
        if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST_FILE
    ]
    assert differences(long, LONG_FILES) == NOTHING


def test_no_long_functions() -> None:
    long = [
        name
        for path in SOURCE.rglob("*.py")
        for name, lines in functions(path)
        if lines > LONGEST_FUNCTION
    ]
    assert differences(long, LONG_FUNCTIONS) == NOTHING


def test_components_of_a_graph() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"d", "f"}, "f": {"e"}}
    assert sorted(map(sorted, strong_components(edges))) == [["a", "b", "c"], ["d"], ["e", "f"]]
