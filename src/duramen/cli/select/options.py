"""Options of `duramen select`: those of each method are made from its record."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any

from duramen.analyses.defaults import SELECTOR
from duramen.cli.declaration import choice, group, option
from duramen.cli.options import Printed, Strata, Work
from duramen.cli.sampling import SampledInput
from duramen.cli.signals import Clustering
from duramen.selection.records import Option, catalogue

COMMAND = "select"


def _field(one: Option) -> tuple[str, Any, Any]:
    """Return the name, the type and the declaration of an option of a method."""
    if one.choices:
        declared = choice(one.default, one.choices, one.help)
    else:
        declared = option(
            one.default,
            one.help,
            parameter=one.parameter,
            echo="always" if one.on_record else "never",
            metavar=None if one.kind is bool else one.metavar,
            min=one.least,
            max=one.most,
        )
    return one.name, one.kind if one.default is not None else one.kind | None, declared


_OPTIONS = {one.name: one for record in catalogue for one in record.options}
Search: Any = make_dataclass(
    "Search", [_field(one) for one in _OPTIONS.values()], frozen=True, kw_only=True
)
"""Parameters of selectors; each takes those that it has."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen select`."""

    input: SampledInput = group(SampledInput, "Data")
    method: str = choice(SELECTOR, catalogue, "Selector.", echo="changed", section="Search")
    search: Search = group(Search, "Search")
    rows: Strata = group(Strata, "Permutations")
    signals: Clustering = group(Clustering, "Correlated features")
    work: Work = group(Work, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-select"))
    typed: frozenset[str] = frozenset()
