"""Pages of the reference: one for each public name, package and command.

They are written to docs/reference before Sphinx reads the sources, from the `__all__` of the
packages, as the tests of public names read them: a name that is public has a page without anything
to add here. A name that several packages export has one page, under the shortest of its paths.
"""

from __future__ import annotations

import importlib
import inspect
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from tests.contracts.test_names import packages, public

from _site import commands

FOLDER = Path(__file__).resolve().parents[1] / "reference"


def constants(classes: dict[str, Any]) -> dict[str, Any]:
    """Return the public names that are neither functions, classes nor packages."""
    values: dict[int, tuple[str, Any]] = {}
    for package in packages():
        for name in getattr(package, "__all__", ()):
            value = getattr(package, name)
            module = inspect.ismodule(value)
            if not module and not any(value is thing for thing in classes.values()):
                values.setdefault(id(value), (f"{package.__name__}.{name}", value))
    return dict(values.values())


def title(text: str, mark: str = "=") -> list[str]:
    return [text, mark * len(text), ""]


def summary(thing: Any) -> str:
    """Return the first sentence of a docstring."""
    paragraph = (inspect.getdoc(thing) or "").split("\n\n")[0]
    return " ".join(paragraph.split())


def page(path: str, thing: Any) -> str:
    """Return the page of a public name."""
    package, _, name = path.rpartition(".")
    if inspect.isclass(thing):
        directive = ["autoclass", ":members:", ":inherited-members: " + ", ".join(outside(thing))]
        if issubclass(thing, BaseException):
            directive = ["autoexception", ":members:"]
    else:
        directive = ["autofunction" if callable(thing) else "autodata"]
    lines = [*title(name), f".. currentmodule:: {package}", ""]
    lines += [f".. {directive[0]}:: {path}", *(f"   {option}" for option in directive[1:])]
    return "\n".join(lines) + "\n"


def outside(thing: type) -> list[str]:
    """Return the names of the bases of a class that are not of this package."""
    return [base.__name__ for base in thing.__mro__ if not base.__module__.startswith("duramen")]


def overview(package: Any, members: dict[str, Any]) -> str:
    """Return the page of a package: what it is, and a table of its names."""
    lines = [*title(package.__name__), f".. module:: {package.__name__}", "", summary(package), ""]
    lines += [".. list-table::", "   :widths: 35 65", ""]
    for path, thing in sorted(members.items(), key=lambda item: item[0].lower()):
        name = path.rpartition(".")[2]
        lines += [f"   * - :doc:`{name} <{path}>`", f"     - {summary(thing)}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   {path.rpartition('.')[2]} <{path}>" for path in sorted(members, key=str.lower)]
    return "\n".join(lines) + "\n"


def pages() -> Iterator[tuple[str, str]]:
    """Return the name and the text of every page of the reference."""
    callables = public()
    values = constants(callables)
    by_package: dict[str, dict[str, Any]] = defaultdict(dict)
    for path, thing in {**callables, **values}.items():
        by_package[path.rpartition(".")[0]][path] = thing
        yield path, page(path, thing)
    yield from commands.pages()
    modules = {name: importlib.import_module(name) for name in by_package}
    for name, members in by_package.items():
        yield f"package-{name}", overview(modules[name], members)
    lines = [*title("Reference"), "Every public name has a page, made from its docstring."]
    lines += [":doc:`Public names <../api>` lists them with their parameters,"]
    lines += [":doc:`commands <commands>` has all options of the command line.", ""]
    lines += [".. list-table::", "   :widths: 35 65", ""]
    for name in sorted(by_package):
        lines += [f"   * - :doc:`{name} <package-{name}>`", f"     - {summary(modules[name])}"]
    lines += ["", ".. toctree::", "   :hidden:", "", "   commands"]
    lines += [f"   {name} <package-{name}>" for name in sorted(by_package)]
    lines += ["   ../api"]
    yield "index", "\n".join(lines) + "\n"


def write(app: Sphinx) -> None:
    """Write the pages that changed, and remove those of names that are no longer public."""
    FOLDER.mkdir(exist_ok=True)
    current = dict(pages())
    for old in FOLDER.glob("*.rst"):
        if old.stem not in current:
            old.unlink()
    for name, text in current.items():
        file = FOLDER / f"{name}.rst"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before the sources are read."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
