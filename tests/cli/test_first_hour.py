"""A stranger's first hour: typical mistakes in tables end in messages that say what to type.

Each case is a table with one mistake. The command names the column and the option that answers it,
before any work; where it refuses the table, the option that it names makes the command run.
"""

import datetime
import json
import shlex
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.commands import done, duramen
from tests.tables.store.stores import genotypes, write_bed

import duramen as dm
from duramen.tables.findings import of_codes

N = 60
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
DOSE = (Y + 0.3 * RNG.normal(size=N)).round(3)
AGE = RNG.integers(18, 80, N)
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=3 * i) for i in range(N)]


def clean():
    """A table without mistakes: the dose tells who is ill."""
    ill = np.where(Y, "ill", "well")
    return pd.DataFrame({"dose": DOSE, "age": AGE, "noise": RNG.normal(size=N).round(3), "y": ill})


def csv(**columns):
    """The clean table with further columns, or others in their place, as a CSV file."""
    return lambda path: clean().assign(**columns).to_csv(path, index=False)


def replaced(values, places, word):
    texts = [f"{value}" for value in values]
    for place in places:
        texts[place] = word
    return texts


def written(separator, decimal="."):
    return lambda path: clean().to_csv(path, index=False, sep=separator, decimal=decimal)


def nameless(path):
    clean().to_csv(path)  # as pandas writes by default


def rare(n):
    return np.where(np.arange(N) < n, "rare", np.where(Y, "ill", "well"))


# Name of the case: how the file is written, what the message names, whether the table is refused.
CASES = {
    "names of rows": (csv(patient=[f"p{i}" for i in range(N)]), "'patient'", "--drop patient", 1),
    "numbers of rows": (csv(nr=range(1, N + 1)), "'nr'", "--drop nr", 1),
    "numbers of rows in steps": (csv(well=range(0, 5 * N, 5)), "'well'", "--drop well", 1),
    "numbers that name rows": (
        csv(patient_id=RNG.choice(10**6, N, replace=False)),
        "'patient_id'",
        "--drop patient_id",
        1,
    ),
    "an index without a name": (nameless, "''", "--drop ''", 1),
    "an index that was read": (
        csv(**{"Unnamed: 0": np.tile(np.arange(N // 2), 2)}),
        "'Unnamed: 0'",
        "--drop 'Unnamed: 0'",
        0,
    ),
    "rows in order of a number": (
        csv(visit=np.cumsum(RNG.integers(1, 9, N))),
        "'visit'",
        "--drop visit",
        0,
    ),
    "a stray word": (csv(age=replaced(AGE, [4], "n/a?")), "'age'", "--na 'n/a?'", 0),
    "a limit of detection": (csv(dose=replaced(DOSE, [7], ">100")), "'dose'", "--na '>100'", 0),
    "one decimal comma": (csv(dose=replaced(DOSE, [9], "12,5")), "'dose'", "--na 12,5", 0),
    "decimal commas": (written(";", ","), "'dose'", "--decimal ,", 0),
    "a code of missing values": (
        csv(age=replaced(AGE, [3, 8], "-999")),
        "'age'",
        "--na -999",
        0,
    ),
    "dates": (csv(day=DAYS), "'day'", "--drop day", 1),
    "dates as text": (
        csv(day=[one.strftime("%d.%m.%Y") for one in DAYS]),
        "'day'",
        "--drop day",
        0,
    ),
    "free text": (
        csv(remark=[f"remark {i % 50}" for i in range(N)]),
        "'remark'",
        "--drop remark",
        0,
    ),
    "a constant column": (csv(site="A"), "'site'", "--drop site", 0),
    "a column twice": (csv(dose_mg=1000 * DOSE), "'dose_mg'", "--drop dose_mg", 0),
    "semicolons": (written(";"), "a.csv is separated by semicolons", "--separator semicolon", 0),
    "tabs": (written("\t"), "a.csv is separated by tabs", "--separator tab", 0),
    "pipes": (written("|"), "a.csv is separated by pipes", "--separator pipe", 0),
    "a target without some values": (
        csv(y=np.where(np.arange(N) < 6, "", clean()["y"])),
        "'y'",
        "--drop-missing-target",
        1,
    ),
    "a target that names rows": (csv(y=[f"p{i}" for i in range(N)]), "'y'", "--target NAME", 1),
    "a target that counts rows": (csv(y=range(N)), "'y'", "--target NAME", 1),
    "a target of one class": (csv(y="ill"), "'y'", "--target NAME", 1),
    "a target of dates": (csv(y=DAYS), "'y'", "--target NAME", 1),
    "a class of few rows": (csv(y=rare(2)), "'rare' (2)", "--na rare --drop-missing-target", 0),
    "a class that is rare": (
        csv(y=np.where(np.arange(N) < 2, "ill", "well")),
        "'ill' in 2 of 60 rows",
        "--class-weight balanced",
        0,
    ),
    "thousands": (
        csv(income=[f"{v:,}" for v in RNG.integers(9000, 90000, N)]),
        "'income'",
        "--as-text income",
        0,
    ),
    "a unit": (
        csv(bmi=[f"{v:.1f}kg/m2" for v in RNG.normal(27, 4, N)]),
        "'bmi'",
        "--as-text bmi",
        0,
    ),
    "a unit with a space": (
        csv(chol=[f"{v} mg/dl" for v in RNG.integers(100, 300, N)]),
        "'chol'",
        "--as-text chol",
        0,
    ),
    "percent": (csv(fat=[f"{v}%" for v in RNG.integers(5, 60, N)]), "'fat'", "--as-text fat", 0),
    "currency": (
        csv(cost=[f"${v}.50" for v in RNG.integers(5, 60, N)]),
        "'cost'",
        "--as-text cost",
        0,
    ),
    "limits of detection": (
        csv(crp=["<5" if v < 10 else f"{v}" for v in RNG.integers(5, 90, N)]),
        "'crp'",
        "--as-text crp",
        0,
    ),
    "several units": (
        csv(dose2=[f"{v} {'mg' if v % 2 else 'g'}" for v in RNG.integers(5, 15, N)]),
        "'dose2'",
        "--drop dose2",
        0,
    ),
    "labels that are alike": (
        csv(y=np.where(np.arange(N) % 9 == 0, "Ill ", np.where(Y, "ill", "well"))),
        "'Ill '",
        "--as-text y",
        0,
    ),
    "a code in the target": (
        csv(y=np.where(np.arange(N) == 7, 9, Y)),
        "'y'",
        "--na 9 --drop-missing-target",
        0,
    ),
    "classes that are numbers": (
        csv(y=np.tile(np.arange(1, 31), 2)),
        "'y'",
        "--task classification",
        0,
    ),
    "classes that are fractions": (csv(y=Y.astype(float)), "'y'", "--task classification", 0),
    "a date of the ill only": (
        csv(day=np.where(Y, [f"{i % 28 + 1}.5.2024" for i in range(N)], "")),
        "'day' has values only where y is 'ill'",
        "--drop day",
        0,
    ),
    "a flag of the outcome": (csv(treated=Y), "'treated'", "--drop treated", 0),
    "a target of counts": (csv(y=RNG.integers(0, 12, N)), "'y'", "--task regression", 0),
    "a target of numbers with a word": (
        csv(y=replaced(DOSE, [5], "unknown")),
        "'y'",
        "--na unknown --drop-missing-target",
        0,
    ),
}


def run(folder, *words):
    return duramen("rank", folder / "a.csv", "--no-test", "--trees", 20, *words)


@pytest.mark.parametrize("case", list(CASES))
def test_a_mistake_is_named_with_the_option_that_answers_it(case, tmp_path):
    write, what, flag, refused = CASES[case]
    write(tmp_path / "a.csv")
    result = run(tmp_path, "--target", "y", "--out", tmp_path / "out")
    assert "Traceback" not in result.output
    assert result.exit_code == (2 if refused else 0), result.output
    told = [line for line in result.stderr.splitlines() if what in line and flag in line]
    assert len(told) == 1, result.stderr
    if refused:
        assert not (tmp_path / "out").exists()
    else:
        assert told[0].startswith("note: ")
        record = json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8"))
        assert any(what in one["found"] and flag in one["hint"] for one in record["findings"])
        report = (tmp_path / "out/report.html").read_text(encoding="utf-8")
        assert report.index("Look at the data") < report.index("Ranking")
    if flag.endswith("NAME"):
        return
    done(tmp_path / "b", "rank", tmp_path / "a.csv", "--no-test", "--trees", 20, "--target", "y",
         *shlex.split(flag))  # fmt: skip


def test_nothing_is_said_of_a_clean_table(tmp_path):
    clean().to_csv(tmp_path / "a.csv", index=False)
    result, record = done(
        tmp_path / "out", "rank", tmp_path / "a.csv", "--target", "y", "--no-test"
    )
    assert result.stderr == ""
    assert record["findings"] == []


def test_all_findings_come_at_once(tmp_path):
    columns = {"id": range(N), "name": [f"p{i}" for i in range(N)], "day": DAYS, "site": "A"}
    csv(**columns, age=replaced(AGE, [4], "n/a?"))(tmp_path / "a.csv")
    result = run(tmp_path, "--target", "y", "--out", tmp_path / "out")
    assert result.exit_code == 2
    *notes, line = result.stderr.splitlines()
    assert [one.split("column ")[1].split()[0] for one in notes] == ["'age'", "'site'"]
    assert "columns 'id', 'name'" in line
    assert "--drop id --drop name" in line
    assert "--drop day" in line


def test_identifiers_are_kept_on_purpose(tmp_path):
    csv(nr=range(N))(tmp_path / "a.csv")
    words = ["rank", tmp_path / "a.csv", "--target", "y", "--no-test", "--keep-identifiers"]
    result, record = done(tmp_path / "out", *words)
    assert "note: column 'nr' has a different value in each row" in result.stderr
    assert record["findings"][0]["columns"] == ["nr"]
    assert "--keep-identifiers" in record["command"]


@pytest.mark.parametrize(
    "words",
    [
        ["select", "--target", "y"],
        ["context", "--target", "y", "--context", "site", "--permutations", "9"],
        ["context", "--network", "--context", "site", "--permutations", "9"],
        ["network", "--drop", "y", "--drop", "site"],
    ],
)
def test_every_command_looks(words, tmp_path):
    columns = {"nr": range(N), "site": np.where(Y, "A", "B"), "flat": 1}
    csv(**columns)(tmp_path / "a.csv")
    words = [words[0], tmp_path / "a.csv", *words[1:], "--out", tmp_path / "out", "--trees", "5"]
    result = duramen(*words)
    assert result.exit_code == 2, result.output
    assert "note: column 'flat' is constant" in result.stderr
    assert "'nr' has a different value in each row" in result.stderr
    more = ["--relevance", "probe"] if words[0] == "select" else []
    result = duramen(*words, "--drop", "nr", *more)
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8"))
    assert [one["columns"] for one in record["findings"] if one["kind"] == "constant"] == [["flat"]]
    assert "Look at the data" in (tmp_path / "out/report.html").read_text(encoding="utf-8")


def test_stores_and_plink_files_are_looked_at(tmp_path):
    frame = clean().assign(nr=np.arange(N), y=np.where(np.arange(N) < 6, None, clean()["y"]))
    dm.pack(frame, tmp_path / "s")
    result = duramen("rank", tmp_path / "s", "--target", "y", "--out", tmp_path / "out")
    assert "--drop nr" in result.stderr
    assert "--drop-missing-target" in result.stderr
    words = ["rank", tmp_path / "s", "--target", "y", "--drop", "nr", "--no-test"]
    _, record = done(tmp_path / "out", *words, "--drop-missing-target")
    assert record["n_rows"] == N - 6
    assert "6 of 60 rows have no target" in record["settings"]["notes"][0]
    bed = write_bed(tmp_path / "a.bed", genotypes(N, 60))
    words = [bed, "--target", "phenotype", "--trees", 20, "--drop-missing-target"]
    result = duramen("select", bed, "--target", "phenotype", "--out", tmp_path / "b")
    assert "--drop-missing-target" in result.stderr
    _, record = done(tmp_path / "b", "select", *words)
    assert record["n_rows"] == N - 1


def test_a_sheet_of_a_workbook(tmp_path):
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheets = [book.active, book.create_sheet("second")]
    table = clean().assign(day=DAYS)
    for sheet in sheets:
        sheet.append(list(table))
        for row in table.itertuples(index=False):
            sheet.append(list(row))
    sheets[1].delete_cols(5)
    book.save(tmp_path / "a.xlsx")
    words = ["rank", tmp_path / "a.xlsx", "--target", "y", "--no-test"]
    result = duramen(*words, "--out", tmp_path / "out")
    assert "--drop day" in result.stderr
    _, record = done(tmp_path / "out", *words, "--sheet", "second")
    assert record["n_features"] == 3
    result = duramen(*words, "--sheet", "third", "--out", tmp_path / "b")
    assert "'Sheet', 'second'" in result.stderr
    table.drop(columns="day").to_csv(tmp_path / "a.csv", index=False)
    done(tmp_path / "csv", "rank", tmp_path / "a.csv", "--target", "y", "--no-test")
    both = [(tmp_path / out / "result.csv").read_bytes() for out in ("out", "csv")]
    assert both[0] == both[1]


def test_a_workbook_without_its_package_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    (tmp_path / "a.xlsx").write_bytes(b"x")
    result = duramen("rank", tmp_path / "a.xlsx", "--target", "y", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "pip install duramen[excel]" in result.stderr


def test_findings_of_the_library():
    frame = pd.DataFrame({"id": range(N), "day": DAYS, "dose": DOSE})
    frame["day"] = pd.to_datetime(frame["day"])
    found = dm.tables.findings(frame, ["a"] * N, target="kind")
    assert [(one.kind, one.columns) for one in found] == [
        ("one class", ("kind",)),
        ("date", ("day",)),
        ("identifier", ("id",)),
    ]
    assert dm.tables.findings(RNG.normal(size=(30, 4)), RNG.normal(size=30)) == ()


def test_measurements_are_no_identifiers():
    measured = pa.table(
        {
            "income": RNG.choice(10**6, 200, replace=False),
            "time": np.linspace(0, 1, 200),
            "height": RNG.normal(size=200),
            "count": RNG.poisson(100, 200),
            "gene": [f"g{i % 40}" for i in range(200)],
        }
    )
    kinds = [one.kind for one in dm.tables.findings(measured)]
    assert "identifier" not in kinds


@pytest.mark.slow
def test_a_look_takes_a_twentieth_of_reading(tmp_path):
    values = RNG.normal(size=(500, 20_000))
    pq.write_table(pa.table({f"g{j}": values[:, j] for j in range(20_000)}), tmp_path / "a.parquet")
    start = time.process_time()
    table = dm.encode(dm.tables.read_table(tmp_path / "a.parquet"))
    read = time.process_time() - start
    start = time.process_time()
    assert of_codes(table) == []
    assert time.process_time() - start < 0.05 * read


def mixed():
    """A table of a binary column and numbers, and a target that has nothing to do with them."""
    return clean().assign(sex=RNG.integers(0, 2, N), dose=RNG.normal(size=N))


def unequal(record):
    return [one for one in record["findings"] if one["kind"] == "unequal values"]


def test_a_ranking_by_mdi_tells_of_columns_that_it_favors(tmp_path):
    mixed().to_csv(tmp_path / "a.csv", index=False)
    words = ["rank", tmp_path / "a.csv", "--target", "y", "--no-test", "--trees", 20]
    result, record = done(tmp_path / "out", *words)
    [line] = result.stderr.splitlines()
    assert line.startswith("note: 'sex' has 2 distinct values")
    assert "times as much. Hint: --measure NAME" in line
    [found] = unequal(record)
    assert found["columns"][0] == "sex"
    report = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert (
        report.index("Look at the data") < report.index("distinct values") < report.index("Ranking")
    )
    names = found["hint"].split("one of ")[1].split(", ")
    assert "mda" in names
    assert "air" in names
    assert "frequency" not in names
    quiet, _ = done(tmp_path / "quiet", *words, "--quiet")
    assert quiet.stderr == ""


@pytest.mark.parametrize("measure", ["air", "mda", "frequency"])
def test_only_the_measure_that_is_ranked_by_counts(measure, tmp_path):
    mixed().to_csv(tmp_path / "a.csv", index=False)
    words = ["rank", tmp_path / "a.csv", "--target", "y", "--no-test", "--trees", 20]
    result, record = done(tmp_path / "out", *words, "--measure", measure, "--measure", "mdi")
    biased = dm.importances.catalogue[measure].favors_many_values
    assert bool(unequal(record)) == biased
    assert ("get more frequency than" in result.stderr) == biased


def test_forests_without_rows_out_of_bag_are_offered_other_measures(tmp_path):
    mixed().to_csv(tmp_path / "a.csv", index=False)
    words = ["rank", tmp_path / "a.csv", "--target", "y", "--no-test", "--trees", 20]
    _, record = done(tmp_path / "out", *words, "--forest", "extra-trees", "--measure", "mdi")
    assert unequal(record)[0]["hint"].endswith("one of holdout-mda, air, sandri")


@pytest.mark.parametrize("packed", [False, True])
def test_rare_alleles_are_told_of(packed, tmp_path):
    codes = RNG.binomial(2, np.linspace(0.02, 0.5, 30), (N, 30))
    codes[0] = 1
    y = np.where(Y, "case", "control")
    if packed:
        frame = pd.DataFrame(codes, columns=[f"rs{j}" for j in range(30)])
        dm.pack(frame.assign(y=y), tmp_path / "s")
        words = [tmp_path / "s"]
    else:
        write_bed(tmp_path / "s.bed", codes)
        pd.DataFrame({"IID": [f"I{i}" for i in range(N)], "y": y}).to_csv(
            tmp_path / "people.csv", index=False
        )
        words = [tmp_path / "s.bed", "--samples", tmp_path / "people.csv"]
    result, record = done(
        tmp_path / "out", "rank", *words, "--target", "y", "--no-test", "--trees", 20
    )
    [found] = unequal(record)
    assert "minor-allele frequencies from 0.0" in found["found"]
    assert "note: read as counts of alleles" in result.stderr
