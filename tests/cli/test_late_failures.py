"""Failures after the computation cost a figure, a page or a workbook, but no table."""

import os
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from tests.cli.commands import FILES, duramen


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(60, 4)), columns=list("abcd"))
    frame["y"] = np.where(frame["a"] > 0, "yes", "no")
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


WORDS = ("--target", "y", "--trees", 20, "--test", "none")


@pytest.mark.slow
def test_the_backend_of_a_notebook_is_not_read(table, tmp_path):
    words = [sys.executable, "-m", "duramen", "rank", table, *WORDS, "--out", tmp_path / "out"]
    result = subprocess.run(
        list(map(str, words)),
        env={**os.environ, "MPLBACKEND": "module://no.such.module"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "left out" not in result.stderr
    assert "<svg" in (tmp_path / "out" / "report.html").read_text()


def test_a_figure_that_cannot_be_drawn_is_replaced_by_its_text(table, tmp_path):
    with patch("duramen.reports.report.svg", side_effect=RuntimeError("no ink")):
        result = duramen("rank", table, *WORDS, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert (
        "note: the figure 'Error against number of trees' is left out: RuntimeError: no ink"
        in result.stderr
    )
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == FILES
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Error against number of trees" in page
    assert "<svg" not in page


@pytest.mark.slow
def test_a_page_that_the_system_refuses_leaves_the_tables(table, tmp_path):
    words = [sys.executable, "-m", "duramen", "rank", table, *WORDS, "--out", tmp_path / "out"]
    blocks = 8  # of 1024 bytes, fewer than the page has
    result = subprocess.run(
        ["bash", "-c", f'ulimit -f {blocks}; exec "$@"', "bash", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "note: report.html is left out: OSError: [Errno 27] File too large" in result.stderr
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == FILES[1:]


def test_without_a_workbook(table, tmp_path):
    with patch("duramen.io.write_table", side_effect=ValueError("a bug")):
        result = duramen("rank", table, *WORDS, "--xlsx", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "note: result.xlsx is left out: ValueError: a bug" in result.stderr
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == FILES
