"""Commands without what takes most of their time, and is tested elsewhere."""

import pytest
from tests.cli.commands import undrawn


@pytest.fixture(autouse=True)
def _quick(monkeypatch, request):
    """Leave the figures of reports undrawn.

    They are drawn by tests/reports, by the commands of the guide and of tests/faults, and by those
    that tests here run as programs, or give hostile names.
    """
    if "hostile" not in request.node.name:
        monkeypatch.setattr("duramen.reports.report.svg", undrawn)
