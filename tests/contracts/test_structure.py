"""Structure of the source: no import circles, no results in what threads share."""

import ast
import re
from collections import Counter
from pathlib import Path

import grimp
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from tests.contracts.sources import trees
from tests.contracts.test_names import EXECUTION

MOST_FILES = 30  # in a folder
MOST_PARAMETERS = 12  # besides those of execution
# Estimators and selectors, whose constructors list their parameters, as scikit-learn has it.
CONSTRUCTED = ("estimators", "selection")
# Functions that commands are made from: a parameter is an option.
COMMANDS = (
    "analyses/rank.py: rank",
    *("analyses/connectome.py: connectome", "analyses/context.py: context"),
    *("analyses/network.py: network", "reading/tables.py: read"),
    *("analyses/pack.py: pack", "io/store/packing.py: pack_table"),  # which calls the other
)


def import_circles() -> list[set[str]]:
    """Sets of files that import each other, at any depth, under TYPE_CHECKING or in a function."""
    graph = grimp.build_graph("duramen", cache_dir=None)
    files = graph.modules - {"duramen"}  # the root lists all public names for type checkers
    place = {file: number for number, file in enumerate(sorted(files))}
    pairs = [
        (place[file], place[other])
        for file in files
        for other in graph.find_modules_directly_imported_by(file) & files
    ]
    edges = csr_array((np.ones(len(pairs)), np.array(pairs).T), shape=(len(files), len(files)))
    n_components, label = connected_components(edges, connection="strong")
    circles: list[set[str]] = [set() for _ in range(n_components)]
    for file, number in place.items():
        circles[label[number]].add(file.removeprefix("duramen."))
    return [circle for circle in circles if len(circle) > 1]


def test_no_import_circles() -> None:
    assert import_circles() == []


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


def test_questions_are_answered_by_files_and_names_that_exist(root: Path) -> None:
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    answers = re.findall(r"^\| Where .*\? \| (.*) \|$", text, re.MULTILINE)
    assert len(answers) == 10
    for answer in answers:
        for file, name in re.findall(r"`(src/[\w/]+\.py)`, `(\w+)`", answer):
            assert re.search(rf"^ *def {name}\b|^ +{name}:", (root / file).read_text(), re.M), name
        files = re.findall(r"`(src/[\w/]+\.py)`", answer)
        assert files
        assert all((root / file).is_file() for file in files)


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


def long_signatures(trees: dict[str, ast.Module]) -> dict[str, int]:
    """Functions with more than 12 parameters besides those of execution, by file and name."""
    counts = {
        f"{file}: {node.name}": len(
            {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
            - {*EXECUTION, "self", "cls"}
        )
        for file, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and not (node.name == "__init__" and file.split("/")[0] in CONSTRUCTED)
    }
    return {name: count for name, count in counts.items() if count > MOST_PARAMETERS}


def test_signatures_are_short() -> None:
    assert len(trees()) > 200
    assert long_signatures(trees()).keys() == {*COMMANDS}
