"""`duramen network`: what its command line does that `duramen.network` does not."""

import pandas as pd
import pytest
from tests.cli.commands import assert_refused, done

import duramen as dm

QUICK = ("--trees", "20")


@pytest.fixture
def made(tmp_path):
    """A simulated network of eight genes, in files."""
    made = dm.datasets.gene_network(30, 8, n_links=8, random_state=3)
    frame = pd.DataFrame(made.expression, columns=made.names)
    frame.to_csv(tmp_path / "columns.csv", index=False)
    frame.assign(batch=["a", "b"] * 15).to_parquet(tmp_path / "columns.parquet")
    frame.T.to_csv(tmp_path / "rows.tsv", sep="\t", index_label="gene")
    return made, tmp_path


@pytest.mark.smoke
def test_demo_and_the_command_of_its_record(tmp_path):
    result, record = done(tmp_path / "one", "network", "--demo", *QUICK, "--top", "3")
    assert "50 genes" in result.stdout
    assert record["results"]["known_links"] == 100
    assert "--demo" in record["command"].split()
    again = record["command"].split()[1:]
    done(tmp_path / "two", *again)
    first = (tmp_path / "one" / "result.csv").read_bytes()
    assert (tmp_path / "two" / "result.csv").read_bytes() == first


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give a FILE, or --demo"),
        (("columns.csv", "--demo"), "--demo brings its own data; leave out FILE"),
        (("--demo", "--gold", "gold.csv"), "--demo brings its own data; leave out --gold"),
        (("--demo", "--transpose"), "--transpose is for files"),
        (("columns.csv", "--drop", "G99"), "--drop 'G99' is not a column of the table"),
        (("columns.csv", "--measure", "holdout-mda"), "--measure must be one of"),
        (("columns.csv", "--forest", "pert"), "Choose from: "),
    ],
)
def test_mistakes_of_the_user(made, monkeypatch, words, message):
    _, folder = made
    monkeypatch.chdir(folder)
    assert_refused("network", folder / "out", words, message)
