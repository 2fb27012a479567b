"""`duramen context` on stores, .bed files and sample annotations."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused
from tests.io.store.stores import write_bed

N = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cohort")
    random = np.random.default_rng(0)
    X = random.integers(0, 3, (N, 4))
    site = np.where(np.arange(N) % 2, "north", "south")
    y = np.where(site == "north", X[:, 0], X[:, 1]) > 0
    write_bed(place / "a.bed", X)
    age = random.integers(30, 80, N)
    people = {"IID": [f"I{i}" for i in range(N)], "ill": y.astype(int), "site": site, "age": age}
    pa_csv.write_csv(pa.table(people), place / "people.csv")
    named = {f"rs{j}": X[:, j].astype(float) for j in range(4)}
    pq.write_table(pa.table({**people, **named}), place / "all.parquet")
    gone = X.copy()
    gone[:9, 2] = -1
    write_bed(place / "gaps.bed", gone)
    return place


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--context", "ill"], "--context 'ill' is also --target ill"),
        (["--context", "place"], "no column 'place'"),
        (["--context", "site", "--covariates", "sex"], "--covariates 'sex' is not a column"),
        (["--context", "site", "--covariates", "site"], "must not name a context"),
        (["--context", "phenotype"], "no column 'phenotype'"),
    ],
)
def test_what_cannot_be_asked(folder, tmp_path, words, message):
    people = ["--samples", folder / "people.csv", "--target", "ill"]
    assert_refused("context", tmp_path / "out", [folder / "a.bed", *people, *words], message)
