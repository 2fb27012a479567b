"""Odd problems, in this process: forests and measures agree with oracles, or refuse with reason."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.faults import routing
from tests.faults.batches import READ, REFUSED, outcome_of
from tests.faults.files import fuzz_text
from tests.faults.problems import Column
from tests.grid import one_test

import duramen as dm

SHORT = {
    "routing": 25,
    "scales": 33,
    "files.fuzz_text": 40,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SHORT)
def test_odd_problems_have_right_results(kind: str, tmp_path: Path) -> None:
    attempt = import_module(f"tests.faults.{kind}").attempt
    outcomes = Counter()
    for number in range(SHORT[kind]):
        folder = tmp_path / str(number)
        folder.mkdir()
        outcome = outcome_of(attempt, number, folder)
        assert outcome in (READ, REFUSED), f"{kind} {number}: {outcome}"
        outcomes[outcome] += 1
    assert outcomes[READ] >= SHORT[kind] // 10


@one_test
@pytest.mark.parametrize(
    "result",
    [
        b'\x05a\tb\n1,5\t.\n\x00"a "g\'q""2,5\t"na',  # a quote that is not closed
        b'\x00NA\x01b\n"1,5#"\n4b\n"',
        b'\x00a,b\n1,2\n"3",',  # an empty last field without a line end
        b',d\n"\n"',  # a quoted line end at the end
        b"\x00a,b\n\xef\xbb\xbf,1\nx,2\n",  # a mark of UTF-8 that begins a field
    ],
)
def test_what_the_fuzzer_found(result: bytes, tmp_path: Path) -> None:
    assert fuzz_text.check(result, tmp_path) in (READ, REFUSED)


@pytest.mark.slow
def test_the_same_computations_on_several_threads() -> None:
    command = [sys.executable, "-m", "tests.faults.threads"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@one_test
@pytest.mark.parametrize("what", ["cell", "bag", "weight"])
def test_the_oracle_sees_what_is_wrong(what: str) -> None:
    random = np.random.default_rng(0)
    columns = {
        "number": Column(random.normal(size=30).tolist(), "numeric"),
        "text": Column(random.choice(["a", "b", "c"], 30).tolist(), "nominal"),
    }
    y = random.integers(0, 2, 30).tolist()
    X = pd.DataFrame({name: column.cells for name, column in columns.items()})
    estimator = dm.RandomForestClassifier(5, random_state=0).fit(X, y)
    rows = routing.same_rows(estimator, X, columns)
    drawn = routing.bags_of(estimator.forest_)
    weights = [1.0] * 30
    routing.same_nodes(estimator.forest_, rows, drawn, y, weights)
    if what == "cell":
        columns["text"].cells[3] = "b" if columns["text"].cells[3] == "a" else "a"
        columns["number"].cells[3] = -9.0
    elif what == "bag":
        drawn[2] = drawn[1]
    else:
        weights[3] = 1.5
    compare, parts = routing.same_nodes, (estimator.forest_, rows, drawn, y, weights)
    if what == "cell":
        compare, parts = routing.same_rows, (estimator, X, columns)
    with pytest.raises(AssertionError):
        compare(*parts)
