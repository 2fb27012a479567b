"""`duramen rank --test`."""

import inspect
import re
import shlex
import signal
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done, duramen
from tests.cli.rank.tables import write_sum

import duramen as dm
from duramen import Importances, Significance
from duramen.analyses.ranking.significance import (
    columns_of,
    line_words,
    measure_to_test,
    sections_of,
    selected_by,
    threshold_of,
)
from duramen.cli.ending import Stopped
from duramen.importances import catalogue as measures
from duramen.results.significance import ErrorRates
from duramen.significance import catalogue as tests
from duramen.significance.measured import Measured

N, P, TREES = 80, 6, 20
CER = "conditional-error-rate"
PROBES = ("forest-probe-ranking", "probe-ranking")  # whose rates bound no error
RATES = ("multiple-probes", CER, "fdr-curve", *PROBES)
OPTIONS = {test.option: test for test in tests}
LEFT_OUT = (
    "interrupted; left out of the results: the significance test, the directions of effects, the "
    "number of trees that is needed"
)
REFITTING = [test.option for test in tests if test.repeats]


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


def page(out):
    html = (out / "report.html").read_text(encoding="utf-8")
    return " ".join(re.sub(r"&#39;", "'", html).split())


# --- every method --------------------------------------------------------------------------------


def by_the_library(method, file):
    """What the library says, called as a user would."""
    table = pq.read_table(file)
    y = np.array(table["y"].to_pylist())
    X = table.drop_columns(["y"])
    forest = dm.RandomForestClassifier(TREES, criterion="entropy", random_state=0)
    entry = OPTIONS[method]
    function = entry.function
    if method == "janitza":
        with pytest.warns(UserWarning, match="are negative"):
            return function(dm.importances.holdout_mda(forest, X, y, random_state=0))
    if method == "probe-ranking":
        return function(X, y)
    # The command tests the measure of its ranking.
    own = {"measure": "mdi"} if "measure" in inspect.signature(function).parameters else {}
    if entry.repeats:
        own[entry.repeats] = 19
    return function(forest, X, y, random_state=0, **own)


def assert_verdicts(wanted, columns, place, result, record):
    order = list(columns)[-7:-2]
    assert order == ["verdict", "evidence", "direction", "p_adjusted", "fdr"]
    assert columns["evidence"] == [wanted.evidence()[j] for j in place]
    assert columns["verdict"] == [wanted.verdicts()[j] for j in place]
    assert columns["p_adjusted"] == wanted.p_adjusted[place].tolist()
    assert columns["fdr"] == wanted.q_values[place].tolist()
    figures = record["results"]["significance"]
    for verdict in ("confirmed", "candidate", "noise"):
        assert figures[verdict] == wanted.verdicts().count(verdict)
    for word in ("alone", "jointly", "with others"):
        assert figures["evidence"][word] == wanted.evidence().count(word)
    assert figures["level"] == 0.05
    sure = figures["confirmed"]
    are = "is" if sure == 1 else "are"
    said = f"{sure} of {P} features {are} confirmed by max-T of MDI (family-wise error rate 0.05"
    assert said in " ".join(result.stdout.split())
    assert record["settings"]["significance"]["n_estimators"] == TREES
    assert record["settings"]["significance"]["balanced"] is True


@pytest.mark.slow
@pytest.mark.parametrize("method", OPTIONS)
def test_method_says_what_the_library_says(method, file, tmp_path):
    result, record = asked(file, tmp_path / "out", method)
    wanted = by_the_library(method, file)
    columns = written(tmp_path / "out")
    short = method.replace("-", "_").removesuffix("_error_rate")
    assert pa_csv.read_csv(tmp_path / "out" / "result.csv").column_names == list(columns)
    place = [wanted.names.index(name) for name in columns["name"]]
    rate = "probe_rate" if method in PROBES else "error_rate"
    ends = ("_p_value", "_q_value", f"_{rate}")
    own = [name for name in columns if name.startswith(f"{short}_") and name.endswith(ends)]
    if method == "max-t":
        assert_verdicts(wanted, columns, place, result, record)
        return
    if method in RATES:
        assert own == [f"{short}_{rate}"]
        assert columns[own[0]] == wanted.rates[place].tolist()
        n_found, what = np.count_nonzero(wanted.rates <= 0.05), rate
        meaning = wanted.meaning
    else:
        assert own == [f"{short}_p_value", f"{short}_q_value"]
        assert columns[own[0]] == wanted.p_values[place].tolist()
        assert columns[own[1]] == wanted.q_values[place].tolist()
        n_found, what, meaning = np.count_nonzero(wanted.q_values <= 0.05), "q", wanted.null
    figures = record["results"]["significance"]
    assert figures[f"features_with_{what}_up_to_0.05"] == n_found
    assert meaning in figures.values()
    assert f"{n_found} of {P} features have " in result.stdout
    assert meaning in result.stdout
    assert record["settings"]["significance"]["method"] == wanted.method
    assert meaning in page(tmp_path / "out")
    assert tests[wanted.method].promise.format(level=0.05) in page(tmp_path / "out")


def test_records_fit_their_functions():
    assert [test.name for test in tests if test.default] == ["max_t"]
    for test in tests:
        assert test.name == test.function.__name__
        assert getattr(dm.significance, test.name) is test.function
        assert any(test.suits(measure) for measure in measures) != test.of_rows
        assert test.controls != (test.option in PROBES)
        assert all(measure.testable for measure in measures if test.suits(measure))
        assert test.title
        assert test.promise
        assert test.reference
        assert test.grows or not test.repeats
        if test.repeats:
            assert test.rounds(7) == 7
        if test.grows:
            assert {"checkpoint", "verbose"} <= set(inspect.signature(test.function).parameters)


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
        ("altmann", (), "mdi"),
        ("altmann", ("mcfs", "air", "mdi"), "air"),
        ("altmann", ("vote-change",), "mdi"),
        ("janitza", ("mdi", "air", "holdout-mda"), "air"),
        ("janitza", ("mda",), "holdout_mda"),
        ("frequency-control", ("mdi",), "frequency"),
    ],
)
def test_the_first_measure_that_can_be_is_tested(method, names, measure):
    chosen = [measure for name in names for measure in measures if measure.option == name]
    tested = measure_to_test(OPTIONS[method], chosen, dm.RandomForestClassifier(), default=False)
    assert tested.name == measure


def test_what_is_tested_is_said_and_shown(file, tmp_path):
    words = ("--measure", "vote-change", "--measure", "minimal-depth", "--permutations", 3)
    result, record = run(file, tmp_path / "out", *words, "--test", "altmann")
    assert record["settings"]["measures"] == ["vote_change", "minimal_depth"]
    assert record["settings"]["significance"]["measure"] == "minimal_depth"
    assert "by Altmann of minimal depth" in result.stdout
    assert "by Altmann of minimal depth" in page(tmp_path / "out")
    header = next(line for line in result.stdout.splitlines() if "feature  " in line)
    heads = ["feature", "J_chi2", "q, Altmann", "direction", "p, J_chi2", "q, J_chi2"]
    assert re.split(r"\s{2,}", header.strip()) == heads
    for title in ("p, J_chi2", "q, J_chi2", "q, Altmann"):
        assert f'<th scope="col" class="number">{title}</th>' in page(tmp_path / "out")
    assert '<th scope="col" class="number minor">p, Altmann</th>' in page(tmp_path / "out")


def test_a_measure_that_was_not_asked_for_is_computed_to_be_tested(file, tmp_path):
    _, record = asked(file, tmp_path / "out", "janitza")
    assert record["settings"]["measures"] == ["mdi", "holdout_mda"]
    assert record["settings"]["significance"]["n_negative"] > 0
    assert "holdout_mda" in written(tmp_path / "out")


def test_one_candidate_needs_no_permutations(file, tmp_path, monkeypatch):
    calls = count_forests(monkeypatch)
    words = ("--measure", "mdi", "--max-features", 1, "--test", "frequency-control")
    _, record = run(file, tmp_path / "out", *words)
    assert record["settings"]["significance"]["null"] == "binomial"
    assert not calls
    _, record = run(file, tmp_path / "out", *words, "--permutations", 3)
    assert record["settings"]["significance"]["null"] == "permuted"
    assert len(calls) >= 3


# --- the report ----------------------------------------------------------------------------------


def test_report_has_histogram_line_and_promise(file, tmp_path):
    asked(file, tmp_path / "out", "one-probe", permutations=199)
    html = page(tmp_path / "out")
    assert "<h3>Significance by one probe</h3>" in html
    assert "<h3>Result of the test</h3>" in html
    assert f"Histogram of the p-values of {P} features" in html
    assert "Benjamini and Hochberg" in html
    columns = written(tmp_path / "out")
    pairs = zip(columns["name"], columns["one_probe_q_value"], strict=True)
    results = {name for name, q in pairs if q <= 0.05}
    listed = re.search(r"features have q up to 0.05 by one probe of MDI: ([^.]*)\.", html)
    assert results
    assert set(listed[1].split(", ")) == results


def test_report_says_so_where_nothing_is_selected(file, tmp_path):
    result, record = asked(file, tmp_path / "out", "altmann", permutations=3)
    assert record["results"]["significance"]["features_with_q_up_to_0.05"] == 0
    said = f"0 of {P} features have q up to 0.05 by Altmann of MDI"
    assert result.stdout.startswith(said)
    assert f'<p class="conclusion">{said}' in page(tmp_path / "out")
    assert "use --n-permutations 120 or --test max-t" in result.stderr
    assert "use n_permutations=120 or test='max_t'" in page(tmp_path / "out")


def test_report_of_error_rates_has_no_histogram(file, tmp_path):
    asked(file, tmp_path / "out", CER)
    html = page(tmp_path / "out")
    assert "<h3>Significance by conditional error rate</h3>" in html
    assert "Histogram" not in html
    assert '<td class="number">&gt; 0.05</td>' in html


def verdict(p_values):
    names = tuple("abcd"[: len(p_values)])
    scores = np.arange(len(names), 0, -1.0)
    how = {"method": "altmann", "null": "Nothing.", "metadata": {"measure": "mdi"}}
    return Significance(names, scores, np.array(p_values), **how)


def test_line_of_the_ranking():
    importances = Importances(tuple("dcba"), np.array([1.0, 2.0, 3.0, 4.0]), "mdi", "bits")
    two = verdict([0.001, 0.9, 0.001, 0.9])
    assert selected_by(two) == ("a", "c")
    assert threshold_of(two, importances) == 2.0
    assert line_words(two, importances).endswith(
        "with q up to 0.05 by Altmann. 1 more features are beyond it, but do not meet this limit."
    )
    sentence = verdict([0.001, 0.9, 0.9, 0.9])
    assert threshold_of(sentence, importances) == 4.0
    assert "of the only feature with q" in line_words(sentence, importances)
    none = verdict([0.9] * 4)
    assert threshold_of(none, importances) is None
    assert line_words(none, importances).startswith("No line")


def test_columns_follow_the_names_and_tell_what_was_not_computed():
    names, rates = ("a", "b", "c"), np.array([0.01, 0.5, 1.0])
    how = {"method": "conditional_error_rate", "meaning": "A rate."}
    rated = ErrorRates(names, np.array([3.0, 2.0, 1.0]), rates, n_known=2, **how)
    (column,) = columns_of(rated, ["c", "a", "b"])
    assert column.cells == ["> 0.05", "0.01", "0.5"]
    assert column.numbers.tolist() == [1.0, 0.01, 0.5]
    with pytest.raises(ValueError, match="lacks 'd'"):
        columns_of(rated, ["d"])


def test_sections_of_no_feature():
    assert len(sections_of(verdict([]))) == 1


# --- options of some methods ---------------------------------------------------------------------


def forest_and_rows(file):
    table = pq.read_table(file)
    y = np.array(table["y"].to_pylist())
    forest = dm.RandomForestClassifier(TREES, criterion="entropy", random_state=0)
    return forest, table.drop_columns(["y"]), y


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "words", "choices"),
    [
        ("altmann", ["--distribution", "normal"], {"distribution": "normal"}),
        ("altmann", ["--distribution", "gamma"], {"distribution": "gamma"}),
        ("altmann", ["--distribution", "empirical"], {}),
        ("altmann", ["--stop-after", 2], {"stop_after": 2}),
        ("hapfelmeier", ["--stop-after", 2], {"stop_after": 2}),
        (CER, ["--rank-based", "later"], {"rank_based": "later"}),
    ],
)
def test_options_do_what_the_library_does(method, words, choices, file, tmp_path):
    _, record = asked(file, tmp_path / "out", method, *words)
    function = OPTIONS[method].function
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "altmann: q-values of (normal|gamma) tails")
        wanted = function(
            *forest_and_rows(file),
            n_permutations=19,
            random_state=0,
            **{"measure": "mdi", **choices},
        )
    columns = written(tmp_path / "out")
    place = [wanted.names.index(name) for name in columns["name"]]
    if method in RATES:
        assert columns["conditional_error_rate"] == wanted.rates[place].tolist()
    else:
        assert columns[f"{method}_p_value"] == wanted.p_values[place].tolist()
    settings = record["settings"]["significance"]
    assert {name: settings[name] for name in choices} == choices
    assert settings["n_grown"] == wanted.metadata["n_grown"]
    said = " ".join(str(word) for word in words)
    assert f"--test {method} --n-permutations 19 {said}" in record["command"]


def test_fitted_distribution_and_ranks_have_notes_on_their_error_rates(file, tmp_path):
    result, record = asked(file, tmp_path / "law", "altmann", "--distribution", "normal")
    said = " ".join(result.stderr.split())
    remarks = record["results"]["significance"]["notes"]
    assert [
        note for note in remarks if "q-values of normal tails are too small" in note
    ] == remarks[:1]
    assert re.search(
        rf"the p-values of \d of {P} features are tail probabilities of a normal", remarks[1]
    )
    assert len(remarks) == 2
    for note in remarks:
        assert note.startswith("altmann: ")
        assert note.partition(" Hint")[0] in said
        assert note in page(tmp_path / "law")
    assert min(written(tmp_path / "law")["altmann_p_value"]) < 1 / 20
    _, record = asked(file, tmp_path / "ranks", CER, "--rank-based", "later")
    (remarks,) = record["results"]["significance"]["notes"]
    assert "by rank, the error rate holds only approximately" in remarks
    assert remarks in page(tmp_path / "ranks")


PAIRS = {"x0": "first", "x1": "first", "x2": "said", "x4": "said", "x5": None}


@pytest.fixture
def groups(tmp_path):
    path = tmp_path / "groups.csv"
    pa_csv.write_csv(pa.table({"feature": list(PAIRS), "group": list(PAIRS.values())}), path)
    return path


@pytest.mark.parametrize(
    ("words", "choices"),
    [([], {}), (["--group-score", "max", "--rank-based", "later"], {"how": "max"})],
)
def test_features_have_the_rate_of_their_group(words, choices, file, groups, tmp_path):
    choices = {**choices, "rank_based": "later" if "--rank-based" in words else None}
    asked_for = ["--feature-groups", groups, *words]
    result, record = asked(file, tmp_path / "out", CER, *asked_for)
    own = {"first": ["x0", "x1"], "said": ["x2", "x4"]}
    wanted = dm.significance.conditional_error_rate(
        *forest_and_rows(file),
        measure="mdi",
        feature_groups=own,
        n_permutations=19,
        random_state=0,
        **choices,
    )
    assert set(wanted.names) == {"first", "said", "x3", "x5"}
    columns = written(tmp_path / "out")
    for name, rate in zip(columns["name"], columns["conditional_error_rate"], strict=True):
        assert rate == wanted[PAIRS.get(name) or name]
    assert wanted["said"] <= 0.05 < wanted["first"]
    assert (
        "2 of 6 features have an error rate up to 0.05 by conditional error rate" in result.stdout
    )
    assert "if the groups " in " ".join(result.stdout.split())
    settings = record["settings"]["significance"]
    assert (settings["feature_groups"], settings["n_groups"]) == ("groups.csv", 4)
    assert settings["how"] == choices.get("how", "mean")
    remark = record["results"]["significance"]["notes"][-1]
    assert "rates are those of 4 groups, ranked by the " in remark
    assert remark.endswith("1 of the groups have a rate up to 0.05: said")
    assert remark in page(tmp_path / "out")
    assert "--feature-groups groups.csv" in record["command"]


def test_groups_of_all_features_in_one_or_each_alone(file, tmp_path):
    alone, together = tmp_path / "alone.csv", tmp_path / "one.csv"
    names = [f"x{j}" for j in range(P)]
    pa_csv.write_csv(pa.table({"feature": names, "group": [f"of {x}" for x in names]}), alone)
    pa_csv.write_csv(pa.table({"feature": names, "group": ["all"] * P}), together)
    asked(file, tmp_path / "plain", CER)
    asked(file, tmp_path / "own", CER, "--feature-groups", alone)
    column = "conditional_error_rate"
    assert written(tmp_path / "own")[column] == written(tmp_path / "plain")[column]
    asked(file, tmp_path / "all", CER, "--feature-groups", together, "--group-score", "sum")
    assert len(set(written(tmp_path / "all")[column])) == 1


def test_early_stopping_and_groups_lower_what_is_announced(file, groups, tmp_path, monkeypatch):
    monkeypatch.setattr("duramen.analyses.ranking.significance.LONG", 0.0)
    result, _ = asked(file, tmp_path / "out", CER, "--feature-groups", groups)
    assert f"note: conditional error rate of MDI: at most {19 * 4} forests" in result.stderr
    result, _ = asked(file, tmp_path / "out", "altmann", "--stop-after", 2, permutations=3)
    assert "note: Altmann of MDI: at most 4 forests" in result.stderr


# --- the same again ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", REFITTING)
def test_threads_do_not_change_a_byte(method, file, tmp_path):
    tables = []
    for jobs in (1, 3):
        asked(file, tmp_path / "out", method, "--jobs", jobs)
        tables.append((tmp_path / "out" / "result.csv").read_bytes())
    assert tables[0] == tables[1]


def test_command_of_the_record_asks_for_the_test(file, tmp_path):
    out, again = tmp_path / "out", tmp_path / "again"
    path = tmp_path / "kept"
    words = ("--measure", "vote-change", "--test", "mean-rank-test", "--permutations", 4)
    _, record = run(file, out, *words, "--checkpoint", path)
    assert path.is_file()
    command = shlex.split(record["command"])
    end = "--measure vote-change --test mean-rank-test --n-permutations 4"
    assert " ".join(command).endswith(end)
    done(again, "rank", file, *command[3:])
    assert (again / "result.csv").read_bytes() == (out / "result.csv").read_bytes()


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
    # The next run of the command that ends by itself removes it, unless it holds something else.
    monkeypatch.undo()
    (partial / "mine.txt").write_text("mine")
    done(out, *words[:-1], "--test", "none")
    assert partial.is_dir()
    (partial / "mine.txt").unlink()
    duramen("select", file, "--target", "y", "--selector", "mrmr", "--out", out)
    assert partial.is_dir()
    result, _ = done(out, *words[:-1], "--test", "none")
    said = "note: results of an earlier rank that was stopped were removed"
    assert said in " ".join(result.stderr.split())
    assert not partial.exists()


def test_long_runs_are_announced(file, tmp_path, monkeypatch):
    monkeypatch.setattr("duramen.analyses.ranking.significance.LONG", 0.0)
    result, _ = asked(file, tmp_path / "out", "altmann", permutations=3)
    assert re.search(r"note: Altmann of MDI: 4 forests, \d+ at a time: about ", result.stderr)
    result, _ = asked(file, tmp_path / "out", CER)
    assert f"note: conditional error rate of MDI: at most {19 * P} forests" in result.stderr
    result, _ = asked(file, tmp_path / "out", "altmann", "--quiet", permutations=3)
    assert result.output == ""


# --- what it refuses -----------------------------------------------------------------------------


@pytest.fixture
def no_growth(monkeypatch):
    """Whatever is refused is refused before a tree grows."""

    def fail(*_, **__):
        raise AssertionError("a forest grew")

    monkeypatch.setattr("duramen.estimators.base.BaseForest.fit", fail)


def test_names_of_no_method(file, no_growth):
    result = duramen("rank", file, "--target", "y", "--test", "boruta")
    assert result.exit_code == 2
    assert "for --test. Choose from: " in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--permutations", 9], "--n-permutations must be 19 or more with --test max-t"),
        (
            ["--test", "none", "--permutations", 99],
            "--n-permutations has no effect with --test none",
        ),
        (["--test", "none", "--checkpoint", "kept"], "--checkpoint has no effect with --test none"),
        (
            ["--test", "janitza", "--permutations", 9],
            "--n-permutations has no effect with --test janitza, which grows no forests",
        ),
        (["--test", "janitza", "--checkpoint", "kept"], "--checkpoint has no effect"),
        (
            ["--test", CER, "--permutations", 18],
            "--n-permutations must be 19 or more with --test conditional-error-rate",
        ),
        (
            ["--test", "fdr-curve", "--checkpoint", "/no/where"],
            "does not exist; create that folder",
        ),
        (["--test", "fdr-curve", "--checkpoint", "/"], "is a folder; name a file"),
        (["--stop-after", 3], "--stop-after has no effect with --test max-t; allowed with altmann"),
        (
            ["--rank-based", "own"],
            "has no effect with --test max-t; allowed with conditional-error-rate",
        ),
        (
            ["--test", "fdr-curve", "--stop-after", 3],
            "--stop-after has no effect with --test fdr-curve; allowed with altmann, hap",
        ),
        (
            ["--test", "hapfelmeier", "--distribution", "gamma"],
            "--distribution has no effect with --test hapfelmeier; allowed with altmann",
        ),
        (
            ["--test", "multiple-probes", "--rank-based", "own"],
            f"--rank-based has no effect with --test multiple-probes; allowed with {CER}",
        ),
        (
            ["--test", "janitza", "--n-probes", 5],
            "--n-probes has no effect with --test janitza; allowed with forest-probe-ranking, "
            "probe-ranking",
        ),
        (
            ["--test", "altmann", "--distribution", "gamma", "--stop-after", 3],
            "--stop-after needs --distribution empirical, got gamma",
        ),
        (["--test", CER, "--group-score", "max"], "--group-score needs --feature-groups FILE"),
        (
            ["--test", CER, "--feature-groups", "no.csv"],
            "--feature-groups no.csv: there is no file no.csv",
        ),
    ],
)
def test_options_that_do_not_fit(words, message, file, tmp_path, no_growth):
    assert_refused("rank", tmp_path / "out", [file, "--target", "y", *words], message)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["f", "x0"], "must have two columns, the features and the group of each; it has 1"),
        (["f,g", "x0,a", "x0,b"], "'x0' occurs twice; groups must not overlap"),
        (["f,g", ",a"], "row 1 names no feature"),
        (["f,g", "x0,"], "assigns no feature to a group"),
        (
            ["f,g", "x11,a"],
            "['a'] holds 'x11'",
        ),
        (["f,g", "y,a"], "['a'] holds 'y'"),
        (["f,g", "x0,x1"], "'x1' is the name of a group and of a column that is in no group"),
    ],
)
def test_groups_that_are_none(lines, message, file, tmp_path, no_growth):
    path = tmp_path / "g.csv"
    path.write_text("\n".join(lines) + "\n")
    words = [file, "--target", "y", "--test", CER, "--feature-groups", path]
    assert_refused("rank", tmp_path / "out", words, message)


def test_what_a_method_says_is_the_users_error(tmp_path):
    table = pa.table({"x": list(range(20)), "y": ["a", "b"] * 10})
    pq.write_table(table, tmp_path / "t.parquet")
    words = [tmp_path / "t.parquet", "--target", "y", "--test", "mean-rank-test"]
    words.append("--keep-identifiers")
    assert_refused("rank", tmp_path / "out", words, "ranks need two features or more")


def test_a_measure_to_be_tested_is_not_left_out(tmp_path):
    table = pa.table({"x": list(range(8)), "y": ["a"] * 7 + ["b"]})
    pq.write_table(table, tmp_path / "t.parquet")
    words = [tmp_path / "t.parquet", "--target", "y", "--test", "janitza"]
    assert_refused("rank", tmp_path / "out", words, "class 'b' has 1 row,")


def test_help_names_the_methods():
    shown = duramen("rank", "--help").stdout
    words = re.sub(r"[^\w-]+", " ", shown)
    assert all(name in words for name in OPTIONS)
    for option in (
        *("--permutations", "--checkpoint", "--distribution", "--stop-after", "--rank-based"),
        *("--feature-groups", "--group-score", "--test", "none"),
    ):
        assert option in shown
