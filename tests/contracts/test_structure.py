"""Structure of the source: no import circles, and pages that describe what is there."""

import re
from pathlib import Path

import grimp
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components


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
    """Commands are named by pages, docstrings and programs."""
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
