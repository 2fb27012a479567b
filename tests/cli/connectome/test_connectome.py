"""`duramen connectome`: what it reads, finds, writes and shows."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done
from tests.networks.connectome.cultures import culture

import duramen as dm

LINKS = [(0, 1), (1, 2), (3, 4)]
NAMES = [f"cell{i}" for i in range(8)]
QUICK = ("--method", "partial-correlation")


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


def table(out):
    return pq.read_table(out / "result.parquet").to_pandas()


def test_links_are_those_of_the_library(made):
    x, folder = made
    _, record = done(folder / "out", "connectome", folder / "traces.csv")
    expected = dm.connectome(x, names=NAMES)
    actual = table(folder / "out")
    assert list(actual) == ["source", "target", "weight"]
    assert len(actual) == 28
    assert np.allclose(actual["weight"], expected.edges()["weight"], rtol=1e-9)
    assert actual["source"].tolist() == expected.edges()["source"].tolist()
    assert record["settings"]["method"] == "averaged"
    assert record["results"] == {"candidate_links": 28}
    assert (record["n_rows"], record["n_features"]) == (3000, 8)


def test_all_forms_of_the_recording_give_the_same_weights(made):
    _, folder = made
    weights = []
    for words in (
        ("traces.csv",),
        ("traces.parquet", "--drop", "time"),
        ("traces.npy",),
        ("rows.npy", "--neurons", "rows"),
    ):
        done(folder / "out", "connectome", folder / words[0], *words[1:], *QUICK)
        weights.append(table(folder / "out")["weight"])
    for weight in weights[1:]:
        assert np.allclose(weight, weights[0], rtol=1e-9)


def test_parameters_go_to_the_library(made):
    x, folder = made
    words = "--method full --threshold .11 --threshold .14 --precision exact --components .5"
    _, record = done(folder / "out", "connectome", folder / "traces.npy", *words.split())
    expected = dm.connectome(x, method="full", thresholds=[0.11, 0.14], precision="exact")
    assert np.allclose(table(folder / "out")["weight"], expected.edges()["weight"])
    assert record["settings"]["thresholds"] == [0.11, 0.14]
    assert record["settings"]["n_components"] == 0.5


@pytest.mark.parametrize(
    "method, words",
    [
        ("pearson", ()),
        ("transfer-entropy", ("--quiet-below", "0.5")),
        ("genie3", ("--trees", "4", "--max-depth", "2")),
    ],
)
def test_methods(made, method, words):
    x, folder = made
    done(folder / "out", "connectome", folder / "traces.npy", "--method", method, *words)
    options = {
        "pearson": {},
        "transfer-entropy": {"quiet": 0.5},
        "genie3": {
            "estimator": dm.RandomForestRegressor(4, max_features="sqrt", max_depth=2),
            "random_state": 0,
        },
    }
    expected = dm.connectome(x, method=method.replace("-", "_"), **options[method])
    assert np.allclose(table(folder / "out")["weight"], expected.edges()["weight"])


def test_known_links_are_scored_beside_the_best_undirected_network(made):
    x, folder = made
    scores = []
    for gold, file in (("gold.csv", "traces.csv"), ("places.csv", "traces.npy")):
        words = (folder / file, *QUICK, "--gold", folder / gold)
        said, record = done(folder / "out", "connectome", *words)
        scores.append(record["results"])
        assert "perfect undirected network" in " ".join(said.output.split())
    network = dm.connectome(x, method="partial_correlation", names=NAMES)
    truth = [(NAMES[i], NAMES[j]) for i, j in LINKS]
    expected = network.score(truth, pairs="directed")
    best = dm.networks.undirected_ceiling(truth, network.names)
    for score in scores:
        assert score["known_links"] == 3
        assert score["auroc"] == pytest.approx(expected.auroc)
        assert score["aupr"] == pytest.approx(expected.aupr)
        assert score["undirected_aupr"] == pytest.approx(best.aupr) == pytest.approx(0.5)
    page = (folder / "out" / "report.html").read_text()
    assert "perfect undirected network" in page


def test_positions_are_drawn(made):
    _, folder = made
    words = ("--positions", folder / "positions.csv")
    done(folder / "out", "connectome", folder / "traces.csv", *QUICK, *words)
    assert "at the positions of the neurons" in (folder / "out" / "report.html").read_text()


def test_gaps_are_filled_or_refused_by_choice(made):
    x, folder = made
    x[50, 2] = np.nan
    np.save(folder / "gaps.npy", x)
    assert_refused("connectome", folder / "o", (folder / "gaps.npy",), "NaN")
    for missing, rows in (("drop", 2999), ("interpolate", 3000)):
        words = (folder / "gaps.npy", *QUICK, "--missing", missing)
        _, record = done(folder / "out", "connectome", *words)
        assert record["n_rows"] == rows


def test_a_checkpoint_gives_the_same(made):
    _, folder = made
    words = ("connectome", folder / "traces.npy")
    done(folder / "one", *words)
    for _ in range(2):
        done(folder / "two", *words, "--checkpoint", folder / "kept")
        assert (folder / "one" / "result.csv").read_bytes() == (
            folder / "two" / "result.csv"
        ).read_bytes()


@pytest.mark.smoke
def test_demo(tmp_path):
    said, record = done(tmp_path / "out", "connectome", "--demo")
    assert "simulated culture: 10,000 frames x 40 neurons" in said.output
    assert record["results"]["auroc"] > 0.7
    assert record["results"]["undirected_auroc"] > 0.95


@pytest.mark.parametrize(
    "words, message",
    [
        ((), "give a FILE, or --demo"),
        (("--demo", "--gold", "gold.csv"), "--demo brings its own data"),
        (("traces.csv", "--drop", "soma"), "drop must be names of columns"),
        (("traces.csv", "--positions", "gold.csv"), "must have columns x and y and 8 rows"),
        (("traces.csv", "--threshold", "0"), "--threshold must be a number > 0"),
        (("nowhere.npy",), "no file"),
        (("gold.csv",), "numbers"),
    ],
)
def test_refusals(made, monkeypatch, words, message):
    _, folder = made
    monkeypatch.chdir(folder)
    assert_refused("connectome", folder / "o", words, message)
