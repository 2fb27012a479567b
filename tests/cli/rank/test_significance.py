"""`duramen rank --test`."""

import signal

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done, duramen
from tests.cli.rank.tables import write_sum

import duramen as dm
from duramen.cli.ending import Stopped
from duramen.significance import catalogue as tests
from duramen.significance.measured import Measured

N, P, TREES = 80, 6, 20
CER = "conditional-error-rate"
OPTIONS = {test.option: test for test in tests}
LEFT_OUT = (
    "interrupted; left out of the results: the significance test, the directions of effects, the "
    "number of trees that is needed"
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write_sum(tmp_path_factory.mktemp("tables") / "t.parquet", N, P)


def run(file, out, *words):
    return done(out, "rank", file, "--target", "y", "--trees", TREES, *words)


def asked(file, out, method, *words, permutations=19):
    count = ("--permutations", permutations) if OPTIONS[method].repeats else ()
    return run(file, out, "--measure", "mdi", "--test", method, *count, *words)


def written(out):
    return pq.read_table(out / "result.parquet").to_pydict()


# --- every method --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "grown"),
    [("max-t", None), ("altmann", 20), ("one-probe", 19), (CER, None)],
)
def test_number_of_forests_is_at_most_what_is_announced(method, grown, file, tmp_path, monkeypatch):
    calls = count_forests(monkeypatch)
    asked(file, tmp_path / "out", method, "--quiet")
    most = OPTIONS[method].forests(19, P)
    assert len(calls) <= most + 1  # and one for the ranking that rates are about
    assert method != "max-t" or most == 1 + 3 * 19  # stages
    if grown is not None:
        assert len(calls) == most == grown


def count_forests(monkeypatch, fail_after=None, error=KeyboardInterrupt):
    calls, importances = [], Measured.importances

    def counting(self, seed, **data):
        if fail_after is not None and len(calls) >= fail_after:
            raise error
        calls.append(seed)
        return importances(self, seed, **data)

    monkeypatch.setattr(Measured, "importances", counting)
    return calls


# --- what is tested ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "names", "measure"),
    [
        ("altmann", (), "mdi_oob"),
        ("altmann", ("mcfs", "air", "mdi"), "air"),
        ("altmann", ("vote-change",), "mdi"),
        ("janitza", ("mdi", "air", "holdout-mda"), "air"),
        ("janitza", ("mda",), "holdout_mda"),
        ("frequency-control", ("mdi",), "frequency"),
    ],
)
def test_the_first_measure_that_can_be_is_tested(method, names, measure):
    X = np.random.default_rng(0).normal(size=(30, 20))
    options = {"n_permutations": 19} if OPTIONS[method].repeats == "n_permutations" else {}
    options |= {"measure": names} if names else {}
    report = dm.rank(X, X[:, 0] > 0, n_estimators=10, test=method, n_jobs=1, **options)
    assert report.significance.metadata["measure"] == measure


# --- the same again ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", ["max-t", "altmann", "multiple-probes", CER, "hapfelmeier"])
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(method, file, tmp_path, monkeypatch):
    whole, out, checkpoint = tmp_path / "whole", tmp_path / "out", tmp_path / "kept"
    words = ("--jobs", 1, "--checkpoint", checkpoint)
    asked(file, whole, method)
    words = ["rank", file, "--target", "y", "--trees", TREES, "--measure", "mdi", *words]
    words += ["--test", method, "--permutations", 19]
    with monkeypatch.context() as patched:
        count_forests(patched, fail_after=12)
        stopped = duramen(*words, "--out", out)
    assert stopped.exit_code == 130
    assert f"note: {checkpoint.name} holds the work done so far; " in " ".join(
        stopped.stderr.split("\n")
    )
    assert "No significance test was run" in stopped.stdout
    assert checkpoint.is_file()
    with monkeypatch.context() as patched:
        calls = count_forests(patched)
        duramen(*words, "--out", out, "--quiet")
        more = len(calls)
        calls.clear()
        asked(file, tmp_path / "other", method, "--quiet")
        assert more < len(calls)
    assert (out / "result.csv").read_bytes() == (whole / "result.csv").read_bytes()
    other = ["--target", "y", "--seed", 1, "--test", method, "--checkpoint", checkpoint]
    assert_refused("rank", tmp_path / "no", [file, *other], "is of another run")


def test_ctrl_c_during_a_test_leaves_the_ranking(file, tmp_path, monkeypatch):
    count_forests(monkeypatch, fail_after=5)
    monkeypatch.setattr("duramen.analyses.ranking.significance.announce", lambda *_, **__: None)
    words = "rank", file, "--target", "y", "--trees", TREES, "--out", tmp_path / "out"
    result = duramen(*words, "--test", "altmann", "--permutations", 19, "--jobs", 1)
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-2:] == [
        f"note: {LEFT_OUT}",
        f"duramen rank: interrupted, the results are in {tmp_path / 'out'}",
    ]
    assert "No significance test was run" in result.stdout
    assert LEFT_OUT in (tmp_path / "out/report.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGXCPU", 152)])
def test_a_signal_during_a_test_leaves_the_ranking_beside_the_results(
    number, code, file, tmp_path, monkeypatch
):
    """Results of an earlier run stay, and the ranking is the one of a run without a test."""
    out, partial = tmp_path / "out", tmp_path / "out.partial"
    words = "rank", file, "--target", "y", "--trees", TREES, "--out"
    done(out, *words[:-1], "--test", "none", "--quiet")
    contents = {path.name: path.read_bytes() for path in out.iterdir()}
    count_forests(monkeypatch, fail_after=5, error=Stopped(signal.Signals[number]))
    result = duramen(*words, out, "--test", "altmann", "--permutations", 19, "--jobs", 1)
    assert result.exit_code == code
    assert result.stdout == ""
    said = f"duramen rank: stopped by {number}, the results so far are in {partial}"
    assert result.stderr.splitlines()[-2:] == [f"note: {LEFT_OUT}", said]
    assert {path.name: path.read_bytes() for path in out.iterdir()} == contents
    assert {path.name for path in partial.iterdir()} == set(contents)
    ranking, whole = written(partial), written(out)
    assert "altmann_p_value" not in ranking
    assert all(whole[name] == column for name, column in ranking.items())


# --- what it refuses -----------------------------------------------------------------------------
