"""Behavior common to all commands: record, threads, --quiet, names, faults."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from tests.cli.commands import assert_fault_leaves_nothing, done, duramen

LINES = {
    "rank": "table.csv --target y --trees 10 --test none --measure mdi-oob --seed 9",
    "select": "table.csv --target y --trees 20 --estimator cart --max-features 0.5 --keep 0.25",
    "compare": "table.csv --target y --methods mdi --n-features 2 --n-resamples 3 --trees 5",
    "context": "table.csv --target y --context place --context-bins 2 --trees 5 "
    "--permutations 9 --control fwer --criterion gini --splits multiway --n-bins 4",
    "network": "table.csv --drop y --drop place --trees 5 --forest extra-trees --no-bootstrap "
    "--max-features 0.5",
    "connectome": "traces.csv --method partial-correlation --thresholds 0.3 --n-components .5",
    "exact": "table.csv --target y --discretize uniform --n-bins 3 --max-depth 2 --max-features 2 "
    "--splits any --cut best --level 0.01 --max-degree 1 --criterion gini --categorical kind",
    "plan": "--n-rows 1000 --n-features 10000 --memory 1MB --relevant 0:5,1:3 --risk 0.1 --keep .3",
    "pack": "table.csv --categorical kind --as-text place",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table with a target, and a recording."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(60, 4)).round(2), columns=list("abcd"))
    table["kind"] = random.integers(0, 3, 60)
    table["place"] = random.choice(["north", "south"], 60)
    table["y"] = np.where(table["a"] + table["b"] > 0, "yes", "no")
    table.to_csv(tmp_path / "table.csv", index=False)
    traces = np.cumsum(random.random((300, 5)) < 0.1, axis=0) * 0.3
    pd.DataFrame(traces, columns=list("abcde")).to_csv(tmp_path / "traces.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", list(LINES))
def test_the_command_of_a_record_gives_the_same_bytes_by_more_threads_and_quietly(name, folder):
    _, run = done(folder / "out", name, *shlex.split(LINES[name]))
    command = shlex.split(run["command"])
    assert command[:2] == ["duramen", name]
    more = [] if name == "plan" else ["--jobs", 2]
    again = duramen(*command[1:], *more, "--quiet", "--out", folder / "again")
    assert (again.exit_code, again.output) == (0, "")
    tables = [(folder / out / "result.csv").read_bytes() for out in ("out", "again")]
    assert tables[0] == tables[1]
    repeated = json.loads((folder / "again" / "run.json").read_text("utf-8"))
    assert repeated["settings"] == run["settings"]
    assert repeated["command"] == run["command"]


@pytest.mark.parametrize("name", [name for name in LINES if name != "pack"])
def test_a_fault_of_ours_keeps_its_traceback_and_leaves_nothing(name, folder):
    words = (name, *shlex.split(LINES[name]))
    assert_fault_leaves_nothing("duramen.reports.report.write_table", folder / "out", words)


HOSTILE = ["[red]x[/red]", "<script>alert(1)</script>", "a\x1b[31mb", "$y$"]


@pytest.mark.parametrize(
    "line",
    [
        "context --target y --context <b> --trees 5 --permutations 19 --control none",
        "exact --target <b> --drop y",
        "rank --target y --trees 5 --test none",
        "select --target <b> --selector mrmr --n-features 4 --drop y",
    ],
)
def test_hostile_names_are_shown_as_they_are(line, folder):
    columns = {name: np.arange(60) % (k + 2) for k, name in enumerate(HOSTILE)}
    columns["<b>"] = np.array(["<i>", "[bold]u"])[np.arange(60) // 30 % 2]
    columns["y"] = (np.arange(60) % 2) ^ (np.arange(60) // 30 % 2)
    pd.DataFrame(columns).to_parquet(folder / "t.parquet")
    name, *words = shlex.split(line)
    result, _ = done(folder / "out", name, "t.parquet", *words)
    assert "[red]x[/red]" in result.stdout or name == "context"
    assert "\x1b[31m" not in result.output
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert not any(markup in page for markup in ("<script>alert", "<b>", "<i>"))
    assert page.count("<script>") == 1  # that of the page itself
