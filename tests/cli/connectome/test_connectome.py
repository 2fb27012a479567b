"""`duramen connectome`: what its command line does that `duramen.connectome` does not."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done
from tests.networks.connectome.cultures import culture

import duramen as dm


@pytest.fixture
def made(tmp_path):
    """A recording of eight neurons."""
    x = culture([(0, 1), (1, 2), (3, 4)], 3000, p=8)
    pd.DataFrame(x, columns=list("abcdefgh")).to_csv(tmp_path / "traces.csv", index=False)
    np.save(tmp_path / "traces.npy", x)
    return x, tmp_path


@pytest.mark.parametrize(
    "words, options",
    [
        (
            "--method full --thresholds .11 --thresholds .14 --precision ledoit-wolf",
            {"method": "full", "thresholds": [0.11, 0.14], "precision": "ledoit_wolf"},
        ),
        (
            "--method partial-correlation --n-components .5",
            {"method": "partial_correlation", "n_components": 0.5},
        ),
        (
            "--method transfer-entropy --quiet-below 0.5",
            {"method": "transfer_entropy", "quiet_below": 0.5},
        ),
        (
            "--method genie3 --trees 4 --max-depth 2",
            {"method": "genie3", "n_estimators": 4, "max_depth": 2},
        ),
    ],
)
def test_results_are_those_of_the_function(made, words, options):
    _, folder = made
    _, record = done(folder / "out", "connectome", folder / "traces.npy", *words.split())
    report = dm.connectome(folder / "traces.npy", **options)
    links = pq.read_table(folder / "out" / "result.parquet").to_pydict()
    assert links["weight"] == report.table["weight"].tolist()
    assert record["settings"] == json.loads(report.run.to_json())["settings"]
    again = record["command"].split()[2:]
    done(folder / "again", "connectome", folder / again[0], *again[1:])
    results = [(folder / out / "result.csv").read_bytes() for out in ("out", "again")]
    assert results[0] == results[1]


@pytest.mark.smoke
def test_demo(tmp_path):
    said, record = done(tmp_path / "out", "connectome", "--demo")
    assert "10,000 frames x 40 neurons" in said.output
    assert record["results"]["auroc"] > 0.7
    assert record["results"]["undirected_auroc"] > 0.95


@pytest.mark.parametrize(
    "words, message",
    [
        ((), "give a FILE, or --demo"),
        (("--demo", "--gold", "gold.csv"), "--demo brings its own data; leave out --gold"),
        (("--demo", "--layout", "table"), "--layout is for files"),
        (("traces.csv", "--drop", "soma"), "--drop must be names of columns"),
        (("traces.csv", "--thresholds", "0"), "--thresholds must be a number > 0"),
        (("traces.csv", "--positions", "traces.csv"), "--positions must have columns x and y"),
        (("nowhere.npy",), "no file"),
    ],
)
def test_refusals(made, monkeypatch, words, message):
    _, folder = made
    monkeypatch.chdir(folder)
    assert_refused("connectome", folder / "o", words, message)
