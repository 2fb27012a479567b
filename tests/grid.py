"""Grids of small cases run as one test: pytest spends more on a test than many a case takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from _pytest.mark import Mark, ParameterSet

SHOWN = 10  # failures that are shown in full


def one_test(function: Callable[..., None]) -> Callable[..., None]:
    """Turn the cases of the ``parametrize`` marks below into one test that runs them all.

    A case that fails does not keep the others from running; the error names each that failed. The
    marks keep their form: without this line, each case is a test again. ``tmp_path`` is another
    folder for each case, ``monkeypatch`` is undone after it, and ``capsys`` starts empty.
    """
    grids = [mark for mark in function.pytestmark if mark.name == "parametrize"]
    cases = list(product(*(list(_cases(mark)) for mark in grids)))
    signature = inspect.signature(function)
    options = {name for case in cases for _, part in case for name in part}
    fixtures = [p for name, p in signature.parameters.items() if name not in options]

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        failures = []
        for number, case in enumerate(cases):
            try:
                values = {name: value for _, part in case for name, value in part.items()}
                _run(functools.partial(function, *args, **values), kwargs, number)
            except pytest.skip.Exception as error:
                raise RuntimeError("one_test: a case was skipped; keep each a test") from error
            except (Exception, pytest.fail.Exception) as error:
                error.add_note("the case: " + ", ".join(label for label, _ in case))
                failures.append(error)
        if failures:
            text = f"{len(failures)} of {len(cases)} cases of {function.__name__} failed"
            raise BaseExceptionGroup(text, failures[:SHOWN])

    run.__signature__ = signature.replace(parameters=fixtures)
    run.pytestmark = [mark for mark in function.pytestmark if mark not in grids]
    return run


def _run(case: Callable[..., None], fixtures: dict[str, Any], number: int) -> None:
    """Run one case, apart from what the others leave in the fixtures of pytest."""
    own = dict(fixtures)
    if "tmp_path" in own:
        own["tmp_path"] = fixtures["tmp_path"] / str(number)
        own["tmp_path"].mkdir()
    if "capsys" in own:
        own["capsys"].readouterr()
    if "monkeypatch" in own:
        with fixtures["monkeypatch"].context() as own["monkeypatch"]:
            case(**own)
    else:
        case(**own)


def _cases(mark: Mark) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a name and the arguments of each case of a mark."""
    names, values = mark.args
    if mark.kwargs.keys() - {"ids"}:
        raise ValueError(f"one_test: parametrize takes ids alone, got {sorted(mark.kwargs)}")
    names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
    for value in values:
        case = ParameterSet.extract_from(value, force_tuple=len(names) == 1)
        if case.marks:
            raise ValueError("one_test: a case has marks of its own; keep it a test of its own")
        arguments = dict(zip(names, case.values, strict=True))
        label = ", ".join(f"{name}={_shown(value)}" for name, value in arguments.items())
        yield str(case.id or label), arguments


def _shown(value: Any) -> str:
    """Show a value on a line; a function by its name, or by its line if it has none."""
    text = getattr(value, "__name__", None) or repr(value)
    if text == "<lambda>":
        text += f" of line {value.__code__.co_firstlineno}"
    return text if len(text) <= 60 else text[:57] + "..."
