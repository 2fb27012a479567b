import json
import os
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import (
    FILES,
    assert_refused,
    assert_stops,
    done,
    duramen,
)
from tests.io.store.stores import write_bed

import duramen as dm

FEW = ["--trees", 120, "--n-subspace-features", 30]


def written(out):
    return pq.read_table(out / "result.parquet").to_pydict()


def selected_names(out):
    table = written(out)
    return [name for name, selected in zip(table["name"], table["found"], strict=True) if selected]


def page(out):
    return (out / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def genes(tmp_path):
    """100 columns, of which g7 and g11 tell what `kind` and `size` are; `site` is noise."""
    random = np.random.default_rng(1)
    X = random.integers(0, 3, size=(150, 100))
    site = random.choice(["a", "b"], 150)
    columns = {f"g{j}": X[:, j] for j in range(100)} | {"site": site}
    columns["kind"] = np.array(["ill", "well"])[(X[:, 7] + X[:, 11] > 2).astype(int)]
    columns["size"] = X[:, 7] + X[:, 11] + random.normal(0, 0.1, 150).round(3)
    pa_csv.write_csv(pa.table(columns), tmp_path / "genes.csv")
    return tmp_path / "genes.csv"


def of_kind(genes, *others):
    return ["select", genes, "--target", "kind", "--drop", "size", *FEW, *others]


# --- what it finds -------------------------------------------------------------------------------


@pytest.mark.smoke
def test_finds_what_is_relevant(genes, out, tmp_path):
    result, run = done(out, *of_kind(genes))
    assert sorted(path.name for path in out.iterdir()) == FILES
    table = written(out)
    assert table == pa_csv.read_csv(out / "result.csv").to_pydict()
    assert list(table) == ["name", "found", "entered", "draws", "importance"]
    assert set(selected_names(out)) == {"g7", "g11"}
    assert len(table["name"]) == 101
    assert table["entered"][:2] == sorted(table["entered"][:2])
    assert set(table["entered"][2:]) == {None}
    rest = table["importance"][2:]
    assert rest == sorted(rest, reverse=True)
    assert (run["task"], run["target"], run["n_features"]) == ("classification", "kind", 101)
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "2 of 101 features were selected as relevant for kind. Most important: g11, g7."
    )
    assert lines[1] == "genes.csv: 150 rows x 101 features, target kind of 2 classes"
    assert result.stderr == ""
    for words in ("Features found, tree by tree", "exceeds that of its decoy"):
        assert words in page(out)


# --- from stores ---------------------------------------------------------------------------------


def test_only_the_columns_of_a_tree_are_read_from_a_store(genes, out, tmp_path, monkeypatch):
    dm.pack(genes, tmp_path / "s")
    widest = []
    take = dm.ColumnStore.take_columns

    def watched(self, index, **options):
        widest.append(len(index))
        return take(self, index, **options)

    monkeypatch.setattr(dm.ColumnStore, "take_columns", watched)
    monkeypatch.setattr(dm.ColumnStore, "as_table", None)
    done(out, *of_kind(tmp_path / "s"))
    assert max(widest) == 30


# --- as it should be -----------------------------------------------------------------------------


def test_ctrl_c_says_what_is_kept(genes, out, tmp_path, monkeypatch):
    from duramen.selection.subspace_search import Grower

    grown, grow = [], Grower.grow

    def stopping(self, *arguments):
        grown.append(arguments)
        if len(grown) == 20:
            raise KeyboardInterrupt
        return grow(self, *arguments)

    words = of_kind(genes, "--checkpoint", tmp_path / "kept.npz")
    monkeypatch.setattr(Grower, "grow", stopping)
    result = duramen(*words, "--out", out)
    assert result.exit_code == 130
    assert result.stderr == (
        "note: kept.npz holds the work done so far; the same command resumes from it\n"
        "note: interrupted; the results are those after 19 trees\n"
        f"duramen select: interrupted, the results are in {out}\n"
    )
    run = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert run["results"]["trees"] == 19
    assert "interrupted; the results are those after 19 trees" in run["settings"]["notes"][-1]
    grown += [None] * 20
    done(out, *words)
    assert len(grown) == 20 + 20 + 120 - 19
    first = (out / "result.csv").read_bytes()
    done(out, *of_kind(genes))
    assert (out / "result.csv").read_bytes() == first


# --- what it refuses -----------------------------------------------------------------------------


NUMBER = "--n-subspace-features must be an int in 1..102 or a float"
REFUSED = {
    "C --memory 1MB --n-subspace-features 5": "leave one",
    "C --n-subspace-features many": NUMBER,
    "C --n-subspace-features 500": "an int in 1..102",
    "C --memory 1kB": "memory must be at least 1MB",
    "C --max-features x": "--max-features must be",
    "C --estimator random --max-features 3": "must be",
    "C --n-probes 3": "--n-probes is for the relevance test probe",
    "C --relevance probe --alpha .1": "--alpha is for the relevance test decoy, not for probe",
    "C --samples few.csv": "samples has 4 rows, but the table has 150; without row names to match",
    "folder --target y": "not a column store",
    "memory://none.store --target y": "there is no column store at memory://",
    "none.bed --target y": "there is no folder or file none.bed",
    "s --target kin": "--target 'kin' is not a column of the table; did you mean 'kind'?",
    "s --target kind --drop kind": "--drop 'kind' is the target",
    "s --target kind --samples few.csv": "samples has 4 rows, but the table has 150",
    "gaps --target y": "--drop-missing-target leaves these rows out",
    "gaps --target y --drop x": "the table has no column besides the target",
}


@pytest.mark.parametrize("line", REFUSED)
def test_bad_input(genes, out, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "few.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n")
    (tmp_path / "gaps.csv").write_text("x,y\n1,a\n2,\n3,a\n4,b\n")
    words = line.replace("C ", "genes.csv --target kind ", 1).split()
    if words[0] in ("s", "gaps"):
        dm.pack({"s": "genes.csv", "gaps": "gaps.csv"}[words[0]], words[0])
    assert_refused("select", out, words, REFUSED[line])


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_while_searching_writes_what_was_found(tmp_path):
    random = np.random.default_rng(0)
    columns = {f"x{j}": random.normal(size=500) for j in range(60)}
    pq.write_table(pa.table(columns | {"y": random.normal(size=500)}), tmp_path / "t.parquet")
    words = ["select", "t.parquet", "--target", "y", "--trees", 10**6]
    words += ["--patience", 0, "--jobs", 1]
    assert_stops(tmp_path, words, after=1.5, results=True)


@pytest.mark.slow
def test_many_variants_by_default(tmp_path):
    n, p, causal = 600, 10_001, [10, 2000, 9000]
    random = np.random.default_rng(0)
    values = random.binomial(2, random.uniform(0.05, 0.5, p), (n, p))
    bed = write_bed(tmp_path / "a.bed", values)
    risk = values[:, causal] @ [1, 1, -1] + random.normal(0, 0.8, n)
    people = {"IID": [f"I{i}" for i in range(n)], "ill": np.where(risk > np.median(risk), "y", "n")}
    pa_csv.write_csv(pa.table(people), tmp_path / "people.csv")
    start = time.process_time()
    words = ["select", bed, "--samples", tmp_path / "people.csv", "--target", "ill"]
    _, run = done(tmp_path / "out", *words)
    assert time.process_time() - start < 120  # alone on 2 processors, 4 minutes are allowed
    assert set(selected_names(tmp_path / "out")) == {f"rs{j}" for j in causal}
    assert (run["settings"]["n_subspace_features"], run["settings"]["patience"]) == (1000, 200)
    assert run["results"]["trees"] < 1000
