"""Places of variants, `--clusters` and `--representatives`, from a .bed file to the results."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import assert_refused, done
from tests.importances.test_clusters import blocks
from tests.io.store.stores import write_bed

import duramen as dm
from duramen.data.recoding import joined

N, SIZES = 120, (4, 3, 1, 4)
P = sum(SIZES)
TRUTH = np.repeat(np.arange(len(SIZES)), SIZES)
FEW = ("--measure", "mdi", "--trees", 40, "--test", "none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("genome")
    random = np.random.default_rng(3)
    X = blocks(random, SIZES, n=N)
    ill = X[:, 1] + X[:, 9] + 0.3 * random.normal(size=N) > 1.6
    bim = "".join(f"{1 + (j >= 7)}\trs{j}\t0\t{1000 * (j + 1)}\tA\tG\n" for j in range(P))
    write_bed(place / "a.bed", X, bim=bim)
    lines = [f"I{i},{int(ill[i])},{40 + i % 17}\n" for i in range(N)]
    (place / "people.csv").write_text("IID,ill,age\n" + "".join(lines))
    return place


def ranked(folder, out, *words, command="rank"):
    people = ["--samples", folder / "people.csv", "--target", "ill"]
    result, run = done(out, command, folder / "a.bed", *people, *words)
    return result, run, pq.read_table(out / "result.parquet").to_pydict()


def number(names):
    return [int(name[2:]) for name in names]


def test_places_come_through_to_the_results_and_the_report(folder, tmp_path):
    _result, run, result = ranked(folder, tmp_path / "out", *FEW)
    j = np.array(number(result["name"]))
    assert result["position"] == (1000 * (j + 1)).tolist()
    assert result["chromosome"] == np.where(j >= 7, "2", "1").tolist()
    assert set(result["allele_1"]) == {"A"}
    assert set(result["allele_2"]) == {"G"}
    assert "cluster" not in result
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Manhattan plot" in page
    assert "along 2 chromosomes" in page
    assert "clusters" not in run["settings"]
    dm.pack(folder / "a.bed", tmp_path / "s")
    people = ["--samples", folder / "people.csv", "--target", "ill"]
    done(tmp_path / "packed", "rank", tmp_path / "s", *people, *FEW)
    again = pq.read_table(tmp_path / "packed" / "result.parquet").to_pydict()
    assert again == result


def test_clusters_are_the_blocks(folder, tmp_path):
    result, run, actual = ranked(folder, tmp_path / "out", *FEW, "--clusters", 0.7)
    j = np.array(number(actual["name"]))
    pairs = set(zip(TRUTH[j].tolist(), actual["cluster"], strict=True))
    assert len(pairs) == len(SIZES) == max(actual["cluster"])
    first = actual["representative"].index(actual["name"][0])
    assert first == 0
    assert actual["cluster"][0] == 1
    assert actual["correlation"][0] == 1
    assert min(map(abs, actual["correlation"])) >= 0.7
    assert f"The first {P} features stand for {len(SIZES)} signals" in result.stdout
    assert run["settings"]["clusters"] == 0.7
    assert "--clusters 0.7" in run["command"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Clusters of linked variants" in page
    assert "1:1,000-4,000" in page
    *_, near = ranked(folder, tmp_path / "near", *FEW, "--clusters", 0.7, "--distance", 1000)
    assert max(near["cluster"]) > len(SIZES)


def test_annotations_as_features_have_no_place(folder, tmp_path):
    words = [*FEW, "--clusters", 0.7, "--samples-features", "age"]
    _, run, result = ranked(folder, tmp_path / "out", *words)
    row = result["name"].index("age")
    assert result["chromosome"][row] is None
    assert result["position"][row] is None
    assert result["representative"][row] == "age"
    assert run["n_features"] == P + 1
    assert run["settings"]["samples_features"] == ["age"]


def test_a_forest_on_representatives(folder, tmp_path):
    words = ["--measure", "mdi", "--trees", 30, "--permutations", 19, "--representatives", 0.7]
    result, run, actual = ranked(folder, tmp_path / "out", *words)
    assert sorted(number(actual["name"])) == list(range(P))
    assert "12 features form 4 clusters, 3 of them with several members" in result.stdout
    assert run["n_features"] == 4
    table = dm.open_store(folder / "a.bed").as_table()
    wanted = dm.importances.representatives(table, threshold=0.7)
    by_name = dict(zip(actual["name"], actual["representative"], strict=True))
    for member, members in wanted.members().items():
        assert {by_name[name] for name in members} == {member}
        rows = [actual["name"].index(name) for name in members]
        assert len({actual["importance"][row] for row in rows}) == 1
        assert len({actual["verdict"][row] for row in rows}) == 1
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Features were clustered by" in page


def test_clusters_of_a_table_and_of_a_selection(folder, tmp_path):
    random = np.random.default_rng(0)
    x = random.normal(size=(N, 3))
    columns = {"a": x[:, 0], "b": x[:, 0] + 0.1 * x[:, 1], "c": x[:, 2], "y": x[:, 0]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    words = ["--target", "y", *FEW, "--clusters", 0.9]
    done(tmp_path / "out", "rank", tmp_path / "t.parquet", *words)
    result = pq.read_table(tmp_path / "out" / "result.parquet").to_pydict()
    assert dict(zip(result["name"], result["cluster"], strict=True)) == {"a": 1, "b": 1, "c": 2}
    assert "position" not in result
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Clusters of correlated features" in page
    assert "Manhattan" not in page
    few = ["--trees", 60, "--relevance", "probe", "--clusters", 0.7]
    _result, _run, result = ranked(folder, tmp_path / "select", *few, command="select")
    j = np.array(number(result["name"]))
    assert result["position"] == (1000 * (j + 1)).tolist()
    assert len(set(zip(TRUTH[j].tolist(), result["cluster"], strict=True))) == len(SIZES)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--clusters", 0], "--clusters must be a number in (0, 1], got 0"),
        (["--representatives", 1.5], "--representatives must be a number in (0, 1]"),
        (
            ["--distance", 5],
            "--distance has no effect without --clusters R or",
        ),
        (["--clusters", 0.5, "--representatives", 0.5], "give one of them"),
        (["--samples-features", "weight"], "--samples-features 'weight' is not a column"),
        (["--samples-features", "ill"], "--samples-features 'ill' is the target"),
        (["--covariates", "ill"], "--covariates 'ill' is the target"),
        (["--covariates", "height"], "--covariates 'height' is not a column"),
    ],
)
def test_what_cannot_be_asked(folder, tmp_path, words, message):
    people = [folder / "a.bed", "--samples", folder / "people.csv", "--target", "ill"]
    assert_refused("rank", tmp_path / "out", [*people, *words], message)


def test_covariates_are_strata(folder, tmp_path):
    test = ["--measure", "mdi", "--trees", 10, "--test", "altmann", "--permutations", 19]
    result, run, actual = ranked(folder, tmp_path / "out", *test, "--covariates", "age")
    assert "rows are permuted within 12 strata of age" in result.stderr
    assert run["settings"]["covariates"] == ["age"]
    store = dm.open_store(folder / "a.bed", samples=folder / "people.csv")
    _, age = store.target("age")
    _, ill = store.target("ill")
    wanted = dm.significance.altmann(
        dm.RandomForestClassifier(10, criterion="entropy", random_state=0),
        joined(store.as_table(), dm.encode(pa.table({"age": age})), "test"), ill,
        measure="mdi", n_permutations=19, random_state=0,
        strata=dm.significance.covariate_strata(age, ill),
    )  # fmt: skip
    p_values = dict(zip(actual["name"], actual["altmann_p_value"], strict=True))
    assert p_values == dict(wanted)


@pytest.mark.slow
def test_covariates_and_strata_of_a_table(folder, tmp_path):
    random = np.random.default_rng(1)
    columns = {"x": random.normal(size=N), "age": random.normal(size=N), "y": [0, 1] * (N // 2)}
    columns["center"] = np.repeat(["u", "v"], N // 2)
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    words = ["--target", "y", "--trees", 5, "--permutations", 19, "--strata", "center"]
    result, run = done(
        tmp_path / "out", "rank", tmp_path / "t.parquet", *words, "--covariates", "age"
    )
    assert "rows are permuted within 12 strata of age, strata" in result.stderr
    assert run["n_features"] == 2
    boruta = ["--selector", "boruta", "--max-rounds", 2, "--trees", 5, "--covariates", "age"]
    _, run, _ = ranked(folder, tmp_path / "select", *boruta, command="select")
    assert run["settings"]["covariates"] == ["age"]
    people = [folder / "a.bed", "--samples", folder / "people.csv", "--target", "ill"]
    _, run = done(tmp_path / "strata", "select", *people, "--strata", "age")
    assert run["settings"]["strata"] == "age"
