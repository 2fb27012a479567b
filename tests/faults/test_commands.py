"""Commands that are stopped, limited or refused leave all results or none, and nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.faults.batches import run

import duramen as dm
from duramen.cli import main
from duramen.cli.command import RESULTS, results_folder
from duramen.support.files import put_in_place, unfinished

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs fork and limits")
TABLE = pa.table({"a": np.arange(8.0), "b": np.arange(8) % 2})


def write_results(place: Path) -> None:
    """Write results to the folder "out", as a command does."""
    with results_folder(place / "out", "rank") as folder:
        (folder / "run.json").write_text("new")


@linux
@pytest.mark.slow
def test_commands_leave_all_results_or_none_and_read_or_refuse_damaged_files() -> None:
    """Both in one process, as it takes seconds to import all that commands need."""
    numbers = [*range(15, 18), *range(30, 37)]
    others = range(18, 24)  # checkpoints of another version, of each command
    outcomes = run(
        {"mixed_commands": numbers, "damaged_inputs": range(36), "other_checkpoints": others}
    )
    stopped, damaged, resumed = outcomes.values()
    assert stopped.faults == damaged.faults == resumed.faults == []
    assert resumed.counts["refused"] == len(others)
    assert stopped.counts.total() == len(numbers)
    assert damaged.counts["finished"] >= 3
    assert damaged.counts["refused"] >= 7


def test_an_old_folder_is_put_back_where_the_new_one_cannot_take_its_place(tmp_path: Path) -> None:
    place = tmp_path / "out"
    place.mkdir()
    with pytest.raises(FileNotFoundError):
        put_in_place(tmp_path / "nothing", place)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_links_are_not_taken_for_leftovers(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "data.txt").write_text("mine")
    for suffix in ("part", "old"):
        (tmp_path / f".out.0123abcd.{suffix}").symlink_to(precious)
        assert unfinished(tmp_path / "out", suffix) == []
    write_results(tmp_path)
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["run.json"]
    assert (precious / "data.txt").read_text() == "mine"


@linux
def test_a_pipe_with_the_name_of_the_lock_stops_no_command(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".out.lock")
    write_results(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_file_whose_name_is_taken_stays_in_the_old_folder(tmp_path: Path) -> None:
    for name in ("out", ".out.0123abcd.old"):
        (tmp_path / name / "mine").mkdir(parents=True)
        (tmp_path / name / "mine" / "thesis.txt").write_text(name)
    write_results(tmp_path)
    assert (tmp_path / "out" / "mine" / "thesis.txt").read_text() == "out"
    path = tmp_path / ".out.0123abcd.old" / "mine" / "thesis.txt"
    assert path.read_text() == ".out.0123abcd.old"


def test_a_store_that_was_about_to_be_replaced_is_put_back(tmp_path: Path) -> None:
    dm.pack(TABLE, tmp_path / "s")
    (tmp_path / "s").rename(tmp_path / ".s.0123abcd.old")
    with pytest.raises(FileExistsError, match="is a column store already"):
        dm.pack(TABLE, tmp_path / "s")
    assert [entry.name for entry in tmp_path.iterdir()] == ["s"]
    dm.pack(TABLE, tmp_path / "t")
    (tmp_path / "t").rename(tmp_path / ".s.0123abcd.old")
    dm.pack(TABLE, tmp_path / "s", overwrite=True).verify()
    assert [entry.name for entry in tmp_path.iterdir()] == ["s"]


def test_packing_removes_results_that_were_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from duramen.io import write_table

    write_table(TABLE, tmp_path / "t.csv")
    part = tmp_path / ".s.0123abcd.part"
    part.mkdir()
    (part / ".result.csv.89abcdef.part").write_text("a,b\n1")
    monkeypatch.setattr(sys, "argv", ["duramen", "pack", str(tmp_path / "t.csv")])
    sys.argv += ["--out", str(tmp_path / "s")]
    main()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["s", "t.csv"]
    store = [*(tmp_path / "s").iterdir()]
    size = sum(file.stat().st_size for file in store if file.name not in RESULTS)
    assert f"{size:,} bytes" in capsys.readouterr().out
    assert f"{size:,}" in (tmp_path / "s" / "report.html").read_text("utf-8")


@pytest.mark.parametrize("command", ["exact", "pack"])
def test_a_link_to_itself_is_refused(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "out").symlink_to("out")
    more = ["--target", "b"] if command == "exact" else []
    words = ["duramen", command, "none.csv", *more, "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "is a link to itself" in capsys.readouterr().err
