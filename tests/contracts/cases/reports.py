"""Reports: the numbers in their tables and the number of their figures, not their words."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.contracts.inputs import classes, forest, mixed, table
from tests.contracts.registry import case

from duramen import importances, reports
from duramen.theory import examples

_NUMBER = re.compile(r"^[<>≤≥ ]*[-−]?\d[\d,.]*(e[-−]?\d+)?%?$")


def run(**options: Any) -> Any:
    """A record of a run, without anything that a machine decides."""
    return reports.Run(
        **{
            "command": "duramen",
            "task": "classification",
            "target": "y",
            "file": "t.csv",
            "n_rows": 48,
            "n_features": 5,
            "seed": 1,
            "settings": {
                "max_features": 1,
                "max_depth": None,
                "cut": "random",
                "splits": "multiway",
                "level": 0.0,
            },
            "versions": {},
            "results": {
                "oob_error": 0.25,
                "information": 1.25,
                "impurity": 1.5,
                "distinct_rows": 9,
            },
            **options,
        }
    )


def read(report: Any) -> Any:
    """The numbers in the cells of a report's tables, and how many figures and tables it has."""
    page = reports.render(report)
    cells = [
        re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", page, re.S)
    ]
    numbers = [cell for cell in cells if _NUMBER.match(cell)]
    return (numbers, page.count("<svg"), page.count("<table"))


@case("reports/ranking", reports.Report, reports.Run)
def _ranking() -> Any:
    mdi = importances.mdi(forest(), by_degree=True)
    mda = importances.mda(forest(), table(), classes(), random_state=1)
    return read(reports.summarise(mdi, run(), others=[mda], oob_errors=[0.5, 0.4, 0.25], n_rows=4))


@case("reports/record", reports.Run)
def _record() -> Any:
    dist = examples.xor()
    record = json.loads(run(results={"n": dist.n_rows}, classes={"a": 3}).to_json())
    return (record["results"], record["classes"], record["n_rows"], mixed().shape)
