"""The verdicts of `duramen rank`: the test that runs unless another is asked for, or none."""

import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done, duramen
from tests.cli.rank.tables import write_sum

from duramen.significance import catalogue

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
def test_the_default_is_max_t_of_mdi_oob_whatever_is_ranked_by(file, tmp_path, monkeypatch):
    monkeypatch.setattr("duramen.analyses.ranking.effects.DESCRIBED", 20)
    result, record = run(file, tmp_path / "out", "--permutations", 39)
    columns = written(tmp_path / "out")
    means = ["mean_a", "mean_b"]
    assert list(columns)[-2:] == means
    assert {"verdict", "evidence", "p_adjusted", "fdr", "direction"} <= set(columns)
    assert set(columns["evidence"]) <= {"alone", "jointly", "with others", ""}
    pairs = zip(columns["verdict"], columns["evidence"], strict=True)
    assert all((verdict == "noise") == (evidence == "") for verdict, evidence in pairs)
    assert set(columns["direction"]) <= {"down for b", "no direction"}
    assert {"confirmed", "noise"} <= set(columns["verdict"])
    assert record["settings"]["measures"] == ["mdi_oob", "mdi", "mda"]
    assert record["command"].endswith("--n-permutations 39")
    _, other = run(file, tmp_path / "mdi", "--permutations", 39, "--measure", "mdi")
    by_mdi = written(tmp_path / "mdi")
    assert "mda" not in by_mdi
    pairs = [dict(zip(first["name"], first["verdict"], strict=True)) for first in (columns, by_mdi)]
    assert pairs[0] == pairs[1]
    assert other["settings"]["significance"]["measure"] == "mdi_oob"
    assert "by max-T of MDI-oob" in result.stdout
    heads = ["feature", "MDI-oob, bits", "verdict", "evidence", "direction"]
    assert (
        "More columns in the results: std. error; p adj.; FDR; MDI, bits; MDA, accuracy"
        in result.stdout
    )
    assert 'evidence "with others": only the importance reaches' in " ".join(result.stdout.split())
    header = next(line for line in result.stdout.splitlines() if "feature  " in line)
    assert re.split(r"\s{2,}", header.strip()) == heads
    command = shlex.split(record["command"])
    done(tmp_path / "again", "rank", file, *command[3:])
    files = [tmp_path / folder / "result.csv" for folder in ("out", "again")]
    assert files[0].read_bytes() == files[1].read_bytes()


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
        result, _ = done(tmp_path / "out", *words, *more)
        actual = written(tmp_path / "out")
        assert actual["verdict"] == ["confirmed"] + ["noise"] * 6
        assert actual["name"][0] == "bit"
        assert actual["rank"] == list(range(1, 8))
        assert "order of verdicts, then of MDI" in result.stdout
        noise = actual["importance"][1:]
        assert noise == sorted(noise, reverse=True)
    assert actual["importance"][0] < max(noise)  # MDI alone would put noise first
    html = page(tmp_path / "out")
    assert html.index(">bit<") < html.index(">noise")


@pytest.mark.slow
def test_directions_are_about_the_class_that_is_named(file, tmp_path):
    for positive, wanted in (("a", "up for a"), ("b", "down for b")):
        run(file, tmp_path / "out", "--permutations", 39, "--positive", positive)
        assert wanted in written(tmp_path / "out")["direction"]
    refused = duramen("rank", file, "--target", "y", "--positive", "c", "--out", tmp_path / "no")
    assert refused.exit_code == 2
    assert "--positive must be a class of the target, one of a, b, got 'c'" in refused.stderr


def test_no_test_skips_it(file, tmp_path):
    result, record = run(file, tmp_path / "out", "--test", "none")
    assert "verdict" not in written(tmp_path / "out")
    assert "significance" not in record["settings"]
    assert "max-T" not in result.stdout + page(tmp_path / "out")
    assert "--test none" in record["command"]


def test_report_says_what_verdicts_are_and_why_orders_differ(file, tmp_path):
    _, record = run(file, tmp_path / "out", "--permutations", 39)
    html = page(tmp_path / "out")
    assert "<h3>Significance by max-T</h3>" in html
    assert "confirmed by max-T of MDI-oob" in html
    assert "confirmed by max-T of MDI-oob (family-wise error rate 0.05)" in html
    assert catalogue["max_t"].promise.format(level=0.05) in html
    n_forests = record["settings"]["significance"]["n_forests"]
    assert f"The test grew {n_forests} forests, with 20 trees each" in html
    assert ("stages: in each after the first" in html) == (n_forests > 40)
    assert "if its rank statistic confirms it" in html
    assert '<td class="words">evidence</td>' in html or ">evidence<" in html
    assert "Features are in the order of verdicts, then of MDI-oob." in html
    assert '<td class="words">confirmed</td>' in html or ">confirmed</td>" in html


def test_forests_of_the_test_have_fewer_trees(file, tmp_path):
    words = ("--test", "max-t", "--permutations", 19, "--trees", 120)
    _, record = done(tmp_path / "out", "rank", file, "--target", "y", *words)
    assert record["settings"]["n_estimators"] == 120
    most = catalogue["max_t"].most_trees(100)
    assert record["settings"]["significance"]["n_estimators"] == most < 120


def test_the_default_test_is_by_entropy_whatever_the_ranking_is_by(file, tmp_path):
    options = ("--permutations", 19, "--measure", "mdi")
    tables = []
    for criterion in ("gini", "entropy"):
        run(file, tmp_path / criterion, *options, "--criterion", criterion)
        columns = written(tmp_path / criterion)
        tables.append(dict(zip(columns["name"], columns["p_adjusted"], strict=True)))
    assert tables[0] == tables[1]


def test_a_measure_that_breaks_the_rates_beside_relevant_features_is_noted(file, tmp_path):
    asked = ("--test", "max-t", "--permutations", 19, "--measure", "mda")
    _, record = run(file, tmp_path / "out", *asked)
    note = "irrelevant features that are correlated with each other are confirmed more often"
    assert note in " ".join(record["results"]["significance"]["notes"])
    assert note in page(tmp_path / "out")
    _, other = run(file, tmp_path / "default", "--permutations", 19)
    assert other["results"]["significance"]["notes"] == []


def test_noise_has_no_verdict_above_noise(tmp_path):
    random = np.random.default_rng(2)
    columns = {f"x{j}": random.normal(size=40) for j in range(5)}
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({**columns, "y": random.permutation(np.arange(40) % 2)}), path)
    result, record = done(tmp_path / "out", "rank", path, "--target", "y", "--trees", 20)
    assert set(written(tmp_path / "out")["verdict"]) == {"noise"}
    assert record["results"]["significance"]["noise"] == 5
    assert "None of 5 features is confirmed (family-wise error rate 0.05)" in result.stdout
    assert "no evidence that any feature is associated with y" in result.stdout


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


@pytest.mark.slow
def test_a_long_test_that_nobody_asked_for_says_how_to_do_without(file, tmp_path, monkeypatch):
    few = ("--permutations", 19)
    monkeypatch.setattr("duramen.analyses.ranking.significance.LONG", 0.0)
    assert "skips it" not in run(file, tmp_path / "short", *few)[0].stderr
    monkeypatch.setattr("duramen.analyses.ranking.significance._TOO_LONG", 0.0)
    assert re.search(
        r"max-T .*; --test none skips it", run(file, tmp_path / "long", *few)[0].stderr
    )
    asked = run(file, tmp_path / "asked", "--test", "max-t", *few)[0]
    assert "skips it" not in asked.stderr
