"""Printed values of the papers, and comparisons that notice a wrong digit."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.papers import __main__ as papers
from benchmarks.papers import connectome, documents
from benchmarks.papers.__main__ import ABSENT, ENTRIES, FIGURES, HEAD, cells, drawn, html, section
from benchmarks.papers.entries import DATA, DOCUMENTS, Claim, Entry, Scale, Value

import duramen as dm

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
    printed = printed_of(entry)
    assert printed
    for value in printed:
        field = "corrected" if value.corrected else "printed"
        for wrong in mutations(value, getattr(value, field)):
            changed = replace(value, **{field: wrong})
            assert value.needs or changed.verdict() == "DIFFERS", value


def printed_of(entry: Entry) -> list[Value]:
    return [value for value in values(entry) if isinstance(value, Value)]


def mutations(value: Value, wanted: str) -> list[str]:
    """The text of a value with each other last digit."""
    place = len(wanted) - 1 if value.how == "above" else len(wanted.partition("e")[0]) - 1
    digits = set("0123456789") - {wanted[place]}
    return [f"{wanted[:place]}{digit}{wanted[place + 1 :]}" for digit in sorted(digits)]


def passage(entry: Entry) -> Counter[str]:
    """Numbers between the lines of the document that an entry names."""
    assert entry.lines is not None, entry.name
    document, first, last = entry.lines
    (file,) = (ROOT.parent / "shared" / "papers").glob(f"{DOCUMENTS[document]}*.txt")
    text = file.read_text(encoding="utf-8")
    if text.startswith("{"):
        text = json.loads(text)["full_text"]
    text = "\n".join(text.split("\n")[first - 1 : last])
    if document == "slides":
        text = re.sub(r"(\d),(\d{3})\b", r"\1.\2", text)  # decimal commas
    if document == "Paul":
        text = re.sub(r"(?<![.\d])0(\d\d)\b", r"0.\1", text)  # points lost by the extraction
    text = re.sub(r"(?:(\d) \\cdot |(?<!\d))10\^\{?(\d+)\}?", lambda m: f"{m[1] or 1}e{m[2]}", text)
    return Counter(re.findall(r"-?\d+(?:\.\d+)?(?:e\d+)?", text))


@pytest.mark.shared
@pytest.mark.parametrize("entry", ENTRIES, ids=names)
def test_each_typed_value_is_printed_where_it_says(entry: Entry) -> None:
    """Any other last digit is noticed: by its verdict, or as it is not printed there, or not as
    often."""
    beside = [other for other in ENTRIES if entry.lines and other.lines == entry.lines]
    typed = Counter(value.printed for other in beside for value in printed_of(other))
    if not printed_of(entry):
        assert entry.lines is None
        return
    there = passage(entry)
    assert sorted(set(typed) - set(there)) == []
    for value in printed_of(entry):
        for wrong in mutations(value, value.printed):
            noticed = typed[wrong] + 1 > there[wrong] or (
                replace(value, printed=wrong).verdict() == "DIFFERS"
            )
            assert noticed, (value, wrong)


@pytest.mark.parametrize("entry", ENTRIES, ids=names)
def test_a_tolerance_has_its_reason(entry: Entry) -> None:
    loose = [value for value in printed_of(entry) if value.tolerance or value.error]
    assert bool(loose) == bool(entry.tolerance)


def test_headings_count_exceptions_and_errata_apart() -> None:
    good, statement = Value("x", "1", 1.0), Claim("x", 1.0, ">", 0)
    wrong = Value("x", "2", 1.0, erratum="context", corrected="1")
    other = Value("x", "2", 1.0, exception="papers.md")
    absent = Value("x", "2", math.nan, needs="prostate")
    assert [value.agrees() for value in (good, wrong, other, absent)] == [True] * 4
    assert not replace(other, ours=2.0).agrees()
    assert papers.tally([good, wrong, other, absent]) == (
        "1 of 3 printed values agree, 1 is wrong in print, 1 is different here, "
        "1 more needs [data](#absent-data) that are absent (prostate)."
    )
    opposite = Claim("x", 0.0, ">", 1, exception="papers.md")
    assert papers.tally([statement, statement, opposite]) == "2 of 3 statements hold."


def test_a_clone_without_data_computes_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["slides-draws", "paul-table-1", "--data", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["papers", *asked])
    assert papers.main() == 0
    printed = capsys.readouterr().out
    assert "trees to find it | 40812" in printed
    for name in ("shipp-dlbcl", "golub-leukemia"):
        assert f"{tmp_path / name} ({DATA[name]})" in printed
    assert "paul-table-1 --data FOLDER" in printed
    assert "2 entries, 1 left out, 0 values differ" in printed
    monkeypatch.setattr("sys.argv", ["papers", "thesis-table-8-a-1", "--full", *asked[2:]])
    assert papers.main() == 0
    assert "thesis-table-8-a-1 --full --data FOLDER" in capsys.readouterr().out


def test_recordings_of_the_challenge_are_read(tmp_path: Path) -> None:
    folder = tmp_path / connectome.RECORDINGS
    folder.mkdir()
    np.savetxt(folder / "fluorescence_normal-3.txt", [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], "%g", ",")
    np.savetxt(folder / "network_normal-3.txt", [[1, 2, 1], [3, 1, -1], [3, 2, 1]], "%g", ",")
    frames, links = connectome.recording(Scale(tmp_path, "full"))
    assert frames.shape == (2, 3)
    assert np.argwhere(links).tolist() == [[0, 1], [2, 1]]


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
    lines += ABSENT
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


def test_every_item_of_the_documents_has_a_place_and_a_test() -> None:
    rows = documents.inventory()
    assert {row["document"] for row in rows} == set(DOCUMENTS) == set(documents.TITLES)
    headings: dict[str, set[str]] = {}
    for row in rows:
        assert all(cell.strip() for cell in row.values()), row
        assert (ROOT / row["test"]).is_file(), row
        answered = bool(documents.limit(row))
        for name in re.findall(r"\bdm((?:\.\w+)+)", row["where"]):
            found = dm
            for part in name[1:].split("."):
                found = getattr(found, part)
            answered = True
        for path, _, anchor in re.findall(r"docs/(\S+\.md)(#(\S+))?", row["where"]):
            if path not in headings:
                text = (ROOT / "docs" / path).read_text(encoding="utf-8")
                titles = re.findall(r"^#+ (.*)", text, re.MULTILINE)
                headings[path] = {
                    re.sub(r"[^\w\s-]", "", title.lower()).replace(" ", "-") for title in titles
                }
            assert not anchor or anchor in headings[path], row
            answered = True
        assert answered, row
    assert documents.PAGE.read_text(encoding="utf-8") == documents.page()


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
