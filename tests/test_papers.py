"""What the papers print, and verdicts that notice a wrong digit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.papers.__main__ import ENTRIES, HEAD, section
from benchmarks.papers.entries import Entry, Value

PAGE = Path(__file__).resolve().parent.parent / "docs" / "papers.md"
COMPUTED: dict[str, list[Value]] = {}


def values(entry: Entry) -> list[Value]:
    """Values of an entry, computed once."""
    if entry.name not in COMPUTED:
        COMPUTED[entry.name] = list(entry.values())
    return COMPUTED[entry.name]


def names(entry: Entry) -> str:
    return entry.name


@pytest.mark.parametrize("entry", ENTRIES, ids=names)
def test_every_value_agrees(entry: Entry) -> None:
    assert [value for value in values(entry) if not value.agrees()] == []


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.exact], ids=names)
def test_a_wrong_last_digit_is_noticed(entry: Entry) -> None:
    exact = [value for value in values(entry) if value.how in ("rounded", "cut")]
    assert exact
    for value in exact:
        wanted = value.corrected or value.printed
        for digit in "0123456789":
            if digit != wanted[-1]:
                assert not value.agrees(wanted[:-1] + digit), value


def test_a_printed_value_that_is_wrong_is_not_taken_for_ours() -> None:
    wrong = [value for entry in ENTRIES for value in values(entry) if value.erratum]
    assert len(wrong) >= 5
    for value in wrong:
        assert not replace(value, corrected="").agrees(), value


def test_the_page_is_what_the_command_writes() -> None:
    lines = [*HEAD]
    for entry in ENTRIES:
        lines += section(entry, values(entry))
    assert PAGE.read_text(encoding="utf-8") == "\n".join(lines).rstrip() + "\n"
