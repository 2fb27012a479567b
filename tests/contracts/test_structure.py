"""Structure of the source: no import circles, no results in what threads share."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest
from tests.contracts.test_names import EXECUTION, functions

MOST_FILES = 30  # in a folder
MOST_PARAMETERS = 12  # besides those of execution
# Estimators and selectors, whose constructors list their parameters, as scikit-learn has it.
CONSTRUCTED = ("estimators", "selection")
# Functions that commands are made from: a parameter is an option.
COMMANDS = (
    *("duramen.connectome", "duramen.context", "duramen.exact", "duramen.network", "duramen.rank"),
    *("duramen.read", "duramen.pack", "analyses/rank.py: rank"),
    *("analyses/connectome.py: connectome", "analyses/context.py: context"),
    *("analyses/exact.py: exact", "analyses/network.py: network", "reading/tables.py: read"),
    *("analyses/pack.py: pack", "io/store/packing.py: pack_table"),  # which calls the other
)


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


def test_folders_are_small(root: Path) -> None:
    """At most 30 files of source, or pages, in a folder."""
    counts = Counter(
        path.parent.relative_to(root).as_posix()
        for top in ("src", "cpp", "tests", "benchmarks", "tools", "docs")
        for path in (root / top).rglob("*")
        if path.suffix in (".py", ".hpp", ".cpp", ".md")
    )
    assert len(counts) > 50
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}


def test_memory_is_asked_for_in_one_place(root: Path) -> None:
    """GCC leaves out calls of functions that only prefetch; `prefetch_line` prevents that."""
    users = [
        path.relative_to(root / "cpp").as_posix()
        for path in (root / "cpp").rglob("*")
        if path.is_file() and "__builtin_prefetch" in path.read_text(encoding="utf-8")
    ]
    assert users == ["processor.hpp"]


def test_benchmarks_are_described(root: Path) -> None:
    """benchmarks/README.md lists the commands, but for memory, which is the process of a peer."""
    text = (root / "benchmarks" / "README.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^python -m (benchmarks[\w.]+)", text, re.MULTILINE))
    programs = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__main__")
        for path in (root / "benchmarks").rglob("*.py")
        if "__main__" in f"{path.name} {path.read_text(encoding='utf-8')}"
    }
    assert described == programs - {"benchmarks.speed.memory"}


def test_commands_of_benchmarks_exist(root: Path) -> None:
    """Those that pages, docstrings and programs name."""
    texts = {
        path: path.read_text(encoding="utf-8")
        for top in (".", "docs", "benchmarks", "src", "tests")
        for suffix in ("md", "py")
        for path in (root.glob("*.md") if top == "." else (root / top).rglob(f"*.{suffix}"))
    }
    named = {
        (path.name, module)
        for path, text in texts.items()
        for module in re.findall(r"-m\s+(benchmarks\.[\w.]*\w)", text)
    }
    assert len(named) > 100
    missing = [
        (name, module)
        for name, module in sorted(named)
        if not (root / module.replace(".", "/")).with_suffix(".py").is_file()
        and not (root / module.replace(".", "/") / "__main__.py").is_file()
    ]
    assert missing == []


def functions_of(source: str) -> Iterator[tuple[str, list[str]]]:
    """Name and parameters of every function of a module, those of classes and functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            signature = node.args
            arguments = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs]
            yield node.name, [argument.arg for argument in arguments]


def long_signatures(files: dict[str, str]) -> dict[str, int]:
    """Functions with more than 12 parameters besides those of execution, by file and name."""
    counts = {
        f"{file}: {name}": len(set(parameters) - {*EXECUTION, "self", "cls"})
        for file, source in files.items()
        for name, parameters in functions_of(source)
        if not (name == "__init__" and file.split("/")[0] in CONSTRUCTED)
    }
    return {name: count for name, count in counts.items() if count > MOST_PARAMETERS}


def test_signatures_are_short(root: Path) -> None:
    source = root / "src" / "duramen"
    files = {
        path.relative_to(source).as_posix(): path.read_text(encoding="utf-8")
        for path in source.rglob("*.py")
    }
    assert len(files) > 300
    assert long_signatures(files).keys() == {name for name in COMMANDS if ":" in name}


def test_signatures_that_users_see_are_short() -> None:
    longer = [
        name
        for name, parameters in functions().items()
        if len(set(parameters) - set(EXECUTION)) > MOST_PARAMETERS and name not in COMMANDS
    ]
    assert longer == []


def test_long_signatures_are_seen() -> None:
    names = [f"p{i}" for i in range(12)]
    short = f"def f(self, {', '.join(names)}, *, n_jobs, verbose): ..."
    longer = f"class A:\n    def __init__(self, {', '.join(names)}, *, one_more): ..."
    assert long_signatures({"a.py": short}) == {}
    assert long_signatures({"a.py": longer}) == {"a.py: __init__": 13}
    assert long_signatures({"selection/a.py": longer}) == {}
