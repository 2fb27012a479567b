"""Bounds on the weight of one call of `duramen.rank`: a step that adds layers has to say why."""

import runpy
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "weight.py"
MOST = {
    "functions": 353,  # with methods for a paper, percentages by rows, figures of rows, dates
    "files": 63,
    "kinds of dataclass": 25,
    "frames above the kernel": 12,
}


def test_a_ranking_is_no_heavier():
    weight = runpy.run_path(str(TOOL))["weigh"]()
    assert {what: number for what, number in weight.items() if number > MOST[what]} == {}
