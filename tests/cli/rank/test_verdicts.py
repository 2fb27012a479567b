"""The verdicts of `duramen rank`: the test that runs unless another is asked for, or none."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done
from tests.cli.rank.tables import write_sum

N, P, TREES = 80, 6, 20


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write_sum(tmp_path_factory.mktemp("tables") / "t.parquet", N, P)


def run(file, out, *words):
    return done(out, "rank", file, "--target", "y", "--trees", TREES, *words)


def written(out):
    return pq.read_table(out / "result.parquet").to_pydict()


def page(out):
    html = (out / "report.html").read_text(encoding="utf-8")
    return " ".join(re.sub(r"&#39;", "'", html).split())


@pytest.mark.slow
def test_verdicts_come_first_and_noise_of_many_values_last(tmp_path):
    """MDI favors the noise of 90 values; the feature of two is confirmed, and first."""
    random = np.random.default_rng(3)
    bit = random.integers(0, 2, 300)
    columns = {f"noise{j}": random.normal(size=300) for j in range(6)}
    flips = random.random(300) < 0.34
    columns |= {"bit": bit, "state": np.where(flips, 1 - bit, bit) == 1}
    columns["state"] = np.where(columns["state"], "ill", "well")
    pq.write_table(pa.table(columns), tmp_path / "bits.parquet")
    words = ("rank", tmp_path / "bits.parquet", "--target", "state", "--trees", 100)
    words += ("--permutations", 59)
    for more in ((), ("--measure", "mdi")):
        done(tmp_path / "out", *words, *more)
        actual = written(tmp_path / "out")
        assert actual["verdict"] == ["confirmed"] + ["noise"] * 6
        assert actual["name"][0] == "bit"
        assert actual["rank"] == list(range(1, 8))
        assert "order of verdicts, then of MDI" in page(tmp_path / "out")
        noise = actual["importance"][1:]
        assert noise == sorted(noise, reverse=True)
    assert actual["importance"][0] < max(noise)  # MDI alone would put noise first
    html = page(tmp_path / "out")
    assert html.index(">bit<") < html.index(">noise")


def test_the_default_test_is_by_entropy_whatever_the_ranking_is_by(file, tmp_path):
    options = ("--permutations", 19, "--measure", "mdi")
    tables = []
    for criterion in ("gini", "entropy"):
        run(file, tmp_path / criterion, *options, "--criterion", criterion)
        columns = written(tmp_path / criterion)
        tables.append(dict(zip(columns["name"], columns["p_adjusted"], strict=True)))
    assert tables[0] == tables[1]


def test_noise_has_no_verdict_above_noise(tmp_path):
    random = np.random.default_rng(2)
    columns = {f"x{j}": random.normal(size=40) for j in range(5)}
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({**columns, "y": random.permutation(np.arange(40) % 2)}), path)
    result, record = done(tmp_path / "out", "rank", path, "--target", "y", "--trees", 20)
    assert set(written(tmp_path / "out")["verdict"]) == {"noise"}
    assert record["results"]["significance"]["noise"] == 5
    assert result.stdout.startswith("None of 5 features is distinguishable from noise.")
    assert "evidence that any feature is associated with y" in result.stdout


def test_a_test_that_does_not_fit_in_memory_is_left_out(file, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise MemoryError("max_t: 99 replicates would not fit")

    monkeypatch.setattr("duramen.analyses.ranking.significance.run_test", fail)
    result, record = run(file, tmp_path / "out")
    assert "note: the test of importances is left out: max-t: 99 replicates" in result.stderr
    assert "the test of importances is left out" in page(tmp_path / "out")
    assert "significance" not in record["settings"]
    words = [file, "--target", "y", "--test", "max-t"]
    assert_refused("rank", tmp_path / "no", words, "99 replicates would not fit")
