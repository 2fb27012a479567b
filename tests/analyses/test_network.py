"""`duramen.network`: what it reads, infers and reports."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import duramen as dm
from duramen.reports import render

QUICK = {"n_estimators": 20, "n_jobs": 1}


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
    np.save(tmp_path / "rows.npy", np.ascontiguousarray(made.expression.T))
    names = made.names
    pairs = [(names[i], names[j]) for i, j in zip(*np.nonzero(made.links), strict=True)]
    pd.DataFrame(pairs, columns=["regulator", "target"]).to_csv(tmp_path / "gold.csv", index=False)
    (tmp_path / "factors.txt").write_text("G1\nG3\n\nG5\n")
    return made, tmp_path


def test_links_are_those_of_the_library(made):
    data, folder = made
    report = dm.network(folder / "columns.csv", **QUICK)
    expected = dm.genie3(
        data.expression,
        names=data.names,
        estimator=dm.RandomForestRegressor(20, max_features=1 / 3),
        source_scaling="variance",
        random_state=0,
    )
    assert report.network.equals(expected)
    links = report.to_frame()
    assert list(links) == ["source", "target", "weight"]
    assert links["weight"].tolist() == expected.edges()["weight"].tolist()
    assert report.run.settings["max_features"] == "auto"
    assert report.run.results == {"candidate_links": 56}
    assert (report.run.n_rows, report.run.n_features) == (30, 8)


def test_all_forms_of_the_table_give_the_same_weights(made):
    data, folder = made
    expected = dm.network(pd.DataFrame(data.expression, columns=data.names), **QUICK).network
    for source, options in (
        ("columns.csv", {}),
        ("columns.parquet", {"drop": ["batch"]}),
        ("rows.tsv", {"transpose": True}),
        ("rows.npy", {"transpose": True}),
        ("store", {}),
    ):
        network = dm.network(dm.read(folder / source, **options), **QUICK).network
        assert np.array_equal(network.weights, expected.weights)
        assert source == "rows.npy" or network.names == expected.names


def test_published_settings_regulators_and_known_links(made):
    data, folder = made
    report = dm.network(
        folder / "columns.csv",
        **QUICK,
        regulators=[str(folder / "factors.txt"), "G7"],
        targets=["G6"],
        max_features="sqrt",
        source_scaling="none",
        gold=folder / "gold.csv",
    )
    expected = dm.genie3(
        data.expression,
        names=data.names,
        regulators=["G1", "G3", "G5", "G7"],
        targets=["G6"],
        estimator=dm.RandomForestRegressor(20, max_features="sqrt"),
        random_state=0,
    )
    assert report.network.equals(expected)
    scores = expected.score(data.links)
    assert report.run.results["auroc"] == report.scores.auroc == pytest.approx(scores.auroc)
    page = render(report)
    for title in ("Heaviest links", "Precision and recall", "Limitations"):
        assert title in page
    assert f"AUPR {scores.aupr:.3f}" in page


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
    results = [
        dm.network(folder / "columns.csv", **QUICK, gold=gold).run.results
        for gold in (folder / "gold.csv", folder / "gold.tsv", folder / "pairs.csv", data.links)
    ]
    assert results[0]["known_links"] == 8
    assert all(result == results[0] for result in results)


def test_p_values_and_q_values(made):
    _, folder = made
    report = dm.network(folder / "columns.csv", **QUICK, n_permutations=5, links=7)
    links = report.to_frame()
    assert list(links) == ["source", "target", "weight", "p_value", "q_value"]
    assert len(links) == 7
    assert (links["q_value"] >= links["p_value"]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"regulators": ["empty.txt"]}, "regulators empty.txt must hold names of genes"),
        ({"gold": "columns.csv"}, "gold must have 2 or 3 columns"),
        ({"max_features": "some"}, "max_features must be"),
        ({"forest": "pert"}, "forest must be one of"),
        ({"normalization": "log"}, "normalization must be one of"),
        ({"links": 0}, "links must be an int >= 1"),
    ],
)
def test_mistakes(made, monkeypatch, options, message):
    _, folder = made
    monkeypatch.chdir(folder)
    (folder / "empty.txt").write_text("\n")
    with pytest.raises(ValueError, match=message):
        dm.network("columns.csv", **{**QUICK, **options})


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
    found = []
    for file, more in (("dense.csv", {}), ("cells.h5ad", {"transpose": turned})):
        data = dm.read(tmp_path / file, drop=["g5"], max_rows=300, **more)
        adjacencies = tmp_path / f"{file}.tsv"
        report = dm.network(data, **QUICK, max_depth=4, adjacencies=adjacencies)
        assert (report.run.n_rows, report.run.settings["max_rows"]) == (300, 300)
        links = report.to_frame()
        written = pd.read_csv(adjacencies, sep="\t", float_precision="round_trip")
        assert list(written) == ["TF", "target", "importance"]
        positive = links[links["weight"] > 0]
        assert written["TF"].tolist() == positive["source"].tolist()
        assert written["importance"].tolist() == positive["weight"].tolist()
        found.append(report.network)
    assert np.array_equal(found[0].weights, found[1].weights)
    assert data.in_memory().table.sparse is not None


@pytest.mark.parametrize("transpose", [False, True])
def test_many_named_rows_may_be_genes(tmp_path, transpose):
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(12, 6)).round(2), columns=[f"s{i}" for i in range(6)])
    table.insert(0, "gene", [f"g{i}" for i in range(12)])
    table.to_csv(tmp_path / "a.csv", index=False)
    report = dm.network(dm.read(tmp_path / "a.csv", transpose=transpose), **QUICK)
    told = " ".join(report.notes)
    assert ("transpose=True if rows are features, such as genes" in told) != transpose


def test_numbers_of_few_values_are_named_beside_others(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=60), "b": random.normal(size=60)})
    frame["sex"] = random.integers(0, 2, 60)
    for measure in ("mdi", "mda"):
        kinds = [one["kind"] for one in dm.network(frame, **QUICK, measure=measure).run.findings]
        assert ("unequal values" in kinds) == (measure == "mdi")
