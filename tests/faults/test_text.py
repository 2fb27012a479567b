"""Names and labels from files: none reaches a terminal, a page or an error message as it is."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import duramen
from tests.faults.hostile import (
    ANNOTATION,
    CONTEXT,
    KEY,
    LONG,
    NAMES,
    STRATA,
    TARGET,
    raw_characters,
    write_tables,
)

FEW = ("--trees", 5, "--jobs", 1)
TABLE, OF = "t.parquet", ("--target", TARGET)
DONE = {
    "rank": ("rank", TABLE, *OF, *FEW, "--strata", STRATA, "--permutations", 19),
    "rank by groups": (
        *("rank", TABLE, *OF, *FEW, "--drop", STRATA, "--drop", CONTEXT),
        *("--test", "conditional-error-rate", "--permutations", 20),
        *("--feature-groups", "groups.parquet"),
    ),
    "rank with samples": (
        *("rank", "named.parquet", "--target", ANNOTATION, *FEW, "--test", "none"),
        *("--samples", "samples.parquet", "--samples-id", KEY),
    ),
    "context": (
        *("context", TABLE, *OF, "--context", CONTEXT, *FEW, "--permutations", 20),
        *("--control", "none"),
    ),
    "genes": ("network", TABLE, *FEW, "--permutations", 2, "--regulators", LONG),
    "exact": ("exact", TABLE, *OF, "--drop", LONG, "--max-degree", 1),
    "select": ("select", TABLE, *OF, *FEW, "--relevance", "probe"),
    "pack": ("pack", TABLE),
    "plan": (
        *("plan", "--n-rows", 100, "--n-features", 1000),
        *("--memory", "100kB", "--relevant", "0:3"),
    ),
}
REFUSED = {
    "target": ("rank", TABLE, "--target", f"{NAMES[0]}\u202e"),
    "long target": ("rank", TABLE, "--target", LONG + "x"),
    "drop": ("rank", TABLE, *OF, "--drop", f"{NAMES[1]}x"),
    "strata": ("rank", TABLE, *OF, "--strata", LONG + "x"),
    "context": ("context", TABLE, *OF, "--context", f"{CONTEXT}x"),
    "feature_groups": (
        *("rank", TABLE, *OF, "--test", "conditional-error-rate"),
        *("--feature-groups", "samples.parquet"),
    ),
    "samples": ("rank", "named.parquet", "--target", ANNOTATION, "--samples", "groups.parquet"),
    "samples-id": (
        *("pack", "named.parquet", "--samples", "samples.parquet"),
        *("--samples-id", f"{KEY}x"),
    ),
    "file": ("rank", "\x1b[2J\u202e<b>.parquet", *OF),
    "extension": ("rank", "t.\x1b[2J\u202e", *OF),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    write_tables(place)
    return place


def assert_inert(text: str, most: int) -> None:
    assert raw_characters(text) == set()
    assert max(map(len, text.splitlines()), default=0) <= most


def assert_inert_page(page: str) -> None:
    assert raw_characters(page) == set()
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)  # that of all pages
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in page
    page = page.replace(f"<script>{script}</script>", "")
    page = re.sub(r'<script type="application/json">[^<]*</script>', "", page)
    tags = {tag.lower() for tag in re.findall(r"<[/\s]*([a-zA-Z!][\w:-]*)", page)}
    assert not tags & {"script", "img", "b", "i", "u", "key", "iframe", "object", "embed"}
    assert "Content-Security-Policy" in page
    assert len(page) < 1_000_000


def assert_no_formulas(path: Path) -> None:
    """No cell of a CSV file is one, whichever sign a spreadsheet takes for the end of a cell."""
    text = path.read_text(encoding="utf-8")
    for cell in re.split(r"[;,\t\r\n\"]", text):
        begin = cell.strip(" \0\u202d")[:1]
        assert begin not in ("=", "+", "@") or not begin
        assert begin != "-" or re.fullmatch(r"-[\d.]+(e-?\d+)?|-inf", cell), cell[:80]


@pytest.mark.slow
@pytest.mark.parametrize("name", DONE)
def test_results(name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    out = tmp_path / "<b>\u202eout"
    result = duramen(*DONE[name], "--out", out, "--spreadsheet-safe")
    assert result.exit_code == 0, result.output[-2000:]
    assert_inert(result.stdout, 1000)
    assert_inert(result.stderr, 4100)
    assert_inert_page((out / "report.html").read_text(encoding="utf-8"))
    assert_no_formulas(out / "result.csv")
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert "--spreadsheet-safe" in record["command"]


def test_results_keep_names_exactly_unless_asked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    names = {}
    for option in ((), ("--spreadsheet-safe",)):
        out = tmp_path / f"out{len(option)}"
        assert duramen("pack", TABLE, "--out", out, *option).exit_code == 0
        options = pa_csv.ParseOptions(newlines_in_values=True)
        names[option] = pa_csv.read_csv(out / "result.csv", parse_options=options)[
            "name"
        ].to_pylist()
        assert pq.read_table(out / "result.parquet")["name"].to_pylist()[: len(NAMES)] == NAMES
    assert names[()][: len(NAMES)] == NAMES
    assert names["--spreadsheet-safe",][4] == f"'{NAMES[4]}"
    assert names["--spreadsheet-safe",][6] == NAMES[6]


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_errors(name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    result = duramen(*REFUSED[name], "--out", tmp_path / "out")
    assert result.exit_code == 2, result.output[-2000:]
    assert_inert(result.output, 4100)
    assert "Traceback" not in result.output
