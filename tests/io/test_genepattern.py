"""Files of GenePattern and GSEA: matrices of genes (.gct) and classes of samples (.cls)."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import duramen as dm
from duramen.data.encoding import routing_values
from duramen.io import ColumnStore, read_table

GENES = np.array([[1.5, 2, 3], [4, 5, 6.25]])
PLAIN = "#1.2\n2\t3\nNAME\tDescription\ts1\ts2\ts3\ng1\tfirst\t1.5\t2\t3\ng2\t\t4\t5\t6.25\n"
DESCRIBED = (
    "#1.3\n2\t3\t2\t2\nid\tsymbol\tchr\ts1\ts2\ts3\ndisease\tna\tna\till\twell\till\n"
    "age\tna\tna\t30\tNA\t50\ng1\tA\t1\t1.5\t2\t3\ng2\tB\tX\t4\t5\t6.25\n"
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def packed(tmp_path: Path, text: str) -> ColumnStore:
    return dm.pack(write(tmp_path / "a.gct", text), tmp_path / "store")


@pytest.mark.parametrize(
    "text",
    [PLAIN, DESCRIBED, PLAIN.replace("\n", "\r\n"), "\ufeff" + PLAIN.replace("1.2", "1.2\t\t")],
)
def test_genes_become_columns(tmp_path, text):
    store = packed(tmp_path, text)
    assert store.names == ("g1", "g2")
    assert store.row_names == ("s1", "s2", "s3")
    np.testing.assert_array_equal(routing_values(store.as_table(), GENES.T), GENES.T)
    same = dm.pack(pa.table({"g1": GENES[0], "g2": GENES[1]}), tmp_path / "other")
    assert store.fingerprint() == same.fingerprint()


def test_lines_of_samples_are_their_annotations(tmp_path):
    samples = packed(tmp_path, DESCRIBED).samples
    assert samples.to_pydict() == {
        "sample": ["s1", "s2", "s3"],
        "disease": ["ill", "well", "ill"],
        "age": [30, None, 50],
    }


def test_names_of_samples_stay_text(tmp_path):
    numbered = DESCRIBED.replace("s1\ts2\ts3", "01\t02\t03").replace("age\t", "sample\t")
    store = packed(tmp_path, numbered)
    assert store.row_names == ("01", "02", "03")
    assert store.samples.column_names == ["sample", "disease"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN.removeprefix("#1.2\n"), r"does not begin as a \.gct file.*call it a\.txt"),
        ("#1.2\n", r"does not begin as a \.gct file"),
        (PLAIN.replace("2\t3\nNAME", "3\t3\nNAME"), "has 2 genes, but its second line says 3"),
        (PLAIN.replace("2\t3\nNAME", "2\t9\nNAME"), "has 3 samples, but its second line says 9"),
        (PLAIN.replace("\t5\t6.25", "\t5"), "fields"),
        (DESCRIBED.replace("\twell\till", "\twell"), "has 5 fields in line 4"),
    ],
)
def test_damaged_matrices_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        packed(tmp_path, text)
    assert not (tmp_path / "store").exists()


def test_labels_stand_for_names_in_the_order_in_which_they_come(tmp_path):
    path = write(tmp_path / "a.cls", "4 2 1\n#ill well\nwell ill\nill ill")
    assert read_table(path)["class"].to_pylist() == ["well", "ill", "ill", "ill"]
    path = write(tmp_path / "a.cls", "3 2 1\n# ill well\n1 1 0\n")
    with pytest.warns(UserWarning, match="as GenePattern reads them: 1 is ill, 0 is well"):
        assert read_table(path)["class"].to_pylist() == ["ill", "ill", "well"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "4 2 1\n", "4 2 1\n# ill well\n", "4 2 1\nill well\n0 0 1 1\n"),
        *("5 2 1\n# ill well\n0 0 1 1\n", "4 3 1\n# ill well\n0 0 1 1\n"),
        *("4 2 1\n# ill well\n0 1 2 1\n", "#numeric\n#dose\n1 2\n"),
    ],
)
def test_damaged_classes_are_refused(tmp_path, text):
    with pytest.raises(ValueError, match=r"is not a \.cls file|is empty"):
        read_table(write(tmp_path / "a.cls", text))
