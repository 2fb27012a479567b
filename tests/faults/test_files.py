"""Leftovers of stopped commands, and obstacles in the folder of results."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.cli.commands import Result, duramen, undrawn

import duramen as dm
from duramen.support.files import InUseError, held

FILES = ["report.html", "result.csv", "result.parquet", "run.json"]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs signals and limits")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 60)
    columns = {f"x{j}": random.normal(size=60) + (j == 0) * 2 * y for j in range(6)}
    path = tmp_path / "table.csv"
    pa.csv.write_csv(pa.table({**columns, "y": np.array(["no", "yes"])[y]}), path)
    return path


def here(folder: Path, *words: object) -> Result:
    """Run a command in a folder, in this process."""
    with contextlib.chdir(folder):
        return duramen(*words)


def exact(table: Path, out: str = "out") -> tuple[object, ...]:
    return "exact", table, "--target", "y", "--n-bins", 2, "--out", out, "--quiet"


def listing(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_other_files_come_along_and_leftovers_of_a_killed_run_go(
    tmp_path: Path, table: Path
) -> None:
    out = tmp_path / "out"
    (out / "mine").mkdir(parents=True)
    (out / "notes.txt").write_text("mine")
    (out / "run.json").write_text("old")
    for name in (".out.0123abcd.part", ".out.89abcdef.part"):
        (tmp_path / name).mkdir()
    (tmp_path / ".out.0123abcd.part" / "run.json").write_text("half")
    (tmp_path / ".out.89abcdef.part" / "precious.txt").write_text("not ours")
    done = here(tmp_path, *exact(table))
    assert done.exit_code == 0, done.output
    assert listing(out) == sorted([*FILES, "mine", "notes.txt"])
    assert (out / "run.json").read_text() != "old"
    assert listing(tmp_path) == [".out.89abcdef.part", "out", "table.csv"]


def test_a_move_that_was_cut_short_is_put_back(tmp_path: Path, table: Path) -> None:
    (tmp_path / ".out.0123abcd.old").mkdir()
    (tmp_path / ".out.0123abcd.old" / "notes.txt").write_text("mine")
    done = here(tmp_path, *exact(table))
    assert done.exit_code == 0, done.output
    assert listing(tmp_path / "out") == sorted([*FILES, "notes.txt"])
    assert listing(tmp_path) == ["out", "table.csv"]


def test_places_that_cannot_be_written_are_refused_before_any_work(
    tmp_path: Path, table: Path
) -> None:
    (tmp_path / "out" / "result.csv").mkdir(parents=True)
    done = here(tmp_path, *exact(table))
    assert done.exit_code == 2
    assert "contains a folder called result.csv" in done.stderr
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    done = here(tmp_path, *exact(table, "link"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "link").is_symlink()
    assert listing(tmp_path / "elsewhere") == FILES
    (tmp_path / "nowhere").symlink_to(tmp_path / "no" / "where")
    done = here(tmp_path, *exact(table, "nowhere"))
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert "does not exist" in done.stderr


@linux
def test_a_second_run_to_one_place_is_refused(tmp_path: Path, table: Path) -> None:
    with held(tmp_path / "out"):
        done = here(tmp_path, *exact(table))
    assert done.exit_code == 2
    assert "is being written by another run" in done.stderr
    assert listing(tmp_path) == ["table.csv"]
    done = here(tmp_path, *exact(table))
    assert done.exit_code == 0, done.output


def altmann(checkpoint: Path) -> dm.Significance:
    """Run a test with a checkpoint."""
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 2
    options = {"n_permutations": 5, "checkpoint": checkpoint, "random_state": 0}
    return dm.significance.altmann(dm.RandomForestClassifier(3), X, y, **options)


@linux
def test_a_second_run_to_one_checkpoint_is_refused(tmp_path: Path) -> None:
    checkpoint = tmp_path / "kept.npz"
    with held(checkpoint), pytest.raises(InUseError, match=r"another run uses the checkpoint"):
        altmann(checkpoint)
    first = altmann(checkpoint)
    assert listing(tmp_path) == ["kept.npz"]
    assert altmann(checkpoint).equals(first)


def test_a_checkpoint_that_was_edited_is_refused(tmp_path: Path) -> None:
    checkpoint = tmp_path / "kept.npz"
    altmann(checkpoint)
    with np.load(checkpoint) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["values"] = np.zeros_like(arrays["values"])
    with open(checkpoint, "wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(ValueError, match=r"was altered"):
        altmann(checkpoint)


@pytest.mark.slow
@linux
def test_a_signal_ends_a_command_cleanly(tmp_path: Path, table: Path) -> None:
    """SIGTERM; tests/cli has Ctrl-C of programs, and what both and SIGHUP do to this command."""
    words = ["rank", table, "--target", "y", "--trees", 50, "--permutations", 5000]
    words += ["--test", "conditional-error-rate", "--checkpoint", "kept.npz"]
    process = subprocess.Popen(
        [sys.executable, "-m", "duramen", *map(str, words), "--out", "out"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / ".kept.npz.lock").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.terminate()
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 143, said
    assert "Traceback" not in said
    assert said.strip().splitlines()[-1].startswith("duramen rank: ")
    assert listing(tmp_path) == ["kept.npz", "out.partial", "table.csv"]
    assert (tmp_path / "out.partial" / "result.csv").stat().st_size > 0  # without its test


@contextlib.contextmanager
def files_below(n_bytes: int) -> Iterator[None]:
    """Limit the size of the files that this process writes."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.slow
@linux
@pytest.mark.parametrize("command", ["exact", "rank", "pack"])
def test_a_limit_on_files_ends_with_one_line_and_nothing_left(
    command: str, tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit on the size of files stands for a full disk."""
    monkeypatch.setattr("duramen.reports.report.svg", undrawn)
    words = [command, table, "--out", "out", *([] if command == "pack" else ["--target", "y"])]
    words += ["--trees", "5"] if command == "rank" else []
    with files_below(2000):
        result = here(tmp_path, *words)
    assert result.exit_code == 2, result.output
    *notes, last = result.stderr.strip().splitlines()
    assert all(line.startswith("note: ") for line in notes)
    assert last.startswith(f"duramen {command}: ")
    assert "out" in last
    assert "cannot be written (File too large)" in last
    assert listing(tmp_path) == ["table.csv"]
    again = here(tmp_path, *words)
    assert again.exit_code == 0, again.stderr
    assert listing(tmp_path) == ["out", "table.csv"]
