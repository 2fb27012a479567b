"""Commands without what takes most of their time, and is tested elsewhere."""

import pytest
from tests.cli.commands import undrawn


@pytest.fixture(autouse=True)
def _quick(monkeypatch, request, tmp_path):
    """Leave figures undrawn, describe three features, and ask few trees how many are needed.

    Figures are drawn by tests/reports, by the commands of the guide and of tests/faults, and by
    those that tests here run as programs, or give hostile names. The effects of twenty features,
    which take as long as the rest of a short command, are described by tests/effects,
    tests/analyses and the commands of the guide. Forests of fewer than 40 trees do not say how many
    a ranking needs. Commands write to a folder of the test, since one of another test, in another
    process, may be in use.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("duramen.analyses.ranking.precision._LEAST_TREES", 40)
    monkeypatch.setattr("duramen.analyses.ranking.effects.DESCRIBED", 3)
    if "hostile" not in request.node.name:
        monkeypatch.setattr("duramen.reports.report.svg", undrawn)
