"""A stranger's first hour: typical mistakes in tables end in messages that say what to type.

Each case is a table with one mistake. The command names the column and the option that answers it,
before any work; where it refuses the table, the option that it names makes the command run.
"""

import datetime
import gzip
import json
import shlex
import zipfile
from functools import wraps
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.cli.commands import done, duramen
from tests.grid import one_test
from tests.io.store.stores import write_bed

import duramen as dm
from duramen.cli.app import COMMANDS
from duramen.cli.console import as_typed
from duramen.support.checks import gathered_warnings

N = 60
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
DOSE = (Y + 0.3 * RNG.normal(size=N)).round(3)
AGE = RNG.integers(18, 80, N)
MONATE = ("Januar", "M\u00e4rz", "Mai")
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


# Name of the case: how the file is written, what the message names, and the option it names.
CASES = {
    "names of rows": (csv(patient=[f"p{i}" for i in range(N)]), "'patient'", "--keep-identifiers"),
    "numbers that name rows": (
        csv(patient_id=RNG.choice(10**6, N, replace=False)),
        "'patient_id'",
        "--keep-identifiers",
    ),
    "an index without a name": (nameless, "''", "--keep-identifiers"),
    "an index that was read": (
        csv(**{"Unnamed: 0": np.tile(np.arange(N // 2), 2)}),
        "'Unnamed: 0'",
        "--drop 'Unnamed: 0'",
    ),
    "rows in order of a number": (
        csv(visit=np.cumsum(RNG.integers(1, 9, N))),
        "'visit'",
        "--drop visit",
    ),
    "a stray word": (csv(age=replaced(AGE, [4], "n/a?")), "'age'", "--na-values 'n/a?'"),
    "a limit of detection": (csv(dose=replaced(DOSE, [7], ">100")), "'dose'", "--na-values '>100'"),
    "decimal commas": (written(";", ","), "decimal commas", "--decimal ,"),
    "a code of missing values": (
        csv(age=replaced(AGE, [3, 8], "-999")),
        "'age'",
        "--na-values -999",
    ),
    "dates": (csv(day=DAYS), "'day' has dates, read as days since the first", "--drop day"),
    "dates as text": (
        csv(day=[day.strftime("%d.%m.%Y") for day in DAYS]),
        "(day before month), read as days since the first, 2024-01-01",
        "--as-text day",
    ),
    "dates of which nothing tells the order": (
        csv(day=[f"{i % 7 + 1}/{(5 * i) % 12 + 1}/2024" for i in range(N)]),
        "(month before day), where nothing tells the day from the month",
        "--date-order day-first",
    ),
    "a word beside dates": (
        csv(day=replaced(DAYS, [3], "in spring")),
        "dates as text, but 'in spring' in 1 row",
        "--na-values 'in spring'",
    ),
    "times of day": (
        csv(at=[f"{i % 24:02d}:30" for i in range(N)]),
        "'at' has times of day, read as seconds since midnight",
        "--drop at",
    ),
    "a constant column": (csv(site="A"), "'site'", "--drop site"),
    "a column twice": (csv(dose_mg=1000 * DOSE), "'dose_mg'", "--drop dose_mg"),
    "semicolons": (written(";"), "a.csv is separated by semicolons", "--separator semicolon"),
    "a target without some values": (
        csv(y=np.where(np.arange(N) < 6, "", clean()["y"])),
        "'y'",
        "--drop-missing-target",
    ),
    "a target that names rows": (csv(y=[f"p{i}" for i in range(N)]), "'y'", "--target NAME"),
    "a target of one class": (csv(y="ill"), "'y'", "--target NAME"),
    "a target of dates": (csv(y=DAYS), "'y' has dates", "--task regression"),
    "a target of dates as text": (
        csv(y=[f"{day:%d/%m/%Y}" for day in DAYS]),
        "'y' has dates",
        "--task regression",
    ),
    "a class of few rows": (csv(y=rare(2)), "'rare' (2)", "--na-values rare --drop-missing-target"),
    "a class that is rare": (
        csv(y=np.where(np.arange(N) < 2, "ill", "well")),
        "'ill' in 2 of 60 rows",
        "--class-weight balanced",
    ),
    "thousands": (
        csv(income=[f"{v:,}" for v in RNG.integers(9000, 90000, N)]),
        "'income'",
        "--as-text income",
    ),
    "a unit": (csv(bmi=[f"{v:.1f}kg/m2" for v in RNG.normal(27, 4, N)]), "'bmi'", "--as-text bmi"),
    "limits of detection": (
        csv(crp=["<5" if v < 10 else f"{v}" for v in RNG.integers(5, 90, N)]),
        "'crp'",
        "--as-text crp",
    ),
    "several units": (
        csv(dose2=[f"{v} {'mg' if v % 2 else 'g'}" for v in RNG.integers(5, 15, N)]),
        "'dose2'",
        "--drop dose2",
    ),
    "labels that are alike": (
        csv(y=np.where(np.arange(N) % 9 == 0, "Ill ", np.where(Y, "ill", "well"))),
        "'Ill '",
        "--as-text y",
    ),
    "a code in the target": (
        csv(y=np.where(np.arange(N) == 7, 9, Y)),
        "'y'",
        "--na-values 9 --drop-missing-target",
    ),
    "classes that are numbers": (
        csv(y=np.tile(np.arange(1, 31), 2)),
        "'y'",
        "--task classification",
    ),
    "classes that are fractions": (
        csv(y=np.arange(N) % 3.0),
        "'y' has 3 different whole numbers",
        "--task classification",
    ),
    "a minus sign": (
        csv(t=[f"{v:.1f}".replace("-", "\u2212") for v in RNG.normal(size=N)]),
        "a minus sign stands for a hyphen",
        "--as-text t",
    ),
    "a word for missing in another language": (
        csv(age=[f"{age}" if i % 8 else "unbekannt" for i, age in enumerate(AGE)]),
        "'age' has numbers in 86 % of its rows, but 'unbekannt' in 8 rows",
        "--na-values unbekannt",
    ),
    "a word for missing as a class": (
        csv(y=np.where(np.arange(N) % 8 == 3, "unknown", clean()["y"])),
        "'y' has 'unknown' in 8 rows, a word for a missing value",
        "--na-values unknown --drop-missing-target",
    ),
    "categories that are alike": (
        csv(sex=np.resize(["M", "F", "m ", "F", "f", "M"], N)),
        "column 'sex' has labels that differ by case or spaces only, merged: 'f' (10 rows)",
        "--as-text sex",
    ),
    "months in another language": (
        csv(day=[f"{1 + i % 28}. {MONATE[i % 3]} 2024" for i in range(N)]),
        "'day' has dates as text, such as '1. Januar 2024', read as days since the first",
        "--as-text day",
    ),
    "weekdays before dates": (
        csv(day=[f"{day:%a, %d %b %Y}" for day in DAYS]),
        "'day' has dates as text, such as 'Mon, 01 Jan 2024'",
        "--as-text day",
    ),
    "a line above the names": (
        lambda path: path.write_text(
            "Lab,Patient,,Outcome\n" + clean().to_csv(index=False), encoding="utf-8"
        ),
        "its columns are 'Lab', 'Patient', '', 'Outcome'. Hint: --skip-rows 1 reads the names",
        "--skip-rows 1",
    ),
    "counts": (
        csv(y=np.repeat(range(9), [14, 15, 11, 8, 5, 3, 2, 1, 1])),
        "'y' has 9 different whole numbers, distributed as counts",
        "--task classification",
    ),
    "a date of the ill only": (
        csv(day=np.where(Y, [f"{i % 28 + 1}.5.2024" for i in range(N)], "")),
        "'day' has values only where y is 'ill'",
        "--drop day",
    ),
    "a flag of the outcome": (csv(treated=Y), "'treated'", "--drop treated"),
    "a target of counts": (csv(y=RNG.integers(0, 12, N)), "'y'", "--task regression"),
    "a target of numbers with a word": (
        csv(y=replaced(DOSE, [5], "unknown")),
        "'y'",
        "--na-values unknown --drop-missing-target",
    ),
}
# Tables that are refused; the others are read.
REFUSES = {
    "a target without some values",
    "a target that names rows",
    "a target of one class",
    "a target of dates",
    "a target of dates as text",
    "a line above the names",
}


def looked_at(*words, **more):
    """Return the data of `duramen rank` and its notes before any work; None if it refuses."""
    made = []

    @wraps(dm.read)
    def reading(*arguments, **options):
        with gathered_warnings() as warned:
            made.append(dm.read(*arguments, **options))
        made.extend(warned)
        raise EOFError  # as the analysis would follow

    with patch("duramen.cli.functions.read", reading):
        result = duramen("rank", *words, **more)
    assert "Traceback" not in result.output
    if not made:
        assert result.exit_code == 2, result.output
        return None, result.stderr.strip().splitlines()
    data, *warned = made
    findings = data.provenance.findings
    return data, [" ".join(as_typed(str(said)).split()) for said in (*warned, *findings)]


def run(folder, *words):
    return duramen("rank", folder / "a.csv", "--test", "none", "--trees", 20, *words)


def first_of(data):
    """The feature that ranks first."""
    forest = dm.RandomForestClassifier(30, random_state=0, n_jobs=1).fit(data)
    return dm.importances.mdi(forest, data, rows="oob").top(1).names[0]


@pytest.mark.parametrize("case", list(CASES))
def test_a_mistake_is_named_with_the_option_that_answers_it(case, tmp_path):
    write, what, flag = CASES[case]
    write(tmp_path / "a.csv")
    words = [tmp_path / "a.csv", "--target", "y"]
    data, said = looked_at(*words)
    assert (data is None) == (case in REFUSES)
    assert sum(what in line and flag in line for line in said) == 1, said
    if not flag.endswith("NAME"):
        assert looked_at(*words, *shlex.split(flag))[0] is not None


# Labels of controls and cases, as files have them.
CASE_LABELS = [
    *[("no", "yes"), ("0", "1"), ("-1", "1"), ("False", "True"), ("N", "Y"), ("B", "M")],
    *[("control", "case"), ("Well", "ILL"), ("alive", "dead"), ("censored", "event")],
    *[("no relapse", "relapse"), ("no-recurrence-events", "recurrence-events")],
    *[("tested_negative", "tested_positive"), ("ER-", "ER+"), ("unaffected", "affected")],
    *[("nonspam", "spam"), ("absent", "present"), ("wild type", "mutant"), ("normal", "tumor")],
    *[("placebo", "drug"), ("gesund", "krank"), ("never", "daily"), ("Non-responder", "responder")],
]


@one_test
@pytest.mark.parametrize(("control", "case"), CASE_LABELS)
def test_directions_are_about_cases_also_where_they_are_frequent(control, case):
    labels = np.where(np.arange(N) < N // 2 + 1, case, control)
    assert dm.read(clean().assign(y=labels), "y").target.default_positive == (case, "")


def test_the_first_note_names_the_class_of_directions_where_no_label_is_that_of_cases(tmp_path):
    csv(y=np.where(Y, "ALL", "AML"))(tmp_path / "a.csv")
    result = run(tmp_path, "--target", "y", "--out", tmp_path / "out")
    note, *_ = result.stderr.splitlines()
    assert "directions are about 'AML', the second class of y. Hint: --positive ALL" in note
    asked = run(tmp_path, "--target", "y", "--positive", "ALL", "--out", tmp_path / "out")
    assert (asked.exit_code, asked.stderr) == (0, "")
    report = dm.rank(clean(), "y", positive="well", test="none", n_estimators=20)
    assert report.directions["dose"] == "down for well"
    again = dm.rank(dm.read(clean(), "y"), positive="well", test="none", n_estimators=20)
    assert again.directions == report.directions
    with pytest.raises(ValueError, match="positive must be a class of the target, one of ill, we"):
        dm.rank(clean(), "y", positive="I")


def test_nothing_is_said_of_a_clean_table(tmp_path):
    clean().to_csv(tmp_path / "a.csv", index=False)
    result, record = done(
        tmp_path / "out", "rank", tmp_path / "a.csv", "--target", "y", "--test", "none"
    )
    assert result.stderr == ""
    assert record["findings"] == []


def test_all_findings_come_at_once(tmp_path):
    columns = {"id": range(N), "name": [f"p{i}" for i in range(N)], "site": "A"}
    labels = replaced(clean()["y"], [2], "")
    csv(**columns, age=replaced(AGE, [4], "n/a?"), y=labels)(tmp_path / "a.csv")
    result = run(tmp_path, "--target", "y", "--out", tmp_path / "out")
    assert result.exit_code == 2
    *notes, line = result.stderr.splitlines()
    assert ["'age'" in notes[0], "'site'" in notes[1], "'id', 'name'" in notes[2]] == [True] * 3
    assert "they were left out. Hint: --keep-identifiers keeps them" in notes[2]
    assert "--drop-missing-target" in line


@pytest.mark.parametrize(
    "words",
    [
        ["select", "--target", "y"],
        ["context", "--target", "y", "--context", "site", "--permutations", "9"],
        ["network", "--drop", "y", "--drop", "site"],
    ],
)
def test_every_command_looks(words, tmp_path):
    columns = {"nr": range(N), "site": np.where(Y, "A", "B"), "flat": 1}
    csv(**columns)(tmp_path / "a.csv")
    words = [words[0], tmp_path / "a.csv", *words[1:], "--out", tmp_path / "out", "--trees", "5"]
    more = ["--relevance", "probe"] if words[0] == "select" else []
    result = duramen(*words, *more)
    assert result.exit_code == 0, result.output
    assert "note: column 'flat' is constant" in result.stderr
    assert "'nr' has a different value in each row and looks like an identifier" in result.stderr
    assert "it was left out. Hint: --keep-identifiers keeps it" in result.stderr
    assert "nr" not in (tmp_path / "out/result.csv").read_text(encoding="utf-8")
    record = json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8"))
    assert [
        finding["columns"] for finding in record["findings"] if finding["kind"] == "constant"
    ] == [["flat"]]
    assert "Look at the data" in (tmp_path / "out/report.html").read_text(encoding="utf-8")


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
    kinds = [finding.kind for finding in dm.read(measured).provenance.findings]
    assert "identifier" not in kinds


# --- files of all kinds ---------------------------------------------------------------------------

GENES = [f"g{j}" for j in range(12)]
SAMPLES = [f"S{i:02d}" for i in range(N)]
ORDER = np.random.default_rng(3).permutation(N)


def expression():
    """Counts of genes in rows; those of g3 tell who is ill."""
    counts = np.random.default_rng(1).poisson(100, (len(GENES), N))
    counts[3] += 90 * Y
    return pd.DataFrame(counts, index=pd.Index(GENES, name="gene"), columns=SAMPLES)


def described():
    """Expression as featureCounts writes it, with columns that describe the genes."""
    table = expression().rename_axis("Geneid")
    columns = {"Chr": "1;1", "Start": "1;7", "End": "5;9", "Strand": "+;+", "Length": 900}
    for place, (name, value) in enumerate(columns.items()):
        table.insert(place, name, value)
    return table


def annotated(folder):
    """Classes of the samples, in another order."""
    frame = pd.DataFrame({"id": SAMPLES, "y": clean()["y"], "sex": AGE % 2})
    frame.iloc[ORDER].to_csv(folder / "samples.csv", index=False)
    return ["--samples", folder / "samples.csv"]


def turned(name, write, more=()):
    """A file with genes in rows, and the options that it takes."""

    def make(folder):
        write(folder / name)
        return [folder / name, "--transpose", *annotated(folder), *more]

    return make


def feature_counts(path):
    command = '# Program:featureCounts v2.0.1; Command:"featureCounts" "-a" "genes.gtf"\n'
    path.write_text(command + described().to_csv(sep="\t"), encoding="utf-8")


def series_matrix(path):
    def line(name, values):
        return "\t".join([name, *(f'"{value}"' for value in values)]) + "\n"

    text = line("!Series_title", ["a study"]) + line("!Series_geo_accession", ["GSE1"]) + "\n"
    text += line("!Sample_title", [f"patient {i}" for i in range(N)])
    text += line("!Sample_geo_accession", SAMPLES)
    text += line("!Sample_characteristics_ch1", [f"y: {label}" for label in clean()["y"]])
    text += line("!Sample_characteristics_ch1", [f"age: {age}" for age in AGE])
    text += "!series_matrix_table_begin\n"
    text += expression().rename_axis("ID_REF").to_csv(sep="\t", quoting=2)
    text += "!series_matrix_table_end\n"
    opening = gzip.open if path.suffix == ".gz" else open
    with opening(path, "wt", encoding="utf-8") as file:
        file.write(text)


def gct(path, traits=True):
    """A matrix of GenePattern, of the version that describes the samples or of the other."""
    frame = expression()
    frame.insert(0, "Description", "a gene")
    if traits:
        frame.loc["y"] = ["na", *clean()["y"]]
        frame = frame.loc[["y", *GENES]]
    size = [len(GENES), N, *([1, 1] if traits else [])]
    first = f"#1.{2 + traits}\n" + "\t".join(map(str, size))
    path.write_text(f"{first}\n{frame.to_csv(sep=chr(9))}", encoding="utf-8")


def file(name, write, *more):
    """A file with samples in rows, and the options that it takes."""

    def make(folder):
        write(folder / name)
        return [folder / name, *more]

    return make


def text(change=lambda text: text, encoding="utf-8", **options):
    """The clean table as text that was changed."""

    def write(path):
        path.write_bytes(change(clean().to_csv(index=False, **options)).encode(encoding))

    return write


def lines(change):
    """The clean table as text of which each line was changed, given its number."""
    return text(lambda whole: "".join(f"{change(i, row)}\n" for i, row in enumerate(whole.split())))


def zipped(*names):
    """An archive with the clean table under some names, beside what a system adds."""

    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, clean().to_csv(index=False))
            archive.writestr("__MACOSX/._a.csv", "x")

    return write


def nested(path):
    """An archive of a workbook, which is an archive too."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("b.xlsx", b"PK\x03\x04")


def parts(path):
    path.mkdir()
    clean()[:20].to_parquet(path / "part-0.parquet")
    clean()[20:].to_parquet(path / "part-1.parquet")


def h5ad(path, transposed=False):
    anndata = pytest.importorskip("anndata")
    frame = expression() if transposed else expression().T
    rows = pd.DataFrame({"y": clean()["y"].to_list()}, index=SAMPLES)
    about = {"var" if transposed else "obs": rows}
    made = anndata.AnnData(frame.to_numpy(dtype=np.float32), **about)
    made.obs_names, made.var_names = frame.index.to_list(), frame.columns.to_list()
    made.write_h5ad(path)


def r_table(whole):
    """As write.table of R: names of rows, which the header lacks, and quotes around text."""
    header, *rows = whole.split()
    return "\n".join([header, *(f'"{i + 1}",{row}' for i, row in enumerate(rows))]) + "\n"


def coded(**columns):
    return lambda path: clean().assign(**columns).to_parquet(path)


CODES = {"age": [-99 if i in (3, 9, 40) else int(age) for i, age in enumerate(AGE)]}

# Files that are read: what writes them and names the options, and the feature that ranks first.
READ = {
    "genes in rows": (turned("a.tsv", lambda p: expression().to_csv(p, sep="\t")), "g3"),
    "genes in rows as R writes them": (
        turned(
            "a.csv",
            lambda p: p.write_text(expression().to_csv().removeprefix("gene,"), encoding="utf-8"),
        ),
        "g3",
    ),
    "counts of featureCounts": (turned("a.txt", feature_counts), "g3"),
    "genes with symbols": (
        turned(
            "a.csv",
            lambda p: expression().assign(Symbol=GENES)[["Symbol", *SAMPLES]].to_csv(p),
        ),
        "g3",
    ),
    "a series matrix of GEO": (file("GSE1_series_matrix.txt", series_matrix), "g3"),
    "a matrix of GenePattern": (file("a.gct", gct), "g3"),
    "text with tabs": (file("a.txt", text(sep="\t")), "dose"),
    "text with spaces": (file("a.txt", text(sep=" ")), "dose"),
    "an archive of a table": (file("a.zip", zipped("b.csv")), "dose"),
    "an archive of two tables": (
        file("a.zip", zipped("b.csv", "c.csv"), "--member", "c.csv"),
        "dose",
    ),
    "Latin-1": (
        file(
            "a.csv",
            text(lambda t: t.replace("ill", "fi\u00e9vre"), encoding="latin-1"),
            "--encoding",
            "latin-1",
        ),
        "dose",
    ),
    "UTF-16": (file("a.csv", text(encoding="utf-16"), "--encoding", "utf-16"), "dose"),
    "a folder of Parquet": (file("parts", parts), "dose"),
    "AnnData": (file("a.h5ad", h5ad), "g3"),
    "AnnData with genes in rows": (
        file("a.h5ad", lambda p: h5ad(p, transposed=True), "--transpose"),
        "g3",
    ),
    "a title": (file("a.csv", text(lambda t: f"Study 12\n\n{t}"), "--skip-rows", 2), "dose"),
    "a comment": (file("a.csv", text(lambda t: f"# made on a Monday\n{t}")), "dose"),
    "a line that names the separator": (
        file("a.csv", text(lambda t: f"sep=;\n{t}", sep=";"), "--separator", ";"),
        "dose",
    ),
    "commas at the end of all lines": (file("a.csv", lines(lambda i, row: f"{row},,")), "dose"),
    "names of rows as R writes them": (file("a.csv", text(r_table)), "dose"),
    "decimal commas beside semicolons": (
        file("a.txt", text(sep=";", decimal=","), "--decimal", ","),
        "dose",
    ),
    "rows that R numbers": (
        file("a.txt", text(lambda t: r_table(t).replace(",", " "))),
        "dose",
    ),
    "a code in Parquet": (file("a.parquet", coded(**CODES), "--na-values", -99), "dose"),
}


@pytest.mark.parametrize("case", list(READ))
def test_files_are_read_as_they_come(case, tmp_path):
    make, first = READ[case]
    data, _ = looked_at(*make(tmp_path), "--target", "y")
    assert first_of(data) == first
    assert sorted(data.names) == sorted(GENES if first == "g3" else ["age", "dose", "noise"])
    labels, counts = np.unique(data.target.classes[data.target.values], return_counts=True)
    ill = "fi\u00e9vre" if case == "Latin-1" else "ill"
    assert dict(zip(labels, counts, strict=True)) == {"well": N // 2, ill: N // 2}


def test_classes_of_genepattern_are_annotations(tmp_path):
    gct(tmp_path / "a.gct", traits=False)
    labels = " ".join(clean()["y"])
    (tmp_path / "a.cls").write_text(f"{N} 2 1\n# ill well\n{labels}\n", encoding="utf-8")
    words = [tmp_path / "a.gct", "--samples", tmp_path / "a.cls", "--target", "class"]
    data, _ = looked_at(*words, "--samples-match", "position")
    assert first_of(data) == "g3"


# Files that are refused: what writes them and names the options, and what the message says.
REFUSED = {
    "genes in rows, not transposed": (
        file("a.tsv", lambda p: expression().to_csv(p, sep="\t")),
        ["'y' is not a column of the table", "first column, 'gene', names the rows",
         "--transpose and --samples FILE"],
    ),
    "genes in rows beside samples": (
        lambda folder: turned("a.csv", lambda p: expression().to_csv(p))(folder)[:1]
        + annotated(folder),
        ["no column of samples holds the names", "--transpose", "column id of samples"],
    ),
    "a target that samples lack": (
        lambda folder: [*turned("a.csv", lambda p: expression().to_csv(p))(folder), "--drop", "g1"],
        ["'z'", "'id', 'y', 'sex'"],
    ),
    "an archive of several": (
        file("a.zip", zipped("b.csv", "c.csv")),
        ["'b.csv', 'c.csv'", "--member b.csv"],
    ),
    "an archive of a workbook": (file("a.zip", nested), ["a workbook", "decompress it once"]),
    "Latin-1 as it comes": (
        file("a.csv", text(lambda t: t.replace("ill", "fi\u00e9vre"), encoding="latin-1")),
        ["line 3", "--encoding latin-1"],
    ),
    "UTF-16 as it comes": (file("a.csv", text(encoding="utf-16")), ["a.csv", "--encoding utf-16"]),
    "an encoding that does not fit": (
        file("a.csv", text(lambda t: t.replace("ill", "\u20ac")), "--encoding", "ascii"),
        ["--encoding"],
    ),
    "a title as it comes": (
        file("a.csv", text(lambda t: f"Study 12\n\n{t}")),
        ["4 fields in line 3", "--skip-rows 2"],
    ),
    "merged headers as they come": (
        file("a.csv", text(lambda t: f"Patient,,Lab,\n{t}")),
        ["more than one column named ''", "--skip-rows 1"],
    ),
    "a comma in one row": (
        file("a.csv", lines(lambda i, row: f"{row}," if i == 30 else row)),
        ["5 fields in line 31", "at the end of that line"],
    ),
    "a folder of several tables": (
        file("a", lambda p: parts(p) or clean().assign(z=1).to_parquet(p / "part-2.pq")),
        ["part-2.pq", "same columns"],
    ),
    "commas between thousands that cut fields": (
        file(
            "a.csv",
            lines(lambda i, row: row if i == 0 else row.replace(",", f",{i % 7 + 1},", 1)),
        ),
        ["5 fields in line 2", "quote fields"],
    ),
    "a series matrix without values": (
        file(
            "GSE1_series_matrix.txt",
            lambda p: p.write_text(
                '!Series_title\t"a"\n!series_matrix_table_begin\n"ID_REF"\t"S1"\n'
                "!series_matrix_table_end\n",
                encoding="utf-8",
            ),
        ),
        ["is empty", "other files of its page"],
    ),
    "identifiers alone": (
        file("a.csv", lambda p: clean()[["y"]].assign(nr=range(N)).to_csv(p, index=False)),
        ["nr", "--keep-identifiers"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", list(REFUSED))
def test_files_that_cannot_be_read_end_in_one_message(case, tmp_path):
    make, parts = REFUSED[case]
    target = "z" if case.startswith("a target") else "y"
    data, said = looked_at(*make(tmp_path), "--target", target, "--out", tmp_path / "out")
    assert data is None
    assert said[-1].startswith("duramen rank: ")
    assert [part for part in parts if part not in said[-1]] == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.csv.gz"])
def test_standard_input(name, tmp_path):
    clean().to_parquet(tmp_path / name) if name == "a.parquet" else clean().to_csv(
        tmp_path / name, index=False
    )
    words = ["--target", "y", "--test", "none", "--trees", "5"]
    content = (tmp_path / name).read_bytes()
    ended = duramen("rank", "-", *words, "--out", tmp_path / "out", standard_input=content)
    assert ended.exit_code == 0, ended.output
    done(tmp_path / "file", "rank", tmp_path / name, *words)
    both = [(tmp_path / out / "result.csv").read_bytes() for out in ("out", "file")]
    assert both[0] == both[1]


def test_a_code_that_is_a_number_elsewhere_is_no_word_for_missing_values(tmp_path):
    depth = np.linspace(-200, 50, N).round()
    depth[5] = -99
    csv(**CODES, depth=RNG.permutation(depth))(tmp_path / "a.csv")
    result = run(tmp_path, "--target", "y", "--out", tmp_path / "out")
    message = next(line for line in result.stderr.splitlines() if "'age' has -99" in line)
    assert "within the range of column 'depth'" in message
    assert "--na-values" not in message
    assert "--drop" not in message


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_table_that_does_not_fit_is_refused(name, tmp_path, leave_memory):
    n = 200_000
    frame = pd.DataFrame({"x": np.zeros(n), "y": np.arange(n) % 2})
    frame.to_parquet(tmp_path / name) if name == "a.parquet" else frame.to_csv(
        tmp_path / name, index=False
    )
    room = 16 * n  # bytes: more than the file, less than the numbers and their codes
    assert (tmp_path / name).stat().st_size < room
    leave_memory(room)
    result = duramen("rank", tmp_path / name, "--target", "y", "--out", tmp_path / "out")
    assert result.exit_code == 2, result.output
    assert f"duramen pack {name} --out STORE" in result.stderr
    assert "--max-rows N" in result.stderr


def test_lines_of_a_series_matrix_may_hold_ends_of_other_systems(tmp_path):
    series_matrix(tmp_path / "GSE1_series_matrix.txt")
    path = tmp_path / "GSE1_series_matrix.txt"
    data = path.read_bytes().replace(b"patient 3", b"patient\r3").replace(b"\n", b"\r\n")
    path.write_bytes(data)
    dm.pack(path, tmp_path / "s")
    samples = dm.open_store(tmp_path / "s").samples
    assert samples["title"].to_pylist()[2:5] == ["patient 2", "patient 3", "patient 4"]
    assert samples["age"].to_pylist() == AGE.tolist()
    path.write_bytes(data.replace(b"patient", b"pati\xe9nt"))
    with pytest.raises(ValueError, match="--encoding latin-1"):
        dm.pack(path, tmp_path / "t")


@pytest.mark.parametrize(
    ("more", "encoding", "of_samples", "title"),
    [
        (["--encoding", "latin-1"], "latin-1", "latin-1", ""),
        (["--encoding", "utf-16"], "utf-16", "utf-8", ""),
        (["--skip-rows", 2], "utf-8", "utf-8", "A title\n\n"),
    ],
)
def test_samples_are_text_of_their_own(more, encoding, of_samples, title, tmp_path):
    annotated(tmp_path)
    samples = tmp_path / "samples.csv"
    labels = samples.read_text(encoding="utf-8").replace("ill", "fi\u00e9vre")
    samples.write_text(labels, encoding=of_samples)
    (tmp_path / "a.csv").write_text(title + expression().to_csv(), encoding=encoding)
    words = [tmp_path / "a.csv", "--transpose", "--samples", samples, "--target", "y", *more]
    assert first_of(looked_at(*words)[0]) == "g3"


@pytest.mark.parametrize("n_categories", [13, 53])
def test_three_classes_and_a_column_of_many_categories(n_categories, tmp_path):
    random = np.random.default_rng(n_categories)
    kind = random.integers(0, n_categories, 600)
    island = np.where(random.random(600) < 0.2, random.integers(0, 3, 600), kind % 3)
    frame = pd.DataFrame({"town": [f"t{k}" for k in kind], "size": random.normal(size=600)})
    frame.assign(island=np.array(["A", "B", "C"])[island]).to_csv(tmp_path / "a.csv", index=False)
    words = ["rank", tmp_path / "a.csv", "--target", "island", "--test", "none", "--trees", 30]
    _, record = done(tmp_path / "out", *words)
    assert pd.read_csv(tmp_path / "out/result.csv")["name"][0] == "town"
    assert record["results"]["oob_error"] < 0.25


# --- words of the two doors ---


def test_names_of_measures_and_selectors_are_taken_as_they_are_printed(tmp_path):
    csv()(tmp_path / "a.csv")
    words = [tmp_path / "a.csv", "--target", "y", "--out", tmp_path / "out"]
    for measures in (("MDI-oob", "MDA"), ("mdi_oob", "mda")):
        asked = [word for measure in measures for word in ("--measure", measure)]
        _, record = done(tmp_path / "out", "rank", *words[:3], "--test", "none", *asked)
        assert record["settings"]["measures"] == ["mdi_oob", "mda"]
    table = clean()
    frames = [
        dm.rank(table, "y", measure=measure, test="none", n_estimators=5).to_frame()
        for measure in ("MDI-oob", "mdi_oob")
    ]
    pd.testing.assert_frame_equal(*frames)
    assert duramen("select", *words, "--selector", "mRMR").exit_code == 0
    wrong = duramen("rank", *words, "--measure", "permutation")
    assert 'Invalid value "permutation" for --measure. Choose from: "mdi", ' in wrong.stderr


@one_test
@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda d: dm.rank(d, target="y"), r"duramen.read: rank\(duramen.read\(..., target=...\)"),
        (lambda d: dm.compare(d, strata="y"), "one of duramen.read"),
        (lambda d: dm.rank(d, "y", trees=9), "did you mean n_estimators"),
        (lambda d: dm.rank(d, "y", seed=9), "did you mean random_state"),
        (lambda d: dm.context(d, "y", contxt="a"), "did you mean context"),
        (lambda d: dm.read(d, "y", sep=";"), "did you mean separator"),
        (lambda d: dm.read(d, "y", header=0), r"help\(duramen.read\)"),
        (lambda d: dm.select(d, "y", method="boruta"), "Hint: selector='boruta'"),
        (lambda d: dm.select(d, target="y"), "one of duramen.read"),
    ],
)
def test_a_keyword_that_a_function_does_not_have_has_a_hint(call, hint):
    with pytest.raises((TypeError, ValueError), match=hint):
        call(clean())


def test_kinds_are_options_in_messages(tmp_path):
    csv(code=[str(2**60 + i // 2) for i in range(N)])(tmp_path / "a.csv")
    _, said = looked_at(tmp_path / "a.csv", "--target", "y")
    assert "treat it as categorical (--categorical code)" in said[-1]
    assert looked_at(tmp_path / "a.csv", "--target", "y", "--categorical", "code")[0] is not None


def test_categories_that_only_new_rows_have_are_named(tmp_path):
    csv(site=np.where(np.arange(N) % 3, "A", "B"))(tmp_path / "a.csv")
    frame = pd.read_csv(tmp_path / "a.csv")[:3].assign(site=["A", "C", "D"])
    frame.to_csv(tmp_path / "new.csv", index=False)
    result = run(
        tmp_path, "--target", "y", "--explain-rows", tmp_path / "new.csv", "--out", tmp_path / "out"
    )
    assert "--explain-rows: column 'site' has 'C', 'D' in 2 of 3 rows, which no" in result.stderr


def test_a_folder_that_cannot_be_made_is_named_with_its_option(tmp_path):
    csv()(tmp_path / "a.csv")
    result = run(tmp_path, "--target", "y", "--out", "/proc/out")
    assert result.exit_code == 2
    assert "--out /proc/out cannot be created in /proc (" in result.stderr
    assert "Errno" not in result.stderr


def test_enums_of_polars_are_ordinal_as_ordered_categories_are():
    polars = pytest.importorskip("polars")
    sizes = polars.Series(["S", "M", "L"] * 4, dtype=polars.Enum(["S", "M", "L"]))
    table = dm.encode(polars.DataFrame({"size": sizes, "text": ["b", "a", "c"] * 4}))
    assert (table.kinds, table.values(0).tolist()) == (("ordinal", "nominal"), ["S", "M", "L"])
    nominal = dm.encode(polars.DataFrame({"size": sizes}), kinds={"size": "nominal"})
    assert nominal.kinds == ("nominal",)


# --- lists of factors ---

# Lines of a list of factors beside the genes g0 .. g11, options, and what the command says of them.
FACTORS = {
    "absent": ("g0 g3 ZNF9 ZNF8", [], 0, "2 of 4 regulators are genes of the table; 2 are not"),
    "repeated": ("g0 g3 g3", [], 0, ""),
    "capitals": ("G0 G3 g3 ZNF9", [], 2, "got 1: 'G0', 'G3', 'ZNF9' are not among its 12 genes"),
    "folded": ("G0 G3 g3 ZNF9", ["--genes-match", "fold"], 0, "3 of 4 regulators are genes of"),
    "one": ("g0 ZNF9", [], 2, "--regulators must name 2 genes or more of the table ('g0', "),
    "none": ("ZNF9", [], 2, "got 0: 'ZNF9' is not among its 12 genes"),
    "no line": ("", [], 2, "factors.txt must hold names of genes, one per line, got none"),
}


@pytest.mark.parametrize("case", list(FACTORS))
def test_lists_of_factors_hold_genes_that_a_table_lacks(case, tmp_path):
    lines, options, code, said = FACTORS[case]
    (tmp_path / "factors.txt").write_text("\n".join(lines.split()), encoding="utf-8")
    expression().T.to_csv(tmp_path / "a.csv", index=False)
    words = [tmp_path / "a.csv", "--trees", 3, "--regulators", tmp_path / "factors.txt", *options]
    result = duramen("network", *words, "--out", tmp_path / "out")
    assert (result.exit_code, result.stderr == "") == (code, said == ""), result.output
    assert said in result.stderr
    assert ("--genes-match fold finds 2 more" in result.stderr) == (case == "capitals")
    if code == 0:
        links = pd.read_csv(tmp_path / "out/result.csv")
        assert {*links["source"]} == {"g0", "g3"}


def test_a_name_of_a_regulator_that_is_mistyped_has_a_hint(tmp_path):
    expression().T.to_csv(tmp_path / "a.csv", index=False)
    for name, hint in (("g0x", "did you mean 'g0'?"), ("tf.txt", "there is no file 'tf.txt'")):
        result = duramen("network", tmp_path / "a.csv", "--regulators", name, "--out", tmp_path)
        assert result.stderr.strip().endswith(f"is not among its 12 genes. Hint: {hint}")


# --- strangers ------------------------------------------------------------------------------------


def of_a_ward(path):
    """German spreadsheet: semicolons, decimal commas, umlauts, units, limits of detection."""
    height = [f"{v:.2f} m".replace(".", ",") for v in RNG.normal(1.7, 0.1, N)]
    crp = ["<0,5" if i % 9 == 0 else f"{5 * Y[i] + DOSE[i]:.1f}" for i in range(N)]
    table = {"Gr\u00f6\u00dfe": height, "CRP": [text.replace(".", ",") for text in crp]}
    frame = pd.DataFrame({**table, "y": np.where(Y, "krank", "gesund")})
    frame.to_csv(path, index=False, sep=";", encoding="cp1252")


def of_totals(path):
    """A row of totals below the table."""
    text = clean().to_csv(index=False)
    path.write_text(f"{text}Total,{AGE.sum()},,\n", encoding="utf-8")


def of_plink(path):
    """PLINK's .raw file: separated by spaces, -9 for an unknown phenotype."""
    codes = np.random.default_rng(5).integers(0, 3, (N, 3))
    codes[:, 1] = np.clip(Y + codes[:, 0] % 2, 0, 2)
    people = {"FID": [f"F{i}" for i in range(N)], "IID": SAMPLES, "PAT": 0, "SEX": AGE % 2 + 1}
    phenotype = np.where(np.arange(N) < 3, -9, Y + 1)
    frame = pd.DataFrame({**people, "y": phenotype})
    frame.assign(**{f"rs{j}_A": codes[:, j] for j in range(3)}).to_csv(path, index=False, sep=" ")


def of_genotypes(path):
    """Genotypes as VCF writes them."""
    codes = np.random.default_rng(6).integers(0, 3, (N, 3))
    codes[:, 1] = Y + codes[:, 0] % 2
    words = np.array(["0/0", "0/1", "1/1", "./."])[np.where(RNG.random((N, 3)) < 0.03, 3, codes)]
    frame = pd.DataFrame(words, columns=["rs0", "rs1", "rs2"])
    frame.assign(IID=SAMPLES, y=Y + 1).to_csv(path, index=False, sep="\t")


def of_trials(path):
    """Rates of units in trials, with times, one of them infinite."""
    rates = np.random.default_rng(7).poisson(5, (N, 3)).astype(float)
    rates[:, 2] += 8 * Y
    rates[7, 0] = np.inf
    frame = pd.DataFrame(rates, columns=["unit0", "unit1", "unit2"])
    times = np.cumsum(RNG.integers(900, 1100, N))
    frame.assign(t_ms=times, y=np.where(Y, "left", "right")).to_csv(path, index=False)


def of_a_survey(path):
    """Questions with line ends, answers with numbers, remarks."""
    often = np.array(["1 - never", "2 - rarely", "3 - often"])[Y + AGE % 2]
    table = {"How often\ndo you smoke?": often, "Age (years)": AGE, "y": np.where(Y, "Yes", "No")}
    frame = pd.DataFrame(table).assign(Remarks=[f"remark, {i}" if i % 3 else "" for i in range(N)])
    frame.to_csv(path, index=False, encoding="utf-8-sig")


def of_a_study(path):
    """A workbook: a title, an empty row, identifiers, percent, a row of means, another sheet."""
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for row in (["Study of 2024"], [], ["Patient", "SpO2", "Dose", "y"]):
        book.active.append(row)
    for i in range(N):
        arm = "verum" if Y[i] else "placebo"
        book.active.append([1000 + i, f"{90 + AGE[i] % 9}%", float(DOSE[i]), arm])
    book.active.append([])
    book.active.append([None, None, "mean", None])
    book.create_sheet("notes")
    book.save(path)


# What writes the file, its name, the options it needs in the end, what the first run without them
# says, and the feature that ranks first.
STRANGERS = {
    "ward": (of_a_ward, "a.csv", ["--encoding", "cp1252", "--decimal", ","], "cp1252", "CRP"),
    "totals": (
        of_totals,
        "a.csv",
        ["--na-values", "Total", "--drop-missing-target"],
        "--drop-missing-target",
        "dose",
    ),
    "plink": (
        of_plink,
        "a.txt",
        ["--na-values", -9, "--drop-missing-target"],
        "--na-values -9",
        "rs1_A",
    ),
    "plink as it is called": (of_plink, "a.raw", None, "call it a.txt", ""),
    "genotypes": (of_genotypes, "a.tsv", [], "'IID'", "rs1"),
    "trials": (of_trials, "a.csv", ["--na-values", "inf"], "--na-values inf", "unit2"),
    "survey": (of_a_survey, "a.csv", [], "'Remarks'", "How often\ndo you smoke?"),
    "study": (
        of_a_study,
        "a.xlsx",
        ["--skip-rows", 2, "--na-values", "mean", "--drop-missing-target"],
        "--skip-rows",
        "Dose",
    ),
    "quoted lines": (
        lambda p: p.write_text(
            "".join(f'"{line}"\n' for line in clean().to_csv(index=False).split()),
            encoding="utf-8",
        ),
        "a.csv",
        None,
        "take quotes around whole lines away",
        "",
    ),
}


@pytest.mark.parametrize("stranger", list(STRANGERS))
def test_strangers_come_to_their_answer(stranger, tmp_path):
    write, name, options, first_said, first = STRANGERS[stranger]
    write(tmp_path / name)
    words = [tmp_path / name, "--target", "y"]
    data, said = looked_at(*words)
    assert first_said in " ".join(said)
    if options is None:
        assert data is None
    else:
        assert first_of(looked_at(*words, *options)[0]) == first


@pytest.mark.parametrize(
    ("gaps", "values"),
    [(True, [0.0, 1.0]), (False, [0.0, 1.0]), (True, [1.0, 2.0, 3.0])],
)
@pytest.mark.parametrize("file", [True, False])
def test_gaps_do_not_make_classes_numbers(gaps, values, file, tmp_path):
    y = np.resize(values, N)
    y[: 5 * gaps] = np.nan
    table = clean().assign(y=y)
    if file:
        table.to_csv(tmp_path / "a.csv", index=False)
        table = tmp_path / "a.csv"
    data = dm.read(table, "y", drop_missing_target=gaps)
    assert data.target.classes.tolist() == values
    assert data.target.classes.dtype == np.int64


@pytest.mark.parametrize(
    ("target", "task", "message"),
    [
        ("dose", "classification", "--target dose: classification needs labels or whole numbers"),
        ("y", "regression", "--target y: regression needs numbers, but y holds 'well' at row 0"),
    ],
)
def test_a_task_that_does_not_suit_the_target(target, task, message, tmp_path):
    csv()(tmp_path / "a.csv")
    data, said = looked_at(tmp_path / "a.csv", "--target", target, "--task", task)
    assert data is None
    other = "regression" if task == "classification" else "classification"
    assert message in said[-1]
    assert f"--task {other} is for" in said[-1]


# Phenotypes of a .fam file, in turn, the options that they need, and what they are.
PHENOTYPES = {
    "cases": (["1", "2", "2", "1", "0", "-9"], ["--drop-missing-target"], ("control", "case")),
    "cases, all known": (["1", "2", "2"], [], ("control", "case")),
    "zeros and ones": (["0", "1", "1"], [], (0, 1)),
    "zeros and ones, some unknown": (["0", "1", "-9"], ["--drop-missing-target"], (0, 1)),
    "numbers": (["0", "2", "1.5", "-9", "-3.25"], ["--drop-missing-target"], None),
}


@pytest.mark.parametrize("case", list(PHENOTYPES))
def test_phenotypes_are_those_of_plink(case, tmp_path):
    words, options, classes = PHENOTYPES[case]
    write_bed(tmp_path / "a.bed", np.random.default_rng(8).integers(0, 3, (N, 4)))
    lines = [f"F{i} I{i} 0 0 {i // 5 % 3} {words[i % len(words)]}\n" for i in range(N)]
    (tmp_path / "a.fam").write_text("".join(lines), encoding="utf-8")
    command = [tmp_path / "a.bed", "--target", "phenotype"]
    data, said = looked_at(*command)
    assert (data is None) == bool(options)
    assert not options or "--drop-missing-target" in said[-1]
    data, _ = looked_at(*command, *options)
    known = [word for word in words * N if word != "-9" and (word != "0" or "2" not in words)]
    known = known if classes else [word for word in words * N if word != "-9"]
    assert data.n_rows == sum(words[i % len(words)] in known for i in range(N))
    if classes is None:
        assert data.task == "regression"
        assert data.y[:4].tolist() == [0, 2, 1.5, -3.25]
    else:
        assert sorted(data.target.classes.tolist()) == sorted(classes)
        expected = [classes[int(word) - (classes[0] == "control")] for word in known]
        assert data.y.tolist() == expected[: data.n_rows]
    sex = data.provenance.annotations["sex"].to_pylist()
    assert set(sex) == {None, 1, 2}


# --- files as packages ship them ------------------------------------------------------------------

TIMES = pd.Timestamp("2012-01-01") + pd.to_timedelta(np.arange(N), unit="D")
LATE = np.arange(N) > N / 2
PACK = np.random.default_rng(9)


def gaps(values, every=9, word=None):
    """Values of which some are missing."""
    return [word if i % every == 4 else value for i, value in enumerate(values)]


# Name of the file: the package, its columns in short, the target, options, the task, the feature
# that ranks first, and parts of what is said.
SHIPPED = {
    "penguins-raw (palmerpenguins)": (
        {"studyName": "PAL0708", "Sample Number": range(N), "Date Egg": TIMES.strftime("%Y-%m-%d"),
         "Individual ID": [f"N{i // 2}A{i % 2 + 1}" for i in range(N)], "Culmen (mm)": gaps(DOSE),
         "Species": np.where(Y, "Adelie Penguin (Pygoscelis adeliae)", "Gentoo penguin")},
        "Species", [], "classification", "Culmen (mm)",
        ["'Date Egg' has dates, read as days since the first", "'studyName' is constant",
         "'Sample Number', 'Individual ID' have a different value"]),
    "seattle-weather (vega)": (
        {"date": TIMES.strftime("%Y/%m/%d"), "precipitation": (10 * DOSE).round(1),
         "temp_max": PACK.normal(15, 5, N).round(1), "weather": np.where(Y, "rain", "sun")},
        "weather", [], "classification", "precipitation",
        ["'date' has dates as text, such as '2012/01/01', read as days since the first"]),
    "la-riots (vega)": (
        {"age": gaps(AGE), "death_date": gaps(TIMES[RNG.permutation(N)].strftime("%m/%d/%y")),
         "longitude": PACK.normal(-118, 0.1, N), "gender": np.where(Y, "Male", "Female"),
         "type": np.where(DOSE > 0.5, "Homicide", "Not riot-related")},
        "type", [], "classification", "gender",
        ["'death_date' has dates as text", "(month before day), with years of two digits"]),
    "movies (vega)": (
        {"Release Date": [f"{t:%b %d %Y}" for t in TIMES[PACK.permutation(N)]],
         "Production Budget": gaps(PACK.integers(1, 99, N) * 10**6),
         "Rotten Rating": 100 * DOSE, "IMDB Rating": (DOSE + 0.1 * PACK.normal(size=N)).round(1)},
        "IMDB Rating", [], "regression", "Rotten Rating",
        ["'Release Date' has dates as text, such as '", "days since the first, 2012-01-01"]),
    "flights-2k (vega)": (
        {"date": [f"2001/01/{1 + i % 28:02} {i % 24:02}:55" for i in PACK.permutation(N)],
         "distance": PACK.integers(100, 2000, N), "origin": np.resize(["LAX", "SJC"], N),
         "delay": np.where(np.arange(N) % 2, 30, -5) + PACK.integers(0, 9, N)},
        "delay", ["--task", "regression"], "regression", "origin",
        ["'date' has dates as text, such as '2001/01/"]),
    "co2 (statsmodels)": (
        {"date": [f"{t:%Y%m%d}" for t in TIMES], "noise": PACK.normal(size=N),
         "co2": gaps((300 + np.arange(N) + PACK.normal(size=N)).round(1))},
        "co2", ["--drop-missing-target"], "regression", "date",
        ["'date'"]),
    "randhie (statsmodels)": (
        {"lncoins": PACK.normal(size=N), "idp": Y, "lpi": PACK.normal(size=N),
         "mdvis": np.sort(PACK.poisson(2, N))[np.argsort(np.argsort(DOSE))]},
        "mdvis", [], "regression", "idp",
        ["different whole numbers, distributed as counts"]),
    "fair (statsmodels)": (
        {"rate_marriage": 6.0 - np.ceil(2.4 * np.clip(DOSE, 0, 2)), "age": AGE.astype(float),
         "affair": gaps(Y.astype(float), 19)},
        "affair", ["--drop-missing-target"], "classification", "rate_marriage", []),
    "airquality (R)": (
        {"rownames": range(1, N + 1), "Ozone": gaps((40 + 30 * DOSE).round()), "Wind": -DOSE,
         "Month": 5 + np.arange(N) // 12, "Day": 1 + np.arange(N) % 12},
        "Ozone", ["--drop-missing-target"], "regression", "Wind",
        ["'rownames' has a name like that of an index", "'Wind' orders the rows as Ozone does"]),
    "economics (ggplot2)": (
        {"date": [f"{1 + i % 12}/1/{1967 + i // 12}" for i in range(N)],
         "psavert": PACK.normal(size=N), "unemploy": np.arange(N) + PACK.normal(size=N).round(2)},
        "unemploy", [], "regression", "date",
        ["(month before day), read as days since the first, 1967-01-01",
         "'date' orders the rows as unemploy does"]),
    "titanic (seaborn)": (
        {"survived": Y, "pclass": PACK.integers(1, 4, N), "fare": DOSE, "age": gaps(AGE),
         "deck": gaps(np.resize(["A", "B", "C"], N), 2), "alive": np.where(Y, "yes", "no"),
         "alone": PACK.random(N) < 0.5},
        "survived", ["--drop", "fare"], "classification", "alive",
        ["'alive' alone predicts survived in 100% of the rows"]),
    "gbsg2 (scikit-survival)": (
        {"horTh": np.resize(["no", "yes"], N), "age": AGE, "tgrade": np.resize(["I", "II"], N),
         "pnodes": DOSE, "time": 1000 - 400 * DOSE, "cens": 1 - (np.arange(N) % 5 == 0)},
        "time", ["--event", "cens"], "survival", None, []),
    "lung (R, survival)": (
        {"rownames": range(1, N + 1), "inst": PACK.integers(1, 33, N),
         "time": np.floor(1000 - 400 * DOSE), "status": np.where(PACK.random(N) < 0.3, 1, 2),
         "age": AGE, "ph.karno": gaps(10 * PACK.integers(5, 11, N)), "wt.loss": gaps(AGE % 30, 5)},
        "time", ["--event", "status"], "survival", None,
        ["'rownames' has a different value in each row"]),
    "colon (R, survival)": (
        {"id": np.repeat(range(N // 2), 2), "study": 1, "rx": np.resize(["Obs", "Lev"], N),
         "nodes": PACK.integers(0, 20, N), "status": PACK.integers(0, 2, N),
         "etype": np.resize([2, 1], N), "time": np.repeat(PACK.integers(99, 3000, N // 2), 2)},
        "time", ["--event", "status", "--groups", "id"], "survival", None, ["'study' is constant"]),
    "heart (R, survival)": (
        {"start": np.resize([0, 50.0], N), "stop": np.resize([50, 90.0], N) + np.arange(N) // 2,
         "event": np.resize([0, 1], N), "age": PACK.normal(0, 9, N).round(3),
         "surgery": PACK.integers(0, 2, N), "id": np.repeat(range(1, N // 2 + 1), 2)},
        "stop", ["--event", "event", "--groups", "id"], "survival", None,
        ["'start' is before stop in every row and is named as an entry time", "--entry start"]),
    "veteran (R, survival)": (
        {"trt": np.repeat([1, 2], N // 2), "celltype": np.resize(["squamous", "adeno", "large"], N),
         "time": PACK.integers(1, 999, N), "status": PACK.integers(0, 2, N), "karno": AGE,
         "prior": np.resize([0, 0, 10], N)},
        "time", ["--event", "status"], "survival", None, []),
    "mtcars (R)": (
        {"": [f"Mazda RX{i}" for i in range(N)], "mpg": (30 - 10 * DOSE).round(1),
         "cyl": PACK.choice([4, 6, 8], N), "wt": (2 + DOSE + PACK.normal(0, 0.1, N)).round(2),
         "am": PACK.integers(0, 2, N)},
        "mpg", [], "regression", "wt", ["column '' has a different value in each row"]),
    "warpbreaks (R)": (
        {"breaks": np.floor(30 + 20 * DOSE), "wool": np.where(Y, "A", "B"),
         "tension": np.repeat(["L", "M", "H"], N // 3)},
        "breaks", [], "regression", "wool", ["whole numbers, which are treated as a quantity"]),
    "mpg (seaborn)": (
        {"mpg": (30 - 10 * DOSE).round(1), "horsepower": gaps(AGE),
         "weight": np.floor(2000 + 900 * DOSE + PACK.normal(0, 60, N)),
         "model_year": PACK.integers(70, 83, N), "origin": PACK.choice(["usa", "japan"], N),
         "name": [f"ford {i % 45}" for i in range(N)]},
        "mpg", [], "regression", "weight", ["'name' has different text in most rows"]),
    "tips (seaborn)": (
        {"total_bill": (20 + 9 * DOSE + PACK.normal(0, 1, N)).round(2), "tip": (2 + DOSE).round(2),
         "sex": PACK.choice(["Male", "Female"], N), "smoker": PACK.choice(["Yes", "No"], N),
         "day": PACK.choice(["Sun", "Sat", "Thur"], N), "size": PACK.integers(1, 7, N)},
        "tip", [], "regression", "total_bill", []),
}  # fmt: skip


@pytest.mark.parametrize("file", list(SHIPPED))
def test_files_of_packages_are_read_as_they_are(file, tmp_path):
    columns, target, options, task, first, parts = SHIPPED[file]
    pd.DataFrame(columns, index=range(N)).to_csv(tmp_path / "a.csv", index=False)
    data, said = looked_at(tmp_path / "a.csv", "--target", target, *options)
    assert data is not None, said
    assert data.task == task
    assert [part for part in parts if part not in " ".join(said)] == []
    if task == "regression":
        forest = dm.RandomForestRegressor(30, random_state=0, n_jobs=1).fit(data)
        assert dm.importances.mdi(forest, data, rows="oob").top(1).names[0] == first
    elif task == "classification":
        assert first_of(data) == first


def test_many_classes_of_few_rows_are_not_listed_as_missing_values(tmp_path):
    csv(y=[f"c{i // 2}" for i in range(N)])(tmp_path / "a.csv")
    (line,) = looked_at(tmp_path / "a.csv", "--target", "y")[1]
    assert "'c0' (2), 'c1' (2), 'c2' (2) and 27 more" in line
    assert line.endswith("Hint: merge them with others or leave their rows out")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["select", "--splits", "any"], "Unknown option: --splits, which context, exact have"),
        (["rank", "--kinds=nominal"], "which Python has; --categorical NAME treats a column of"),
        (["rank", "--permutation", "9"], "Did you mean --permutations?"),
        (["predict"], f'Unknown command "predict". The commands are {", ".join(COMMANDS)}.'),
        (["rank", "--target", "z"], "its columns are 'dose', 'age', 'noise', 'y'\n"),
    ],
)
def test_errors_name_what_helps_and_nothing_else(words, message, tmp_path):
    csv(age=[f"{v} kg" for v in AGE])(tmp_path / "a.csv")
    command, *options = words
    result = duramen(command, tmp_path / "a.csv", "--out", tmp_path / "out", *options)
    assert result.exit_code == 2
    assert message in result.stderr
