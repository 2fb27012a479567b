"""Sample annotations are paired with the rows of a table by name, in whatever order they come."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.grid import one_test
from tests.io.store.stores import genotypes, write_bed

from duramen import pack
from duramen.io import open_store
from duramen.io.store.column_store import without
from duramen.io.store.row_ids import names_of

N = 40
ORDER = np.random.default_rng(1).permutation(N)


@pytest.fixture
def bed(tmp_path):
    return write_bed(tmp_path / "a.bed", genotypes(N, 6))


def annotations(n=N, **columns):
    """In the order of the rows: their names and two columns; shuffled by `ORDER` in the tests."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"IID": [f"I{i}" for i in range(n)], **columns})
    return frame.assign(age=rng.integers(20, 90, n), state=rng.choice(["well", "ill"], n))


def rewritten_fam(bed, names):
    lines = [f"{fid} {iid} 0 0 1 -9\n" for fid, iid in names]
    bed.with_suffix(".fam").write_text("".join(lines))


@pytest.mark.parametrize(
    ("title", "form"), [("IID", "csv"), ("#IID", "pandas"), ("person", "arrow")]
)
def test_plink_files_go_by_iid(bed, tmp_path, title, form):
    samples = annotations().rename(columns={"IID": title})
    mixed = samples.iloc[ORDER]
    source = tmp_path / "known.csv" if form == "csv" else mixed
    mixed.to_csv(tmp_path / "known.csv", index=False)
    source = pa.table(mixed.to_dict("list")) if form == "arrow" else source
    store = open_store(bed, source)
    assert store.samples.column("age").to_pylist() == samples["age"].tolist()
    assert store.target("state")[1].tolist() == samples["state"].tolist()
    assert store.samples_pairing == (
        f"Rows of samples were paired with those of a.bed by column {title!r}."
    )
    assert store.row_names == tuple(samples[title])
    seen = pickle.loads(pickle.dumps(without(store, [0])))
    assert seen.samples.column("age").to_pylist() == samples["age"].tolist()
    assert seen.samples_pairing == store.samples_pairing
    packed = pack(bed, tmp_path / "s", samples=source)
    assert packed.target("age")[1].tolist() == samples["age"].tolist()
    assert packed.samples_pairing == store.samples_pairing
    again = open_store(tmp_path / "s", mixed.iloc[::-1])  # a store keeps the names
    assert again.target("age")[1].tolist() == samples["age"].tolist()
    assert again.row_names == store.row_names


def test_families_name_rows_whose_iid_repeats(bed, tmp_path):
    names = [(f"F{i // 2}", f"{i % 2 + 1}") for i in range(N)]
    rewritten_fam(bed, names)
    samples = annotations().drop(columns="IID")
    samples.insert(0, "#FID", [fid for fid, _ in names])
    samples.insert(1, "IID", [int(iid) for _, iid in names])
    store = open_store(bed, samples.iloc[ORDER])
    assert store.row_names == tuple("_".join(name) for name in names)
    assert store.samples.column("age").to_pylist() == samples["age"].tolist()
    assert "by column '#FID' and 'IID'" in store.samples_pairing
    samples["sample"] = store.row_names  # as PLINK joins them
    joined = open_store(bed, samples.drop(columns=["#FID", "IID"]).iloc[ORDER])
    assert joined.samples.column("age").to_pylist() == samples["age"].tolist()
    assert pack(bed, tmp_path / "s").row_names == store.row_names


def test_a_column_of_numbers_that_only_looks_like_names(bed):
    rewritten_fam(bed, [("F", f"{i + 30}") for i in range(N)])
    samples = annotations().drop(columns="IID")
    several = samples.set_index(pd.Index([1, *"b" * (N - 1)], dtype=object))  # names nothing
    for frame in (samples, several):
        with pytest.raises(ValueError, match="no column of samples holds the names of the rows of"):
            open_store(bed, frame)


@pytest.mark.parametrize("transpose", [False, True])
def test_h5ad_files_go_by_their_names(tmp_path, transpose):
    anndata = pytest.importorskip("anndata")
    names = [f"cell{i}" for i in range(N)]
    other = [f"gene{j}" for j in range(5)]
    X = genotypes(N, 5).astype(float)
    table = anndata.AnnData(
        X=X.T if transpose else X,
        obs=pd.DataFrame(index=other if transpose else names),
        var=pd.DataFrame(index=names if transpose else other),
    )
    table.write_h5ad(tmp_path / "a.h5ad")
    samples = annotations().drop(columns="IID").set_index(pd.Index(names))
    store = pack(
        tmp_path / "a.h5ad", tmp_path / "s", transpose=transpose, samples=samples.iloc[ORDER]
    )
    assert store.row_names == tuple(names)
    assert store.target("age")[1].tolist() == samples["age"].tolist()
    assert store.samples_pairing.endswith("by column 'index'.")
    samples.iloc[ORDER].to_csv(tmp_path / "known.csv")  # the names under an empty title
    opened = open_store(tmp_path / "s", tmp_path / "known.csv")
    assert opened.target("age")[1].tolist() == samples["age"].tolist()


def test_transposed_text_goes_by_its_first_line(tmp_path):
    frame = pd.DataFrame(genotypes(N, 5), index=[f"I{i}" for i in range(N)])
    frame.T.rename_axis("gene").rename(lambda j: f"g{j}").to_csv(tmp_path / "a.csv")
    samples = annotations()
    store = pack(tmp_path / "a.csv", tmp_path / "s", transpose=True, samples=samples.iloc[ORDER])
    assert store.target("age")[1].tolist() == samples["age"].tolist()


def test_a_column_of_the_store_names_rows(tmp_path):
    samples = annotations()
    frame = pd.DataFrame({"IID": samples["IID"], "x": np.random.default_rng(0).normal(size=N)})
    pack(frame, tmp_path / "s")
    for options in ({}, {"samples_id": "IID"}):
        store = open_store(tmp_path / "s", samples.iloc[ORDER], **options)
        assert store.target("age")[1].tolist() == samples["age"].tolist()
    other = samples.rename(columns={"IID": "patient"}).iloc[ORDER]
    for options in ({}, {"samples_id": "IID"}, {"samples_id": "patient"}):
        store = open_store(tmp_path / "s", other, **options)
        assert store.target("age")[1].tolist() == samples["age"].tolist()
        assert "by column 'IID' of s and column 'patient' of samples" in store.samples_pairing
    pack(frame.assign(IID=range(100, 100 + N)), tmp_path / "n")
    numbered = samples.assign(IID=range(100, 100 + N)).iloc[ORDER]
    for options in ({}, {"samples_id": "IID"}):
        store = open_store(tmp_path / "n", numbered, **options)
        assert store.target("age")[1].tolist() == samples["age"].tolist()
    pack(frame.assign(IID=np.linspace(0, 1, N)), tmp_path / "f")
    with pytest.raises(ValueError, match=r"column 'IID' of .*f must hold the name of every row"):
        open_store(tmp_path / "f", samples, samples_id="IID")


def test_packing_looks_for_a_column_of_names(tmp_path):
    samples = annotations()
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=N), "who": samples["IID"]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    for source in (frame, tmp_path / "a.csv"):
        store = pack(source, tmp_path / "s", samples=samples.iloc[ORDER], overwrite=True)
        assert store.target("age")[1].tolist() == samples["age"].tolist()
        assert "by column 'who' of" in store.samples_pairing
    with pytest.raises(ValueError, match=r"samples_match='position' .* is wrong here"):
        pack(frame, tmp_path / "t", samples=samples.iloc[ORDER], samples_match="position")


# --- rows that are missing, double or too many ---------------------------------------------------


def test_rows_that_are_not_in_the_data_are_ignored(bed):
    samples = annotations()
    more = pd.concat([samples, samples.assign(IID="other"), samples.assign(IID=None)[:1]])
    store = open_store(bed, more.iloc[np.random.default_rng(0).permutation(len(more))])
    assert store.target("age")[1].tolist() == samples["age"].tolist()
    assert store.samples_pairing.endswith(" 41 rows of samples are not in a.bed and were ignored.")


def test_rows_without_annotations_have_missing_values(bed):
    samples = annotations().iloc[ORDER]
    store = open_store(bed, samples[~samples["IID"].isin(["I3", "I7"])])
    wanted = annotations()["age"].tolist()
    wanted[3] = wanted[7] = None
    assert store.samples.column("age").to_pylist() == wanted
    assert "38 of 40 rows have annotations; 2 rows have none" in store.samples_pairing
    assert "'I3', 'I7'" in store.samples_pairing
    assert store.row_names == tuple(f"I{i}" for i in range(N))
    lower = samples.assign(IID=samples["IID"].where(samples["IID"] != "I3", "i3"))
    assert (
        "pairs 40 of 40 with column 'IID': 'I3' is like 'i3'."
        in open_store(bed, lower).samples_pairing
    )


def test_few_annotations_are_refused(bed):
    samples = annotations()
    with pytest.raises(ValueError, match=r"column 'IID' lacks 30 of 40: 'I10', 'I11', .* Hint:"):
        open_store(bed, samples[:10])
    with pytest.raises(ValueError, match=r"no column of samples .* of a\.bed, such as 'I0', 'I1'"):
        open_store(bed, samples.assign(IID=[f"P{i}" for i in range(N)]))
    with pytest.raises(ValueError, match=r"pack: samples must have a row for most rows of a\.bed"):
        pack(bed, bed.parent / "s", samples=samples[:19])
    assert not (bed.parent / "s").exists()


def test_names_that_are_double_are_refused(bed):
    samples = annotations()
    with pytest.raises(ValueError, match="but column 'IID' has 'I0' more than once"):
        open_store(bed, pd.concat([samples, samples[:1]]))
    rewritten_fam(bed, [("F", "same" if i < 2 else f"I{i}") for i in range(N)])
    with pytest.raises(ValueError, match=r"a\.bed \(FID and IID\) must be unique .* 'F_same'"):
        open_store(bed, samples.assign(FID="F", IID=["same", "same", *samples["IID"][2:]]))
    store = open_store(bed, samples, samples_match="position")
    assert store.target("age")[1].tolist() == samples["age"].tolist()


# --- which column, and none ----------------------------------------------------------------------


def test_the_column_can_be_named(bed):
    samples = annotations()
    samples["mother"] = samples["IID"].iloc[::-1].tolist()  # holds the same names, in another order
    samples["copy"] = samples["IID"]
    assert open_store(bed, samples.iloc[ORDER]).target("age")[1].tolist() == samples["age"].tolist()
    store = open_store(bed, samples.iloc[ORDER], samples_id="mother")
    assert store.target("age")[1].tolist() == samples["age"].tolist()[::-1]
    renamed = samples.rename(columns={"IID": "person"}).drop(columns="copy")
    with pytest.raises(
        ValueError,
        match="several columns of samples could hold the row names: column 'person', column 'mo",
    ):
        open_store(bed, renamed)
    both = renamed.assign(mother=renamed["person"])  # the same order: either will do
    assert open_store(bed, both.iloc[ORDER]).target("age")[1].tolist() == samples["age"].tolist()


def test_by_position_only_when_asked_or_without_names(bed, tmp_path):
    samples = annotations()
    plain = samples.drop(columns="IID")
    store = open_store(bed, plain.iloc[ORDER], samples_match="position")
    assert store.target("age")[1].tolist() == samples["age"].iloc[ORDER].tolist()
    assert store.samples_pairing == "Rows of samples were paired by position, as asked."
    assert store.row_names == tuple(f"I{i}" for i in range(N))
    with pytest.raises(
        ValueError, match=r"samples_match='position' \(--samples-match position\) pairs"
    ):
        open_store(bed, plain)
    with pytest.raises(ValueError, match="samples has 39 rows, but the table has 40"):
        open_store(bed, plain[:39], samples_match="position")
    pack(np.random.default_rng(0).normal(size=(N, 3)), tmp_path / "s")
    store = open_store(tmp_path / "s", plain)
    assert "by position, as neither s nor samples has row names" in store.samples_pairing
    assert store.target("age")[1].tolist() == plain["age"].tolist()
    with pytest.raises(ValueError, match=r"samples has names of rows \(column 'IID'\), but s has"):
        open_store(tmp_path / "s", samples)
    assert open_store(tmp_path / "s", samples, samples_match="position").samples.num_rows == N


def test_positions_that_names_contradict_are_refused(bed):
    samples = annotations()
    assert open_store(bed, samples, samples_match="position").row_names == tuple(samples["IID"])
    for frame in (
        samples,
        samples.rename(columns={"IID": "x"}).assign(x=samples["IID"].str.lower()),
    ):
        with pytest.raises(ValueError, match=r"in another order, 'I\d+' in row \d+ instead of 1"):
            open_store(bed, frame.iloc[ORDER], samples_match="position")


# --- names that differ ---------------------------------------------------------------------------


def test_names_that_differ_by_case_and_signs_are_offered_and_folded(bed):
    rewritten_fam(bed, [("F", f"Pat-{i}_a") for i in range(N)])
    samples = annotations().assign(IID=[f"pat.{i}.A" for i in range(N)]).iloc[ORDER]
    with pytest.raises(ValueError, match=r"fold\) ignores .* pairs 40 of 40 with column 'IID'"):
        open_store(bed, samples)
    store = open_store(bed, samples, samples_match="fold")
    assert store.target("age")[1].tolist() == annotations()["age"].tolist()
    assert store.samples_pairing.endswith("by column 'IID', folded.")


def test_folding_that_is_ambiguous_is_refused(bed):
    names = [f"s{i}" for i in range(N - 1)]
    rewritten_fam(bed, [("F", name) for name in [*names, "S1"]])
    samples = annotations().assign(IID=[name.title() for name in [*names, "s.1"]])
    with pytest.raises(ValueError, match="'s1', 'S1' are the same when folded"):
        open_store(bed, samples, samples_match="fold")
    rewritten_fam(bed, [("F", name) for name in [*names, "t"]])
    samples = annotations().assign(IID=[name.upper() for name in [*names, "s1."]])
    with pytest.raises(ValueError, match=r"'S1', 'S1\.' more than once when folded"):
        open_store(bed, samples, samples_match="fold")


@pytest.mark.parametrize("numbers", [True, False])
def test_numbers_of_rows_are_no_names(bed, numbers):
    """Counting annotations would pair them by position, under another name."""
    ids = [f"{i}" if numbers else f"P{i}" for i in range(1, N + 1)]
    rewritten_fam(bed, [("F", name) for name in ids])
    samples = annotations().assign(IID=[f"P{i:03d}" for i in range(1, N + 1)]).iloc[ORDER]
    samples = samples.rename(columns={"IID": "person"}).assign(row=range(1, N + 1))
    with pytest.raises(ValueError, match="no column of"):
        open_store(bed, samples)


def test_numbers_that_a_spreadsheet_changed(bed, tmp_path):
    rewritten_fam(bed, [("F", f"{i:04d}") for i in range(N)])
    samples = annotations().assign(IID=[f"{i:04d}" for i in range(N)])
    samples.iloc[ORDER].to_csv(tmp_path / "known.csv", index=False)  # read as 0, 1, ...
    store = open_store(bed, tmp_path / "known.csv")
    assert store.samples.column("age").to_pylist() == samples["age"].tolist()
    assert store.row_names == tuple(samples["IID"])
    rewritten_fam(bed, [("F", f"{i}") for i in range(100, 100 + N)])
    samples = annotations().assign(IID=np.arange(100.0, 100 + N)).iloc[ORDER]
    for frame in (samples, samples.assign(IID=samples["IID"].astype(str))):
        store = open_store(bed, frame)
        assert store.target("age")[1].tolist() == annotations()["age"].tolist()


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples_id": "who"}, "samples has no column 'who' of text or whole numbers; its"),
        ({"samples_id": "weight"}, "samples has no column 'weight' of text or whole numbers"),
        ({"samples_id": "IID", "samples_match": "position"}, "give one of them"),
        ({"samples_match": "f"}, "samples_match must be one of 'exact', 'fold', 'position', got"),
    ],
)
def test_wrong_options(bed, options, message):
    samples = annotations().assign(weight=0.5)
    with pytest.raises(ValueError, match=message):
        open_store(bed, samples, **options)
    with pytest.raises(ValueError, match=message):
        pack(bed, bed.parent / "s", samples=samples, **options)


def test_options_without_what_they_are_for(bed, tmp_path):
    for option in ({"samples_id": "a"}, {"samples_match": "position"}):
        with pytest.raises(ValueError, match="needs samples"):
            open_store(bed, **option)
    pack(pd.DataFrame({"x": range(N)}), tmp_path / "s")
    with pytest.raises(ValueError, match="but s has neither row names nor a column"):
        open_store(tmp_path / "s", annotations(), samples_id="IID")


@one_test
@pytest.mark.parametrize("said", [b"[", b'["gone"]', b"7", b"[[1]]", b"[" * 100_000])
def test_annotations_that_lie_about_names_are_refused(said):
    table = pa.table({"y": [1, 2]}).replace_schema_metadata({b"duramen.row_names": said})
    with pytest.raises(ValueError, match="the row names that they refer to are missing"):
        names_of(table)
