"""Commands without what takes most of their time, and is tested elsewhere."""

import functools

import pytest
import typer.testing
from markupsafe import escape

command_of = functools.cache(typer.testing._get_command)


@pytest.fixture(autouse=True)
def _quick(monkeypatch, request):
    """Parse options with one command for all tests, and leave the figures of reports undrawn.

    A figure is an empty element that holds its text. The figures themselves are drawn by
    tests/reports, by every command of tests/contracts/cases and of the guide, and by those that
    tests here run as programs, or that give hostile names.
    """
    monkeypatch.setattr(typer.testing, "_get_command", command_of)
    if "hostile" not in request.node.name:
        monkeypatch.setattr("duramen.reports.figures.draw", undrawn)


def undrawn(plot, *, text, **_):
    return f'<svg role="img"><title>{escape(text)}</title></svg>'
