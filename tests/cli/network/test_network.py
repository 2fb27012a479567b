"""`duramen network`: what it reads, finds, writes and shows."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from tests.cli.commands import assert_refused, done, duramen

import duramen as dm
from duramen.io.store.inputs import sparse_table

QUICK = ("--trees", "20")


@pytest.fixture
def made(tmp_path):
    """A simulated network of eight genes, in files."""
    made = dm.datasets.gene_network(30, 8, n_links=8, random_state=3)
    frame = pd.DataFrame(made.expression, columns=made.names)
    frame.to_csv(tmp_path / "columns.csv", index=False)
    frame.assign(batch=["a", "b"] * 15).to_parquet(tmp_path / "columns.parquet")
    rows = frame.T
    rows.columns = [f"s{k}" for k in range(30)]
    rows.to_csv(tmp_path / "rows.tsv", sep="\t", index_label="gene")
    dm.pack(tmp_path / "columns.csv", tmp_path / "store")
    names = made.names
    pairs = [(names[i], names[j]) for i, j in zip(*np.nonzero(made.links), strict=True)]
    pd.DataFrame(pairs, columns=["regulator", "target"]).to_csv(tmp_path / "gold.csv", index=False)
    (tmp_path / "factors.txt").write_text("G1\nG3\n\nG5\n")
    return made, tmp_path


def table(out):
    return pq.read_table(out / "result.parquet").to_pandas()


def test_links_are_those_of_the_library(made):
    data, folder = made
    _, record = done(folder / "out", "network", folder / "columns.csv", *QUICK)
    expected = dm.genie3(
        data.expression,
        names=data.names,
        estimator=dm.RandomForestRegressor(20, max_features=1 / 3),
        source_scaling="variance",
        random_state=0,
    )
    actual = table(folder / "out")
    assert list(actual) == ["source", "target", "weight"]
    assert len(actual) == 56
    assert np.allclose(actual["weight"], expected.edges()["weight"], rtol=1e-12)
    assert actual["source"].tolist() == expected.edges()["source"].tolist()
    assert record["settings"]["max_features"] == "auto"
    assert record["results"] == {"candidate_links": 56}
    assert (record["n_rows"], record["n_features"]) == (30, 8)


def test_all_forms_of_the_table_give_the_same_links(made):
    _, folder = made
    results = []
    for words in (
        (folder / "columns.csv",),
        (folder / "columns.parquet", "--drop", "batch"),
        (folder / "rows.tsv", "--genes", "rows"),
        (folder / "store",),
    ):
        done(folder / "out", "network", *words, *QUICK)
        results.append((folder / "out" / "result.csv").read_bytes())
    assert len(set(results)) == 1


def test_files_that_are_read_in_tiles(made):
    data, folder = made
    np.save(folder / "columns.npy", data.expression)
    np.save(folder / "rows.npy", np.ascontiguousarray(data.expression.T))
    done(folder / "one", "network", folder / "columns.npy", *QUICK)
    done(folder / "two", "network", folder / "rows.npy", "--genes", "rows", *QUICK)
    assert np.array_equal(table(folder / "one")["weight"], table(folder / "two")["weight"])
    assert not list(folder.glob("duramen-*"))


def test_published_settings_regulators_and_known_links(made):
    data, folder = made
    words = ("--regulators", folder / "factors.txt", "--regulators", "G7", "--targets", "G6")
    published = ("--max-features", "sqrt", "--source-scaling", "none")
    result, record = done(
        folder / "out",
        "network",
        folder / "columns.csv",
        *QUICK,
        *words,
        *published,
        "--gold",
        folder / "gold.csv",
    )
    expected = dm.genie3(
        data.expression,
        names=data.names,
        regulators=["G1", "G3", "G5", "G7"],
        targets=["G6"],
        estimator=dm.RandomForestRegressor(20, max_features="sqrt"),
        random_state=0,
    )
    actual = table(folder / "out")
    assert set(actual["target"]) == {"G6"}
    assert np.allclose(actual["weight"], expected.edges()["weight"])
    scores = expected.score(data.links)
    assert record["results"]["auroc"] == pytest.approx(scores.auroc)
    assert f"AUPR {scores.aupr:.3f}" in " ".join(result.stdout.split())
    html = (folder / "out" / "report.html").read_text(encoding="utf-8")
    for title in ("Heaviest links", "Precision and recall", "ROC curve", "Limitations"):
        assert title in html


def test_the_title_and_the_sources_follow_the_settings(made):
    _, folder = made
    published = ("--max-features", "sqrt", "--source-scaling", "none")
    for words, title, method in (
        ((), "variant of GENIE3", "but for --max-features auto, --source-scaling variance"),
        (published, "GENIE3", "as published"),
        ((*published, "--max-depth", "3"), "variant of GENIE3", "but for --max-depth 3"),
    ):
        shown, record = done(folder / "out", "network", folder / "columns.csv", *QUICK, *words)
        page = (folder / "out" / "report.html").read_text(encoding="utf-8")
        assert f"({title})" in page
        assert ("ENNET" in json.dumps(record)) == (not words)
        assert f"GENIE3 {method}" in " ".join(shown.output.split())


def test_gold_with_zeros_and_without_a_header(made):
    data, folder = made
    names = data.names
    lines = [
        f"{names[i]}\t{names[j]}\t{int(data.links[i, j])}"
        for i in range(8)
        for j in range(8)
        if i != j
    ]
    (folder / "gold.tsv").write_text("\n".join(lines) + "\n")
    pairs = (folder / "gold.csv").read_text().split("\n", 1)[1]
    (folder / "pairs.csv").write_text(pairs)
    words = ("network", folder / "columns.csv", *QUICK, "--gold")
    records = [
        done(folder / f"out {name}", *words, folder / name)[1]["results"]
        for name in ("gold.csv", "gold.tsv", "pairs.csv")
    ]
    assert records[0]["known_links"] == 8
    assert records[0] == records[1] == records[2]


def test_p_values_and_q_values(made):
    _, folder = made
    words = ("network", folder / "columns.csv", *QUICK, "--permutations", "5", "--links", "7")
    done(folder / "out", *words)
    result = table(folder / "out")
    assert list(result) == ["source", "target", "weight", "p_value", "q_value"]
    assert len(result) == 7
    assert (result["q_value"] >= result["p_value"]).all()


@pytest.mark.smoke
def test_demo_and_the_command_of_its_record(tmp_path):
    result, record = done(tmp_path / "one", "network", "--demo", *QUICK, "--top", "3")
    assert "50 genes" in result.stdout
    assert record["results"]["known_links"] == 100
    assert " --demo " in record["command"]
    again = record["command"].split()[1:]
    done(tmp_path / "two", *again)
    first = (tmp_path / "one" / "result.csv").read_bytes()
    assert (tmp_path / "two" / "result.csv").read_bytes() == first


def test_goes_on_from_a_checkpoint_to_the_same_bytes(made):
    _, folder = made
    words = ("network", folder / "columns.csv", *QUICK, "--checkpoint", folder / "kept")
    done(folder / "one", *words)
    done(folder / "two", *words, "--jobs", "2")
    results = [(folder / out / "result.csv").read_bytes() for out in ("one", "two")]
    assert results[0] == results[1]
    assert json.loads((folder / "two" / "run.json").read_text())["seed"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give a FILE, or --demo"),
        (("columns.csv", "--demo"), "--demo brings its own data"),
        (("--demo", "--genes", "rows"), "leave out --genes"),
        (("nowhere.csv",), "nowhere.csv"),
        (("columns.csv", "--drop", "G99"), "--drop G99 is not a column of the table"),
        (("columns.csv", "--regulators", "Q1"), "which is none of the"),
        (("columns.csv", "--gold", "columns.csv"), "must have 2 or 3 columns"),
        (("columns.csv", "--max-features", "some"), "--max-features must be"),
        (("columns.parquet", "--genes", "rows"), "must hold numbers"),
    ],
)
def test_mistakes_of_the_user(made, monkeypatch, words, message):
    _, folder = made
    monkeypatch.chdir(folder)
    assert_refused("network", folder / "out", words, message)


def test_quiet_says_nothing(made):
    _, folder = made
    result = duramen("network", folder / "columns.csv", *QUICK, "-q", "--out", folder / "out")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    "words", [("--measure", "holdout-mda"), ("--forest", "pert"), ("--normalization", "log")]
)
def test_choices_are_those_of_the_library(made, words):
    _, folder = made
    result = duramen("network", folder / "columns.csv", *words, "--out", folder / "out")
    assert result.exit_code == 2
    assert "Choose from: " in " ".join(result.stderr.split())


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("turned", [False, True])
def test_sparse_cells(tmp_path, form, turned):
    anndata = pytest.importorskip("anndata")
    random = np.random.default_rng(0)
    counts = np.where(random.random((400, 6)) < 0.1, random.poisson(3, (400, 6)), 0)
    counts[:, 1] = counts[:, 0] + (random.random(400) < 0.05)
    names = [f"g{j}" for j in range(6)]
    pd.DataFrame(counts, columns=names).to_csv(tmp_path / "dense.csv", index=False)
    matrix = sparse.csr_matrix(counts.T if turned else counts).asformat(form)
    made = anndata.AnnData(matrix.astype(np.float32))
    cells = [f"c{i}" for i in range(400)]
    made.obs_names, made.var_names = (names, cells) if turned else (cells, names)
    made.write_h5ad(tmp_path / "cells.h5ad")
    options = (*QUICK, "--drop", "g5", "--max-depth", "4", "--subsample", "300")
    links_of = []
    for file, more in (("dense.csv", ()), ("cells.h5ad", ("--genes", "rows") if turned else ())):
        adjacencies = tmp_path / f"{file}.tsv"
        words = (tmp_path / file, *options, *more, "--adjacencies", adjacencies)
        _, record = done(tmp_path / f"{file}-out", "network", *words)
        assert (record["n_rows"], record["settings"]["subsample"]) == (300, 300)
        links = table(tmp_path / f"{file}-out")
        written = pd.read_csv(adjacencies, sep="\t", float_precision="round_trip")
        assert list(written) == ["TF", "target", "importance"]
        positive = links[links["weight"] > 0]
        assert written["TF"].tolist() == positive["source"].tolist()
        assert written["importance"].tolist() == positive["weight"].tolist()
        links_of.append(links.to_csv())
    assert links_of[0] == links_of[1]


def test_sparse_cells_are_not_packed(tmp_path, monkeypatch):
    anndata = pytest.importorskip("anndata")
    random = np.random.default_rng(0)
    counts = sparse.random_array((400, 5), density=0.1, format="csr", rng=random)
    made = anndata.AnnData(counts.astype(np.float32))
    made.write_h5ad(tmp_path / "cells.h5ad")
    encoded = sparse_table(tmp_path / "cells.h5ad", transpose=False, function="network")
    assert encoded.sparse.n_columns == 5
    assert (
        encoded.fingerprint()
        == dm.encode(counts.toarray().astype(np.float32), names=encoded.names).fingerprint()
    )
    monkeypatch.setattr("duramen.io.store.packing.pack_table", None)
    done(tmp_path / "out", "network", tmp_path / "cells.h5ad", *QUICK, "--max-depth", "2")
    assert sparse_table(tmp_path / "cells.h5ad", transpose=True, function="network").n_rows == 5


def test_samples_beyond_those_there(made):
    _, folder = made
    message = "--subsample: must be at most the number of samples, 30, got 31"
    words = [folder / "columns.csv", "--subsample", "31"]
    assert_refused("network", folder / "r", words, message)
    _, record = done(
        folder / "o", "network", folder / "rows.tsv", "--genes", "rows", *QUICK, "--subsample", "20"
    )
    assert record["n_rows"] == 20


@pytest.mark.parametrize("genes", ["columns", "rows"])
def test_many_named_rows_may_be_genes(tmp_path, genes):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(12, 6)).round(2), columns=[f"s{i}" for i in range(6)])
    table.insert(0, "gene", [f"g{i}" for i in range(12)])
    table.to_csv(tmp_path / "a.csv", index=False)
    words = [tmp_path / "a.csv", "--genes", genes, "--trees", 5]
    result, _ = done(tmp_path / "out", "network", *words)
    assert ("--genes rows if rows are genes" in result.stderr) == (genes == "columns")
