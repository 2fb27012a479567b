"""Examples in docstrings: they run, and no public name of the packages listed is without one."""

import doctest
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.grid import one_test

SOURCE = Path(__file__).resolve().parents[2] / "src"
MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]
# Analyses with their defaults and others that take seconds.
LONG = [
    "duramen.analyses.rank",
    "duramen.analyses.select",
    "duramen.significance.conditional_tests.conditional",
]
# Packages whose public functions and classes all have an example.
COMPLETE = [
    "duramen.contexts",
    "duramen.data",
    "duramen.datasets",
    "duramen.findings",
    "duramen.importances",
    "duramen.io",
    "duramen.plots",
    "duramen.significance",
    "duramen.theory.distributions",
    "duramen.theory.distributions.examples",
    "duramen.theory.distributions.specification",
    "duramen.theory.population",
    "duramen.theory.dependence",
    "duramen.theory.samples",
    "duramen.theory.subspaces",
]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in MODULES],
)
def test_examples_of_module(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    result = doctest.testmod(importlib.import_module(name), verbose=False)
    assert result.attempted > 0
    assert result.failed == 0, capsys.readouterr().out


@one_test
@pytest.mark.parametrize("name", COMPLETE)
def test_public_names_have_an_example(name: str) -> None:
    assert [public for public, text in documented(name) if ">>> " not in text] == []


def documented(name: str) -> Iterator[tuple[str, str]]:
    module = importlib.import_module(name)
    for public in module.__all__:
        thing = getattr(module, public)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            yield public, thing.__doc__ or ""
