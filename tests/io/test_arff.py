"""Attribute-relation files of Weka and OpenML."""

import numpy as np
import pytest
from scipy.io.arff import loadarff
from tests.grid import one_test

import duramen as dm
from duramen.io import read_table

HEAD = """% of a study
@RELATION weather
@attribute outlook {sunny, overcast, rainy}
@ATTRIBUTE 'temp (C)' real
@attribute n INTEGER
@attribute play\t{yes,no}

@DATA
"""
ROWS = ["sunny,85.5,1,no", "overcast,80,?,yes", "?,?,3,no", "% remark", "rainy,-1e2,0,yes"]


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_values_are_those_of_scipy(tmp_path):
    path = written(tmp_path / "a.arff", HEAD + "\n".join(ROWS * 9))
    table = read_table(path)
    values, about = loadarff(path)
    assert table.column_names == about.names()
    assert table.num_rows == 36
    for name, kind in zip(about.names(), about.types(), strict=True):
        if kind == "numeric":
            np.testing.assert_equal(table[name].to_numpy(), values[name])
        else:
            texts = [word.decode() if word != b"?" else None for word in values[name]]
            assert table[name].to_pylist() == texts
    data = dm.read(path, "play")
    assert data.table.kinds == ("nominal", "numeric", "numeric")
    assert data.target.class_sizes() == {"no": 18, "yes": 18}


def test_text_dates_and_escapes(tmp_path):
    head = "@relation a\n@attribute note string\n@attribute day date 'yyyy-MM-dd'\n@data\n"
    rows = ["'it\\'s, hot','2020-01-01'", '"a \\"b\\"",2020-01-02', ",2020-01-03", "x,?"]
    table = read_table(written(tmp_path / "a.arff", head + "\n".join(rows)))
    assert table["note"].to_pylist() == ["it's, hot", 'a "b"', "", "x"]
    assert table["day"].to_pylist() == ["2020-01-01", "2020-01-02", "2020-01-03", None]


def test_sparse_rows_leave_out_zeros(tmp_path):
    head = "@relation a\n@attribute a numeric\n@attribute b {u,'v w'}\n@attribute c real\n@data\n"
    text = f"{head}{{0 3, 1 'v w'}}\n{{}}\n{{2 0.5, 0 ?}}\n1,u,2\n"
    table = read_table(written(tmp_path / "a.arff", text))
    assert table.to_pydict() == {
        "a": [3, 0, None, 1],
        "b": ["u" if i else "v w" for i in range(4)],
        "c": [0, 0, 0.5, 2],
    }


@one_test
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "sunny,1,2\n", r"a\.arff, line 9: 3 fields, but there are 4 attributes"),
        (HEAD + "foggy,1,2,no\n", "attribute 'outlook' has 'foggy', which is none of its 3 cat"),
        (HEAD + "sunny,warm,2,no\n", r"attribute 'temp \(C\)' is real, but has 'warm'"),
        (HEAD + "{9 1}\n", "line 9: field 9, but there are 4 attributes"),
        (HEAD, "got 4 attributes and 0 rows"),
        ("a,b\n1,2\n", "line 1: before @data must come attributes, got 'a,b'"),
        ("@attribute a\n@data\n1\n", "line 1: an attribute needs a name and a type"),
        ("% no line\n", r"must have lines @attribute, @data and rows.*call it a\.txt"),
    ],
)
def test_damaged_files_have_one_message(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_table(written(tmp_path / "a.arff", text))
