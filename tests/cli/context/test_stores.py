"""`duramen context` on stores, .bed files and sample annotations."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done
from tests.io.store.stores import write_bed

import duramen as dm

N = 60
FEW = ("--trees", 10, "--permutations", 19)


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


def result(out):
    return pq.read_table(out / "result.parquet").to_pydict()


def asked(folder, *words):
    return ["--samples", folder / "people.csv", "--target", "ill", "--context", "site", *words]


def test_a_bed_file_a_store_and_a_table_give_the_same(folder, tmp_path):
    words = asked(folder, *FEW)
    _, run = done(tmp_path / "bed", "context", folder / "a.bed", *words)
    assert (run["file"], run["n_features"], run["n_rows"]) == ("a.bed", 4, N)
    dm.pack(folder / "a.bed", tmp_path / "s")
    done(tmp_path / "store", "context", tmp_path / "s", *words)
    drop = ["--drop", "IID", "--drop", "age"]
    table = ["--target", "ill", "--context", "site", *drop, *FEW]
    done(tmp_path / "table", "context", folder / "all.parquet", *table)
    actual = result(tmp_path / "bed")
    assert actual == result(tmp_path / "store") == result(tmp_path / "table")
    assert set(actual["context"]) == {"north", "south"}


def test_a_context_and_features_in_the_annotations_of_a_table(folder, tmp_path):
    X = pq.read_table(folder / "all.parquet").select(["IID", "rs0", "rs1", "ill"])
    pq.write_table(X, tmp_path / "x.parquet")
    pairing = ["--samples-id", "IID", "--samples-features", "age"]
    words = asked(folder, *pairing, *FEW)
    done(tmp_path / "out", "context", tmp_path / "x.parquet", *words)
    assert set(result(tmp_path / "out")["name"]) == {"rs0", "rs1", "age"}


@pytest.mark.parametrize("file", ["a.bed", "all.parquet"])
def test_covariates_are_strata_of_the_context(folder, tmp_path, file):
    apart = ["--drop", "IID"] if file == "all.parquet" else ["--samples", folder / "people.csv"]
    words = ["--target", "ill", "--context", "site", "--covariates", "age", *apart, *FEW]
    done(tmp_path / "out", "context", folder / file, *words)
    data = pq.read_table(folder / "all.parquet")
    site = np.array(data["site"].to_pylist())
    genes = [f"rs{j}" for j in range(4)]
    order = ["age", *genes] if file == "all.parquet" else [*genes, "age"]
    wanted = dm.contexts.context_importances(
        data.select(order), data["ill"].to_numpy(), site,
        estimator=dm.TotallyRandomizedTreesClassifier(10, splits="auto"),
        n_permutations=19, random_state=0,
        strata=dm.significance.covariate_strata(data["age"].to_numpy(), site),
    )  # fmt: skip
    actual = result(tmp_path / "out")
    place = {name: j for j, name in enumerate(wanted.names)}
    column = {name: c for c, name in enumerate(wanted.contexts)}
    rows = zip(actual["name"], actual["context"], actual["absolute_p_value"], strict=True)
    for name, context, p in rows:
        assert p == wanted.absolute_p_values[column[context], place[name]]


def test_incomplete_rows_and_a_network_of_a_store(folder, tmp_path):
    words = asked(folder, "--missing", "drop", *FEW)
    outcome, run = done(tmp_path / "out", "context", folder / "gaps.bed", *words)
    assert run["settings"]["incomplete_rows_dropped"] == 9
    assert "9 of 60 rows are incomplete and were left out" in outcome.stderr
    network = ["--samples", folder / "people.csv", "--network", "--context", "site"]
    words = [*network, "--targets", "rs0", "--trees", 5, "--permutations", 9]
    done(tmp_path / "network", "context", folder / "a.bed", *words)
    assert set(result(tmp_path / "network")["target"]) == {"rs0"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--context", "ill"], "--context 'ill' is the target"),
        (["--context", "place"], "no column 'place'"),
        (["--context", "site", "--covariates", "sex"], "--covariates 'sex' is not a column"),
        (["--context", "site", "--covariates", "site"], "must not name a context"),
        (
            ["--context", "site", "--covariates", "age", "--propensity-strata", 3],
            "--propensity-strata cannot be combined with --covariates NAME",
        ),
        (["--context", "phenotype"], "no column 'phenotype'"),
    ],
)
def test_what_cannot_be_asked(folder, tmp_path, words, message):
    people = ["--samples", folder / "people.csv", "--target", "ill"]
    assert_refused("context", tmp_path / "out", [folder / "a.bed", *people, *words], message)
