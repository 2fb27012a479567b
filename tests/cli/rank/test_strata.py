"""`duramen rank --strata` and `--groups`."""

import shlex

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done, duramen
from tests.io.store.stores import write_bed

import duramen as dm
from duramen.significance import catalogue

N, TREES = 80, 10
TEST = ("--measure", "mdi", "--trees", TREES, "--permutations", 19, "--test")


def columns():
    random = np.random.default_rng(5)
    X = random.normal(size=(N, 4)).round(2)
    person = np.repeat(np.arange(N // 2), 2)
    population = np.where(person % 2, "north", "south")
    y = np.where(X[:, 2] + X[:, 3] > 0, "a", "b")
    named = {f"x{j}": X[:, j] for j in range(4)}
    return named, {"population": population, "person": person}, y


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    named, labels, y = columns()
    path = tmp_path_factory.mktemp("tables") / "t.parquet"
    pq.write_table(pa.table({**named, **labels, "y": y}), path)
    return path


def written(out):
    return pq.read_table(out / "result.parquet").to_pydict()


@pytest.mark.parametrize(
    ("option", "column"), [("strata", "population"), ("groups", "person")], ids=str
)
def test_rows_are_exchanged_as_the_library_does(option, column, file, tmp_path):
    out = tmp_path / "out"
    words = ["--drop", {"strata": "person", "groups": "population"}[option]]
    result, run = done(
        out, "rank", file, "--target", "y", *TEST, "altmann", f"--{option}", column, *words
    )
    named, labels, y = columns()
    forest = dm.RandomForestClassifier(TREES, criterion="entropy", random_state=0)
    wanted = dm.significance.altmann(
        forest,
        pa.table(named),
        y,
        measure="mdi",
        n_permutations=19,
        random_state=0,
        **{option: labels[column]},
    )
    actual = written(out)
    assert sorted(actual["name"]) == sorted(named)
    place = [wanted.names.index(name) for name in actual["name"]]
    assert actual["altmann_p_value"] == wanted.p_values[place].tolist()
    assert f"{column} is the column of {option} and is not used as a feature" in result.stderr
    assert run["settings"][option] == column
    assert run["settings"]["significance"][option] == wanted.metadata[option]
    assert run["results"]["significance"]["null"] == wanted.null
    assert {"strata": "only within strata", "groups": "Whole groups"}[option] in wanted.null
    assert wanted.null in " ".join((out / "report.html").read_text(encoding="utf-8").split())
    said = shlex.split(run["command"])
    assert said[said.index(f"--{option}") + 1] == column
    again = duramen(*said[1:2], file, *said[3:], "--out", tmp_path / "again", "--quiet")
    assert again.exit_code == 0
    assert again.stderr == ""
    csv = [(tmp_path / folder / "result.csv").read_bytes() for folder in ("out", "again")]
    assert csv[0] == csv[1]


@pytest.mark.slow
@pytest.mark.parametrize("method", catalogue, ids=lambda test: test.option)
def test_every_method_takes_strata_or_refuses_them(method, file, tmp_path):
    able = method.takes("strata")
    refused = ("janitza", "one-probe", "forest-probe-ranking", "probe-ranking")
    assert able == (method.option not in refused)
    words = ["rank", file, "--target", "y", *TEST, method.option, "--strata", "population"]
    if method.repeats == "":
        words = [word for word in words if word not in ("--permutations", 19)]
    if able:
        _, run = done(tmp_path / "out", *words)
        assert "strata" in run["settings"]["significance"]
    else:
        message = (
            f"--strata has no effect with --test {method.option}; allowed with max-t, altmann, "
        )
        assert_refused("rank", tmp_path / "out", words[1:], message)


def test_the_default_test_takes_strata_and_groups(file, tmp_path):
    words = ["--trees", TREES, "--permutations", 19, "--strata", "population"]
    result, run = done(
        tmp_path / "out", "rank", file, "--target", "y", *words, "--groups", "person"
    )
    assert "exchanged within strata" in run["results"]["significance"]["null"]
    assert "person is the column of groups and is not used as a feature" in result.stderr
    said = shlex.split(run["command"])
    assert said[said.index("--strata") :][:4] == ["--strata", "population", "--groups", "person"]


def test_one_candidate_is_tested_by_permutation_where_rows_are_restricted(file, tmp_path):
    words = ["--target", "y", "--trees", TREES, "--test", "frequency-control"]
    more = ["--max-features", 1, "--strata", "population", "--drop", "person"]
    _, run = done(tmp_path / "out", "rank", file, *words, *more, "--permutations", 5)
    assert run["settings"]["significance"]["null"] == "permuted"


def test_hold_out_importance_keeps_blocks_together(file, tmp_path):
    words = ["--measure", "holdout-mda", "--trees", TREES, "--test", "altmann"]
    more = ["--permutations", 3, "--groups", "person", "--drop", "population"]
    done(tmp_path / "out", "rank", file, "--target", "y", *words, *more)
    named, labels, y = columns()
    forest = dm.RandomForestClassifier(TREES, criterion="entropy", random_state=0)
    wanted = dm.importances.holdout_mda(
        forest, pa.table(named), y, random_state=0, groups=labels["person"]
    )
    result = written(tmp_path / "out")
    place = [wanted.names.index(name) for name in result["name"]]
    assert result["importance"] == wanted.values[place].tolist()


def test_labels_of_a_store_and_of_its_samples(tmp_path):
    named, labels, y = columns()
    dm.pack(pa.table({**named, **labels, "y": y}), tmp_path / "s")
    words = ["--target", "y", *TEST, "altmann", "--strata", "population", "--drop", "person"]
    done(tmp_path / "store", "rank", tmp_path / "s", *words)
    pq.write_table(pa.table({**named, **labels, "y": y}), tmp_path / "t.parquet")
    done(tmp_path / "table", "rank", tmp_path / "t.parquet", *words)
    csv = [(tmp_path / folder / "result.csv").read_bytes() for folder in ("store", "table")]
    assert csv[0] == csv[1]
    snps = np.random.default_rng(0).integers(0, 3, (N, 5))
    write_bed(tmp_path / "a.bed", snps)
    pa_csv.write_csv(pa.table({**labels, "ill": y}), tmp_path / "people.csv")
    words = ["--samples", tmp_path / "people.csv", "--samples-match", "position"]
    words += ["--target", "ill", *TEST, "altmann"]
    _, run = done(
        tmp_path / "bed",
        "rank",
        tmp_path / "a.bed",
        *words,
        "--groups",
        "person",
        "--strata",
        "population",
    )
    assert sorted(written(tmp_path / "bed")["name"]) == [f"rs{j}" for j in range(5)]
    assert "exchanged within strata" in run["results"]["significance"]["null"]


def test_warnings_of_few_arrangements_are_notes(tmp_path):
    path = tmp_path / "t.csv"
    pair = np.arange(8) // 2
    pa_csv.write_csv(pa.table({"x": np.arange(8.0), "pair": pair, "y": ["a", "b"] * 4}), path)
    words = ["--target", "y", *TEST, "altmann", "--strata", "pair"]
    result, run = done(tmp_path / "out", "rank", path, *words)
    assert "note: altmann: strata allow only 16 different arrangements" in result.stderr
    assert any("only 16" in note for note in run["results"]["significance"]["notes"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--test", "janitza", "--strata", "population"],
            "--strata has no effect with --test janitza",
        ),
        (["--test", "janitza", "--groups", "person"], "--groups has no effect with --test janitza"),
        ([*TEST, "altmann", "--strata", "populatoin"], "did you mean 'population'?"),
        ([*TEST, "altmann", "--groups", "y"], "--groups 'y' is the target"),
        (
            [*TEST, "altmann", "--groups", "person", "--drop", "person"],
            "--drop must not name 'person', which is set apart",
        ),
        (
            [*TEST, "altmann", "--strata", "x0", "--groups", "person"],
            "each group must lie in one stratum",
        ),
        ([*TEST, "altmann", "--strata", "row"], "strata must leave rows to exchange"),
        ([*TEST, "altmann", "--strata", "gaps"], "that of row 3 is missing"),
    ],
    ids=str,
)
def test_mistakes_are_refused(words, message, file, tmp_path):
    table = pq.read_table(file)
    gaps = ["a", "b", "a", None] * (N // 4)
    table = table.append_column("row", pa.array(range(N))).append_column("gaps", pa.array(gaps))
    pq.write_table(table, tmp_path / "t.parquet")
    words = [tmp_path / "t.parquet", "--target", "y", *words]
    words.append("--keep-identifiers")
    assert_refused("rank", tmp_path / "out", words, message)


def test_labels_that_a_store_has_not_are_refused(tmp_path):
    named, _, y = columns()
    dm.pack(pa.table({**named, "y": y}), tmp_path / "s")
    words = [tmp_path / "s", "--target", "y", *TEST, "altmann", "--strata"]
    assert_refused(
        "rank", tmp_path / "out", [*words, "family"], "--strata 'family' is not a column"
    )
    assert_refused("rank", tmp_path / "out", [*words, "y"], "--strata 'y' is the target")


def test_a_column_of_persons_is_named_until_it_is_given(tmp_path):
    random = np.random.default_rng(0)
    donor = random.permutation(np.repeat(np.arange(20), 4))
    levels = random.normal(size=(20, 3))[donor] + 0.5 * random.normal(size=(80, 3))
    named = {"donor": donor, "ill": donor % 2, **{f"x{j}": levels[:, j] for j in range(3)}}
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(named), path)
    words = ("rank", path, "--target", "ill", "--test", "none", "--trees", TREES)
    result, run = done(tmp_path / "out", *words)
    assert "Hint: --groups donor keeps these rows together" in result.stderr
    assert "--drop" not in result.stderr
    assert run["findings"][0]["kind"] == "groups of rows"
    result, run = done(tmp_path / "kept", *words[:4], "--groups", "donor", *TEST, "altmann")
    assert "exchangeable" not in result.stderr
    assert "donor" not in written(tmp_path / "kept")["name"]
