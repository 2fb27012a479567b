"""Names of the public functions: one meaning each, and no module hidden by a function."""

from __future__ import annotations

import inspect
import pkgutil
import pydoc
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.contracts.public import exported, packages, public

import duramen

EXECUTION = ("random_state", "n_jobs", "client", "checkpoint", "verbose")


def functions() -> dict[str, list[str]]:
    """Parameters of the public functions, but for those that collect any others."""
    return {
        name: [one.name for one in signature(f) if one.kind is not one.VAR_KEYWORD]
        for name, f in public().items()
        if inspect.isfunction(f)
    }


def signature(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def test_no_function_hides_a_module() -> None:
    hidden = [
        f"{package.__name__}.{module.name}"
        for package in packages()
        for module in pkgutil.iter_modules(package.__path__)
        if not inspect.ismodule(getattr(package, module.name, inspect))
    ]
    assert hidden == []


def undocumented(listed: str) -> list[str]:
    """Names of the packages that the list of public names, with code in backticks, lacks."""
    return [
        f"{package}.{name}"
        for package, name, thing in exported()
        if not inspect.ismodule(thing)
        and not re.search(rf"`(?:(?:dm|duramen)\.)?(?:\w+\.)*{re.escape(name)}\b", listed)
    ]


def test_public_names_are_documented_and_no_others_are_public(root: Path) -> None:
    listed = (root / "docs" / "api.md").read_text(encoding="utf-8")
    assert undocumented(listed) == []
    assert "duramen.genie3" in undocumented(listed.replace("genie3", ""))


def test_documented_names_are_public(root: Path) -> None:
    listed = (root / "docs" / "api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:dm|duramen)\.((?:\w+\.)*\w+)", listed))
    assert len(named) > 150
    assert sorted(path for path in named if not is_public(path)) == []
    assert not is_public("data.encode_target")
    assert not is_public("genie4")


def is_public(path: str) -> bool:
    """Tell whether packages export a dotted name, or a class has it."""
    thing: Any = duramen
    for part in path.split("."):
        inside = getattr(thing, part, None)
        exported = getattr(thing, "__all__", None) if inspect.ismodule(thing) else None
        if exported is not None and part not in exported and not inspect.ismodule(inside):
            return False
        if inside is None and part not in getattr(thing, "__dataclass_fields__", {}):
            return False
        thing = inside
    return True


def test_results_with_a_frame_can_be_saved() -> None:
    framed = {name: thing for name, thing in public().items() if hasattr(thing, "to_frame")}
    assert framed
    assert [name for name, thing in framed.items() if not hasattr(thing, "save")] == []
    assert [name for name, thing in framed.items() if not hasattr(thing, "load")] == []


def test_documentation_says_which_parameters_of_execution_functions_lack(root: Path) -> None:
    """Of those that repeat seeded work on threads, or on a cluster, or from a checkpoint."""
    text = (root / "docs" / "api.md").read_text(encoding="utf-8")
    section = text.partition("Functions that lack some of them")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*?) \| \S", section, re.MULTILINE)
    documented = {
        name: set(re.findall(r"`(\w+)`", lacking))
        for functions_named, lacking in rows
        for name in re.findall(r"`dm\.([\w.]+)`", functions_named)
    }
    repeated = {
        name.removeprefix("duramen."): set(EXECUTION) - set(names)
        for name, names in functions().items()
        if {"random_state", "n_jobs"} <= set(names) or "client" in names or "checkpoint" in names
    }
    assert documented == {name: lacking for name, lacking in repeated.items() if lacking}


TYPED = ("X", "data", "random_state", "source", "y")


def signatures() -> Iterator[tuple[str, inspect.Signature]]:
    """Public functions, and public methods of public classes, with their names."""
    for name, thing in public().items():
        of_class = vars(thing).items() if inspect.isclass(thing) else ()
        methods = {f"{name}.{key}": value for key, value in of_class if not key.startswith("_")}
        for key, function in {name: thing, **methods}.items():
            if inspect.isfunction(function):
                yield key, inspect.signature(function)


def test_an_editor_is_told_the_types_of_tables_targets_and_seeds() -> None:
    untyped = [
        f"{name}: {one}"
        for name, signature in signatures()
        for one in map(signature.parameters.get, TYPED)
        if one is not None and "Any" in str(one.annotation).split(" | ")
    ]
    assert untyped == []


def test_docstrings_name_no_file_of_the_repository() -> None:
    texts = {name: thing.__doc__ or "" for name, thing in public().items()}
    assert [name for name, text in texts.items() if re.search(r"\bdocs/\S+\.md", text)] == []


def test_a_screen_shows_what_rank_does_before_its_parameters() -> None:
    text = pydoc.plain(pydoc.render_doc(duramen.rank)).partition("Parameters\n")[0]
    assert sum(-(-max(1, len(line)) // 80) for line in text.splitlines()) <= 25
