"""Refusals of `duramen rank` before a forest grows: one line that names the option."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused

import duramen as dm

N = 80
RATE = "--test conditional-error-rate"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write classes and numbers of six features, survival, labels of rows, groups, and a store."""
    folder = tmp_path_factory.mktemp("tables")
    random = np.random.default_rng(3)
    X = random.normal(size=(N, 6)).round(2)
    person = np.arange(N) // 2
    columns = {f"x{j}": X[:, j] for j in range(6)}
    columns |= {"y": np.where(X[:, 0] > 0, "a", "b"), "z": X @ np.arange(6)}
    columns |= {"months": np.exp(X[:, 1]).round(2) + 0.1, "died": np.arange(N) % 3 > 0}
    columns |= {"person": person, "site": np.where(person % 2, "north", "south")}
    columns |= {"few": np.arange(N) // 20, "row": np.arange(N), "name": [f"P{i}" for i in range(N)]}
    gaps = pa.array(["a", "b", "a", None] * (N // 4))
    pq.write_table(pa.table(columns).append_column("gaps", gaps), folder / "t.parquet")
    (folder / "groups.csv").write_text("column,group\nx0,u\nx1,u\nx3,v\nx4,v\n", encoding="utf-8")
    (folder / "few.csv").write_text("x\n1\n2\n", encoding="utf-8")
    dm.pack(pa.table({"a": [1, 1, 1], "y": ["u", "v", "u"]}), folder / "store")
    return folder


@pytest.fixture(autouse=True)
def _no_growth(folder, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("a forest grew")

    monkeypatch.chdir(folder)
    monkeypatch.setattr("duramen.estimators.base.BaseForest.fit", fail)


REFUSED = {
    # --- the table and the target ---
    "": "give a FILE and --target NAME, or --demo",
    "store --target y": "every column is constant",
    "store --target y --categorical a": "--categorical a has no effect on a",
    "t.parquet --target y --drop f77": "--drop 'f77' is not a column of the table",
    "t.parquet --target y --samples few.csv": "no column of samples holds the names of the rows",
    "--demo --target y": "--demo brings its own data",
    # --- the forest ---
    "C --max-features many": "got 'many'",
    "N --criterion gini": "must be auto or variance",
    "N --estimator pert": "for regression, got pert",
    "C --estimator pert --max-features 2": "has no effect with --estimator",
    "N --class-weight balanced": "--class-weight is for classes",
    "C --jobs 0": "--n-jobs must be",
    # --- survival ---
    "t.parquet --target months --task survival": "--task survival needs --event",
    "S --task regression": "--event is for --task survival",
    "t.parquet --target months --event dead": "--event 'dead' is not a column of the table",
    "t.parquet --target months --event months": "--event 'months' is the target",
    "t.parquet --target months --event x1": "events must be booleans, 0 and 1, 1 and 2, or words",
    "S --measure vote-change": "is not defined for survival",
    "S --estimator pert": "must be one of random-forest, extra-trees",
    "S --criterion gini": "must be auto for survival",
    "S --test probe-ranking": "--test probe-ranking is not defined for survival",
    "S --explain 3": "--explain is for classes and numbers",
    # --- measures ---
    "C --measure mda --no-bootstrap": "--measure mda needs out-of-bag rows",
    "C --measure mdi --measure noising --estimator extra-trees": "add --bootstrap",
    "N --measure mcfs": "--measure mcfs needs a target of classes",
    # --- the test ---
    "C --permutations 9": "--n-permutations must be 19 or more with --test max-t",
    "C --test none --permutations 99": "--n-permutations has no effect with --test none",
    "C --test none --checkpoint kept": "--checkpoint has no effect with --test none",
    "C --test janitza --permutations 9": "--n-permutations has no effect with --test janitza",
    "C --test fdr-curve --checkpoint /no/where": "does not exist; create that folder",
    "C --test fdr-curve --checkpoint /": "is a folder; name a file",
    "C --test hapfelmeier --distribution gamma": "--distribution has no effect with --test "
    "hapfelmeier; allowed with altmann",
    # --- strata and groups of rows ---
    "C --test janitza --strata site": "--strata has no effect with --test janitza",
    "C --test janitza --groups person": "--groups has no effect with --test janitza",
    "C --strata stie": "did you mean 'site'?",
    "C --groups y": "--groups 'y' is the target",
    "C --groups person --drop person": "--drop must not name 'person', which is set apart",
    "C --strata x0 --groups person": "each group must lie in one stratum",
    "C --strata row": "strata must leave rows to exchange",
    "C --strata gaps": "that of row 3 is missing",
    # --- features given the others, pairs, rows ---
    "C --direct --test conditional": "--direct and --test conditional are the same",
    "C --direct --groups few": "--direct: there must be at least 10 groups, two for each of 5",
    "N --interactions --groups few": "--interactions: ",
    "C --explain 81": "--explain 81: no row is called '81'; numbers count rows from 1",
    # --- groups of features ---
    "C --feature-groups clusters": "--feature-groups clusters needs --clusters R",
    f"C --feature-groups clusters --clusters 0.8 {RATE}": "do not go together",
    "C --feature-groups groups.csv --estimator extra-trees --test none": "--feature-groups: every "
    "tree of extra-trees sees all rows",
    "C --feature-groups no.csv": "--feature-groups no.csv: there is no file no.csv",
    "C --feature-groups groups.csv --representatives 0.8": "both group features",
    "C --clusters 0.5 --representatives 0.5": "both group features",
    "C --clusters 0": "--clusters must be a number in (0, 1], got 0",
    "C --distance 5": "--distance has no effect without --clusters R or",
    # --- intervals and stability ---
    "C --n-resamples 5": "--n-resamples has no effect without --intervals or --stability K",
    "C --intervals --confidence-level 95": "--confidence-level must be a number in (0, 1), got 95",
    "C --stability 18": "--stability must be less than the number of features",
    "C --intervals --measure vote-change": "--intervals needs a first measure that is one of mdi, ",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line, tmp_path):
    tables = {"C": "y", "N": "z", "S": "months --event died"}
    first, _, more = line.partition(" ")
    if first in tables:
        line = f"t.parquet --keep-identifiers --target {tables[first]} {more}"
    assert_refused("rank", tmp_path / "out", line.split(), REFUSED[f"{first} {more}".strip()])
