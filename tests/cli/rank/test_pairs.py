"""`duramen rank --interactions`: a planted pair among main effects, in every output."""

import numpy as np
import pandas as pd
from tests.cli.commands import done

import duramen as dm

N, TREES = 400, 30


def frame():
    random = np.random.default_rng(1)
    table = pd.DataFrame(random.normal(size=(N, 8)), columns=list("abcdefgh"))
    pair = np.sign(table["b"] * table["c"])
    table["y"] = pair + 2 * table["e"] + 2 * table["f"] + random.normal(size=N)
    return table


def words(file, *more):
    options = f"--target y --trees {TREES} --test none --interactions".split()
    return ("rank", file, *options, *more)


def test_a_planted_pair_is_the_one_that_is_found(tmp_path):
    table = frame()
    table.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "out"
    result, record = done(out, *words(tmp_path / "t.csv"))
    figures = record["results"]["interactions"]
    assert figures["supported"] == [["b", "c"]]
    assert figures["n_pairs"] == 28
    assert "1 of 28 pairs of features interacts" in result.stdout
    pairs = pd.read_csv(out / "result-pairs.csv")
    X, y = table.drop(columns="y"), table["y"]
    tested = dm.significance.interaction_test(X, y, random_state=0).to_frame()
    assert np.allclose(pairs["z"].dropna(), tested["interaction"], rtol=1e-12)
    drawn = record["settings"]["max_features"]
    forest = dm.RandomForestRegressor(TREES, random_state=0, max_features=drawn).fit(X, y)
    used = dm.importances.interactions(forest, sparse=True)
    wanted = [used[pair] for pair in zip(pairs["feature"], pairs["other"], strict=True)]
    assert np.allclose(pairs["in_forest_variance"].fillna(0.0), wanted)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Interactions of all pairs" in page
    assert "Network of the strongest pairs" in page
