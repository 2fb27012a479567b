"""Sutera et al. (2018), sequential random subspace; thesis, chapter 7."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import duramen as dm
from benchmarks.papers.entries import Entry, Value

# (p, q, r), RS, SRS. A text that begins with > is exceeded, one with e is an order of magnitude.
CHAIN = [
    ((10_000, 100, 1), "100", "100"),
    ((10_000, 100, 2), "10100", "200"),
    ((10_000, 100, 3), ">1e6", "301"),
    ((10_000, 100, 5), ">1e10", "506"),
    ((100_000, 100, 3), ">1e9", "3028"),
]
CLIQUE = [
    ((10_000, 100, 1), "100", "100"),
    ((10_000, 100, 2), "30300", "10302"),
    ((10_000, 100, 3), "5e6", "1e6"),
    ((10_000, 100, 4), "9e8", "1e8"),
    ((10_000, 1000, 4), "83785", "11635"),
]
MARGINAL = [
    ((10_000, 100, 10), "291", "312"),
    ((10_000, 100, 50), "448", "757"),
    ((10_000, 100, 90), "506", "2797"),
    ((10_000, 100, 100), "1123", "16187"),
    ((25_000, 100, 50), "1123", "1900"),
]
WRONG = {("marginal", (10_000, 100, 100), 0): ("expected-numbers-of-trees", "516")}


def numbers(scenario: str, rows: list[tuple[tuple[int, int, int], str, str]]) -> Iterator[Value]:
    """Expected numbers of trees; printed ones are cut."""
    for (p, q, r), *printed in rows:
        for keep, text in enumerate(printed):
            ours = dm.theory.expected_trees(
                scenario, n_features=p, subspace=q, n_relevant=r, keep=keep
            )
            how: Literal["cut", "above", "about"] = "cut"
            if text.startswith(">"):
                how, text = "above", text[1:]
            elif "e" in text:
                how = "about"
            erratum, corrected = WRONG.get((scenario, (p, q, r), keep), ("", ""))
            name = f"p = {p}, q = {q}, r = {r}, {('RS', 'SRS')[keep]}"
            yield Value(name, text, ours, how, erratum=erratum, corrected=corrected)


ENTRIES = tuple(
    Entry(
        f"srs-table-1-{scenario}",
        f"Expected number of trees, {scenario}",
        f"Table 1{letter}; thesis, Table 7.3.1{letter}",
        lambda scenario=scenario, rows=rows: numbers(scenario, rows),  # type: ignore[misc]
    )
    for letter, scenario, rows in (
        ("a", "chain", CHAIN),
        ("b", "clique", CLIQUE),
        ("c", "marginal", MARGINAL),
    )
)
