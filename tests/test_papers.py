"""What the papers print, and verdicts that notice a wrong digit."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.papers.__main__ import ENTRIES, FIGURES, HEAD, cells, drawn, html, section
from benchmarks.papers.entries import Claim, Entry, Scale, Value

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "papers.md"
RESULTS = ROOT / "benchmarks" / "papers" / "results"
QUICK = [entry for entry in ENTRIES if entry.compute is None]
LONG = [entry for entry in ENTRIES if entry.compute is not None]
COMPUTED: dict[str, list[Value | Claim]] = {}


def values(entry: Entry) -> list[Value | Claim]:
    """Values of an entry, computed once; of those that take long, from the saved results."""
    if entry.name not in COMPUTED:
        if entry.compute is not None:
            assert (RESULTS / f"{entry.name}.json").exists(), entry.name
        COMPUTED[entry.name] = list(entry.values(*entry.outcome(Scale(ROOT), RESULTS)))
    return COMPUTED[entry.name]


def names(entry: Entry) -> str:
    return entry.name


@pytest.mark.parametrize("entry", ENTRIES, ids=names)
def test_every_value_agrees(entry: Entry) -> None:
    assert [value for value in values(entry) if not value.agrees()] == []


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.exact], ids=names)
def test_a_wrong_last_digit_is_noticed(entry: Entry) -> None:
    printed = [value for value in values(entry) if isinstance(value, Value)]
    assert printed
    for value in printed:
        field = "corrected" if value.corrected else "printed"
        wanted = getattr(value, field)
        place = len(wanted) - 1 if value.how == "above" else len(wanted.partition("e")[0]) - 1
        for digit in "0123456789":
            if digit != wanted[place]:
                wrong = f"{wanted[:place]}{digit}{wanted[place + 1 :]}"
                assert replace(value, **{field: wrong}).verdict() == "DIFFERS", value


def test_a_printed_value_that_is_wrong_is_not_taken_for_ours() -> None:
    wrong = [
        value
        for entry in QUICK
        for value in values(entry)
        if isinstance(value, Value) and value.erratum
    ]
    assert len(wrong) >= 5
    for value in wrong:
        assert not replace(value, corrected="").agrees(), value


def test_a_tolerance_ends() -> None:
    near = Value("x", "0.50", 0.52, tolerance=0.02)
    assert near.agrees()
    assert near.verdict() == "within 0.02"
    assert not replace(near, ours=0.5201).agrees()
    assert not replace(near, ours=math.nan).agrees()


def test_a_difference_above_the_tolerance_may_be_due_to_chance() -> None:
    far = Value("x", "0.50", 0.55, tolerance=0.02)
    assert far.verdict() == "DIFFERS"
    assert replace(far, error=0.045).verdict() == "within chance"
    assert replace(far, error=0.035).verdict() == "DIFFERS"
    assert replace(far, ours=0.51, error=0.045).verdict() == "within 0.02"


def test_a_claim_holds_or_its_opposite_does() -> None:
    above = Claim("x", 0.1, ">", 0)
    assert (above.agrees(), above.verdict()) == (True, "holds")
    assert not replace(above, ours=0.0).agrees()
    assert not replace(above, relation="<").agrees()
    opposite = replace(above, ours=-0.1, exception="explanation/experiments/srs.md")
    assert opposite.agrees()
    assert opposite.verdict() == "does not hold: [why](explanation/experiments/srs.md)"
    assert not replace(above, exception="explanation/experiments/srs.md").agrees()
    assert not replace(above, ours=math.nan).agrees()
    assert not replace(opposite, ours=math.nan).agrees()


def test_the_page_is_what_the_command_writes() -> None:
    lines = [*HEAD]
    for entry in ENTRIES:
        lines += section(entry, values(entry))
    assert PAGE.read_text(encoding="utf-8") == "\n".join(lines).rstrip() + "\n"


def test_every_figure_is_there_and_no_other() -> None:
    figures = {path.stem for path in (PAGE.parent / FIGURES).glob("*.png")}
    assert figures == {entry.name for entry in ENTRIES if entry.draw is not None}


def test_the_page_as_one_file(tmp_path: Path) -> None:
    entry = next(entry for entry in QUICK if entry.name == "thesis-figure-3-8")
    drawn(entry, (), tmp_path / FIGURES)
    page = html("\n".join(section(entry, values(entry))), tmp_path)
    assert 'src="data:image/png;base64,iVBOR' in page
    assert page.count("<td>") == 4 * len(values(entry))
    assert ".png" not in page


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", LONG, ids=names)
def test_long_entries_at_a_tiny_size(entry: Entry, shared_data: Path, tmp_path: Path) -> None:
    """They compute, state values that can be compared, and draw; the verdicts need more."""
    (outcome,) = entry.outcome(Scale(shared_data, "tiny"), tmp_path)
    results = list(entry.values(outcome))
    assert results
    for value in results:
        assert len(cells(value)) == 4
    drawn(entry, (outcome,), tmp_path)
    assert entry.outcome(Scale(shared_data, "tiny"), tmp_path) == (outcome,)
