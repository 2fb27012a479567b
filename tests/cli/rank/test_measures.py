"""`duramen rank --measure`."""

import re
import shlex
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done, duramen

import duramen as dm
from duramen.analyses.ranking.measures import choose, measures_of
from duramen.estimators.catalogue import FORESTS
from duramen.importances import (
    air,
    catalogue,
    conditional_mda,
    frequency,
    holdout_mda,
    local_mdi,
    mcfs,
    mda,
    mdi,
    mdi_plus,
    minimal_depth,
    noising,
    prediction_change,
    sandri,
    sobol_mda,
    vote_change,
)

pytestmark = pytest.mark.filterwarnings("ignore:vote_change. p-values shrink")

TREES = 40
OPTIONS = {entry.option: entry for entry in catalogue}
N, P = 90, 6
ABOUT = ("direction", "mean_ill", "mean_well")  # effects and means of the two classes
OUT_OF_BAG = ("mda", "vote-change", "conditional-mda", "noising", "sobol-mda")


@pytest.fixture(scope="module")
def numbers():
    random = np.random.default_rng(5)
    X = random.normal(size=(N, P)).round(2)
    return X, X[:, 2] + X[:, 4]


@pytest.fixture(scope="module")
def file(numbers, tmp_path_factory):
    """Classes in one file, numbers in the other, both of x2 and x4."""
    X, score = numbers
    folder = tmp_path_factory.mktemp("tables")
    columns = {f"x{j}": X[:, j] for j in range(P)}
    classes = np.where(score > 0, "ill", "well")
    pq.write_table(pa.table({**columns, "state": classes}), folder / "classes.parquet")
    pq.write_table(pa.table({**columns, "score": score}), folder / "numbers.parquet")
    return folder / "classes.parquet"


def asked(*names):
    return [word for name in names for word in ("--measure", name)]


def run(file, out, *words, trees=TREES):
    words = ("--test", "none", *words)
    if file.name.startswith("classes"):
        words = ("--target", "state", *words)
    else:
        words = ("--target", "score", *words)
    return done(out, "rank", file, "--trees", trees, *words)


def written(out):
    return pq.read_table(out / "result.parquet").to_pydict()


def page(out):
    return (out / "report.html").read_text(encoding="utf-8")


def titles(out):
    return re.findall(r"<h[23]>(.*?)</h[23]>", page(out))


def assert_same(columns, column, result, numbers=None):
    """A column of the results holds what the library says of each feature."""
    numbers = result.values if numbers is None else numbers
    wanted = dict(zip(result.names, numbers.tolist(), strict=True))
    assert dict(zip(columns["name"], columns[column], strict=True)) == wanted


# --- every measure -------------------------------------------------------------------------------


def by_the_library(name, forest, unfitted, X, y):
    """What the library says, called as a user would."""
    again = {"random_state": 3}
    calls = {
        "mdi": lambda: mdi(forest),
        "mdi-oob": lambda: mdi(forest, X, y, rows="oob"),
        "ufi": lambda: mdi(forest, X, y, rows="oob", node_weights="in-bag"),
        "local-mdi": lambda: mean_absolute(local_mdi(forest, X)),
        "mda": lambda: mda(forest, X, y),
        "conditional-mda": lambda: conditional_mda(forest, X, y),
        "frequency": lambda: frequency(forest),
        "minimal-depth": lambda: minimal_depth(forest),
        "noising": lambda: noising(forest, X, y),
        "mdi-plus": lambda: mdi_plus(forest, X, y),
        "sobol-mda": lambda: sobol_mda(forest, X, y),
        "holdout-mda": lambda: holdout_mda(unfitted, X, y, **again),
        "air": lambda: air(unfitted, X, y, **again),
        "sandri": lambda: sandri(unfitted, X, y, **again),
        "mcfs": lambda: mcfs(X, y, **again).importances,
        "prediction-change": lambda: prediction_change(forest, X, **again),
    }
    return calls[name]()


def mean_absolute(local):
    return dm.Importances(
        local.names, local.mean_absolute(), "local_mdi", local.unit, metadata=local.metadata
    )


@pytest.fixture(scope="module")
def everything(file, tmp_path_factory):
    """A run of all measures: what it said, its record, its folder."""
    out = tmp_path_factory.mktemp("runs") / "out"
    return *run(file, out, "--seed", 3, *asked(*OPTIONS)), out


@pytest.fixture(scope="module")
def grown(numbers):
    """The forest of that run, an unfitted one, the table and its classes."""
    X, score = numbers
    y = np.where(score > 0, "ill", "well")
    table = dm.encode(X, names=[f"x{j}" for j in range(P)])
    unfitted = dm.RandomForestClassifier(TREES, criterion="entropy", random_state=3)
    forest = dm.RandomForestClassifier(TREES, criterion="entropy", random_state=3).fit(table, y)
    return forest, unfitted, table, y


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in OPTIONS if name != "vote-change"])
def test_each_measure_is_that_of_the_library(name, everything, grown):
    _, record, out = everything
    wanted = by_the_library(name, *grown)
    columns = written(out)
    first = name == "mdi"
    own = OPTIONS[name].name
    column, error = own, f"{own}_standard_error"
    assert_same(columns, "importance" if first else column, wanted)
    if wanted.standard_error is None:
        assert error not in columns
    else:
        assert_same(columns, "standard_error" if first else error, wanted, wanted.standard_error)
    if name != "mdi-plus":  # the classes are separable, and its regressions too steep
        assert {name for name, _ in wanted.top(2)} == {"x2", "x4"}
    assert record["settings"][own] == dict(wanted.metadata[wanted.measure])
    assert record["results"]["units"][own] == wanted.unit
    assert f"measure {own}" in record["timings"]


@pytest.mark.parametrize("name", ["mda", "frequency", "sandri"])
def test_a_measure_alone_has_its_standard_errors_in_the_terminal(name, file, tmp_path):
    result, record = run(file, tmp_path / "out", *asked(name))
    columns = written(tmp_path / "out")
    assert list(columns)[:4] == ["name", "rank", "importance", "standard_error"]
    assert columns["rank"] == list(range(1, P + 1))
    assert np.all(np.diff(columns["importance"]) <= 0)
    assert record["settings"]["measures"] == [name]
    assert "std. error" in result.stdout
    assert "Agreement of the measures" not in titles(tmp_path / "out")


def test_every_measure_of_numbers(file, tmp_path):
    names = [name for name, measure in OPTIONS.items() if not measure.classes]
    assert len(names) == len(OPTIONS) - 2
    _, record = run(file.with_name("numbers.parquet"), tmp_path / "out", *asked(*names))
    assert record["task"] == "regression"
    columns = written(tmp_path / "out")
    for name in ("importance", *(OPTIONS[name].name for name in names[1:])):
        best = np.argsort(columns[name])[::-1][:2]
        assert {columns["name"][j] for j in best} == {"x2", "x4"}


def test_vote_change_alone_ranks_by_its_index(file, grown, tmp_path):
    forest, _, table, y = grown
    wanted = vote_change(forest, table, y)
    result, record = run(file, tmp_path / "out", "--seed", 3, *asked("vote-change"))
    columns = written(tmp_path / "out")
    own = ["vote_change_p_value", "vote_change_q_value"]
    assert list(columns) == ["name", "rank", "importance", *own, *ABOUT]
    assert_same(columns, "importance", wanted, wanted.scores)
    assert_same(columns, "vote_change_p_value", wanted, wanted.p_values)
    assert_same(columns, "vote_change_q_value", wanted, wanted.q_values)
    assert columns["name"] == [wanted.names[j] for j in wanted.order()]
    n_found = int((wanted.q_values <= 0.05).sum())
    assert 0 < n_found < P  # or the count would tell nothing
    assert record["results"]["features_with_q_up_to_0.05"] == {"vote_change": n_found}
    assert f"{n_found} of {P} features have q <= 0.05 by J_chi2" in result.stdout


def test_records_fit_their_functions():
    assert [record.name for record in catalogue if record.default] == ["mdi", "mdi_oob", "mda"]
    titles = [record.title for record in catalogue]
    assert len(set(titles)) == len(titles)
    for record in catalogue:
        assert record.reading
        assert record.caution
        assert record.reference
        assert record.name in ("mdi_oob", "ufi") or callable(getattr(dm.importances, record.name))


# --- by default ----------------------------------------------------------------------------------


def test_classes_have_mdi_out_of_bag_mdi_and_mda(file, tmp_path):
    result, record = run(file, tmp_path / "out")
    assert record["settings"]["measures"] == ["mdi_oob", "mdi", "mda"]
    columns = written(tmp_path / "out")
    degrees = [name for name in columns if name.startswith("degree_")]
    assert list(columns) == [
        *("name", "rank", "importance", "standard_error"),
        *degrees,
        *("mdi", "mdi_standard_error", "mda", "mda_standard_error"),
        *ABOUT,
    ]
    assert degrees
    again = pa_csv.read_csv(tmp_path / "out" / "result.csv").to_pydict()
    assert list(again) == list(columns)
    assert again["mda"] == columns["mda"]
    assert np.all(np.diff(columns["importance"]) <= 0)
    header = next(line for line in result.stdout.splitlines() if "feature  " in line)
    heads = ["feature", "MDI-oob, bits", "std. error", "direction", "MDI, bits"]
    assert re.split(r"\s{2,}", header.strip()) == heads
    assert result.stderr == ""
    assert record["results"]["unit"] == "bits"
    assert record["results"]["units"] == {"mdi_oob": "bits", "mdi": "bits", "mda": "accuracy"}


def test_report_has_p_and_q_and_what_they_are(file, tmp_path):
    result, _ = run(file, tmp_path / "out", *asked("mdi", "mda", "vote-change"))
    header = next(line for line in result.stdout.splitlines() if "feature  " in line)
    heads = ["feature", "MDI, bits", "std. error", "direction", "MDA, accuracy", "J_chi2"]
    assert "More columns in the results: p; q" in result.stdout
    assert re.split(r"\s{2,}", header.strip()) == heads
    shown = titles(tmp_path / "out")
    wanted = [
        *("Other measures", "Ranking by MDA", "Ranking by J_chi2"),
        *("Agreement of the measures", "Ranks side by side"),
        *("Forest", "By interaction degree"),
    ]
    place = shown.index("Other measures")
    assert shown[place : place + len(wanted)] == wanted
    assert shown[0] == "Ranking"
    html = page(tmp_path / "out")
    columns = written(tmp_path / "out")
    for title in ("p", "q", "J_chi2", "MDA, accuracy"):
        assert f'<th scope="col" class="number minor">{title}</th>' in html
    for column in ("vote_change_p_value", "vote_change_q_value"):
        assert f'<td class="number minor">{columns[column][0]:.2g}</td>' in html
    assert "with q up to 0.05 by J_chi2" in html
    words = " ".join(html.split())
    assert f"The votes of the {TREES} trees on out-of-bag rows" in words
    assert f"depend on the number of trees, here {TREES}" in words
    assert "Benjamini and Hochberg" in words


def test_vote_change_warns_of_many_trees(file, tmp_path):
    words = asked("vote-change")
    result, _ = run(file, tmp_path / "few", *words, trees=20)
    assert result.stderr == ""
    result, _ = run(file, tmp_path / "many", *words, trees=200)
    assert "note: vote-change: p-values shrink as trees are added" in result.stderr


def test_numbers_have_mdi_out_of_bag_mdi_and_mda(file, tmp_path):
    result, record = run(file.with_name("numbers.parquet"), tmp_path / "out")
    assert record["settings"]["measures"] == ["mdi_oob", "mdi", "mda"]
    assert record["results"]["units"] == {
        "mdi_oob": "variance",
        "mdi": "variance",
        "mda": "squared error",
    }
    assert record["results"]["features_with_q_up_to_0.05"] == {}
    assert result.stderr == ""
    assert "MDA, squared error" in result.stdout
    assert "J_chi2" not in result.stdout + page(tmp_path / "out")
    _, record = run(
        file.with_name("numbers.parquet"), tmp_path / "two", "--measure", "mdi", "--measure", "mda"
    )


@pytest.mark.slow
@pytest.mark.parametrize("forest", [kind.name for kind in FORESTS if not kind.samples_rows])
def test_without_rows_out_of_bag_there_is_mdi_alone_and_a_note(forest, file, tmp_path):
    result, record = run(file, tmp_path / "out", "--estimator", forest)
    assert record["settings"]["measures"] == ["mdi"]
    said = f"mdi-oob and mda left out: every tree of {forest} sees all rows"
    assert result.stderr.startswith(f"note: {said}")
    assert said.replace("-oob", "_oob") in page(tmp_path / "out")
    assert "--bootstrap" in result.stderr
    result, record = run(file, tmp_path / "out", "--estimator", forest, "--bootstrap")
    assert record["settings"]["measures"] == ["mdi_oob", "mdi", "mda"]
    assert record["settings"]["bootstrap"] is True
    assert result.stderr == ""


def test_without_bootstrap_a_random_forest_has_no_rows_out_of_bag(file, tmp_path):
    _, record = run(file, tmp_path / "out", "--no-bootstrap")
    assert record["settings"]["measures"] == ["mdi"]
    assert record["results"]["oob_error"] is None
    assert "--no-bootstrap" in record["command"]
    other = file.with_name("numbers.parquet")
    result, _ = run(other, tmp_path / "out", "--no-bootstrap")
    assert result.stderr.startswith("note: mdi-oob and mda left out:")
    silent, _ = run(other, tmp_path / "out", "--no-bootstrap", "--quiet")
    assert silent.output == ""


def test_a_default_that_rows_do_not_allow_is_left_out(tmp_path, monkeypatch):
    """One row of the rarer class: with this seed no tree has it out of its bag."""
    monkeypatch.setattr(catalogue, "_entries", dict(catalogue._entries))
    catalogue.register(replace(catalogue["vote_change"], default=True), replace=True)
    columns = {"x": list(range(8)), "y": ["a"] * 7 + ["b"]}
    pq.write_table(pa.table(columns), tmp_path / "few.parquet")
    words = ["rank", tmp_path / "few.parquet", "--target", "y", "--trees", 1, "--seed", 1]
    words.extend(["--test", "none"])
    result, record = done(tmp_path / "out", *words)
    assert record["settings"]["measures"] == ["mdi_oob", "mdi", "mda"]
    assert "note: vote-change left out: vote-change: the rows that vote are all of" in result.stderr
    assert "vote_change left out" in page(tmp_path / "out")
    assert_refused("rank", tmp_path / "no", [*words[1:], *asked("vote-change")], "are all of class")


# --- several -------------------------------------------------------------------------------------


def test_the_first_measure_ranks_and_others_follow(file, tmp_path):
    names = ("air", "mda", "mdi", "holdout-mda", "vote-change")
    _, record = run(file, tmp_path / "out", *asked(*names), *asked("mda"))
    assert record["settings"]["measures"] == [name.replace("-", "_") for name in names]
    columns = written(tmp_path / "out")
    assert list(columns) == [
        *("name", "rank", "importance", "standard_error"),
        *("mda", "mda_standard_error", "mdi", "mdi_standard_error"),
        *("holdout_mda", "holdout_mda_standard_error"),
        *("vote_change", "vote_change_p_value", "vote_change_q_value"),
        *ABOUT,
    ]
    assert np.all(np.diff(columns["importance"]) <= 0)
    assert not np.all(np.diff(columns["mda"]) <= 0)  # or the order would tell nothing
    alone = {}
    for name in names[:4]:
        run(file, tmp_path / "alone", *asked(name))
        result = written(tmp_path / "alone")
        alone[name] = dict(zip(result["name"], result["importance"], strict=True))
    for name in ("mda", "mdi", "holdout-mda"):
        column = columns[name.replace("-", "_")]
        assert dict(zip(columns["name"], column, strict=True)) == alone[name]


def test_all_measures_at_once_fit_the_terminal_and_the_report(everything):
    result, record, out = everything
    assert record["settings"]["measures"] == [entry.name for entry in catalogue]
    lines = result.stdout.splitlines()
    head = next(place for place, line in enumerate(lines) if "feature  " in line)
    assert max(map(len, lines[head : head + 2 + P])) <= 80
    assert "MDI, bits   std. error" in lines[head]
    assert "More columns in the results: " in result.stdout
    assert "MCFS" in result.stdout
    shown = titles(out)
    assert sum(title.startswith("Ranking by ") for title in shown) == len(OPTIONS) - 1
    pairs = len(OPTIONS) * (len(OPTIONS) - 1) // 2
    between = page(out).split("Agreement of the measures</h3>")[1]
    assert between.split("</table>")[0].count("<tr>") == pairs + 1


def test_threads_do_not_change_a_byte(file, tmp_path):
    tables = []
    names = set(OPTIONS) - {"mcfs", "sandri"}  # grown as the others are
    for jobs in (1, 2):
        run(file, tmp_path / "out", *asked(*sorted(names)), "--jobs", jobs, trees=20)
        tables.append((tmp_path / "out" / "result.csv").read_bytes())
    assert tables[0] == tables[1]


def test_command_of_the_record_names_the_measures(file, tmp_path):
    out, again = tmp_path / "out", tmp_path / "again"
    words = ("--estimator", "extra-trees", "--bootstrap", *asked("sandri", "vote-change"))
    _, record = run(file, out, *words, "--seed", 4)
    command = shlex.split(record["command"])
    assert "--measure sandri --measure vote-change --test none" in " ".join(command)
    done(again, "rank", file, *command[3:])
    assert (again / "result.csv").read_bytes() == (out / "result.csv").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("p", [1, 2, 3])
def test_tables_of_few_features(p, tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, p))
    columns = {f"x{j}": X[:, j] for j in range(p)}
    y = np.where(X[:, 0] > 0, "a", "b")
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "t.parquet")
    done(tmp_path / "out", "rank", tmp_path / "t.parquet", "--target", "y", "--trees", 9)
    assert ("Ranks side by side" in titles(tmp_path / "out")) == (p == 3)
    assert written(tmp_path / "out")["name"][0] == "x0"


@pytest.mark.slow
def test_hostile_names_with_several_measures(tmp_path):
    names = ["<script>alert(1)</script>", "$x$ & 'y'", "[red]z[/red]", "mda", "importance"]
    random = np.random.default_rng(0)
    X = random.normal(size=(40, len(names)))
    columns = dict(zip(names, X.T, strict=True))
    y = (X[:, 0] > 0).astype(int)
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "t.parquet")
    result, _ = done(tmp_path / "out", "rank", tmp_path / "t.parquet", "--target", "y")
    assert "<script>" not in page(tmp_path / "out")
    assert "[red]z[/red]" in result.stdout
    assert set(written(tmp_path / "out")["name"]) == set(names)


# --- what it refuses -----------------------------------------------------------------------------


@pytest.fixture
def no_growth(monkeypatch):
    """Whatever is refused is refused before a tree grows."""

    def fail(*_, **__):
        raise AssertionError("a forest grew")

    monkeypatch.setattr("duramen.estimators.base.BaseForest.fit", fail)


@pytest.mark.parametrize("name", OUT_OF_BAG)
@pytest.mark.parametrize("words", [["--estimator", "extra-trees"], ["--no-bootstrap"]])
def test_measures_that_need_rows_out_of_bag(name, words, file, tmp_path, no_growth):
    words = [file, "--target", "state", *words, *asked("mdi", name)]
    message = f"--measure {name} needs out-of-bag rows"
    assert_refused("rank", tmp_path / "out", words, message)
    assert_refused("rank", tmp_path / "out", words, "add --bootstrap")


@pytest.mark.parametrize("name", ["vote-change", "mcfs"])
def test_measures_that_need_classes(name, file, tmp_path, no_growth):
    words = [file.with_name("numbers.parquet"), "--target", "score", *asked(name)]
    assert_refused("rank", tmp_path / "out", words, f"--measure {name} needs a target of classes")


def test_names_of_no_measure(file, no_growth):
    result = duramen("rank", file, "--target", "state", *asked("votes"))
    assert result.exit_code == 2
    assert "for --measure. Choose from: " in result.stderr
    assert all(name in result.stderr for name in OPTIONS)


def test_what_a_measure_that_was_asked_for_says_is_the_users_error(tmp_path):
    columns = {"x": list(range(8)), "y": ["a"] * 7 + ["b"]}
    pq.write_table(pa.table(columns), tmp_path / "few.parquet")
    words = [tmp_path / "few.parquet", "--target", "y", *asked("mdi", "holdout-mda")]
    assert_refused("rank", tmp_path / "out", words, "class 'b' has 1 row,")


def test_choice_keeps_the_order_and_drops_what_comes_twice():
    options = {"forest": "random-forest", "task": "classification", "out_of_bag": True}
    chosen, _ = choose(measures_of(("air", "mdi", "air")), **options)
    assert [measure.name for measure in chosen] == ["air", "mdi"]
    assert [measure.name for measure in choose((), **options)[0]] == ["mdi_oob", "mdi", "mda"]


def test_help_names_the_measures():
    shown = duramen("rank", "--help").stdout
    assert "--measure" in shown
    assert "--bootstrap" in shown
    words = re.sub(r"[^\w-]+", " ", shown)
    assert all(name in words for name in OPTIONS)
