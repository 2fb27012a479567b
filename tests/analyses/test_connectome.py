"""`duramen.connectome`: what it reads, infers and reports; the methods are in tests/networks."""

import numpy as np
import pandas as pd
import pytest
from tests.networks.connectome.cultures import culture

import duramen as dm
from duramen.reports import render

LINKS = [(0, 1), (1, 2), (3, 4)]
NAMES = [f"cell{i}" for i in range(8)]
QUICK = {"method": "partial_correlation", "n_jobs": 1}


@pytest.fixture
def made(tmp_path):
    """A recording of eight neurons with known links, in files."""
    x = culture(LINKS, 3000, p=8)
    frame = pd.DataFrame(x, columns=NAMES)
    frame.to_csv(tmp_path / "traces.csv", index=False)
    frame.assign(time=np.arange(3000) / 50).to_parquet(tmp_path / "traces.parquet")
    np.save(tmp_path / "traces.npy", x)
    np.save(tmp_path / "rows.npy", np.ascontiguousarray(x.T))
    pairs = [(NAMES[i], NAMES[j]) for i, j in LINKS]
    pd.DataFrame(pairs, columns=["source", "target"]).to_csv(tmp_path / "gold.csv", index=False)
    pd.DataFrame(LINKS, columns=["source", "target"]).to_csv(tmp_path / "places.csv", index=False)
    angles = np.arange(8.0)
    where = pd.DataFrame({"x": np.cos(angles), "y": np.sin(angles)})
    where.to_csv(tmp_path / "positions.csv", index=False)
    return x, tmp_path


def test_table_and_record_are_those_of_the_network(made):
    x, folder = made
    report = dm.connectome(folder / "traces.csv", n_jobs=1)
    assert np.allclose(report.network.weights, dm.connectome(x).network.weights, rtol=1e-9)
    links = report.to_frame()
    assert list(links) == ["source", "target", "weight"]
    assert len(links) == 28
    assert links["weight"].tolist() == report.network.edges()["weight"].tolist()
    assert report.run.settings["method"] == "averaged"
    assert report.run.results == {"candidate_links": 28}
    assert (report.run.n_rows, report.run.n_features) == (3000, 8)


def test_all_forms_of_the_recording_give_the_same_weights(made):
    x, folder = made
    expected = dm.connectome(x, **QUICK).network.weights
    for file, options in (
        ("traces.csv", {}),
        ("traces.parquet", {"drop": ["time"]}),
        ("traces.npy", {}),
        ("rows.npy", {"neurons": "rows"}),
    ):
        report = dm.connectome(folder / file, **QUICK, **options)
        assert np.allclose(report.network.weights, expected, rtol=1e-9)


def test_known_links_are_scored_beside_the_best_undirected_network(made):
    x, folder = made
    truth = [(NAMES[i], NAMES[j]) for i, j in LINKS]
    network = dm.connectome(x, names=NAMES, **QUICK).network
    expected = network.score(truth, pairs="directed")
    best = dm.networks.undirected_ceiling(truth, network.names)
    for gold, file in ((folder / "gold.csv", "traces.csv"), (folder / "places.csv", "traces.npy")):
        report = dm.connectome(folder / file, gold=gold, **QUICK)
        results = report.run.results
        assert results["known_links"] == 3
        assert results["auroc"] == report.scores.auroc == pytest.approx(expected.auroc)
        assert results["aupr"] == pytest.approx(expected.aupr)
        assert results["undirected_aupr"] == pytest.approx(best.aupr) == pytest.approx(0.5)
        assert "perfect undirected network" in render(report)


def test_positions_are_drawn(made):
    x, folder = made
    frame = pd.read_csv(folder / "positions.csv")
    for positions in (folder / "positions.csv", frame.to_numpy()):
        page = render(dm.connectome(x, positions=positions, **QUICK))
        assert "at the positions of the neurons" in page


@pytest.mark.parametrize(
    "file, options, message",
    [
        ("traces.csv", {"drop": ["soma"]}, "drop must be names of columns"),
        ("traces.csv", {"positions": "gold.csv"}, "must have columns x and y and 8 rows"),
        ("nowhere.npy", {}, "no file"),
        ("gold.csv", {}, "numbers"),
    ],
)
def test_refusals(made, monkeypatch, file, options, message):
    _, folder = made
    monkeypatch.chdir(folder)
    with pytest.raises((ValueError, OSError), match=message):
        dm.connectome(file, **options)
