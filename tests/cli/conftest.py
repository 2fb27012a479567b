"""Commands without what takes most of their time, and is tested elsewhere."""

import pytest
from tests.cli.commands import undrawn


@pytest.fixture(autouse=True)
def _quick(monkeypatch, request):
    """Leave the figures of reports undrawn, and describe the effects of three features.

    They are drawn by tests/reports, by the commands of the guide and of tests/faults, and by those
    that tests here run as programs, or give hostile names. The effects of twenty features, which
    take as long as the rest of a short command, are described by tests/effects, tests/analyses and
    the commands of the guide.
    """
    monkeypatch.setattr("duramen.analyses.ranking.description.DESCRIBED", 3)
    if "hostile" not in request.node.name:
        monkeypatch.setattr("duramen.reports.figures.svg", undrawn)
