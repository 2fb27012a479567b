"""Gene sets from .gmt files, and the columns of one-hot encoders."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.cli.commands import assert_refused, done

import duramen as dm


def test_sets_are_read(tmp_path):
    file = tmp_path / "sets.gmt"
    file.write_text("first\thttp://a\tA\tB\tA\n\nsecond\t\tC\t\n", encoding="utf-8")
    assert dm.io.read_gmt(file) == {"first": ("A", "B"), "second": ("C",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("first\tno genes\n", "line 1 of s.gmt must have a name, a description and genes"),
        ("a\t\tA\na\t\tB\n", "has the set 'a' twice"),
        ("\n", "must have a gene set, got none"),
        ("a\t\tA\nb\t\tB\udcff\n", r"must be UTF-8 text, got byte 0xff .*line 2"),
    ],
)
def test_files_that_are_none_are_refused(text, message, tmp_path):
    (tmp_path / "s.gmt").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=message):
        dm.io.read_gmt(tmp_path / "s.gmt")


def table():
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "site": random.choice(["a", "b", "c"], 40),
            "sex": random.choice(["f", "m"], 40),
            "grade": [*["rare", "odd"], *["low", "high"] * 19],
            "age": random.normal(size=40),
        }
    )


def test_columns_of_encoders_are_those_of_their_names():
    whole = ColumnTransformer(
        [
            ("number", StandardScaler(), ["age"]),
            ("one", OneHotEncoder(drop="if_binary", sparse_output=False), ["site", "sex"]),
            (
                "piped",
                make_pipeline(
                    SimpleImputer(strategy="most_frequent"),
                    OneHotEncoder(min_frequency=5, sparse_output=False),
                ),
                ["grade"],
            ),
        ]
    ).fit(table())
    groups = dm.io.transformed_groups(whole)
    assert groups == {
        "site": ("one__site_a", "one__site_b", "one__site_c"),
        "sex": ("one__sex_m",),
        "grade": (
            "piped__grade_high",
            "piped__grade_low",
            "piped__grade_infrequent_sklearn",
        ),
    }
    X = pd.DataFrame(whole.transform(table()), columns=whole.get_feature_names_out())
    y = (table()["site"] == "a") + 0.3 * np.random.default_rng(1).normal(size=40)
    forest = dm.RandomForestRegressor(40)
    tested = dm.significance.conditional(forest, X, y, feature_groups=groups, random_state=0)
    assert tested.names == ("site", "sex", "grade")
    assert dm.io.transformed_groups(OneHotEncoder().fit(table()[["sex"]])) == {
        "sex": ("sex_f", "sex_m")
    }
    with pytest.raises(TypeError, match="must be a fitted ColumnTransformer or OneHotEncoder"):
        dm.io.transformed_groups(StandardScaler())


@pytest.mark.slow
def test_groups_of_a_command_from_gene_sets(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(60, 4)), columns=list("ABCD"))
    frame.assign(y=frame.A + random.normal(size=60)).to_csv(tmp_path / "t.csv", index=False)
    file = tmp_path / "sets.gmt"
    words = (tmp_path / "t.csv", "--target", "y", "--trees", 20, "--test", "none")
    file.write_text("first\t\tA\tB\tX\nsecond\t\tC\tY\n", encoding="utf-8")
    done(tmp_path / "out", "rank", *words, "--feature-groups", file)
    rows = pd.read_csv(tmp_path / "out" / "result-groups.csv").set_index("name")
    assert rows.loc["first", "features"] == "A;B"
    assert set(rows.index) == {"first", "second", "D"}
    file.write_text("first\t\tA\tB\nsecond\t\tB\n", encoding="utf-8")
    message = "must not overlap, but 'B' is in 'first' and 'second'"
    assert_refused("rank", tmp_path / "two", (*words, "--feature-groups", file), message)
    file.write_text("first\t\tX\n", encoding="utf-8")
    message = "it names 1 feature, none of which is a column of the table"
    assert_refused("rank", tmp_path / "three", (*words, "--feature-groups", file), message)
