"""Differences name the cell that changed, and new names are read in place of old ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.record import comparison, renames
from tests.record.cases import Case
from tests.record.comparison import differences, write
from tests.record.renames import new_words


def outcome(value: float = 0.25, column: str = "mdi", criterion: str = "criterion") -> Any:
    table = {"columns": ["name", column], "rows": [["dose", value], ["age", 0]]}
    return {"tables": {"out/result.csv": table}, "run": {criterion: "gini"}, "message": "words"}


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setattr(comparison, "FOLDER", tmp_path)
    case = Case("rank/case", outcome, words=("rank",))
    write(case.name, outcome())
    return case


@pytest.fixture
def new_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set some new names."""
    monkeypatch.setattr(renames, "FILE", tmp_path / "renames.json")

    def set_names(**names: dict[str, str]) -> None:
        empty: dict[str, dict[str, str]] = {
            kind: {} for kind in ("options", "columns", "keys", "files", "types")
        }
        renames.FILE.write_text(json.dumps({**empty, **names}), encoding="utf-8")

    return set_names


def test_a_changed_cell_is_named(case: Case) -> None:
    assert differences(case, outcome()) == []
    assert differences(case, {**outcome(), "message": "other words"}) == []
    assert differences(case, outcome(0.25 + 1e-13)) == []
    assert differences(case, outcome(0.25001)) == [
        "tables, out/result.csv, row 1 (dose), mdi: 0.25 -> 0.25001"
    ]


def test_columns_rows_and_keys_that_come_or_go_are_named(case: Case) -> None:
    now = outcome(column="mda", criterion="impurity")
    now["tables"]["out/result.csv"]["rows"].pop()
    assert differences(case, now) == [
        "tables, out/result.csv: column 'mdi' is no longer there",
        "tables, out/result.csv: column 'mda' is new",
        "tables, out/result.csv: 2 -> 1 rows",
        'run, criterion: "gini" -> nothing',
        'run, impurity: nothing -> "gini"',
    ]


def test_order_of_columns_does_not_matter(case: Case) -> None:
    now = outcome()
    table = now["tables"]["out/result.csv"]
    now["tables"]["out/result.csv"] = {key: [x[::-1] for x in table[key]] for key in ("rows",)}
    now["tables"]["out/result.csv"]["columns"] = table["columns"][::-1]
    assert differences(case, now) == []


def test_new_names_are_read_in_place_of_old_ones(case: Case, new_names: Any) -> None:
    new_names(
        columns={"rank mdi": "importance"},
        keys={"criterion": "impurity"},
        files={"out/result.csv": "out/ranking.csv"},
        options={"--no-test": "--test none", "rank --trees": "--n-estimators"},
    )
    now = outcome(column="importance", criterion="impurity")
    now["tables"] = {"out/ranking.csv": now["tables"]["out/result.csv"]}
    assert differences(case, now) == []
    words = ["rank", "t.csv", "--no-test", "--trees", "9"]
    assert new_words(words, "rank") == [
        *("rank", "t.csv", "--test", "none"),
        *("--n-estimators", "9"),
    ]
    assert new_words(["--trees"], "select") == ["--trees"]


def test_new_names_name_kinds_that_are_read() -> None:
    assert set(renames.read()) == {"options", "columns", "keys", "files", "types"}
