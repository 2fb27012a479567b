"""`duramen connectome`: what its command line does that `duramen.connectome` does not."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.commands import assert_refused, done
from tests.networks.connectome.cultures import culture


@pytest.fixture
def made(tmp_path):
    """A recording of eight neurons."""
    x = culture([(0, 1), (1, 2), (3, 4)], 3000, p=8)
    pd.DataFrame(x, columns=list("abcdefgh")).to_csv(tmp_path / "traces.csv", index=False)
    np.save(tmp_path / "traces.npy", x)
    return x, tmp_path


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
        (("traces.csv", "--thresholds", "0"), "--thresholds must be a number > 0"),
        (("traces.csv", "--positions", "traces.csv"), "--positions must have columns x and y"),
    ],
)
def test_refusals(made, monkeypatch, words, message):
    _, folder = made
    monkeypatch.chdir(folder)
    assert_refused("connectome", folder / "o", words, message)
